"""Find ids and bodies by the names that people write, and write names and numbers for people."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from uraniborg.kernel.errors import InvalidInput, NotFound
from uraniborg.kernel.language.messages import find_nearest_names, score_nearest_names

_MAX_COMPARED: Final = 20_000
"""The most names that are compared, because the search is slow."""
_MAX_CHARS: Final = 100
_MAX_SUGGESTIONS: Final = 3
_MAX_PATH_CHARS: Final = 1_000
_PATH_SIGN: Final = re.compile(r"[/:>]")
_SYNONYMS: Final = (
    (re.compile("^(set|change|update)_?(the_?)?(time|date|clock|epoch)|^time$"), "tick"),
    (re.compile("planet|moon|body|object|comet|asteroid"), "star"),
    (re.compile("^(create|new|insert|make|put)"), "add"),
    (re.compile("^(delete|drop|destroy|erase)"), "remove"),
    (re.compile("^(edit|modify|change|patch|rename|set)"), "update"),
    (re.compile("^(step|advance|wait|sleep|simulate|evolve|run|play|pass)"), "tick"),
)
"""Synonyms of words in command names."""


def find_nearest_commands(word: str, known: Iterable[str]) -> list[str]:
    """Return commands with similar or synonymous names: `removeStar` for `deletePlanet`."""
    names = list(known)
    meant = word[:_MAX_CHARS].lower()
    for pattern, usual in _SYNONYMS:
        meant = pattern.sub(usual, meant)
    if meant.startswith("tick"):
        return ["tick"]
    return list(dict.fromkeys(find_nearest_names(meant, names) + find_nearest_names(word, names)))[:_MAX_SUGGESTIONS]


def find_nearest_entity_ids(word: str, entities: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the ids of entities with a similar id or name; `titan` for the path `saturn/titan`."""
    last = _PATH_SIGN.split(word[:_MAX_PATH_CHARS])[-1].strip()
    if last != word and (named := _find_id_ignoring_case(last, entities)) is not None:
        return [named]
    some = list(islice(entities.items(), _MAX_COMPARED))
    names = {key: name for key, entity in some if isinstance(name := entity.get("name"), str)}
    found = score_nearest_names(word, {key: key for key, _ in some}) + score_nearest_names(word, names)
    ordered = sorted(found, key=lambda one: -one[1])
    return list(dict.fromkeys(key for key, _ in ordered))[:_MAX_SUGGESTIONS]


def _find_id_ignoring_case(word: str, entities: Mapping[str, Any]) -> str | None:
    if word in entities:
        return word
    folded = word.casefold()
    return next((key for key in islice(entities, _MAX_COMPARED) if key.casefold() == folded), None)


