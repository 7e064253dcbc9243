"""Every kind of change reaches the event stream of the server from the process in which the change happens.

The table names every kind. A kind without a row fails the test.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

import httpx
import pytest
from pydantic import TypeAdapter

from tests.forked_processes import ROOT
from tests.installed_programs import Program, find_program
from tests.uraniborg.console.processes import ServerProcess
from tests.uraniborg.console.streams import open_stream
from uraniborg.console.replies import AnyChange
from uraniborg.kernel.mcp.testing import connect_stdio_client, get_json
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(180)
FLOW: Final[dict[str, Any]] = {"nodes": [{"id": "say", "type": "echo", "params": {"message": "Hello"}}]}
PAPER: Final = "@article{kepler1609, title={Astronomia Nova}, author={Kepler, Johannes}, year={1609}}"


@dataclass
class Station:
    """A server, an agent in a process of its own, and the changes that the stream has sent."""

    server: ServerProcess
    api: httpx.AsyncClient
    agent: Any
    changes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def run(self, *arguments: str) -> None:
        """Run the command `uraniborg` in another process."""
        home = Path(self.server.env["HOME"])
        done = await asyncio.to_thread(Program("uraniborg").run, *arguments, env=self.server.env, cwd=home)
        assert done.returncode == 0, done.stderr

    async def start_review(self) -> str:
        """Return the id of an agent's session that waits for a review."""
        asked = get_json(await self.agent.call_tool("search_papers", {"query": QUERY}))
        await self.agent.call_tool("decide", {"session_id": asked["session_id"], "action": "approve"})
        return asked["session_id"]

    async def wait_for(self, kind: str, **facts: Any) -> None:
        """Wait until the stream has sent a change of this kind with these facts."""
        async with asyncio.timeout(30):
            while True:
                for change in self.changes:
                    if change["kind"] == kind and facts.items() <= change.items():
                        return
                await asyncio.sleep(0.02)


async def change_session(on: Station) -> None:
    session_id = await on.start_review()
    await on.wait_for("session", subject=session_id, phase="waiting_checkpoint")
    await on.wait_for("source", subject=session_id, name="openalex", status="ok")
    await on.wait_for("inbox", about=session_id, state="decided")
    await on.wait_for("inbox", about=session_id, state="pending")
    await on.wait_for("call", subject="paper-search", tool="search_papers")


async def change_papers(on: Station) -> None:
    session_id = await on.start_review()
    papers = (await on.api.get(f"/api/searches/{session_id}/papers")).json()["papers"]
    await on.api.put(f"/api/searches/{session_id}/marks", json={"decisions": {papers[0]["id"]: "maybe"}})
    await on.wait_for("papers", subject=session_id, marked=1, papers=[papers[0]["id"]])


async def change_run(on: Station) -> None:
    workflow = Path(on.server.env["HOME"]) / "hello.json"
    workflow.write_text(json.dumps(FLOW))
    await on.run("flow", "run", str(workflow))
    await on.wait_for("run", status="success")
    await on.wait_for("node", node="say", status="completed")


async def change_workflow(on: Station) -> None:
    draft = Path(on.server.env["URANIBORG_HOME"]) / "pflow" / "workflows" / "drafts" / "hello.json"
    draft.parent.mkdir(parents=True, exist_ok=True)
    draft.write_text(json.dumps(FLOW))  # as an agent does, with its own tools
    await on.wait_for("workflow", subject="hello", source="draft", deleted=False)
    draft.unlink()
    await on.wait_for("workflow", subject="hello", source="draft", deleted=True)


async def change_shelf(on: Station) -> None:
    home = Path(on.server.env["HOME"])
    (home / "refs.bib").write_text(PAPER)
    await on.run("library", "build", str(home / "refs.bib"), "-o", str(home / "shelf"))
    await on.wait_for("shelf", subject=str((home / "shelf").resolve()), papers=1)
    listed = (await on.api.get("/api/shelves")).json()["shelves"]
    assert ("shelf", 1) in [(one["name"], one["papers"]) for one in listed], "wherever it was built"


async def change_note(on: Station) -> None:
    address = "/api/shelves/sample-shelf/papers/gillon2017/note"
    written = (await on.api.put(address, json={"text": "Read it.", "collections": []})).json()
    await on.wait_for("note", subject=written["paper_id"], by=written["by"])


