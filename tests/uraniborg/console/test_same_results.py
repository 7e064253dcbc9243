"""The same request through the API, the MCP tools and the commands gives the same result.

The table names every operation of the API. An operation that exists only there has its reason beside it, and an
operation without a row fails the test.
"""

import asyncio
import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.uraniborg.console import shelf_and_universe_checks as parts
from tests.uraniborg.console.processes import ServerProcess, run_server
from tests.uraniborg.console.surfaces import Check, Surfaces, assert_contains, open_surfaces, pick, strip
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(180)
HELLO: Final[dict[str, Any]] = {
    "inputs": {"who": {"type": "string", "default": "Ada"}},
    "nodes": [{"id": "say", "type": "echo", "params": {"message": "Hello ${who}"}}],
    "outputs": {"said": {"source": "${say.echo}"}},
}
EDGE: Final[dict[str, Any]] = {"inputs": HELLO["inputs"], "edges": [{"from": "a", "to": "b"}]}


async def check_start(on: Surfaces) -> None:
    ours = await on.post("/api/searches", {"query": QUERY})
    theirs = await on.call(on.search, "search_papers", query=QUERY)
    # Each interface establishes who started the session.
    assert (ours["actor"]["kind"], theirs.pop("actor")["kind"]) == ("software", "agent")
    assert_contains(
        {**ours, "checkpoint": strip(ours["checkpoint"])}, {**theirs, "checkpoint": strip(theirs["checkpoint"])}
    )


async def check_state(on: Surfaces) -> None:
    session_id = await on.start_search()
    ours = await on.get(f"/api/searches/{session_id}")
    assert_contains(ours, await on.call(on.search, "get_session", session_id=session_id))
    assert_contains(ours, await on.run("search", "sessions", "show", session_id))


async def check_decide_search(on: Surfaces) -> None:
    first, second = await on.start_search(), await on.start_search()
    ours = await on.post(f"/api/searches/{first}/decide", {"action": "approve"})
    theirs = await on.call(on.search, "decide", session_id=second, action="approve")
    # The links to the queries and papers name the session.
    ours, theirs = (json.loads(json.dumps(one).replace(name, "ID")) for one, name in ((ours, first), (theirs, second)))
    assert_contains(ours, theirs)
    refused = await on.api.post(f"/api/searches/{first}/decide", json={"action": "approve", "data": {"colour": 1}})
    tool = await on.search.call_tool("decide", {"session_id": second, "action": "approve", "data": {"colour": 1}})
    assert strip(refused.json()) == strip(json.loads(tool.content[0].text))


async def check_list_searches(on: Surfaces) -> None:
    await on.start_search()
    ours = [one["session_id"] for one in (await on.get("/api/searches", limit=10))["sessions"]]
    read = await on.search.read_resource("paper-search://sessions")
    assert [one["session_id"] for one in json.loads(read.contents[0].text)["sessions"]][:10] == ours
    listed = await on.run("search", "sessions", "list", "--limit", "10")
    assert [one["session_id"] for one in listed["sessions"]] == ours


async def check_papers(on: Surfaces) -> None:
    session_id = await on.complete_search()
    ours = (await on.get(f"/api/searches/{session_id}/papers", limit=500))["papers"]
    read = await on.search.read_resource(f"paper-search://sessions/{session_id}/papers")
    theirs = json.loads(read.contents[0].text)["papers"]
    assert [paper["id"] for paper in theirs] == [paper["id"] for paper in ours][: len(theirs)]


async def check_export(on: Surfaces) -> None:
    session_id = await on.complete_search()
    for name in ("bibtex", "ris", "prisma"):
        ours = (await on.api.get(f"/api/searches/{session_id}/export", params={"format": name})).text
        tool = await on.search.call_tool("export_results", {"session_id": session_id, "format": name})
        assert tool.content[0].text == ours


async def check_delete(on: Surfaces) -> None:
    first, second = await on.start_search(), await on.start_search()
    assert (await on.api.delete(f"/api/searches/{first}")).status_code == 204
    await on.run("search", "sessions", "delete", second, "--yes")
    for session_id in (first, second):
        assert (await on.api.get(f"/api/searches/{session_id}")).json()["error"]["code"] == "session_not_found"
        tool = await on.search.call_tool("get_session", {"session_id": session_id})
        assert json.loads(tool.content[0].text)["error"]["code"] == "session_not_found"


