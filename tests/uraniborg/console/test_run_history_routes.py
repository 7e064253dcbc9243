"""The routes around runs: graphs, resuming, comparing, approvals, schedules and components."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Generator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.installed_programs import find_program
from tests.uraniborg.console.processes import ServerProcess, run_server

GREETING = {
    "inputs": {
        "name": {"type": "string", "required": True, "description": "Who is greeted."},
        "key": {"type": "string", "required": False, "secret": True, "default": ""},
    },
    "nodes": [
        {"id": "say", "type": "echo", "purpose": "Greet.", "params": {"message": "Hello ${name}"}},
        {"id": "ask", "type": "approval", "params": {"question": "Send it to ${name}?"}},
        {"id": "end", "type": "echo", "params": {"message": "${ask.decision} ${say.echo}"}},
    ],
    "edges": [{"from": "say", "to": "ask"}, {"from": "ask", "to": "end"}],
    "outputs": {"said": {"source": "${end.echo}"}},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    with run_server(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture
async def api(server: ServerProcess) -> AsyncIterator[httpx.AsyncClient]:
    async with server.make_async_client() as opened:
        await opened.put("/api/drafts/greeting", json={"document": GREETING})
        yield opened


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
    assert answer == {"action": "reject", "note": "too early", "door": "console", "decided_by": "Tycho"}
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


async def test_a_saved_workflow_is_replaced_unless_somebody_else_was_first(api: httpx.AsyncClient) -> None:
    await api.put("/api/drafts/edited", json={"document": GREETING})
    await api.post("/api/drafts/edited/save", json={"final_name": "saved", "description": "Greets."})
    read = (await api.get("/api/workflows/saved/document")).json()
    changed = {**GREETING, "outputs": {}}
    body = {"document": changed, "revision": read["revision"]}
    written = (await api.put("/api/workflows/saved", json=body)).raise_for_status().json()
    refused = await api.put("/api/workflows/saved", json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "workflow_changed")
    described = (await api.get("/api/workflows/saved")).json()
    assert (described["description"], described["outputs"]) == ("Greets.", {})
    broken: dict[str, Any] = {"document": {"nodes": []}, "revision": written["revision"]}
    assert (await api.put("/api/workflows/saved", json=broken)).json()["error"]["code"] == "invalid_workflow"
    assert (await api.get("/api/workflows/saved/document")).json()["document"] == changed


async def test_a_new_draft_never_replaces_a_workflow_even_one_that_cannot_be_read(
    api: httpx.AsyncClient, server: ServerProcess
) -> None:
    drafts = Path(server.env["URANIBORG_HOME"]) / "pflow" / "workflows" / "drafts"
    damaged = drafts / "of-an-agent.json"
    damaged.write_text('{"nodes": [,]}')
    await api.put("/api/drafts/soon-saved", json={"document": GREETING})
    await api.post("/api/drafts/soon-saved/save", json={"final_name": "is-saved", "description": "Greets."})
    body = {"document": GREETING, "create": True}
    for name in ("of-an-agent", "is-saved", "greeting"):
        refused = await api.put(f"/api/drafts/{name}", json=body)
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (409, "already_exists")
        assert name in error["message"]
        assert "Choose another name" in error["hint"]
    assert damaged.read_text() == '{"nodes": [,]}'
    assert not (drafts / "is-saved.json").exists()
    replies = await asyncio.gather(*(api.put("/api/drafts/contested", json=body) for _ in range(8)))
    assert sorted(reply.status_code for reply in replies) == [200] + [409] * 7


async def test_a_draft_that_cannot_be_read_is_listed_and_corrected(
    api: httpx.AsyncClient, server: ServerProcess
) -> None:
    folder = Path(server.env["URANIBORG_HOME"]) / "pflow" / "workflows"
    (folder / "drafts" / "broken.json").write_text('{"nodes": [}\n')
    (folder / "drafts" / "No Name.json").write_text("{}")
    (folder / "drafts" / "picture.json").write_bytes(b"\xff\xd8")
    (folder / "stray.json").write_text("[")
    listed = {one["path"]: one for one in (await api.get("/api/workflows")).json()["problems"]}
    assert "line 1, column 12" in listed["workflows/drafts/broken.json"]["problem"]
    assert listed["workflows/drafts/broken.json"]["draft"] == "broken"
    assert listed["workflows/drafts/No Name.json"]["draft"] is None
    assert listed["workflows/stray.json"]["draft"] is None
    assert (await api.get("/api/drafts/picture")).json()["error"]["code"] == "invalid_workflow"
    read = (await api.get("/api/drafts/broken")).raise_for_status().json()
    assert (read["document"], read["text"]) == (None, '{"nodes": [}\n')
    assert [one["code"] for one in read["diagnostics"]] == ["invalid_json"]
    body = {"document": GREETING, "revision": read["revision"]}
    (await api.put("/api/drafts/broken", json=body)).raise_for_status()
    assert (await api.get("/api/drafts/broken")).json()["document"] == GREETING
    (folder / "drafts" / "broken.json").write_text("{")
    assert (await api.put("/api/drafts/broken", json=body)).json()["error"]["code"] == "workflow_changed"


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


async def test_a_graph_a_text_and_components_can_be_read(api: httpx.AsyncClient) -> None:
    graph = (await api.get("/api/workflows/greeting/graph")).json()
    assert [node["id"] for node in graph["nodes"]] == ["say", "ask", "end"]
    assert graph["edges"][0] == {"from": "say", "to": "ask", "action": "default"}
    text = (await api.get("/api/workflows/greeting/document")).json()
    assert (text["document"], text["source"]) == (GREETING, "draft")
    found = (await api.get("/api/components", params={"query": "http"})).json()
    assert "http" in [node["type"] for node in found["nodes"]]


async def test_all_types_of_nodes_are_described_with_all_parameters_if_that_is_asked(api: httpx.AsyncClient) -> None:
    brief = (await api.get("/api/components")).json()
    in_full = (await api.get("/api/components", params={"in_full": True})).json()
    assert [len(in_full["nodes"]), in_full["truncated"]] == [in_full["total"], False]
    assert [node["type"] for node in in_full["nodes"]] == [node["type"] for node in brief["nodes"]]
    inputs = {node["type"]: node["inputs"] for node in in_full["nodes"]}
    assert all("description" in one for one in inputs["http"])


async def test_schedules_are_listed_and_an_unknown_one_is_not_removed(api: httpx.AsyncClient) -> None:
    listed = (await api.get("/api/schedules")).json()
    assert listed["schedules"] == []
    removed = await api.delete("/api/schedules/greeting")
    assert removed.json()["error"]["code"] in ("schedule_not_found", "scheduler_unavailable")


@pytest.mark.parametrize(
    "address",
    [
        "/api/workflows/none/graph",
        "/api/workflows/none/document",
        "/api/runs/none/approvals",
        "/api/runs/none/progress",
        "/api/runs/none/nodes/1",
        "/api/runs/none/items?node=a",
        "/api/runs/none/messages?node=a",
        "/api/run-comparison?first=none&second=none",
        "/api/runs?before=none",
    ],
)
async def test_what_does_not_exist_is_not_found(api: httpx.AsyncClient, address: str) -> None:
    assert (await api.get(address)).status_code == 404