async def build_shelf_from_search(on: Station) -> None:
    session_id = await on.start_review()
    papers = (await on.api.get(f"/api/searches/{session_id}/papers")).json()["papers"]
    await on.api.put(f"/api/searches/{session_id}/marks", json={"decisions": {papers[0]["id"]: "include"}})
    reply = await on.api.post(f"/api/searches/{session_id}/shelf", json={"name": "kept"})
    assert reply.status_code == 202, reply.text
    await on.wait_for("shelf_build", subject=session_id, state="done")


async def change_universe(on: Station) -> None:
    await on.run("universe", "new", "--from", "trappist-1", "--id", "t1")
    await on.wait_for("universe", subject="t1", created=True)
    command = {"type": "updateStar", "id": "trappist-1-h", "payload": {"name": "h"}}
    await on.run("universe", "send", "t1", json.dumps(command))
    await on.wait_for("universe", subject="t1", version=2)
    await on.run("universe", "undo", "t1")
    await on.wait_for("universe", subject="t1", version=3)


async def change_job(on: Station) -> None:
    started = await on.api.post("/api/universes/t1/jobs", json={"kind": "transits", "days": 5})
    assert started.status_code == 202, started.text
    await on.wait_for("nbody-job", universeId="t1", state="done")


async def change_story(on: Station) -> None:
    state = (await on.api.get("/api/story")).json()
    await on.api.post(f"/api/story/steps/{state['next']}", json={})
    await on.wait_for("story", subject=state["next"], state="done")


async def change_installation(on: Station) -> None:
    await on.run("connect", "cursor", "--yes")
    await on.wait_for("installation", subject=str(Path(on.server.env["HOME"]) / ".cursor" / "mcp.json"))
    await on.api.put("/api/settings/decisions.require_person", json={"value": True})
    await on.wait_for("installation", subject=(await on.api.get("/api/paths")).json()["paths"]["config"]["path"])


TABLE: Final[dict[str, Callable[[Station], Awaitable[None]]]] = {
    "session": change_session,
    "source": change_session,
    "inbox": change_session,
    "call": change_session,
    "papers": change_papers,
    "run": change_run,
    "node": change_run,
    "workflow": change_workflow,
    "shelf": change_shelf,
    "note": change_note,
    "shelf_build": build_shelf_from_search,
    "universe": change_universe,
    "nbody-job": change_job,
    "story": change_story,
    "installation": change_installation,
}


@asynccontextmanager
async def open_station(server: ServerProcess) -> AsyncGenerator[Station]:
    async with (
        server.make_async_client() as api,
        connect_stdio_client(find_program("python"), ["-m", "paper_search.mcp_server"], env=server.env) as agent,
        open_stream(server) as events,
    ):
        station = Station(server, api, agent)

        async def collect_changes() -> None:
            async for _, kind, data in events:
                station.changes.append({**data, "kind": kind})

        collecting = asyncio.create_task(collect_changes())
        try:
            yield station
        finally:
            collecting.cancel()
            await asyncio.gather(collecting, return_exceptions=True)


async def test_every_kind_of_change_reaches_the_stream_from_its_process(server: ServerProcess) -> None:
    async with open_station(server) as station:
        for act in dict.fromkeys(TABLE.values()):
            await act(station)
        assert {change["kind"] for change in station.changes} == TABLE.keys(), "and no change was lost"
        declared: TypeAdapter[Any] = TypeAdapter(list[AnyChange])
        assert declared.validate_python(station.changes) == station.changes, "every fact has its declared type"


def test_every_kind_of_change_has_a_row() -> None:
    changes = get_args(get_args(AnyChange)[0])
    assert {get_args(one.__annotations__["kind"])[0] for one in changes} == TABLE.keys() | {"reset"}


def test_the_guide_names_every_kind_of_change() -> None:
    guide = (ROOT / "docs" / "guides" / "run-the-server.md").read_text(encoding="utf-8")
    listed = guide.partition("arrives as one server-sent event, in order: ")[2].partition(", each with the id")[0]
    assert set(re.findall(r"`(.+?)`", listed)) == TABLE.keys()
