"""What the MCP server offers beside its tools: a prompt, resources of jobs, and short replies."""

import asyncio
import json
from collections.abc import Callable
from typing import Annotated, Final

import orjson
from pydantic import Field

from universe.domain.command_results import find_command_warnings
from universe.domain.commands import Command
from universe.domain.entities import Entity
from universe.domain.provenance.citations import describe_citation_changes, move_out_shared_citations
from universe.domain.state import Plain
from universe.domain.systems.catalogue import list_system_names
from universe.service.batch import ChangeResult
from universe.service.jobs.job_service import JobService
from universe.service.jobs.options_and_replies import JobsOfUniverse, JobWithResult
from universe.service.replies import AgentCommandReply, AgentStateReply
from universe.service.reply_encoding import (
    INLINE_BYTES,
    ReplyContent,
    StatePart,
    describe_changed_entities,
    describe_time_unit_and_date,
    reduce_plain_state_to_part,
)
from universe.service.universes import UniverseService
from universe.store.replica import Replica
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.mcp import Origin, Server, prompt, resource

_MOST_NAMES: Final = 1_000

_EXPLORE: Final = """\
Explore the universe {id} with me.

1. Call get_universe_state with universeId {id} and maxBytes 4000. Tell me which bodies there are and how they are \
arranged. For details of some of them, call it again with ids and fields.
2. Ask me what I want to know or try. Wait for my answer.
3. To learn a command, call list_universe_commands with universeId {id} and a category. Tell me which command you want \
to send and what it changes, and wait until I agree.
4. Call send_universe_command with universeId {id} and the command. Tell me what changed, and every warning.

I decide about every change: do not send a command that I have not seen. Give the sources that a reply cites for its \
values. To let time pass, send {{"type": "tick", "dt": …}}; in a real system dt is in days."""

_CREATE: Final = """\
I want to explore {system}, but there is no such universe yet, and you cannot create one over MCP.

Ask me to run this in a terminal: universe new --from {system} --id {system}
After I have done so:

"""

_CHOOSE: Final = """\
I want to explore {system}, but there is no universe with this id or name. The universes are: {known}. The real \
systems that can be created are: {systems}.

Show me both lists and ask me which one I mean. Wait for my answer. To create one, I run in a terminal: \
universe new --from SYSTEM --id ID
Then call get_universe_state with its universeId and maxBytes 4000, tell me which bodies there are, and ask me what I \
want to know or try. I decide about every change: do not send a command that I have not seen."""


def add_prompts(server: Server, service: UniverseService) -> None:
    """Offer the prompt on `server`."""

    async def list_names() -> list[str]:
        ids = [record.id for record in await service.list_records(limit=_MOST_NAMES)]
        return [*ids, *(name for name in list_system_names() if name not in ids)]

    async def explore_system(
        system: Annotated[
            str, Field(min_length=1, description="The id or name of a universe, or a real system such as trappist-1.")
        ],
    ) -> str:
        """Look at the bodies of a universe, and try changes after you agree to each."""
        wanted = system.strip()
        records = await service.list_records(limit=_MOST_NAMES)
        for record in records:
            if wanted == record.id or wanted.casefold() == record.name.casefold():
                return _EXPLORE.format(id=_quote(record.id))
        if wanted.lower() in list_system_names():
            return _CREATE.format(system=wanted.lower()) + _EXPLORE.format(id=_quote(wanted.lower()))
        known = ", ".join(_quote(record.id) for record in records[:20]) or "none"
        return _CHOOSE.format(system=_quote(wanted), known=known, systems=", ".join(list_system_names()))

    prompt(server, title="Explore a system", values={"system": list_names})(explore_system)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


FOREIGN: Final[tuple[Origin, ...]] = ("papers", "tables")
"""The origins of names and passages in universes: papers that claims cite, and imported tables."""

_MOST_JOBS: Final = 50
_MOST_ITEMS: Final = 200
"""The longest list in a result; REST has the whole."""


def add_job_resources(server: Server, jobs: JobService) -> None:
    """Add the resources of jobs."""

    @resource(
        server,
        "universe://universes/{universe_id}/jobs",
        title="Jobs of a universe",
        mime_type="application/json",
        foreign=FOREIGN,
    )
    async def universe_jobs(universe_id: str) -> JobsOfUniverse:
        """List the last N-body runs, transits and radial velocities of a universe, with state, error and verdict."""
        found = await jobs.list_jobs(universe_id, limit=_MOST_JOBS)
        return {"jobs": [job.describe() for job in found]}

    @resource(
        server,
        "universe://universes/{universe_id}/jobs/{job_id}",
        title="A job and its result",
        mime_type="application/json",
        foreign=FOREIGN,
    )
    async def universe_job(universe_id: str, job_id: str) -> JobWithResult:
        """Read a job with its result; long lists are cut, and `shortened` names them."""
        job = await jobs.get(universe_id, job_id)
        if job.state != "done":
            return {**job.describe()}
        shortened: dict[str, int] = {}
        result: JsonObject = orjson.loads(await jobs.read_result(universe_id, job_id))
        cut = {name: _shorten_lists(value, f"result.{name}", shortened) for name, value in result.items()}
        reply: JobWithResult = {**job.describe(), "result": cut}
        if shortened:
            reply["shortened"] = shortened
        return reply


def _shorten_lists(value: Json, path: str, shortened: dict[str, int]) -> Json:
    """Return a JSON value whose lists have at most _MOST_ITEMS items, and note the full length of each cut list."""
    if isinstance(value, dict):
        return {name: _shorten_lists(one, f"{path}.{name}", shortened) for name, one in value.items()}
    if isinstance(value, list):
        if len(value) > _MOST_ITEMS:
            shortened[path] = len(value)
        return [_shorten_lists(one, path, shortened) for one in value[:_MOST_ITEMS]]
    return value


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
