"""Find bodies by name, and shorten names for tables."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from universe.domain.suggestions import find_body_ids_by_name, map_ids_to_lowercase_names
from universe.plotting.label_placement import clean_and_truncate_text
from uraniborg.kernel.errors import InvalidInput, NotFound
from uraniborg.kernel.suggestions import find_nearest_names

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
