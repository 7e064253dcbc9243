"""Faults of `uraniborg serve`: processes killed at any moment, and what the others make of it."""

import asyncio
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.paper_search.sessions.processes import serving
from tests.uraniborg.console.processes import ServerProcess, run_server
from tests.uraniborg.console.streams import open_stream, wait_for_event
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    with run_server(tmp_path_factory.mktemp("home")) as running:
        yield running


def find_children(process_id: int) -> list[int]:
    """Return the ids of the processes that a process has started."""
    tasks = Path(f"/proc/{process_id}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


async def wait_until_gone(process_id: int) -> None:
    async with asyncio.timeout(60):
        while Path(f"/proc/{process_id}").exists():  # noqa: ASYNC110 - another process ends
            await asyncio.sleep(0.05)


async def test_a_decision_continues_a_session_whose_agent_was_killed(server: ServerProcess) -> None:
    home = Path(server.env["HOME"])
    async with open_stream(server) as events, server.make_async_client() as api:
        with serving(home, env={**server.env, "URANIBORG_PAPER_SEARCH__REPLAY_DIR": ""}) as agent:
            asked = await asyncio.to_thread(agent.search)
            agent.kill()
        session_id, checkpoint_id = asked["session_id"], asked["checkpoint_id"]
        decided = await api.post(f"/api/inbox/{checkpoint_id}/decide", json={"action": "approve"})
        assert decided.status_code == 200, decided.text
        await wait_for_event(events, "source", subject=session_id)
        await wait_for_event(events, "inbox", state="pending", about=session_id)
        state = (await api.get(f"/api/searches/{session_id}")).json()
        assert state["current_checkpoint_kind"] == "result_review"


async def test_a_search_worker_that_was_killed_is_started_again_and_continues_its_sessions(
    server: ServerProcess,
) -> None:
    async with server.make_async_client() as api:
        asked = (await api.post("/api/searches", json={"query": QUERY})).json()
        (worker,) = find_children(server.process.pid)
        os.kill(worker, signal.SIGKILL)
        await wait_until_gone(worker)
        path = f"/api/searches/{asked['session_id']}"
        state = await api.get(path)
        if state.status_code == 503:  # sent before the server had noticed
            assert state.json()["error"]["code"] == "worker_ended"
            state = await api.get(path)
        assert state.json()["checkpoint_id"] == asked["checkpoint_id"]
        reviewed = (await api.post(f"{path}/decide", json={"action": "approve"})).json()
        assert reviewed["current_checkpoint_kind"] == "result_review"
        assert find_children(server.process.pid) != [worker]


async def test_a_server_that_was_killed_leaves_no_worker_behind(tmp_path: Path) -> None:
    with run_server(tmp_path) as server:
        (worker,) = find_children(server.process.pid)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        await wait_until_gone(worker)
