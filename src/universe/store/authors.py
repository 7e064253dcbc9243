"""Authors: an actor as the log of a universe stores it, in two short texts.

The first text is displayed and recorded in bodies: the name, with the kind of an actor that is not a person. The second
one says how the actor was established. Earlier versions stored the interface in place of the kind: `Tycho (console)`.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from uraniborg.kernel.actors import Actor, describe_actor, parse_description, read_actor

_REST: Final = " (REST)"
_MCP: Final = " (MCP)"
_TERMINAL: Final = " (command line)"
_EARLIER_SUFFIXES: Final = {
    ("person", "sign_in"): " (console)",
    ("person", "terminal"): _TERMINAL,
    ("person", "account"): _TERMINAL,
    ("person", "dialog"): " (dialog)",
    ("software", "token"): _REST,
    ("software", "none"): _REST,
}
_EARLIER_NAMELESS: Final = {_MCP: "MCP client", _REST: "REST client"}


class Author(NamedTuple):
    """An actor in two texts: `Tycho` and `person sign_in`."""

    name: str
    identity: str


@lru_cache(maxsize=1024)
def make_author(actor: Actor) -> Author:
    return Author(describe_actor(actor), f"{actor.kind} {actor.authenticated}")


@lru_cache(maxsize=1024)
def find_actor(name: str | None, identity: str | None) -> Actor | None:
    """Return the actor of two texts, also of an earlier version; None if they were not recorded or are damaged."""
    if name is None or identity is None:
        return None
    kind, _, authenticated = identity.partition(" ")
    suffix = _find_earlier_suffix(kind, authenticated)
    if name == _EARLIER_NAMELESS.get(suffix, kind):
        found = ""
    elif suffix and name.endswith(suffix):
        found = name.removesuffix(suffix)
    else:
        found = parse_description(name, kind)
    return read_actor({"kind": kind, "name": name if found is None else found, "authenticated": authenticated})


def is_author(name: object, actor: Actor) -> bool:
    """Return True if the text is that of the actor, in this or an earlier version."""
    suffix = _find_earlier_suffix(actor.kind, actor.authenticated)
    earlier = f"{actor.name}{suffix}" if actor.name else _EARLIER_NAMELESS.get(suffix, actor.kind)
    return name in (describe_actor(actor), earlier)


def _find_earlier_suffix(kind: str, authenticated: str) -> str:
    return _MCP if kind == "agent" else _EARLIER_SUFFIXES.get((kind, authenticated), "")
