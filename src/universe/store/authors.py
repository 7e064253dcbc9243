"""Authors: an actor as the log of a universe stores it, in two short texts.

The first text is displayed and recorded in bodies: the name, followed by the usual interface of such an actor, so that
nobody who claims a name passes for another kind of actor. The second one says how the actor was established.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from uraniborg.kernel.actors import Actor, read_actor

_REST: Final = " (REST)"
_MCP: Final = " (MCP)"
_TERMINAL: Final = " (command line)"
_SUFFIXES: Final = {
    ("person", "sign_in"): " (console)",
    ("person", "terminal"): _TERMINAL,
    ("person", "account"): _TERMINAL,
    ("person", "dialog"): " (dialog)",
    ("software", "token"): _REST,
    ("software", "none"): _REST,
}
_NAMELESS: Final = {_MCP: "MCP client", _REST: "REST client"}


class Author(NamedTuple):
    """An actor in two texts: `Tycho (console)` and `person sign_in`."""

    name: str
    identity: str


def make_author(actor: Actor) -> Author:
    """Return the texts for an actor."""
    return _make_author(actor.kind, actor.name, actor.authenticated)


@lru_cache(maxsize=1024)
def _make_author(kind: str, name: str, authenticated: str) -> Author:
    suffix = _find_suffix(kind, authenticated)
    return Author(f"{name}{suffix}" if name else _NAMELESS.get(suffix, kind), f"{kind} {authenticated}")


@lru_cache(maxsize=1024)
def find_actor(name: str | None, identity: str | None) -> Actor | None:
    """Return the actor of two texts of `make_author`; None if they were not recorded or are damaged."""
    if name is None or identity is None:
        return None
    kind, _, authenticated = identity.partition(" ")
    suffix = _find_suffix(kind, authenticated)
    is_nameless = name == _NAMELESS.get(suffix, kind)
    found = "" if is_nameless else name.removesuffix(suffix)
    return read_actor({"kind": kind, "name": found, "authenticated": authenticated})


def _find_suffix(kind: str, authenticated: str) -> str:
    return _MCP if kind == "agent" else _SUFFIXES.get((kind, authenticated), "")
