"""Encode states and authors for logs and snapshots: JSON with each citation once, and actors in two short texts.

Bodies of one system cite the same publications. The stored form of a state has a list `citations`; in its place a body
has a list with the index of the citation, and the fields and locations that belong to this body alone. A state in
memory has citations in full, and bodies that cite the same publication share its values.

An author has two texts. The first text is displayed and recorded in bodies: the name, with the kind of an actor that is
not a person. The second one says how the actor was established. Earlier versions stored the interface in place of the
kind: `Tycho (console)`.
"""

import zlib
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

import orjson

from universe.domain.state import Plain
from uraniborg.kernel.actors import Actor, describe_actor, parse_description, read_actor
from uraniborg.kernel.json_values import Json, JsonObject

_COMPRESSED_FROM: Final = 16 * 1024
"""The size in bytes from which JSON is compressed."""
_LEVEL: Final = 1
"""Higher levels save little and take several times as long."""
_CITATIONS: Final = "citations"
_OWN: Final = ("fields", "locations")
"""Parts of a source that differ from body to body."""

StoredState = JsonObject
"""The stored form of a state."""


def encode_state(plain: Plain) -> bytes:
    return encode_json(move_citations_out(plain))


def decode_state(encoded: bytes) -> Plain:
    """Return the state that `encode_state` encoded, or that an earlier release wrote with its citations in full.

    Raise orjson.JSONDecodeError or zlib.error.
    """
    return put_citations_back(decode_json(encoded))


def encode_json(value: Any) -> bytes:
    """Return a value as JSON, compressed by zlib if it is large."""
    json = orjson.dumps(value)
    return json if len(json) < _COMPRESSED_FROM else zlib.compress(json, _LEVEL)


def decode_json(encoded: bytes) -> Any:
    """Return the value that `encode_json` encoded, or that a release without compression wrote as JSON.

    Raise orjson.JSONDecodeError or zlib.error.
    """
    return orjson.loads(encoded if encoded.startswith(b"{") else zlib.decompress(encoded))


def move_citations_out(plain: Plain) -> StoredState:
    """Return the stored form of a state, which shares its other values; the state itself if no body has sources."""
    numbers: dict[bytes, int] = {}
    stars: dict[str, Json] = {}
    for key, body in (plain.get("stars") or {}).items():
        listed: Any = body.get("sources")
        stars[key] = body
        if isinstance(listed, list) and listed:
            stars[key] = {**body, "sources": [_refer_to_citation(one, numbers) for one in cast("list[Any]", listed)]}
    if not numbers:
        return cast("StoredState", plain)
    return {**cast("JsonObject", plain), "stars": stars, _CITATIONS: [orjson.loads(citation) for citation in numbers]}


def put_citations_back(stored: StoredState) -> Plain:
    """Return the state of a stored form. Its maps are changed."""
    citations: Any = stored.pop(_CITATIONS, [])
    plain = cast("Plain", stored)
    if citations:
        for body in plain["stars"].values():
            if sources := body.get("sources"):
                body["sources"] = [
                    {**citations[one[0]], **one[1]} if isinstance(one, list) else one
                    for one in cast("list[Any]", sources)
                ]
    return plain


def _refer_to_citation(source: Any, numbers: dict[bytes, int]) -> Any:
    """Return the number of the citation and the own parts of a source; the source itself if it is not an object."""
    if not isinstance(source, dict):
        return source
    given = cast("JsonObject", source)
    own = {name: given[name] for name in _OWN if name in given}
    # The citation has the names of its own parts, too: they keep their places.
    citation = orjson.dumps({**given, **dict.fromkeys(own)})
    return [numbers.setdefault(citation, len(numbers)), own]


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


class StoredAuthor(NamedTuple):
    """An actor in two texts: `Tycho` and `person sign_in`."""

    name: str
    identity: str


@lru_cache(maxsize=1024)
def make_author(actor: Actor) -> StoredAuthor:
    return StoredAuthor(describe_actor(actor), f"{actor.kind} {actor.authenticated}")


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