async def check_inbox(on: Surfaces) -> None:
    await on.start_search()
    ours = {one["id"]: one for one in (await on.get("/api/inbox", state="pending", limit=500))["entries"]}
    theirs: Any = await on.run("inbox")
    assert all(entry_id in json.dumps(theirs) for entry_id in ours)


async def check_decide_question(on: Surfaces) -> None:
    first, second = await on.start_search(), await on.start_search()
    ids = {one["subject"]: one["id"] for one in (await on.get("/api/inbox", state="pending", limit=500))["entries"]}
    ours = await on.post(f"/api/inbox/{ids[first]}/decide", {"action": "reject", "note": "narrower"})
    await on.run("decide", ids[second], "reject", "--note", "narrower")
    theirs = await on.get(f"/api/inbox/{ids[second]}")
    assert ours["decision"] == theirs["decision"]
    assert (ours["decided_by"], theirs["decided_by"]) == ("Tycho (software)", "Tycho")
    again = await on.api.post(f"/api/inbox/{ids[second]}/decide", json={"action": "approve"})
    refused = await on.run("decide", ids[second], "approve")
    assert again.json()["error"]["code"] == refused["error"]["code"] == "already_decided"


async def check_list_workflows(on: Surfaces) -> None:
    await on.write_draft("listed", HELLO)
    await on.post("/api/drafts/listed/save", {"final_name": "listed-flow", "description": "Says hello to somebody."})
    ours = (await on.get("/api/workflows"))["workflows"]
    tool = await on.call(on.flow, "list_library")
    listed = await on.run("flow", "list")
    for theirs in (tool, listed):
        assert "listed-flow" in json.dumps(theirs)
    assert "listed-flow" in [one["name"] for one in ours]


async def check_describe(on: Surfaces) -> None:
    await on.write_draft("described", HELLO)
    ours = await on.get("/api/workflows/described")
    assert_contains(ours, await on.call(on.flow, "describe_workflow", name="described"))
    assert_contains(ours, await on.run("flow", "describe", "described"))


async def check_check(on: Surfaces) -> None:
    broken: dict[str, Any] = {"nodes": [{"id": "a", "type": "ecko", "params": {}}]}
    ours = await on.post("/api/workflows/check", {"document": broken})
    await on.write_draft("broken", broken)
    theirs = await on.run("flow", "check", "broken")
    assert not ours["valid"]
    assert [one["code"] for one in theirs["diagnostics"]] == [one["code"] for one in ours["diagnostics"]]


async def check_run(on: Surfaces) -> None:
    await on.write_draft("hello", HELLO)
    tool = await on.call(on.flow, "execute", name="hello", inputs={"who": "Tycho"})
    command = await on.run("flow", "run", "hello", "who=Tycho")
    started = await on.post("/api/runs", {"name": "hello", "inputs": {"who": "Tycho"}})
    async with asyncio.timeout(60):
        while (run := await on.get(f"/api/runs/{started['run_id']}"))["status"] == "running":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert run["outputs"] == tool["outputs"] == command["outputs"] == {"said": "Hello Tycho"}
    ours = [one["id"] for one in (await on.get("/api/runs", workflow="hello"))["runs"]]
    history = await on.run("flow", "history", "hello")
    assert [one["id"] for one in history["runs"]] == ours
    assert_contains(run, await on.run("flow", "show", started["run_id"]))


async def check_save(on: Surfaces) -> None:
    for name in ("first-draft", "second-draft", "third-draft"):
        await on.write_draft(name, HELLO)
    text = "Says hello to somebody."
    ours = await on.post("/api/drafts/first-draft/save", {"final_name": "first-flow", "description": text})
    tool = await on.call(
        on.flow, "save_to_library", draft_name="second-draft", final_name="second-flow", description=text
    )
    assert sorted(ours) == sorted(tool)
    assert {"first-flow", "second-flow"} <= {one["name"] for one in (await on.get("/api/workflows"))["workflows"]}


async def check_paths(on: Surfaces) -> None:
    ours = json.dumps(await on.get("/api/paths"))
    for name, location in (await on.run("paths")).items():
        assert name in ours
        assert location["path"] in ours


async def check_settings(on: Surfaces) -> None:
    ours = {one["setting"]: one for one in (await on.get("/api/settings"))["settings"]}
    for theirs in await on.run("settings"):
        assert pick(ours[theirs["setting"]], theirs) == theirs


