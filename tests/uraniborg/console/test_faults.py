"""Faults of `uraniborg serve`: processes killed at any moment, and what the others make of it."""

import asyncio
import json
import os
import resource
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.installed_programs import find_program
from tests.paper_search.service.sessions.processes import serving
from tests.uraniborg.console.processes import ServerProcess, run_installed_server, run_server
from tests.uraniborg.console.streams import open_stream, wait_for_event
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(120)


def find_children(process_id: int) -> list[int]:
    """Return the ids of the processes that a process has started."""
    tasks = Path(f"/proc/{process_id}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def run_uraniborg(env: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [find_program("uraniborg"), *arguments]
    return subprocess.run(command, env=env, cwd=env["HOME"], capture_output=True, text=True, check=False)


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
        await wait_for_event(events, "session", subject=session_id, checkpoint_kind="result_review")
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


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
async def test_a_server_that_ends_leaves_no_process_and_its_run_is_interrupted_and_can_be_resumed(
    tmp_path: Path, ending: signal.Signals
) -> None:
    slow = {"nodes": [{"id": "wait", "type": "shell", "params": {"command": "sleep 100"}}]}
    with run_server(tmp_path) as server:
        async with open_stream(server) as events, server.make_async_client() as api:
            await api.put("/api/drafts/slow", json={"document": slow})
            run_id = (await api.post("/api/runs", json={"name": "slow"})).json()["run_id"]
            await wait_for_event(events, "node", node="wait", status="running")
            children = find_children(server.process.pid)
            server.process.send_signal(ending)
            async with asyncio.timeout(60):
                with suppress(httpx.RemoteProtocolError):
                    assert [kind async for _, kind, _ in events if kind == "reset"] == []
        assert server.process.wait(60) == (0 if ending == signal.SIGINT else -ending)
        for child in children:
            await wait_until_gone(child)
    with run_server(tmp_path) as again, again.make_client() as client:
        run = client.get(f"/api/runs/{run_id}").json()
        assert (run["status"], run["error"]["code"]) == ("interrupted", "run_interrupted")
        assert run["error"]["message"] == "The run was interrupted: the server that ran it has ended."
        assert run["error"]["hint"] == "Run it again to resume it."


async def start_waiting_run(server: ServerProcess, api: httpx.AsyncClient, events: AsyncIterator[Any]) -> str:
    """Start a run that waits for an approval, and return the id of the question when the request is stored."""
    approval = {"nodes": [{"id": "ask", "type": "approval", "params": {"question": "Publish?"}}]}
    await api.put("/api/drafts/publish", json={"document": approval})
    await api.post("/api/runs", json={"name": "publish"})
    asked = await wait_for_event(events, "inbox", state="pending", part="pflow")
    await wait_for_event(events, "run", workflow="publish", status="waiting")
    stored = Path(server.env["URANIBORG_HOME"]) / "data" / "console" / "waiting-runs.json"
    async with asyncio.timeout(60):
        while not (stored.exists() and asked["subject"] in stored.read_text()):  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.05)
    return asked["subject"]


async def test_a_run_that_was_approved_while_no_server_ran_is_resumed(tmp_path: Path) -> None:
    with run_server(tmp_path) as server:
        async with open_stream(server) as events, server.make_async_client() as api:
            question = await start_waiting_run(server, api, events)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    decided = await asyncio.to_thread(run_uraniborg, server.env, "decide", question, "approve")
    assert decided.returncode == 0, decided.stderr
    with run_server(tmp_path) as again:
        async with again.make_async_client() as api, asyncio.timeout(60):
            while (await api.get("/api/runs")).json()["runs"][0]["status"] != "success":  # noqa: ASYNC110
                await asyncio.sleep(0.05)


SECRET = "ultramarine-4711-lantern"
USES_SECRET = {
    "inputs": {"word": {"type": "string", "secret": True}, "topic": {"type": "string"}},
    "nodes": [
        {"id": "ask", "type": "approval", "params": {"question": "Send ${word} about ${topic}?"}},
        {"id": "send", "type": "echo", "params": {"message": "${word} about ${topic}"}},
    ],
    "edges": [{"from": "ask", "to": "send"}],
}


def find_files_with_secret(server: ServerProcess) -> list[str]:
    files = [path for path in Path(server.env["HOME"]).rglob("*") if path.is_file()]
    assert any(path.name == "runs.db" for path in files)
    return [str(path) for path in files if SECRET.encode() in _read_if_present(path)]