def find_body_ids_by_name(text: str, stars: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the ids of the bodies with this id or name, ignoring case.

    The last word of an id or name also matches if it is unique, such as `e` for `trappist-1-e`.
    """
    if text in stars:
        return [text]
    wanted = text.strip().casefold()
    named = map_ids_to_lowercase_names(stars)
    if found := [key for key, names in named.items() if wanted in names]:
        return found
    ends = [key for key, names in named.items() if any(one.endswith((f" {wanted}", f"-{wanted}")) for one in names)]
    return ends if wanted and len(ends) == 1 else []


def map_ids_to_lowercase_names(stars: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    """Return the id and the name of each body by its id, in lower case."""
    return {key: (key.casefold(), str(body.get("name") or "").strip().casefold()) for key, body in stars.items()}


_LONGEST: Final = 60
_MOST_LISTED: Final = 8


def find_body_ids(bodies: Mapping[str, Mapping[str, Any]], ids_or_names: Sequence[str]) -> list[str]:
    """Return the ids of bodies given by id or by a unique name; the case of names does not matter.

    Raise NotFound with the nearest names, or InvalidInput for a name of several bodies.
    """
    return [_find_body_id(bodies, text) for text in ids_or_names]


def _find_body_id(bodies: Mapping[str, Mapping[str, Any]], id_or_name: str) -> str:
    found = find_body_ids_by_name(id_or_name, bodies)
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(found[:_MOST_LISTED])
        raise InvalidInput(
            f"{len(found)} bodies are called '{id_or_name[:_LONGEST]}'.",
            hint=f"Give an id: {listed}{', …' if len(found) > _MOST_LISTED else ''}.",
            argument="body",
            allowed=found[:_MOST_LISTED],
        )
    known = {name: key for key, names in map_ids_to_lowercase_names(bodies).items() for name in names if name}
    close = find_nearest_names(id_or_name.strip(), known)
    near = list(dict.fromkeys(known[name] for name in close))
    if near:
        hint = f"Did you mean {' or '.join(near)}?"
    else:
        hint = f"Name one of {', '.join(list(bodies)[:_MOST_LISTED])}." if bodies else "This universe has no bodies."
    raise NotFound(f"There is no body '{id_or_name[:_LONGEST]}'.", hint=hint, id=id_or_name[:_LONGEST])


def shorten_names(names: Sequence[str], longest: int = 14) -> list[str]:
    """Return names for tables and charts, without the name of the first body if all others begin with it.

    "TRAPPIST-1", "TRAPPIST-1 b", "TRAPPIST-1 c" become "TRAPPIST-1", "b", "c".
    """
    from universe.domain.plotting.picture_layout import clean_and_truncate_text  # imports numpy

    clean = [clean_and_truncate_text(name, _LONGEST) or "?" for name in names]
    if not clean:
        return []
    prefix = clean[0] + " "
    if all(name.startswith(prefix) for name in clean[1:]):
        clean = [clean[0], *(name.removeprefix(prefix) for name in clean[1:])]
    if max(map(len, clean)) > longest:
        clean = _remove_common_words(clean)
    heads = [name if len(name) <= longest else name[: longest - 1] + "…" for name in clean]
    if len(set(heads)) == len(set(clean)):
        return heads
    return [name if len(name) <= longest else "…" + name[1 - longest :] for name in clean]


def _remove_common_words(names: list[str]) -> list[str]:
    """Return "A" and "B" for "Alpha Centauri A" and "Alpha Centauri B"."""
    words = [name.split() for name in names]
    common = 0
    while len({tuple(one[: common + 1]) for one in words}) == 1 and all(len(one) > common + 1 for one in words):
        common += 1
    return [" ".join(one[common:]) for one in words] if len(names) > 1 else names


_ROUNDING: Final = 1e-12
"""Smaller values, such as the eccentricity of a circle, are printed as 0."""


def format_short_duration(days: float) -> str:
    """Return a duration in days or years with three digits."""
    if not math.isfinite(days):
        return "an unknown time"
    if abs(days) < 1000:
        return f"{days:.3g} {'day' if days == 1 else 'days'}"
    years = days / 365.25
    return f"{years:.3g} years" if abs(years) < 1000 else f"{years:,.0f} years"


def format_two_digits(value: float) -> str:
    """Return a number with two significant digits, or without decimals from 10 on."""
    return f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}"


def join_words(parts: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def join_names_with_common_prefix(names: Sequence[str]) -> str:
    """Join names, with a common first part only once: "TRAPPIST-1 c, d and e"."""
    first, space, _ = names[0].rpartition(" ")
    prefix = first + space
    if prefix and all(name.startswith(prefix) and " " not in name[len(prefix) :] for name in names[1:]):
        return join_words([names[0], *(name[len(prefix) :] for name in names[1:])])
    return join_words(names)


def format_days_and_years(days: float) -> str:
    """Return a duration in days and, from 730 days on, also in years."""
    unit = "day" if abs(days) == 1 else "days"
    long = f" ({_format_without_exponent(days / 365.25, 4)} years)" if abs(days) >= 730 else ""
    return f"{_format_without_exponent(days, 6)} {unit}{long}"


def _format_without_exponent(value: float, digits: int) -> str:
    """Return a number with this many digits and without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 10**digits / 10 else f"{value:,.{digits}g}"


def format_range(values: Mapping[str, float] | None, digits: int = 3) -> str:
    """Return the minimum and maximum, or one number if they agree to this many digits."""
    if values is None:
        return "-"
    low, high = (
        f"{one:.0f}" if abs(one) >= 10**digits or abs(one) < _ROUNDING else f"{one:.{digits}g}"
        for one in (values["min"], values["max"])
    )
    return low if low == high else f"{low}–{high}"


def format_number_or_dash(value: float | None, digits: int = 2) -> str:
    """Return a number with this many digits, or a dash for None."""
    return "-" if value is None else f"{value:.{digits}g}"