async def check_schedule(on: Surfaces) -> None:
    await on.write_draft("scheduled", HELLO)
    body = {"at": "mon 07:00", "inputs": {"who": "@Tycho"}}
    ours = (await on.api.put("/api/schedules/scheduled", json=body)).raise_for_status().json()
    files = [path.read_bytes() for path in Path(on.server.env["HOME"]).rglob("*pflow*scheduled*") if path.is_file()]
    (installed,) = (await on.run("flow", "schedule", "--list"))["schedules"]
    theirs = await on.run("flow", "schedule", "scheduled", "who=@@Tycho", "--at", "mon 07:00", "--install")
    assert {key: theirs[key] for key in ours} == ours
    assert {installed[key] == ours[key] for key in ("name", "at", "as")} == {True}
    again = [path.read_bytes() for path in Path(on.server.env["HOME"]).rglob("*pflow*scheduled*") if path.is_file()]
    assert files
    assert files == again
    assert (await on.api.delete("/api/schedules/scheduled")).status_code == 204


async def check_plan(on: Surfaces) -> None:
    await on.write_draft("planned", HELLO)
    ours = await on.post("/api/workflows/planned/plan", {"inputs": {"who": "Tycho"}})
    theirs = await on.run("flow", "run", "planned", "who=Tycho", "--dry-run")
    assert ours["steps"] == pick(theirs["plan"], ours["steps"]) != []


async def check_components(on: Surfaces) -> None:
    ours = await on.get("/api/components")
    theirs = await on.run("flow", "browse")
    assert [one["type"] for one in ours["nodes"]] == [one["type"] for one in theirs["nodes"]] != []
    assert pick(ours["nodes"], theirs["nodes"]) == theirs["nodes"]


async def check_graph(on: Surfaces) -> None:
    await on.write_draft("drawn", {"nodes": [{**HELLO["nodes"][0], "id": one} for one in "ab"], **EDGE})
    ours = await on.get("/api/workflows/drawn/graph")
    drawn = (await on.run("flow", "graph", "drawn"))["graph"]
    assert all(f"{node['id']}[" in drawn for node in ours["nodes"])
    assert [(one["from"], one["to"]) for one in ours["edges"]] == [("a", "b")]
    assert "a --> b" in drawn


async def check_flow_of_records(on: Surfaces) -> None:
    session_id = await on.complete_search()
    ours = await on.get(f"/api/searches/{session_id}/flow")
    tool = await on.search.call_tool("export_results", {"session_id": session_id, "format": "prisma-json"})
    theirs = json.loads(tool.content[0].text)
    shared = {name for name in theirs if name in ours}
    assert shared
    assert {name: ours[name] for name in shared} == {name: theirs[name] for name in shared}


async def check_strategy_copies(on: Surfaces) -> None:
    session_id = await on.start_search()
    for ours in (await on.get(f"/api/searches/{session_id}/strategy/copies"))["copies"]:
        theirs = await on.run("search", "translate", "--session", session_id, "--to", ours["platform"])
        assert theirs == {**ours, "findings": []}


async def check_doctor(on: Surfaces) -> None:
    ours = {(one["topic"], one["name"]): one["status"] for one in (await on.get("/api/doctor"))["checks"]}
    theirs = {(one["topic"], one["name"]): one["status"] for one in (await on.run("doctor"))["checks"]}
    assert ours == theirs


class Only(str):
    """The reason why an operation has no row of its own."""

    __slots__ = ()


