"""The routes of workflows: drafts, saved texts, graphs, node types and schedules."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.uraniborg.console.greeting_workflow import GREETING
from tests.uraniborg.console.processes import ServerProcess

pytestmark = pytest.mark.usefixtures("greeting_draft")


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


@pytest.mark.parametrize("address", ["/api/workflows/none/graph", "/api/workflows/none/document"])
async def test_an_unknown_workflow_is_not_found(api: httpx.AsyncClient, address: str) -> None:
    assert (await api.get(address)).status_code == 404
