"""Serve universes to agents over MCP: three tools, resources to read and subscribe to, and a prompt."""

import json
from typing import Annotated, Any, Final, cast

import orjson
from pydantic import Field

from universe.api.html_pages import read_concepts_markdown
from universe.api.mcp_contents import FOREIGN, add_job_resources, add_prompts, encode_command_reply, encode_state_reply
from universe.domain import command_catalogue
from universe.domain.command_catalogue import AnyCommandShape, CommandList, make_command_schema
from universe.domain.command_parser import EXAMPLES
from universe.errors import ELSEWHERE, MalformedCommand, MalformedRequest
from universe.service.argument_validation import KEY_CHARS
from universe.service.jobs.job_service import JobService
from universe.service.replies import UniverseSummary
from universe.service.reply_encoding import ReplyContent, StatePart, describe_record, summarize_universe
from universe.service.universes import UniverseService, UniverseView
from universe.store.interface import LogChange
from uraniborg.kernel.boundary import parse_json
from uraniborg.kernel.json_values import JsonObject, JsonSchema
from uraniborg.kernel.mcp import (
    Listed,
    Server,
    Subscriptions,
    add_subscriptions,
    explain_mark,
    get_actor,
    make_server,
    resource,
    tool,
)
from uraniborg.kernel.version import version

COMMANDS_URI: Final = "universe://reference/commands"
CONCEPTS_URI: Final = "universe://reference/concepts"
SCHEMA_URI: Final = "universe://reference/command-schema"
_MAX_LISTED: Final = 1_000
"""The most universes in the list of resources; all can be read."""
_LEAST_BYTES: Final = 1_000
_SHOWN: Final = 80

UniverseId = Annotated[str, Field(max_length=1_000, description="The id of a universe; the resources list them.")]

_HINTS: Final = {
    "^universe://.*/(state|stars?|bod(y|ies)|entities)(/|$)": "get_universe_state reads the state and its bodies.",
    "^universe://.*/(history|positions|log|events)(/|$)": ELSEWHERE.rstrip(),
    "universes|(list|find|search)_universe$": "resources/list lists the universes, such as universe://universes/{id}.",
    "^(time|date|at)$": "Time passes with the command tick; GET /universes/{id}/positions gives positions at a time.",
    "undo|redo|revert|restore|branch|fork|histor|position|n_?body|(create|new|delete|rename|import)_universe": (
        ELSEWHERE.rstrip()
    ),
    "plot|cite|citation|bibtex|export|verify": "Plots, citations, exports and checks are on the command line: universe "
    "plot, cite, export, verify.",
    "tick|star|planet|moon|body|ring|nebula|group|disk|belt|snapshot|^(type|dt|payload|patch)$": "Send commands with "
    'send_universe_command, in command, such as {"type": "tick", "dt": 365.25}.',
}
"""Hints for names that agents try but the server does not have, by patterns."""

_INSTRUCTIONS: Final = """Universes of stars, planets and other bodies, which change only by commands.

Steps: list the resources to find the id of a universe; read it with get_universe_state (give maxBytes for a large one,
then ids and fields); learn a command with list_universe_commands and a category, such as star-crud; send it with
send_universe_command. A reply has the version, the events and the changes; return: "state" gives the whole state.
`warnings` in a reply describe probably unintended effects. Errors list every problem, the nearest names and a
valid example.

Bodies of every kind are in `stars`, under ids that differ from their names. Time stands still until a tick. dt and time
are simulation seconds; where bodies have a kepler block in astronomical units, as in every real system, one simulation
second is one day (dt 365.25 is a year), lengths are AU and masses solar masses. Such a body is moved to another orbit
by updateStar with its whole kepler block. Replies to a tick have timePassed, timeUnit and, in a real system, date.
A reply cites each publication once, in `sources` if several bodies share it.

Not over MCP: create, import, rename and delete universes; undo, restore and branch; history; positions at a time;
start N-body runs; plots and BibTeX. REST does all of these (POST /universes, /universes/{id}/undo, /restore, /branch,
/jobs, GET /history, /positions, /plot, /cite), and so does the command line: universe new, undo, restore, branch,
history, nbody, plot, cite, export, verify. To go back over MCP, read an earlier version with get_universe_state and
send its values again.

Resources: universe://reference/commands (all commands and entities), universe://reference/command-schema (their JSON
schema), universe://reference/concepts, universe://universes/{id}, a summary (subscribe to it for changes), and
universe://universes/{id}/jobs, the N-body runs, transits and radial velocities of a universe; read one of them, with
its verdict and error, as universe://universes/{id}/jobs/{job}.
"""


