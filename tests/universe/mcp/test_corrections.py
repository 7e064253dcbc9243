"""A reply to a mistake contains the correction: the nearest id, the right command or the right place."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import AnyUrl

from tests.universe.domain import samples
from tests.universe.mcp.agents import agent, call_failing_tool, read_state, send_command, send_refused_command
from tests.universe.mcp.served_universes import Served, run_server
from universe.store.memory import MemoryStore
from uraniborg.kernel.mcp.testing import ClientSession, McpError


@asynccontextmanager
async def open_solar_system() -> AsyncGenerator[tuple[Served, ClientSession]]:
    async with run_server(MemoryStore()) as server:
        made = await server.http.post("/universes", json={"id": "hven", "name": "Hven", "from": "solar-system"})
        assert made.status_code == 201
        async with agent(server.mcp) as client:
            yield server, client


async def read_message(client: ClientSession, uri: str) -> str:
    with pytest.raises(McpError) as caught:
        await client.read_resource(AnyUrl(uri))
    return caught.value.error.message


async def test_messages_of_failed_reads_name_the_nearest_universe_the_tool_and_the_list() -> None:
    async with open_solar_system() as (_, client):
        assert "Did you mean 'hven'?" in await read_message(client, "universe://universes/hvn")
        state = await read_message(client, "universe://universes/hven/state")
        assert "get_universe_state reads the state and its bodies." in state
        assert "resources/list lists the universes" in await read_message(client, "universe://universes")
        assert "/history" in await read_message(client, "universe://universes/hven/history")


async def test_a_broken_id_of_a_job_is_answered_with_the_nearest_job_of_the_universe() -> None:
    async with open_solar_system() as (server, client):
        started = await server.http.post("/universes/hven/jobs", json={"kind": "nbody", "days": 1})
        job_id: str = started.json()["id"]
        wrong = job_id[:-3] + ("0" if job_id[-3] != "0" else "1") + job_id[-2:]
        for given in (job_id[:12], wrong, job_id.upper()):
            message = await read_message(client, f"universe://universes/hven/jobs/{given}")
            assert f"Did you mean '{job_id}'?" in message, given
        over_rest = (await server.http.get(f"/universes/hven/jobs/{wrong}")).json()["error"]
        assert over_rest["nearest"] == [job_id]
        assert "Did you mean" not in await read_message(client, "universe://universes/hven/jobs/nothing-like-it")


@pytest.mark.parametrize("given", ["saturn/titan", "universe://universes/hven/titan", "Saturn:Titan", "Saturn > Titan"])
async def test_a_path_to_a_body_is_answered_with_the_body(given: str) -> None:
    async with open_solar_system() as (_, client):
        reply = await read_state(client, "hven", ids=[given])
        assert reply["nearest"] == {given: ["titan"]}


@pytest.mark.parametrize("given", ["*", "all"])
async def test_a_wildcard_for_ids_is_answered_with_the_way_to_read_all(given: str) -> None:
    async with open_solar_system() as (_, client):
        reply = await read_state(client, "hven", ids=[given])
        assert reply["hint"] == f"'{given}' is not an id: leave out ids for all entities."
        assert "hint" not in await read_state(client, "hven", ids=["nobody"])


@pytest.mark.parametrize(("field", "meant"), [("orbit", "kepler"), ("Period", "kepler"), ("kepler.period", "kepler")])
async def test_a_name_for_the_orbit_is_answered_with_its_field(field: str, meant: str) -> None:
    async with open_solar_system() as (_, client):
        error = await call_failing_tool(client, "get_universe_state", universeId="hven", fields=[field])
        assert error["hint"].startswith(f"Did you mean '{meant}'? ")


async def test_a_time_to_read_at_is_answered_with_the_command_and_the_address() -> None:
    async with open_solar_system() as (_, client):
        error = await call_failing_tool(client, "get_universe_state", universeId="hven", time=10)
        assert "Time passes with the command tick" in error["hint"]
        assert "/positions" in error["hint"]


@pytest.mark.parametrize("name", ["setTime", "set_time", "setDate", "changeTime"])
async def test_setting_the_time_is_answered_with_tick(name: str) -> None:
    async with open_solar_system() as (_, client):
        error = await send_refused_command(client, "hven", {"type": name, "time": 100})
        assert error["hint"].startswith("Did you mean 'tick'? ")


async def test_an_unknown_field_of_tick_is_answered_with_the_unit_of_dt() -> None:
    async with open_solar_system() as (_, client):
        error = await send_refused_command(client, "hven", {"type": "tick", "until": "2001-01-01"})
        assert "dt is a number of simulation seconds" in error["hint"]


async def test_a_batch_is_answered_with_the_form_of_one_command() -> None:
    async with open_solar_system() as (_, client):
        batch = {"commands": [samples.command("tick"), samples.command("tick")]}
        error = await send_refused_command(client, "hven", batch)
        assert error["message"] == "the command holds several commands in commands."
        assert error["allowed"].startswith("one command")


async def test_attaching_to_null_is_answered_with_detaching() -> None:
    async with open_solar_system() as (_, client):
        command = {"type": "attachStar", "childId": "moon", "parentId": None}
        error = await send_refused_command(client, "hven", command)
        assert error["hint"].startswith("To make a body a root, send detachStar with its childId. ")
        assert (await send_command(client, "hven", {"type": "detachStar", "childId": "moon"}))["version"] == 2


@pytest.mark.parametrize(
    ("payload", "warning"),
    [
        ({"radius": 6371}, "radius is in AU here: if 6371 are kilometres, send 4.259e-05."),
        ({"parentId": "null"}, "For a root send null, without quotes."),
        ({"parentId": "None"}, "For a root send null, without quotes."),
    ],
)
async def test_a_probable_mistake_in_a_body_is_a_warning_with_the_value_to_send(
    payload: dict[str, Any], warning: str
) -> None:
    async with open_solar_system() as (_, client):
        reply = await send_command(client, "hven", {"type": "updateStar", "id": "earth", "payload": payload})
        assert any(one.endswith(warning) for one in reply["warnings"]), reply["warnings"]


async def test_a_radius_in_astronomical_units_has_no_warning() -> None:
    async with open_solar_system() as (_, client):
        command = {"type": "updateStar", "id": "sun", "payload": {"radius": 8.5}}
        reply = await send_command(client, "hven", command)
        assert not any("kilometres" in one for one in reply.get("warnings", []))
