"""Replies to agents over MCP: short by default, each citation once, with warnings and the date."""

import asyncio
from collections.abc import Callable
from typing import Final

import orjson

from universe.domain.citation_change_messages import describe_citation_changes
from universe.domain.command_warnings import find_command_warnings
from universe.domain.commands import Command
from universe.domain.entities import Entity
from universe.domain.state import Plain
from universe.replies import AgentCommandReply, AgentStateReply
from universe.service.change_requests import ChangeResult
from universe.service.replies import (
    INLINE_BYTES,
    ReplyContent,
    StatePart,
    describe_changed_entities,
    describe_time_unit_and_date,
    reduce_plain_state_to_part,
)
from universe.service.shared_citations import move_out_shared_citations
from universe.store.replica import Replica

STATE_BYTES: Final = 4 * 1024
"""By default a reply to a command has the whole state up to this size, and the changes of a larger state."""


async def encode_state_reply(replica: Replica, part: StatePart) -> bytes:
    """Return the state, or a part of it, as JSON, with its version. Raise MalformedRequest for an unknown field."""
    plain, version, state = replica.mirror.to_plain(), replica.version, replica.state

    def encode() -> bytes:
        reply: AgentStateReply = {**reduce_plain_state_to_part(plain, part, version)}
        facts = describe_time_unit_and_date(state)
        if facts["timeUnit"] == "days":  # seconds need no explanation
            reply = {**reply, **facts}
        return _encode_with_shared_citations(reply, reply["stars"])

    return await _run_in_thread_if_large(replica, encode)


async def encode_command_reply(result: ChangeResult, command: Command, content: ReplyContent | None) -> bytes:
    """Return the result of a command as JSON: the state, the changes or only the events, and warnings."""
    replica = result.replica
    if content is None:
        content = "state" if replica.mirror.json_size <= STATE_BYTES else "changes"
    reply: AgentCommandReply = {"events": result.events, "version": result.version}
    if content == "state":
        reply = {"nextState": _get_plain_state(result), "events": result.events, "version": result.version}
    elif content == "changes":
        reply = {**describe_changed_entities(result)}

    def encode() -> bytes:
        nonlocal reply
        if command["type"] == "tick":
            passed, facts = result.state.time - result.before.time, describe_time_unit_and_date(result.state)
            reply = {**reply, "timePassed": passed, "time": result.state.time, **facts}
        withdrawn = describe_citation_changes(result.before, result.state, result.touched)
        if warnings := [*find_command_warnings(result.before, command), *withdrawn]:
            reply["warnings"] = warnings
        stars = reply["nextState"]["stars"] if "nextState" in reply else reply.get("changed", {}).get("stars", {})
        return _encode_with_shared_citations(reply, stars)

    return await _run_in_thread_if_large(replica, encode)


def _get_plain_state(result: ChangeResult) -> Plain:
    replica = result.replica
    return replica.mirror.to_plain() if result.state is replica.state else result.state.to_plain()


async def _run_in_thread_if_large(replica: Replica, encode: Callable[[], bytes]) -> bytes:
    """Return the result of `encode`, called in a thread for a large universe."""
    return encode() if replica.mirror.json_size <= INLINE_BYTES else await asyncio.to_thread(encode)


def _encode_with_shared_citations(reply: AgentStateReply | AgentCommandReply, stars: dict[str, Entity]) -> bytes:
    if citations := move_out_shared_citations(stars):
        reply["sources"] = citations
    return orjson.dumps(reply)
