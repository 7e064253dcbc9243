"""MCP resources and their subscriptions."""

import asyncio
import json
from typing import Any
from urllib.parse import quote

import pytest
from mcp.types import TextResourceContents
from pydantic import AnyUrl

from tests.universe.domain import samples
from tests.universe.domain.samples import add_star, command
from tests.universe.mcp.agents import agent, send_command, send_refused_command
from tests.universe.mcp.served_universes import Served, run_server, wait_briefly
from tests.universe.mcp.wire import Wire
from universe.store.interface import UniverseRecord
from universe.store.memory import MemoryStore
from uraniborg.kernel.mcp.testing import ClientSession, McpError

TICK = command("tick")
REFERENCES = {f"universe://reference/{name}" for name in ("commands", "command-schema", "concepts")}
ODD_IDS = ["🌌", "a b", "__proto__", "50%", "ü?x=1#y", "a:b@c", "...", "a.b"]


def uri_of(universe_id: str) -> str:
    return f"universe://universes/{quote(universe_id, safe='')}"


async def listed_by(client: ClientSession) -> dict[str, Any]:
    return {str(resource.uri): resource for resource in (await client.list_resources()).resources}


async def read(client: ClientSession, uri: str) -> TextResourceContents:
    (content,) = (await client.read_resource(AnyUrl(uri))).contents
    assert isinstance(content, TextResourceContents)
    return content


async def summary_of(client: ClientSession, universe_id: str) -> dict[str, Any]:
    return json.loads((await read(client, uri_of(universe_id))).text)


async def error_of(requests: Any) -> Any:
    """Return the JSON-RPC error of a request that must fail, with the common error shape in its data."""
    with pytest.raises(McpError) as caught:
        await requests
    data = caught.value.error.data
    assert data is not None
    assert data.keys() == {"error"}
    assert data["error"].keys() >= {"code", "message", "hint"}
    return caught.value.error


class Updates:
    """The updates that a client receives, in order."""

    def __init__(self) -> None:
        self._received: asyncio.Queue[str] = asyncio.Queue()

    def __call__(self, uri: str) -> None:
        self._received.put_nowait(uri)

    async def next(self) -> str:
        return await wait_briefly(self._received.get())

    async def until(self, uri: str) -> list[str]:
        """Return all updates up to the first one of this resource."""
        updates = [await self.next()]
        while updates[-1] != uri:
            updates.append(await self.next())
        return updates


async def subscribe(client: ClientSession, universe_id: str) -> None:
    await client.subscribe_resource(AnyUrl(uri_of(universe_id)))


# What there is


