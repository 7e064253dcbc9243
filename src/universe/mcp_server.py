"""The universe over MCP: three tools, and what can be read and subscribed to beside them."""

from typing import Annotated, Any, Final

import orjson
from pydantic import Field

from universe.domain import catalogue
from universe.domain.schemas import AnyCommandShape
from universe.errors import MalformedCommand, MalformedRequest
from universe.pages import concepts_text
from universe.service.asking import KEY_CHARS
from universe.service.replies import Part, Wanted, part_json, record_facts, result_json, state_json, suits, summary
from universe.service.universes import Seen, UniverseService
from universe.store.port import Change
from uraniborg.kernel.mcp import Listed, Server, Subscriptions, list_more, make_server, resource, subscriptions, tool
from uraniborg.kernel.version import version

COMMANDS_URI: Final = "universe://reference/commands"
CONCEPTS_URI: Final = "universe://reference/concepts"
_LISTED: Final = 1_000
"""How many universes are listed among the resources; all can be read."""
_LEAST_BYTES: Final = 1_000

UniverseId = Annotated[str, Field(max_length=1_000, description="The id of a universe; the resources list them.")]

_INSTRUCTIONS: Final = """Universes of stars, planets and other bodies, which change by commands alone.

Read one with get_universe_state, learn the commands with list_universe_commands, change it with send_universe_command.
The resources list the universes there are; subscribe to one to be told when it changes. Time stands still until a tick.
"""


def make_mcp_server(service: UniverseService) -> Server:
    """A server for `service`, which must be running while it is used."""
    server = make_server("universe", version=version(), instructions=_INSTRUCTIONS)
    _add_reading(server, service)
    _add_sending(server, service)
    _add_resources(server, service)
    return server


def summary_uri(universe_id: str) -> str:
    """Where the summary of a universe is read, and subscribed to."""
    from urllib.parse import quote

    return f"universe://universes/{quote(universe_id, safe='')}"


def _add_reading(server: Server, service: UniverseService) -> None:
    @tool(
        server, title="The state of a universe", read_only=True, idempotent=True, structured=False, about=["universeId"]
    )
    async def get_universe_state(
        universeId: UniverseId,  # noqa: N803 - the specification's name
        ids: Annotated[
            list[str] | None, Field(max_length=10_000, description="Only the entities with these ids.")
        ] = None,
        fields: Annotated[
            list[str] | None, Field(max_length=200, description="Only these fields of each entity, such as name, mass.")
        ] = None,
        version: Annotated[int | None, Field(ge=0, description="As it was at this version.")] = None,
        maxBytes: Annotated[  # noqa: N803
            int | None, Field(ge=_LEAST_BYTES, description="If the state is larger, answer with a summary of it.")
        ] = None,
    ) -> str:
        """The whole state of a universe as JSON: stars (all bodies), groups, belts, fields, disks, nebulae, the time.

        Large universes are better read in parts: maxBytes gives a summary where the whole would be larger, ids and
        fields choose what to read. Use it before changing something and to see what a command did.
        """
        seen = await service.look(universeId, version)
        if ids is not None or fields is not None:
            said = await part_json(seen.replica, Part(ids, fields))
        else:
            said = await state_json(seen.replica)
        if maxBytes is not None and len(said) > maxBytes:
            said = _summary_within(seen, maxBytes, len(said))
        return said.decode()

    @tool(server, title="The commands there are", read_only=True, idempotent=True, about=["universeId"])
    async def list_universe_commands(
        universeId: UniverseId,  # noqa: N803 - required by the specification; the listing is the same for all
        category: Annotated[
            str | None, Field(max_length=100, description="Only this category, by name or slug, such as star-crud.")
        ] = None,
    ) -> dict[str, Any]:
        """All commands that change a universe, in ten categories, each with its fields, an example and its refusals.

        The listing is the same for every universe. Use it before send_universe_command.
        """
        return {"categories": [catalogue.category(category)] if category is not None else catalogue.categories()}


def _add_sending(server: Server, service: UniverseService) -> None:
    @tool(server, title="Send a command", read_only=False, destructive=True, structured=False, about=["universeId"])
    async def send_universe_command(
        universeId: UniverseId,  # noqa: N803
        command: Annotated[
            Any,
            AnyCommandShape(),
            Field(description='The command, such as {"type": "tick", "dt": 1}. list_universe_commands shows all.'),
        ],
        return_: Annotated[
            Wanted | None,
            Field(
                alias="return",
                description="state: answer with the whole new state (usual while it is small); changes: with what "
                "changed; events: with what happened only.",
            ),
        ] = None,
        expectedVersion: Annotated[  # noqa: N803
            int | None, Field(ge=0, description="Refuse unless the universe is at this version.")
        ] = None,
        idempotencyKey: Annotated[  # noqa: N803
            str | None, Field(min_length=1, max_length=KEY_CHARS, description="Repeated with its key it is done once.")
        ] = None,
    ) -> str:
        """Changes a universe by one command; answers with the new state or what changed, the events and the version.

        A command that the universe does not allow is an error that says why, and changes nothing.
        """
        if isinstance(command, str):  # some clients send objects as a string of JSON
            command = _unwrapped(command)
        if isinstance(command, list):
            raise MalformedCommand("", "is a list", allowed="one command, an object with a type")
        result = await service.send(universeId, command, expected_version=expectedVersion, key=idempotencyKey)
        return (await result_json(result, return_ or suits(result.replica))).decode()


def _add_resources(server: Server, service: UniverseService) -> None:
    @resource(server, COMMANDS_URI, title="The commands", mime_type="text/markdown")
    async def commands() -> str:
        """Every command with its fields, an example and what is refused."""
        return catalogue.as_markdown()

    @resource(server, CONCEPTS_URI, title="How universes work", mime_type="text/markdown")
    async def concepts() -> str:
        """State, commands, log, orbits and units in one page."""
        return concepts_text()

    @resource(server, "universe://universes/{universe_id}", title="A universe in short", mime_type="application/json")
    async def universe(universe_id: str) -> dict[str, Any]:
        """How much of what is in a universe, and its roots."""
        seen = await service.look(universe_id)
        return summary(seen.record, seen.replica)

    async def universes() -> list[Listed]:
        return [
            Listed(
                uri=summary_uri(record.id),
                name=record.id,
                title=record.name,
                description=f"Universe {record.name}, at version {record.version}.",
                mime_type="application/json",
            )
            for record in await service.records(limit=_LISTED)
        ]

    list_more(server, universes)
    _announce(subscriptions(server), service)


def _announce(subscribed: Subscriptions, service: UniverseService) -> None:
    def changed(change: Change) -> None:
        subscribed.updated(summary_uri(change.universe_id))

    service.on_change(changed)


def _unwrapped(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _summary_within(seen: Seen, most: int, size: int) -> bytes:
    """The summary, with as many roots as there is room for."""
    said: dict[str, Any] = {**summary(seen.record, seen.replica), "isSummary": True, "answerBytes": size}
    roots = said["roots"]
    while len(written := orjson.dumps(said)) > most and roots:
        dropped = max(1, len(roots) // 2)
        del roots[-dropped:]
        said["rootsNotShown"] += dropped
    if len(written) > most:
        raise MalformedRequest(
            "maxBytes leaves no room even for a summary.",
            hint=f"Allow at least {len(written):,} bytes.",
            argument="maxBytes",
            allowed=f"at least {len(written)}",
            **record_facts(seen.record),
        )
    return written
