"""Replies to agents: short by default, each citation once, with warnings and the date."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, cast

import orjson

from universe.domain.advice import warnings_of
from universe.domain.commands import Command
from universe.domain.state import Plain
from universe.domain.withdrawals import withdrawals_of
from universe.service.dates import time_facts
from universe.service.replies import INLINE_BYTES, Part, Wanted, changes_of, part_of
from universe.service.results import Result
from universe.store.rebuilding import Replica

STATE_BYTES: Final = 4 * 1024
"""A command is answered with the whole state up to this size, and with the changes beyond, unless asked otherwise."""


async def state_reply(replica: Replica, part: Part) -> bytes:
    """Return the state, or a part of it, as JSON, with its version. Raises MalformedRequest for an unknown field."""
    plain, version, state = replica.mirror.plain(), replica.version, replica.state

    def write() -> bytes:
        reply = part_of(plain, part, version)
        facts = time_facts(state)
        if facts["timeUnit"] == "days":  # where a second is a second there is nothing to explain
            reply |= facts
        return _write_reply(reply, reply["stars"])

    return await _run_beside_the_loop(replica, write)


async def command_reply(result: Result, command: Command, wanted: Wanted | None) -> bytes:
    """Return what a command did, as JSON: the state, the changes or the events alone, and what to beware of."""
    replica = result.replica
    if wanted is None:
        wanted = "state" if replica.mirror.bytes <= STATE_BYTES else "changes"
    reply: dict[str, Any] = {"events": result.events, "version": result.version}
    if wanted == "state":
        reply = {"nextState": _plain_state(result), **reply}
    elif wanted == "changes":
        reply = changes_of(result)

    def write() -> bytes:
        if command["type"] == "tick":
            passed = {"timePassed": result.state.time - result.before.time, "time": result.state.time}
            reply.update(passed | time_facts(result.state))
        withdrawn = withdrawals_of(result.before, result.state, result.touched)
        if warnings := [*warnings_of(result.before, command), *withdrawn]:
            reply["warnings"] = warnings
        shown: Plain = reply.get("nextState") or reply.get("changed") or {}
        return _write_reply(reply, shown.get("stars", {}))

    return await _run_beside_the_loop(replica, write)


def _plain_state(result: Result) -> Plain:
    replica = result.replica
    return replica.mirror.plain() if result.state is replica.state else result.state.plain()


async def _run_beside_the_loop(replica: Replica, write: Callable[[], bytes]) -> bytes:
    """Return what `write` returns, which is called in a thread for a large universe."""
    return write() if replica.mirror.bytes <= INLINE_BYTES else await asyncio.to_thread(write)


def _write_reply(reply: dict[str, Any], stars: dict[str, Any]) -> bytes:
    if citations := share_citations(stars):
        reply["sources"] = citations
    return orjson.dumps(reply)


def share_citations(stars: dict[str, Any]) -> dict[str, Any]:
    """Return the citations that several bodies have, by id, and leave only their ids and fields in the bodies.

    The map is changed, the bodies in it are replaced by others. A citation that differs from another of the same id
    stays whole.
    """
    entries = [entry for body in stars.values() for entry in _sources(body)]
    if not entries:
        return {}
    counts = Counter(entry["id"] for entry in entries)
    shared: dict[str, Any] = {}
    for entry in entries:
        if counts[entry["id"]] > 1:
            shared.setdefault(entry["id"], _citation(entry))
    for key, body in stars.items():
        if any(entry["id"] in shared for entry in _sources(body)):
            stars[key] = {**body, "sources": [_shorten(entry, shared) for entry in body["sources"]]}
    return shared


def _sources(body: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    listed = body.get("sources")
    if not isinstance(listed, list):
        return []
    return [entry for entry in cast("list[Any]", listed) if _is_source(entry)]


def _is_source(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(cast("dict[str, Any]", entry).get("id"), str)


def _citation(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in ("id", "fields")}


def _shorten(entry: Any, shared: dict[str, Any]) -> Any:
    if not _is_source(entry) or shared.get(entry["id"]) != _citation(entry):
        return entry
    return {name: entry[name] for name in ("id", "fields") if name in entry}