async def test_the_references_and_every_universe_are_listed(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        listed = await listed_by(client)
        assert REFERENCES | {uri_of(u)} <= listed.keys()
        assert all(one.name and one.description and one.mimeType for one in listed.values())
        assert (listed[uri_of(u)].name, listed[uri_of(u)].title) == (u, "Hven")
        for uri in REFERENCES:
            content = await read(client, uri)
            kind = "application/schema+json" if uri.endswith("schema") else "text/markdown"
            assert content.mimeType == listed[uri].mimeType == kind
            assert len(content.text) > 500


async def test_the_reference_has_every_command_and_category(universe_server: Served) -> None:
    async with agent(universe_server.mcp) as client:
        text = (await read(client, "universe://reference/commands")).text
    for kind in samples.EXAMPLES:
        assert f"`{kind}`" in text
    for category in ("Simulation", "Star CRUD", "Small body fields", "Protoplanetary disks", "Snapshot"):
        assert f"## {category}" in text


async def test_a_template_shows_how_any_universe_is_read(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        template, *of_jobs = (await client.list_resource_templates()).resourceTemplates
        assert [one.uriTemplate.removeprefix(template.uriTemplate) for one in of_jobs] == ["/jobs", "/jobs/{job_id}"]
        assert all(one.description for one in (template, *of_jobs))
        uri = template.uriTemplate.replace("{universe_id}", u)
        assert json.loads((await read(client, uri)).text)["id"] == u


async def test_a_universe_is_summarized(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        content = await read(client, uri_of(u))
        summary = json.loads(content.text)
    assert content.mimeType == "application/json"
    assert (summary["id"], summary["name"], summary["version"], summary["time"]) == (u, "Hven", 3, 0)
    assert summary["counts"]["stars"] == 3
    assert summary["roots"] == [{"id": "sun", "name": "Tyge", "bodyType": None, "children": 1}]
    assert "get_universe_state" in summary["hint"]


async def test_a_universe_is_listed_from_its_creation_to_its_deletion(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        assert uri_of(f"{u}-new") not in await listed_by(client)
        await universe_server.make(f"{u}-new")
        assert uri_of(f"{u}-new") in await listed_by(client)
        await universe_server.delete(f"{u}-new")
        assert uri_of(f"{u}-new") not in await listed_by(client)
        error = await error_of(read(client, uri_of(f"{u}-new")))
    assert error.data["error"]["code"] == "universe_not_found"


async def test_odd_ids_are_listed_and_read_and_subscribed_to() -> None:
    reply = Updates()
    store = MemoryStore()
    async with run_server(store) as server, agent(server.mcp, on_updated=reply) as client:
        for each in ODD_IDS:
            await store.create(UniverseRecord(each, "Odd", 0, "2026-11-15T00:00:00.000Z", "2026-11-15T00:00:00.000Z"))
        listed = {one.name: str(one.uri) for one in (await client.list_resources()).resources}
        for each in ODD_IDS:
            assert json.loads((await read(client, listed[each])).text)["id"] == each
            await client.subscribe_resource(AnyUrl(listed[each]))
            await send_command(client, each, TICK)
            assert await reply.next() == listed[each]


@pytest.mark.parametrize("dots", [".", ".."])
async def test_an_id_that_no_address_can_have_is_not_given(universe_server: Served, dots: str) -> None:
    printed = await universe_server.http.post("/universes", json={"name": "Dots", "id": dots})
    assert printed.status_code == 400


async def test_a_hundred_universes_and_more_are_listed_and_every_one_can_be_read() -> None:
    async with run_server() as server, agent(server.mcp) as client:
        for number in range(105):
            await server.make(f"u-{number}")
        listed = await listed_by(client)
        assert 100 <= len(listed.keys() - REFERENCES) <= 105
        assert {(await summary_of(client, f"u-{number}"))["version"] for number in (0, 50, 104)} == {0}


@pytest.mark.parametrize(
    "uri", ["universe://reference/nothing", "universe://universes", "universe://universes/a/b", "file:///etc/passwd"]
)
async def test_an_unknown_resource_is_an_error_with_the_known_resources(universe_server: Served, uri: str) -> None:
    async with agent(universe_server.mcp) as client:
        error = await error_of(client.read_resource(AnyUrl(uri)))
    assert error.code == -32002
    assert set(error.data["error"]["allowed"]) > REFERENCES


async def test_a_universe_that_does_not_exist_is_an_error_that_names_it(universe_server: Served) -> None:
    async with agent(universe_server.mcp) as client:
        error = await error_of(read(client, uri_of("u-missing")))
    assert error.code == -32002
    assert (error.data["error"]["code"], error.data["error"]["universeId"]) == ("universe_not_found", "u-missing")


# Notifications


async def test_a_subscriber_is_notified_of_commands_by_another_client_and_by_rest(
    universe_server: Served, u: str
) -> None:
    reply = Updates()
    async with agent(universe_server.mcp, on_updated=reply) as subscriber, agent(universe_server.mcp) as other:
        await subscribe(subscriber, u)
        await send_command(other, u, TICK)
        assert await reply.next() == uri_of(u)
        await universe_server.send(u, TICK)
        assert await reply.next() == uri_of(u)
        await send_command(subscriber, u, TICK)
        assert await reply.next() == uri_of(u)
        assert (await summary_of(subscriber, u))["version"] == 6


async def test_a_subscriber_is_notified_of_a_state_that_was_put_and_of_an_undo(universe_server: Served, u: str) -> None:
    reply = Updates()
    async with agent(universe_server.mcp, on_updated=reply) as client:
        await subscribe(client, u)
        state = samples.a_snapshot(time=7)
        assert (await universe_server.http.put(f"/universes/{u}", json={"state": state})).status_code == 200
        assert await reply.next() == uri_of(u)
        assert (await universe_server.http.post(f"/universes/{u}/undo")).status_code == 200
        assert await reply.next() == uri_of(u)
        assert (await summary_of(client, u))["counts"]["stars"] == 3


async def test_a_subscriber_is_notified_of_a_new_name(universe_server: Served, u: str) -> None:
    reply = Updates()
    async with agent(universe_server.mcp, on_updated=reply) as client:
        await subscribe(client, u)
        await universe_server.http.put(f"/universes/{u}", json={"name": "Uraniborg"})
        await universe_server.make(f"{u}-after")
        await subscribe(client, f"{u}-after")
        await universe_server.send(f"{u}-after", TICK)
        assert (await summary_of(client, u))["name"] == "Uraniborg"
        assert await reply.until(uri_of(f"{u}-after")) == [uri_of(u), uri_of(f"{u}-after")]


async def test_a_subscriber_to_a_universe_that_is_deleted_is_notified_and_finds_nothing(
    universe_server: Served, u: str
) -> None:
    reply = Updates()
    async with agent(universe_server.mcp, on_updated=reply) as client:
        await subscribe(client, u)
        await universe_server.delete(u)
        assert await reply.next() == uri_of(u)
        assert (await error_of(read(client, uri_of(u)))).data["error"]["code"] == "universe_not_found"
        await client.unsubscribe_resource(AnyUrl(uri_of(u)))


async def test_a_universe_made_again_under_its_id_is_announced_once_more(universe_server: Served, u: str) -> None:
    reply = Updates()
    async with agent(universe_server.mcp, on_updated=reply) as client:
        await subscribe(client, u)
        await universe_server.delete(u)
        assert await reply.next() == uri_of(u)
        await universe_server.make(u)
        assert await reply.next() == uri_of(u)
        assert (await summary_of(client, u))["version"] == 0


async def test_no_subscriber_is_notified_of_other_universes_or_after_unsubscribing(
    universe_server: Served, u: str
) -> None:
    reply = Updates()
    for more in ("left", "other", "last"):
        await universe_server.make(f"{u}-{more}")
    async with agent(universe_server.mcp, on_updated=reply) as client:
        for more in ("left", "last"):
            await subscribe(client, f"{u}-{more}")
        await client.unsubscribe_resource(AnyUrl(uri_of(f"{u}-left")))
        for more in ("left", "other", "last"):
            await universe_server.send(f"{u}-{more}", TICK)
        assert await reply.next() == uri_of(f"{u}-last")


async def test_no_subscriber_is_notified_of_a_command_that_was_refused(universe_server: Served, u: str) -> None:
    reply = Updates()
    await universe_server.make(f"{u}-last")
    async with agent(universe_server.mcp, on_updated=reply) as client:
        for each in (u, f"{u}-last"):
            await subscribe(client, each)
        await send_refused_command(client, u, command("removeStar", id="nobody"))
        await send_command(client, f"{u}-last", TICK)
        assert await reply.next() == uri_of(f"{u}-last")


async def test_each_session_is_notified_only_of_its_subscriptions(universe_server: Served, u: str) -> None:
    first, second = Updates(), Updates()
    await universe_server.make(f"{u}-other")
    async with (
        agent(universe_server.mcp, on_updated=first) as one,
        agent(universe_server.mcp, on_updated=second) as other,
    ):
        await subscribe(one, u)
        await subscribe(other, f"{u}-other")
        await universe_server.send(u, TICK)
        await universe_server.send(f"{u}-other", TICK)
        assert await first.next() == uri_of(u)
        assert await second.next() == uri_of(f"{u}-other")


async def test_changes_before_the_stream_opens_are_sent_once_it_is_open(
    universe_server: Served, wire: Wire, u: str
) -> None:
    session = await wire.begin()
    assert (await session.ask("resources/subscribe", {"uri": uri_of(u)}))["result"] == {}
    await universe_server.send(u, TICK)
    async with session.open_listener() as stream:
        event = await stream.next()
    assert event.data == {
        "jsonrpc": "2.0",
        "method": "notifications/resources/updated",
        "params": {"uri": uri_of(u)},
    }


async def test_many_commands_at_once_do_not_drown_a_subscriber(universe_server: Served, u: str) -> None:
    reply = Updates()
    await universe_server.make(f"{u}-last")
    async with agent(universe_server.mcp, on_updated=reply) as client:
        for each in (u, f"{u}-last"):
            await subscribe(client, each)
        for _ in range(5):
            await universe_server.send(u, [TICK] * 200, wanted="events")
        await universe_server.send(f"{u}-last", TICK)
        assert len(await reply.until(uri_of(f"{u}-last"))) < 20
        assert (await summary_of(client, u))["version"] == 1_003


@pytest.mark.parametrize("uri", ["universe://universes/u-missing", "universe://reference/nothing"])
async def test_a_subscription_to_an_unknown_resource_is_refused(universe_server: Served, uri: str) -> None:
    async with agent(universe_server.mcp) as client:
        error = await error_of(client.subscribe_resource(AnyUrl(uri)))
    assert error.code == -32002


async def test_the_bodies_of_a_large_universe_stay_out_of_its_summary(universe_server: Served, u: str) -> None:
    roots = [add_star(f"root {number}") for number in range(300)]
    await universe_server.send(u, roots, wanted="events")
    async with agent(universe_server.mcp) as client:
        content = await read(client, uri_of(u))
    summary = json.loads(content.text)
    assert len(content.text) < 10_000
    assert len(summary["roots"]) + summary["rootsNotShown"] == 301


# Jobs


async def test_an_agent_reads_the_jobs_of_a_universe_and_the_result_of_one() -> None:
    async with run_server() as served, agent(served.mcp) as client:
        made = await served.http.post("/universes", json={"name": "T", "id": "t1", "from": "trappist-1"})
        assert made.status_code == 201
        started = await served.http.post("/universes/t1/jobs", json={"kind": "rv", "days": 3, "samples": 300})
        job_id = started.json()["id"]
        async with asyncio.timeout(30):
            await served.http.get(f"/universes/t1/jobs/{job_id}/events")  # ends with the job
        listed = json.loads((await read(client, f"{uri_of('t1')}/jobs")).text)
        assert [job["id"] for job in listed["jobs"]] == [job_id]
        job = json.loads((await read(client, f"{uri_of('t1')}/jobs/{job_id}")).text)
        assert job["summary"]["headline"].startswith("TRAPPIST-1 moves from")
        assert len(job["result"]["samples"]["times"]) == 200
        assert job["shortened"] == {"result.samples.times": 300, "result.samples.velocities": 300}
        error = await error_of(client.read_resource(AnyUrl(f"{uri_of('t1')}/jobs/job_x")))
        assert error.data["error"]["code"] == "job_not_found"
        assert len((await client.list_tools()).tools) == 3
