"""Read session ids as people and agents write them: whole, in a longer text, or only the beginning."""

import re
from collections.abc import Iterable
from typing import Final

from paper_search.errors import SessionNotFound
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.ids import match_id_prefix
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.suggestions import find_nearest_ids

_SESSION_ID: Final = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])", re.IGNORECASE)
_ID_PREFIX: Final = re.compile(r"[0-9a-f]{8,31}", re.IGNORECASE)
_ONLY_ID: Final = re.compile(r"\s*(?:paper-search://sessions/)?([0-9a-f]{32})(?::\d+:\w+|/\S*)?\s*", re.IGNORECASE)


def find_session_id(text: str) -> str | None:
    """Return the session id in `text`, such as an address or a checkpoint id, or None."""
    found = _SESSION_ID.search(text)
    return found[0].lower() if found else None


def match_only_id(text: str) -> str | None:
    """Return the session id if the text is nothing else, or its address or checkpoint id; otherwise None."""
    found = _ONLY_ID.fullmatch(text)
    return found[1].lower() if found else None


def find_id_prefix(text: str) -> str | None:
    """Return the text without quotes and dots if it can be the beginning of an id, or None."""
    prefix = text.strip(" \"'.…").lower()
    return prefix if _ID_PREFIX.fullmatch(prefix) else None


def choose_session_id(prefix: str, names: Iterable[str]) -> str:
    """Return `prefix` if it is one of the ids in `names`, or else the one id that begins with it.

    Raise SessionNotFound if there is none, and InvalidInput if there are several.
    """
    names = list(names)
    found = match_id_prefix(prefix, names)
    if len(found) == 1:
        return found[0]
    if not found:
        raise SessionNotFound(prefix, find_nearest_ids(prefix, names))
    raise InvalidInput(
        f"{len(found)} sessions begin with '{make_printable(prefix[:32])}'.",
        hint=f"Give more of the id: {', '.join(found[:5])}.",
        allowed=found[:10],
    )
