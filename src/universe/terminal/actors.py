"""Name the author of a change on the terminal, and how that was checked."""

from collections.abc import Mapping
from typing import Any, Final

from uraniborg.kernel.actors import describe_actor, read_actor

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
    """Return the author in a reply: `claude (agent), by credential`.

    The author of a version that stored no actor is followed by "unknown".
    """
    if described.get("actor") is None and (author := described.get("author")):
        return f"{author}, {describe_actor(None)}"
    return format_actor(described.get("actor"))


def format_actor(value: Mapping[str, Any] | None) -> str:
    """Return an actor of a reply."""
    actor = read_actor(value)
    text = describe_actor(actor)
    return f"{text}, {_CHECKS[actor.authenticated]}" if actor else text