def make_mcp_server(service: UniverseService, jobs: JobService | None = None) -> Server:
    """Return the MCP server for `service` and its jobs, which must be running while it is used."""
    server = make_server(
        "universe", version=version(), instructions=f"{_INSTRUCTIONS}\n{explain_mark(FOREIGN)}\n", hints=_HINTS
    )
    _add_reading_tools(server, service)
    _add_sending_tool(server, service)
    _add_resources(server, service)
    if jobs is not None:
        add_job_resources(server, jobs)
    add_prompts(server, service)
    return server


def make_summary_uri(universe_id: str) -> str:
    """Return the URI of the summary of a universe, to which clients can subscribe."""
    from urllib.parse import quote

    return f"universe://universes/{quote(universe_id, safe='')}"


def _add_reading_tools(server: Server, service: UniverseService) -> None:
    @tool(
        server,
        title="The state of a universe",
        read_only=True,
        idempotent=True,
        structured=False,
        about=["universeId"],
        foreign=FOREIGN,
    )
    async def get_universe_state(
        universeId: UniverseId,  # noqa: N803 - the specification's name
        ids: Annotated[
            list[str] | None, Field(max_length=10_000, description="Return only the entities with these ids.")
        ] = None,
        fields: Annotated[
            list[str] | None,
            Field(max_length=200, description="Return only these fields of each entity, such as name, mass."),
        ] = None,
        version: Annotated[int | None, Field(ge=0, description="Return the state at this version.")] = None,
        maxBytes: Annotated[  # noqa: N803
            int | None, Field(ge=_LEAST_BYTES, description="Return a summary if the reply would be larger.")
        ] = None,
    ) -> str:
        """Return the state of a universe as JSON: stars (all bodies), groups, belts, disks, nebulae, time and version.

        Read large universes in parts: maxBytes gives a summary, ids and fields choose a part. Call this before you
        change something.
        """
        view = await service.view(universeId, version)
        reply = await encode_state_reply(view.replica, StatePart(ids, fields))
        if maxBytes is not None and len(reply) > maxBytes:
            reply = _make_summary_reply(view, maxBytes, len(reply))
        return reply.decode()

    @tool(server, title="The commands there are", read_only=True, idempotent=True, about=["universeId"])
    async def list_universe_commands(
        universeId: UniverseId,  # noqa: N803 - required by the specification; the listing is the same for all
        category: Annotated[
            str | None,
            Field(
                max_length=100,
                description=f"Return only this category, by name or slug: {', '.join(command_catalogue.SLUGS)}.",
            ),
        ] = None,
    ) -> CommandList:
        """List the commands that change a universe, in ten categories, with their fields, examples and refusals.

        The listing is the same for every universe. Call this, with a category, before send_universe_command.
        """
        return {
            "categories": [command_catalogue.get_category(category)]
            if category is not None
            else command_catalogue.list_command_categories()
        }


def _add_sending_tool(server: Server, service: UniverseService) -> None:
    @tool(
        server,
        title="Send a command",
        read_only=False,
        destructive=True,
        structured=False,
        about=["universeId"],
        foreign=FOREIGN,
    )
    async def send_universe_command(
        universeId: UniverseId,  # noqa: N803
        command: Annotated[
            Any,
            AnyCommandShape(),
            Field(
                description='One command, such as {"type": "tick", "dt": 365.25} or {"type": "addStar", "id": "x", '
                '"payload": {"name", "mass", "radius", "color", "parentId", "orbitalDistance", "orbitalSpeed", …}}. '
                "list_universe_commands shows the fields inside."
            ),
        ],
        return_: Annotated[
            ReplyContent | None,
            Field(
                alias="return",
                description="state: the whole new state (default up to 4 KB); changes: changed and removed entities "
                "(default beyond); events: the events only.",
            ),
        ] = None,
        expectedVersion: Annotated[  # noqa: N803
            int | None, Field(ge=0, description="Refuse the command unless the universe is at this version.")
        ] = None,
        idempotencyKey: Annotated[  # noqa: N803
            str | None,
            Field(min_length=1, max_length=KEY_CHARS, description="A command sent again with its key is applied once."),
        ] = None,
    ) -> str:
        """Change a universe by one command; return the new state or the changes, the events, the version and warnings.

        A command that this universe does not allow is an error with the reason, and changes nothing. A reply to tick
        has timePassed, timeUnit and, in a real system, date.
        """
        decoded = _decode_command(command)
        result = await service.send(
            universeId, decoded, expected_version=expectedVersion, key=idempotencyKey, actor=get_actor()
        )
        return (await encode_command_reply(result, decoded, return_)).decode()


