"""Actors on the terminal: the author of a change, whether a person, an agent or software, and how that was checked."""

from collections.abc import Mapping
from typing import Any, Final

from universe.store.authors import make_author
from universe.terminal.console import escape_text
from uraniborg.kernel.actors import Actor

UNKNOWN: Final = "unknown"
_CHECKS: Final = {
    "sign_in": "by sign-in",
    "token": "by token",
    "credential": "by credential",
    "terminal": "by terminal",
    "dialog": "by dialog",
    "account": "by account",
    "none": "not authenticated",
}


def format_author(described: Mapping[str, Any]) -> str:
    """Return the `author` and `actor` of a reply as text with escaped markup: `Tycho (console), person by sign-in`."""
    author, actor = str(described.get("author") or ""), described.get("actor")
    if actor is None:
        return f"{escape_text(author)}, {UNKNOWN}" if author else UNKNOWN
    return f"{escape_text(author)}, {actor['kind']} {_CHECKS[actor['authenticated']]}"


def format_actor(actor: Mapping[str, Any] | None) -> str:
    """Return an actor of a reply as text with escaped markup."""
    if actor is None:
        return UNKNOWN
    return format_author({"author": make_author(Actor.model_validate(actor)).name, "actor": actor})
