"""The interface through which a request comes decides who its actor is: the name that a client claims does not."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.installed_programs import find_program
from tests.uraniborg.console.processes import ServerProcess
from tests.uraniborg.console.surfaces import connect_agent
from uraniborg.kernel.mcp.testing import connect_stdio_client, get_json
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(120)
ADA = {"kind": "person", "name": "Ada", "authenticated": "sign_in"}
HELLO: dict[str, Any] = {"nodes": [{"id": "hi", "type": "echo", "params": {"message": "hello"}}]}


@pytest.fixture
async def ada(server: ServerProcess) -> AsyncIterator[httpx.AsyncClient]:
    """Return a client that Ada has signed in."""
    async with server.make_async_client("Ada") as opened:
        yield opened


async def get(api: httpx.AsyncClient, path: str) -> Any:
    reply = await api.get(path)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def wait_while(api: httpx.AsyncClient, path: str, name: str) -> Any:
    """Return the reply once it no longer says that something is running."""
    async with asyncio.timeout(100):
        while (reply := await get(api, path))[name] == "running":  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.1)
    return reply


async def start_search(api: httpx.AsyncClient) -> dict[str, Any]:
    reply = await api.post("/api/searches", json={"query": QUERY})
    assert reply.status_code == 201, reply.text
    return reply.json()


async def test_a_person_who_signed_in_and_a_program_with_the_token_are_told_apart(
    api: httpx.AsyncClient, ada: httpx.AsyncClient
) -> None:
    assert (await start_search(ada))["actor"] == ADA
    by_program = await start_search(api)
    assert (by_program["actor"]["kind"], by_program["actor"]["authenticated"]) == ("software", "token")
    actors = [one["actor"] for one in (await get(ada, "/api/searches"))["sessions"]]
    assert ADA in actors
    assert by_program["actor"] in actors


async def test_an_agent_with_a_credential_is_an_agent_whatever_it_claims(
    server: ServerProcess, ada: httpx.AsyncClient
) -> None:
    async with connect_agent(server, "paper-search") as agent:
        state = get_json(await agent.call_tool("search_papers", {"query": QUERY}))
    assert (state["actor"]["kind"], state["actor"]["authenticated"]) == ("agent", "credential")
    shown = await get(ada, f"/api/searches/{state['session_id']}")
    assert shown["actor"] == state["actor"]


async def test_an_agent_over_stdio_is_an_agent_of_this_account(server: ServerProcess) -> None:
    environment = {**server.env, "URANIBORG_PAPER_SEARCH__REPLAY_DIR": ""}
    python = find_program("python")
    async with connect_stdio_client(python, ["-m", "paper_search.mcp_server"], env=environment) as agent:
        state = get_json(await agent.call_tool("search_papers", {"query": QUERY}))
    assert (state["actor"]["kind"], state["actor"]["authenticated"]) == ("agent", "account")


async def test_a_person_cannot_sign_in_under_the_name_of_a_program(server: ServerProcess) -> None:
    async with server.make_async_client() as api:
        refused = await api.post("/api/sign-in", json={"token": server.token, "name": "Ada (software)"})
    assert refused.status_code == 422
    assert "a name for programs" in refused.json()["error"]["message"]


async def test_runs_texts_and_cancellations_have_their_actor(api: httpx.AsyncClient, ada: httpx.AsyncClient) -> None:
    await ada.put("/api/drafts/hello", json={"document": HELLO})
    drafts = (await get(api, "/api/workflows"))["drafts"]
    assert next(one["actor"] for one in drafts if one["name"] == "hello") == ADA
    waits = {"nodes": [{"id": "wait", "type": "shell", "params": {"command": "sleep 60"}}]}
    await api.put("/api/drafts/waits", json={"document": waits})
    started = (await ada.post("/api/runs", json={"name": "waits"})).json()
    assert (await api.post(f"/api/runs/{started['run_id']}/cancel")).status_code == 202
    run = await wait_while(ada, f"/api/runs/{started['run_id']}", "status")
    assert (run["status"], run["actor"], run["starter"]) == ("cancelled", ADA, {"door": "console", "name": "Ada"})
    assert run["cancelled_by"]["kind"] == "software"


async def test_a_shelf_of_a_search_is_built_by_who_asked_for_it(ada: httpx.AsyncClient) -> None:
    session = f"/api/searches/{(await start_search(ada))['session_id']}"
    await ada.post(f"{session}/decide", json={"action": "approve"})
    build = (await ada.post(f"{session}/shelf", json={"name": "by-ada", "statuses": ["undecided"]})).json()
    assert build["actor"] == ADA
    build = await wait_while(ada, f"{session}/shelf", "state")
    assert build["state"] == "done", build
    shelves = (await get(ada, "/api/shelves"))["shelves"]
    assert next(one["built_by"] for one in shelves if one["name"] == "by-ada") == ADA