def _add_resources(server: Server, service: UniverseService) -> None:
    @resource(server, COMMANDS_URI, title="The commands", mime_type="text/markdown")
    async def commands() -> str:
        """Every command with its fields, an example and its refusals."""
        return command_catalogue.render_markdown_reference()

    @resource(server, SCHEMA_URI, title="The schema of commands", mime_type="application/schema+json")
    async def schema() -> JsonSchema:
        """JSON schema of a command with all fields."""
        return make_command_schema()

    @resource(server, CONCEPTS_URI, title="How universes work", mime_type="text/markdown")
    async def concepts() -> str:
        """State, commands, log, orbits and units on one page."""
        return read_concepts_markdown()

    @resource(
        server,
        "universe://universes/{universe_id}",
        title="Summary of a universe",
        mime_type="application/json",
        foreign=FOREIGN,
    )
    async def universe(universe_id: str) -> UniverseSummary:
        """Entity counts and roots of a universe."""
        view = await service.view(universe_id)
        return summarize_universe(view.record, view.replica)

    async def list_universes() -> list[Listed]:
        return [
            Listed(
                uri=make_summary_uri(record.id),
                name=record.id,
                title=record.name,
                description=f"Universe {record.name}, at version {record.version}.",
                mime_type="application/json",
                foreign=FOREIGN,
            )
            for record in await service.list_records(limit=_MAX_LISTED)
        ]

    server.register_listing(list_universes)
    _add_subscription_listener(add_subscriptions(server), service)


def _add_subscription_listener(subscribed: Subscriptions, service: UniverseService) -> None:
    def notify(change: LogChange) -> None:
        subscribed.notify_updated(make_summary_uri(change.universe_id))

    service.add_change_listener(notify)


def _decode_command(command: Any) -> Any:
    """Return the command, decoded if it is a JSON string, and taken out of `{"command": …}`. Raise MalformedCommand."""
    if isinstance(command, str):
        try:
            command = parse_json(command)
        except json.JSONDecodeError as exc:
            problem = f"is text that is not JSON: {exc.msg} at line {exc.lineno}, column {exc.colno}"
            raise MalformedCommand("", problem, allowed="an object with a type", example=EXAMPLES["tick"]) from None
    fields: JsonObject = cast("JsonObject", command) if isinstance(command, dict) else {}
    if list(fields) == ["command"]:
        return fields["command"]
    batches = [name for name, value in fields.items() if _is_list_of_commands(value)]
    if batches and "type" not in fields:
        problem = f"holds several commands in {batches[0][:_SHOWN]}"
        raise MalformedCommand("", problem, allowed="one command, an object with a type", example=EXAMPLES["tick"])
    if isinstance(command, list):
        raise MalformedCommand("", "is a list", allowed="one command, an object with a type", example=EXAMPLES["tick"])
    return cast("Any", command)


def _is_list_of_commands(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict) and "type" in one for one in cast("list[Any]", value))


def _make_summary_reply(view: UniverseView, max_bytes: int, full_size: int) -> bytes:
    """Return the summary with as many roots as fit. Raise MalformedRequest if it does not fit without roots."""
    reply: UniverseSummary = {
        **summarize_universe(view.record, view.replica),
        "isSummary": True,
        "answerBytes": full_size,
    }
    roots = reply["roots"]
    while len(written := orjson.dumps(reply)) > max_bytes and roots:
        dropped = max(1, len(roots) // 2)
        del roots[-dropped:]
        reply["rootsNotShown"] += dropped
    if len(written) > max_bytes:
        raise MalformedRequest(
            f"maxBytes must be at least {len(written):,} for a summary, got {max_bytes:,}.",
            hint="Use a larger maxBytes.",
            argument="maxBytes",
            allowed=f"at least {len(written)}",
            **describe_record(view.record),
        )
    return written