def _read_if_present(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # a temporary file of the server
        return b""


async def start_run_with_secret(server: ServerProcess, api: httpx.AsyncClient, events: AsyncIterator[Any]) -> str:
    """Start a run that waits for an approval, and return the id of the question when later requests are stored."""
    await api.put("/api/drafts/send", json={"document": USES_SECRET})
    await api.post("/api/runs", json={"name": "send", "inputs": {"word": SECRET, "topic": "tides"}})
    asked = await wait_for_event(events, "inbox", state="pending", part="pflow")
    await wait_for_event(events, "run", workflow="send", status="waiting")
    await start_waiting_run(server, api, events)
    return asked["subject"]


async def test_a_run_with_a_secret_is_resumed_when_approved_and_no_file_contains_the_secret(
    server: ServerProcess,
) -> None:
    async with open_stream(server) as events, server.make_async_client() as api:
        question = await start_run_with_secret(server, api, events)
        assert find_files_with_secret(server) == []
        await api.post(f"/api/inbox/{question}/decide", json={"action": "approve"})
        await wait_for_event(events, "run", workflow="send", status="success")
    assert find_files_with_secret(server) == []


async def test_a_run_with_a_secret_asks_for_the_secret_again_when_its_server_was_killed(tmp_path: Path) -> None:
    with run_server(tmp_path) as server:
        async with open_stream(server) as events, server.make_async_client() as api:
            question = await start_run_with_secret(server, api, events)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    decided = await asyncio.to_thread(run_uraniborg, server.env, "decide", question, "approve")
    assert decided.returncode == 0, decided.stderr
    with run_server(tmp_path) as again:
        async with open_stream(again) as events, again.make_async_client() as api:
            (run,) = (await api.get("/api/runs", params={"workflow": "send"})).json()["runs"]
            progress = (await api.get(f"/api/runs/{run['id']}/progress")).json()
            assert not progress["resumes_when_decided"]
            refused = await api.post(f"/api/runs/{run['id']}/resume", json={})
            assert refused.json()["error"]["missing"] == ["word"]
            assert "Give them again" in refused.json()["error"]["hint"]
            await api.post(f"/api/runs/{run['id']}/resume", json={"inputs": {"word": SECRET}})
            await wait_for_event(events, "run", workflow="send", status="success")
        assert find_files_with_secret(again) == []


async def test_a_draft_that_was_written_while_no_server_ran_is_announced(tmp_path: Path) -> None:
    with run_server(tmp_path) as server:
        async with open_stream(server), server.make_async_client() as api:
            await api.put("/api/drafts/known", json={"document": {"nodes": []}})
    drafts = Path(server.env["URANIBORG_HOME"]) / "pflow" / "workflows" / "drafts"
    (drafts / "later.json").write_text('{"nodes": []}')
    with run_server(tmp_path) as again:
        async with open_stream(again) as events:
            await wait_for_event(events, "workflow", subject="later", source="draft", deleted=False)


async def test_two_servers_share_the_data_and_a_taken_port_is_reported(server: ServerProcess) -> None:
    port = server.url.rpartition(":")[2]
    refused = await asyncio.to_thread(run_uraniborg, server.env, "serve", "--port", port)
    assert refused.returncode == 5
    assert f"Port {port} cannot be used" in refused.stderr
    with run_server(Path(server.env["HOME"])) as other:
        assert other.token == server.token
        async with open_stream(other) as events, server.make_async_client() as api, other.make_async_client() as second:
            asked = (await api.post("/api/searches", json={"query": QUERY})).json()
            await wait_for_event(events, "inbox", state="pending", about=asked["session_id"])
            decided = await second.post(f"/api/inbox/{asked['checkpoint_id']}/decide", json={"action": "approve"})
            assert decided.status_code == 200
            await wait_for_event(events, "inbox", state="pending", about=asked["session_id"])


def test_a_database_that_is_down_is_reported_and_the_rest_runs(tmp_path: Path) -> None:
    address = "postgresql://nobody@127.0.0.1:1/universes"
    with run_server(tmp_path, URANIBORG_UNIVERSE__DB=address) as server:
        assert server.parts["universe"]["problem"]
        assert server.parts["universe"]["hint"]
        assert server.parts["paper-library"]["running"]


def limit_file_size(server: ServerProcess, size: int) -> None:
    """Let no process of the server write beyond this size, as a full disk does; -1 lifts the limit."""
    for process_id in (server.process.pid, *find_children(server.process.pid)):
        resource.prlimit(process_id, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def test_a_full_disk_is_reported_and_nothing_is_lost_or_half_written(tmp_path: Path) -> None:
    document = {"document": {"nodes": [{"id": "say", "type": "echo", "params": {"message": "Hello"}}]}}
    with run_installed_server(tmp_path) as server:
        async with server.make_async_client() as api, open_stream(server) as events:
            session_id = (await api.post("/api/searches", json={"query": QUERY})).json()["session_id"]
            await api.put("/api/drafts/before", json=document)
            await api.post("/api/universes", json={"name": "U0", "id": "before"})
            (question,) = (await api.get("/api/inbox", params={"state": "pending"})).json()["entries"]
            decide = f"/api/inbox/{question['id']}/decide"
            limit_file_size(server, 0)
            for refused in (
                await api.put("/api/drafts/during", json=document),
                await api.post("/api/searches", json={"query": QUERY}),
                await api.post(decide, json={"action": "approve"}),
                await api.post("/api/universes", json={"name": "U1"}),
                await api.post("/api/universes/before/commands", json={"type": "tick"}),
            ):
                error = refused.json()["error"]
                assert refused.status_code >= 500, refused.text
                assert error["code"] != "internal_error", error
                assert error["message"], error
            for address in ("/api/inbox", "/api/searches", "/api/workflows", "/api/runs", "/api/universes"):
                assert (await api.get(address)).status_code == 200, address
            assert (await api.get(f"/api/inbox/{question['id']}")).json()["state"] == "pending"
            limit_file_size(server, -1)
            drafts = (await api.get("/api/workflows")).json()["drafts"]
            assert [one["name"] for one in drafts] == ["before"]
            assert (await api.get("/api/universes/before")).json()["version"] == 0
            assert [one["session_id"] for one in (await api.get("/api/searches")).json()["sessions"]] == [session_id]
            assert (await api.post(decide, json={"action": "approve"})).status_code == 200
            await wait_for_event(events, "inbox", state="pending", about=session_id)
            assert (await api.put("/api/drafts/during", json=document)).status_code < 300


async def test_a_run_that_cannot_be_recorded_on_a_full_disk_is_refused_and_has_no_effect(tmp_path: Path) -> None:
    done = tmp_path / "done"
    touch = {"nodes": [{"id": "a", "type": "shell", "params": {"command": f"touch '{done}'"}}]}
    say = {"nodes": [{"id": "say", "type": "echo", "params": {"message": "Hello"}}]}
    # A compiled module that is cut off would break later tests.
    with run_installed_server(tmp_path, PYTHONDONTWRITEBYTECODE="1") as server:
        async with server.make_async_client() as api, open_stream(server) as events:
            await api.put("/api/drafts/touch", json={"document": touch})
            await api.put("/api/drafts/say", json={"document": say})
            limit_file_size(server, 2_000)  # less than a page of a database
            for name in ("touch", "say"):
                refused = await api.post("/api/runs", json={"name": name})
                assert refused.status_code == 503, refused.text
                error = refused.json()["error"]
                assert error["code"] == "run_not_recorded"
                assert "The run was not started" in error["message"]
                assert "Free disk space" in error["hint"]
            assert not done.exists()
            limit_file_size(server, -1)
            assert (await api.get("/api/runs")).json()["runs"] == []
            run_id = (await api.post("/api/runs", json={"name": "touch"})).json()["run_id"]
            await wait_for_event(events, "run", workflow="touch", status="success")
            assert (await api.get(f"/api/runs/{run_id}")).json()["status"] == "success"
    assert done.exists()


def test_checks_of_the_installation_do_not_release_the_locks_of_the_server(tmp_path: Path) -> None:
    with run_server(tmp_path) as server, server.make_client() as api:
        api.post("/api/universes", json={"name": "Before", "id": "before"}).raise_for_status()
        assert api.get("/api/doctor").status_code == 200
        assert run_uraniborg(server.env, "universe", "list").returncode == 0  # the last to close deletes the log
        api.post("/api/universes", json={"name": "After", "id": "after"}).raise_for_status()
        listed = run_uraniborg(server.env, "universe", "list", "--json")
    assert {one["id"] for one in json.loads(listed.stdout)["universes"]} == {"before", "after"}
    assert not listed.stderr, "no version was lost"