BROWSER: Final = Only("Signing in belongs to browsers; tools and commands run in your account.")
REVIEW: Final = Only("A page reviews with it; tools and commands send marks, merges and splits with the decision.")
PAGE: Final = Only("A page shows it; tools and commands have no counterpart.")
TABLE: Final[dict[str, Check | Only]] = {
    "start_search": check_start,
    "get_search": check_state,
    "decide_search": check_decide_search,
    "list_searches": check_list_searches,
    "list_search_papers": check_papers,
    "export_search": check_export,
    "delete_search": check_delete,
    "list_inbox": check_inbox,
    "decide_question": check_decide_question,
    "list_workflows": check_list_workflows,
    "describe_workflow": check_describe,
    "check_workflow": check_check,
    "start_run": check_run,
    "save_draft": check_save,
    "list_paths": check_paths,
    "list_settings": check_settings,
    "list_runs": Only("Compared with `flow history` in the row of start_run."),
    "get_run": Only("Compared with `flow show` in the row of start_run."),
    "get_question": Only("Compared in the row of decide_question."),
    "list_question_summaries": PAGE,
    "write_draft": Only("Agents write the file of a draft; the rows above use it."),
    "read_draft": Only("Agents read the file of a draft."),
    "read_workflow": Only("Agents read the file of a workflow."),
    "plan_run": check_plan,
    "cancel_run": Only("A terminal cancels with Ctrl-C, an agent by cancelling its call."),
    "resume_run": Only("The same as running the workflow again."),
    "compare_runs": PAGE,
    "get_run_progress": PAGE,
    "get_paper_original": PAGE,
    **dict.fromkeys(("list_notes", "get_note", "write_note"), PAGE),
    "list_run_items": PAGE,
    "list_node_messages": PAGE,
    "get_run_node": Only("Compared with `flow show` in the row of start_run: the same nodes, one at a time."),
    "replace_workflow": Only("In a terminal, the file of the workflow is edited."),
    "add_schedule": check_schedule,
    "list_run_approvals": PAGE,
    "list_components": check_components,
    "get_workflow_graph": check_graph,
    "list_schedules": Only("`flow schedule --list` prints the same schedules as text."),
    "delete_schedule": Only("`flow schedule --remove` does the same."),
    "stream_events": Only("The stream of changes is a feature of the server."),
    "get_search_options": PAGE,
    "resume_search": Only("`get_session` resumes a session, too; compared in the row of get_search."),
    "update_search": PAGE,
    "get_search_sources": REVIEW,
    "get_search_paper": REVIEW,
    "list_search_exclusions": REVIEW,
    "mark_papers": REVIEW,
    "undo_marks": REVIEW,
    "list_exclusion_reasons": REVIEW,
    "get_search_flow": check_flow_of_records,
    "list_shelves_for_papers": REVIEW,
    "put_papers_on_shelf": REVIEW,
    "get_shelf_build": REVIEW,
    "get_search_strategy": REVIEW,
    "check_search_strategy": REVIEW,
    "list_strategy_copies": check_strategy_copies,
    **dict.fromkeys(("list_corrections", "merge_papers", "split_paper", "withdraw_correction"), REVIEW),
    "list_connections": PAGE,
    "count_running": PAGE,
    "list_tool_calls": PAGE,
    "check_installation": check_doctor,
    "check_paper_source": Only("A terminal asks all sources: `uraniborg doctor --online`."),
    "update_setting": Only("A person edits the settings file."),
    "get_shelf": parts.check_shelf,
    "search_shelf": parts.check_shelf_search,
    "list_facet_values": parts.check_facets,
    "get_paper": parts.check_paper,
    "get_paper_text": parts.check_paper_text,
    "get_paper_summary": parts.check_paper_summary,
    "list_similar_papers": parts.check_similar_papers,
    "universe_create": parts.check_new_universe,
    "universe_list": parts.check_list_of_universes,
    "universe_read": parts.check_universe,
    "universe_send": parts.check_command,
    "universe_undo": parts.check_undo,
    "universe_branch": parts.check_branch,
    "universe_history": parts.check_history,
    "universe_cite": parts.check_sources,
    "universe_export": parts.check_export,
    "universe_differences": parts.check_differences,
    "universe_list_all_jobs": parts.check_jobs,
}
ONLY_BY_TAG: Final = {
    "sign-in": BROWSER,
    "shelves": Only("Pages need it; the tools of the library return the same papers."),
    "universes": Only("Its own REST server has the same route; tools and commands have no counterpart."),
    "story": PAGE,
}
"""The reasons for the operations of a tag that are not in the table."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    folder = tmp_path_factory.mktemp("programs")
    for name in ("systemctl", "launchctl"):  # a schedule is written, and nothing of this machine is changed
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    with run_server(tmp_path_factory.mktemp("home"), PATH=f"{folder}:{os.environ['PATH']}") as running:
        yield running


async def test_the_results_are_the_same(server: ServerProcess) -> None:
    problems: dict[str, str] = {}
    async with open_surfaces(server) as surfaces:
        for operation, row in TABLE.items():
            if not isinstance(row, Only):
                try:
                    async with asyncio.timeout(60):
                        await row(surfaces)
                except Exception as problem:
                    problems[operation] = repr(problem)[:1_500]
    assert not problems, json.dumps(problems, indent=1)


def test_every_operation_of_the_api_has_a_row(server: ServerProcess) -> None:
    with server.make_client() as client:
        document = client.get("/api/openapi.json").json()
    operations = {
        operation["operationId"]: operation.get("tags", [""])[0]
        for methods in document["paths"].values()
        for operation in methods.values()
    }
    assert TABLE.keys() <= operations.keys()
    missing = {name: tag for name, tag in operations.items() if name not in TABLE and tag not in ONLY_BY_TAG}
    assert not missing, missing
