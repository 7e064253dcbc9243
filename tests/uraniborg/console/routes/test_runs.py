"""The routes of runs: start, resume, list and compare them, and read their progress and approvals."""

import asyncio
import subprocess
from typing import Any

import httpx
import pytest

from tests.installed_programs import find_program
from tests.uraniborg.console.processes import ServerProcess

pytestmark = pytest.mark.usefixtures("greeting_draft")


async def wait_for_end(api: httpx.AsyncClient, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            run = (await api.get(f"/api/runs/{run_id}")).json()
            if run["status"] != "running":
                return run


async def start_run(api: httpx.AsyncClient, address: str = "/api/runs", **body: Any) -> dict[str, Any]:
    started = await api.post(address, json=body)
    assert started.status_code == 202, started.text
    return await wait_for_end(api, started.json()["run_id"])


async def test_a_run_is_approved_resumed_with_changes_and_compared(api: httpx.AsyncClient) -> None:
    waiting = await start_run(api, name="greeting", inputs={"name": "Sophie"})
    assert waiting["status"] == "waiting"
    assert waiting["starter"] == {"door": "console", "name": "Tycho"}
    say = waiting["nodes"][0]
    assert (say["params"], say["outputs"]) == ({"message": "Hello ${name}"}, {"echo": "Hello Sophie"})
    (asked,) = (await api.get(f"/api/runs/{waiting['id']}/approvals")).json()["entries"]
    assert (asked["state"], asked["payload"]["node"]) == ("pending", "ask")
    await api.post(f"/api/inbox/{asked['id']}/decide", json={"action": "approve"})
    async with asyncio.timeout(60):
        done: list[dict[str, Any]] = []
        while not done:
            done = (await api.get("/api/runs", params={"status": "success"})).json()["runs"]
    assert done[0]["outputs"] == {"said": "approve Hello Sophie"}
    (answered,) = (await api.get(f"/api/runs/{done[0]['id']}/approvals")).json()["entries"]
    assert answered["decision"]["action"] == "approve"
    again = await start_run(api, f"/api/runs/{done[0]['id']}/resume", inputs={"name": "Hans"})
    assert again["inputs"]["name"] == "Hans"
    compared = (await api.get("/api/run-comparison", params={"first": waiting["id"], "second": again["id"]})).json()
    assert compared["inputs"] == [{"name": "name", "first": "Sophie", "second": "Hans"}]
    assert {node["node"]: node["differs"] for node in compared["nodes"]}["say"] is True


async def test_a_waiting_run_names_the_state_of_its_question(api: httpx.AsyncClient) -> None:
    ask = {"nodes": [{"id": "ask", "type": "approval", "params": {"question": "Publish?"}}]}
    await api.put("/api/drafts/asking", json={"document": ask})

    async def read_states() -> dict[str, str | None]:
        runs = (await api.get("/api/runs", params={"workflow": "asking"})).json()["runs"]
        return {run["id"]: run["question_state"] for run in runs}

    first = await start_run(api, name="asking")
    assert first["question_state"] == "pending"
    second = await start_run(api, name="asking", fresh=True)
    assert await read_states() == {first["id"]: "withdrawn", second["id"]: "pending"}
    progress = (await api.get(f"/api/runs/{first['id']}/progress")).json()
    assert progress["run"]["question_state"] == "withdrawn"
    question = f"/api/inbox/{second['error']['approval_id']}"
    (await api.post(f"{question}/decide", json={"action": "reject", "note": "too early"})).raise_for_status()
    answer = (await api.get(f"/api/runs/{second['id']}")).json()["question_answer"]
    assert answer == {"action": "reject", "note": "too early", "door": "console", "decided_by": "Tycho (software)"}
    async with asyncio.timeout(60):
        while len(states := await read_states()) < 3:
            pass
    (third,) = states.keys() - {first["id"], second["id"]}
    assert (await wait_for_end(api, third))["status"] == "failed"  # it has archived the question
    assert await read_states() == {first["id"]: "withdrawn", second["id"]: "decided", third: None}


async def test_a_run_of_the_console_is_resumed_when_decided_and_names_the_run_that_resumed_it(
    api: httpx.AsyncClient, server: ServerProcess
) -> None:
    waiting = await start_run(api, name="greeting", inputs={"name": "Tycho"})

    async def read_progress() -> dict[str, Any]:
        return (await api.get(f"/api/runs/{waiting['id']}/progress")).json()

    progress = await read_progress()
    assert (progress["resumes_when_decided"], progress["resumed_as"]) == (True, None)
    command = [find_program("uraniborg"), "decide", waiting["error"]["approval_id"], "approve"]
    await asyncio.to_thread(subprocess.run, command, env=server.env, check=True, capture_output=True)
    async with asyncio.timeout(60):
        while (progress := await read_progress())["resumed_as"] is None:
            assert progress["resumes_when_decided"] is True
    later = await wait_for_end(api, progress["resumed_as"])
    assert (later["resumed_from"], later["status"]) == (waiting["id"], "success")


async def test_the_progress_of_a_run_has_its_graph_and_a_node_its_values(api: httpx.AsyncClient) -> None:
    run = await start_run(api, name="greeting", inputs={"name": "Live"})
    progress = (await api.get(f"/api/runs/{run['id']}/progress")).json()
    assert [(node["node"], node["status"]) for node in progress["nodes"]] == [("say", "completed"), ("ask", "waiting")]
    assert [node["id"] for node in progress["graph"]["nodes"]] == ["say", "ask", "end"]
    assert (progress["is_present_graph"], progress["active"], progress["next"]) == (False, [], None)
    say = (await api.get(f"/api/runs/{run['id']}/nodes/1")).json()
    assert (say["params"], say["inputs"]) == ({"message": "Hello ${name}"}, {"message": "Hello Live"})
    later = (await api.get(f"/api/runs/{run['id']}/progress", params={"after": 1})).json()
    assert [node["node"] for node in later["nodes"]] == ["ask"]


async def test_the_nodes_that_run_now_are_in_the_progress_of_a_run(api: httpx.AsyncClient) -> None:
    work = {
        "nodes": [
            {"id": "many", "type": "echo", "params": {"message": "${item}"}, "batch": {"items": [1, 2]}},
            {"id": "slow", "type": "shell", "params": {"command": "sleep 60"}},
        ],
        "edges": [{"from": "many", "to": "slow"}],
    }
    await api.put("/api/drafts/slow-work", json={"document": work})
    run_id = (await api.post("/api/runs", json={"name": "slow-work"})).json()["run_id"]
    async with asyncio.timeout(60):
        active: list[str] = []
        while active != ["slow"]:
            progress = (await api.get(f"/api/runs/{run_id}/progress")).json()
            active = [node["node"] for node in progress["active"] if node["status"] == "running"]
    await api.post(f"/api/runs/{run_id}/cancel")
    assert (await wait_for_end(api, run_id))["status"] == "cancelled"
    first = (await api.get(f"/api/runs/{run_id}/items", params={"node": "many", "limit": 1})).json()
    rest = (await api.get(f"/api/runs/{run_id}/items", params={"node": "many", "after": first["next"]})).json()
    assert [(one["item"], one["value"]) for one in first["items"] + rest["items"]] == [(0, 1), (1, 2)]
    assert (first["counts"], rest["next"]) == ({"completed": 2}, None)
    failed = (await api.get(f"/api/runs/{run_id}/items", params={"node": "many", "status": "failed"})).json()
    assert failed["items"] == []
    assert (await api.get(f"/api/runs/{run_id}/messages", params={"node": "slow"})).json() == {"messages": []}


async def test_runs_are_listed_page_by_page(api: httpx.AsyncClient) -> None:
    one = {"nodes": [{"id": "say", "type": "echo", "params": {"message": "x"}}]}
    await api.put("/api/drafts/one", json={"document": one})
    ids = [(await start_run(api, name="one"))["id"] for _ in range(3)]
    first = (await api.get("/api/runs", params={"workflow": "one", "limit": 2})).json()
    second = (await api.get("/api/runs", params={"workflow": "one", "limit": 2, "before": first["next"]})).json()
    assert [run["id"] for run in first["runs"] + second["runs"]] == ids[::-1]
    assert second["next"] is None


async def test_inputs_that_are_not_stored_are_asked_for_again(api: httpx.AsyncClient) -> None:
    run = await start_run(api, name="greeting", inputs={"name": "Kirsten", "key": "sk-0123456789abcdef"})
    assert "0123456789" not in str(run)
    answer = await api.post(f"/api/runs/{run['id']}/resume", json={})
    assert (answer.status_code, answer.json()["error"]["missing"]) == (422, ["key"])


@pytest.mark.parametrize(
    "address",
    [
        "/api/runs/none/approvals",
        "/api/runs/none/progress",
        "/api/runs/none/nodes/1",
        "/api/runs/none/items?node=a",
        "/api/runs/none/messages?node=a",
        "/api/run-comparison?first=none&second=none",
        "/api/runs?before=none",
    ],
)
async def test_an_unknown_run_is_not_found(api: httpx.AsyncClient, address: str) -> None:
    assert (await api.get(address)).status_code == 404
