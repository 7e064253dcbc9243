"""Suggestions for unknown names: the nearest ids, fields and commands, and bodies by name."""

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from uraniborg.kernel.suggestions import find_nearest_names, score_nearest_names

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
