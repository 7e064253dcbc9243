"""Workflows as people run, fix and approve them in a browser, and runs of agents in other processes, watched live."""

import json
import os
import subprocess
from collections.abc import Callable, Generator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.installed_programs import find_program
from tests.pflow.service.fake_programs import NOTHING_FAILS, write_fake_programs
from tests.uraniborg.console.browser.agents import Agent
from tests.uraniborg.console.browser.attack_watch import check_nothing_happened, record_fetches
from tests.uraniborg.console.browser.conftest import Visitor, find_accessibility_problems
from tests.uraniborg.console.browser.page_looks import Visit, check_pages, go_to
from tests.uraniborg.console.browser.payloads import PAYLOADS
from tests.uraniborg.console.processes import ServerProcess, run_server

pytestmark = pytest.mark.timeout(240)
expect.set_options(timeout=30_000)  # machines that run many tests at once are slow
DIGEST: dict[str, Any] = {
    "inputs": {
        "topic": {"type": "string", "required": True, "description": "What it is about."},
        "days": {"type": "integer", "default": 7},
        "key": {"type": "string", "secret": True, "default": ""},
    },
    "nodes": [
        {"id": "collect", "type": "echo", "purpose": "Collect papers.", "params": {"message": "papers on ${topic}"}},
        {"id": "notes", "type": "read-file", "params": {"file_path": "missing.md"}},
        {
            "id": "ask",
            "type": "approval",
            "params": {"question": "Send ${collect.echo}?", "details": {"days": "${days}"}},
        },
        {"id": "send", "type": "echo", "params": {"message": "${notes.content} ${key}"}},
    ],
    "edges": [{"from": "collect", "to": "notes"}, {"from": "notes", "to": "ask"}, {"from": "ask", "to": "send"}],
    "outputs": {"sent": {"source": "${send.echo}"}},
}


TALKING = """
import asyncio
from pathlib import Path

from pflow.errors import NodeFailed


async def number(params, context):
    if params["number"] == 700:
        raise NodeFailed("seven hundred is not wanted")
    return {"value": params["number"]}


async def shout(params, context):
    for text in params["texts"]:
        context.say(text)
    raise NodeFailed("\\n".join(params["texts"]))


async def wait(params, context):
    context.say("waits for the gate")
    while not Path(params["gate"]).exists():
        await asyncio.sleep(0.02)
    return {"value": "open"}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """Run `uraniborg serve` where the programs of schedulers do nothing."""
    home = tmp_path_factory.mktemp("home")
    write_fake_programs(home / "bin", "systemctl", "crontab", "launchctl")
    with run_server(home, PATH=f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}", **NOTHING_FAILS) as running:
        yield running


def write_draft(server: ServerProcess, name: str, document: dict[str, Any]) -> None:
    with server.make_client() as client:
        client.put(f"/api/drafts/{name}", json={"document": document}).raise_for_status()


def run_to_end(server: ServerProcess, name: str, inputs: dict[str, Any], *, fresh: bool = False) -> str:
    with server.make_client() as client:
        run_id = client.post("/api/runs", json={"name": name, "inputs": inputs, "fresh": fresh}).json()["run_id"]
        while client.get(f"/api/runs/{run_id}/progress").json()["run"]["status"] == "running":
            pass
    return run_id


def schedule_and_remove(page: Page, server: ServerProcess) -> None:
    """Schedule a workflow after two mistakes, and remove the schedule."""
    page.goto(f"{server.url}/workflows/digest")
    page.get_by_role("button", name="Schedule").click()
    form = page.get_by_role("dialog")
    form.get_by_label("When").fill("on sundays at tea time")
    form.get_by_role("button", name="Schedule").click()
    expect(form.get_by_label("topic")).to_have_attribute("aria-invalid", "true")
    form.get_by_label("topic").fill("moons")
    form.get_by_role("button", name="Schedule").click()
    expect(form.get_by_role("alert").get_by_text("tea time")).to_be_visible()
    expect(form.get_by_label("topic")).to_have_value("moons")
    form.get_by_label("When").fill("mon 07:00")
    form.get_by_role("button", name="Schedule").click()
    expect(page.get_by_text("digest runs mon 07:00, by")).to_be_visible()
    page.goto(f"{server.url}/workflows?view=schedules")
    page.get_by_role("row", name="digest").get_by_role("button").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("The schedule of digest is removed.")).to_be_visible()
    expect(page.get_by_role("row", name="digest")).to_have_count(0)


def write_talking_nodes(server: ServerProcess) -> None:
    """Write a node that fails for one number, and one that sends a message and waits for a file."""
    folder = Path(server.env["URANIBORG_HOME"], "pflow", "nodes")
    folder.mkdir(parents=True, exist_ok=True)
    kinds = [{"type": name, "description": name, "run": f"talking.py:{name}"} for name in ("number", "shout", "wait")]
    nodes = [{**kind, "open_params": True, "outputs": {"value": "any"}} for kind in kinds]
    (folder / "talking.json").write_text(json.dumps({"nodes": nodes}), encoding="utf-8")
    (folder / "talking.py").write_text(TALKING, encoding="utf-8")


def look_at_items(page: Page) -> None:
    """Find the failed item among the thousand of a batch, and look at the last one."""
    get_node(page, "many").click()
    items = page.get_by_role("region", name="Items")
    expect(items.get_by_text("All 1,000")).to_be_visible()
    assert items.locator("li").count() < 60
    items.get_by_text("Failed: 1").click()
    items.get_by_role("link", name="701 Failed").click()
    expect(items.get_by_role("heading", name="Item 701")).to_be_visible()
    expect(items.get_by_text("seven hundred is not wanted").last).to_be_visible()
    items.get_by_text("All 1,000").click()
    page.goto(page.url.replace("item=700", "item=999"))
    expect(items.get_by_role("heading", name="Item 1,000")).to_be_visible()
    expect(items.locator("pre", has_text="999").first).to_be_visible()


def decide_for_agent(page: Page, server: ServerProcess, agent: Agent) -> None:
    """Approve the question of an agent's run: the run waits no more, and the next run of the agent continues it."""
    page.goto(f"{server.url}/workflows")
    ask = {"id": "ask", "type": "approval", "params": {"question": "Publish?", "details": "one\ntwo"}}
    write_draft(server, "publish", {"nodes": [ask]})
    expect(page.get_by_role("list", name="Drafts").get_by_role("link", name="publish")).to_be_visible()
    asked = agent.call("execute", name="publish")
    page.goto(f"{server.url}/runs/{asked['run_id']}")
    expect(page.get_by_role("complementary").get_by_text("(agent), over MCP")).to_be_visible()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status").get_by_text("Decided", exact=True)).to_be_visible()
    expect(page.get_by_text("Approved by you, in the console.")).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    done = agent.call("execute", name="publish")
    assert done["resumed_from"] == asked["run_id"]
    page.wait_for_url(f"**/runs/{done['run_id']}")
    page.goto(f"{server.url}/runs/{asked['run_id']}")
    expect(page.get_by_text("This run was resumed:")).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_have_count(0)


WATCH_FOR_RESUME = """
() => {
  window.hasOfferedResume = false;
  const look = () => {
    const buttons = [...document.querySelectorAll("button")];
    window.hasOfferedResume ||= buttons.some((one) => one.innerText.includes("Resume"));
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
}
"""


def test_a_run_of_the_console_that_is_decided_in_a_terminal_is_resumed_and_never_offers_to_resume(
    make_visitor: Callable[..., Visitor], server: ServerProcess
) -> None:
    write_draft(server, "asking", {"nodes": [{"id": "ask", "type": "approval", "params": {"question": "Send?"}}]})
    superseded, asked = (run_to_end(server, "asking", {}, fresh=True) for _ in range(2))
    page = make_visitor().open_page(f"/runs/{superseded}")
    expect(page.get_by_role("status").get_by_text("Question withdrawn", exact=True)).to_be_visible()
    expect(page.get_by_text("a later run of this workflow asks it")).to_be_visible()
    page.goto(f"{server.url}/runs/{asked}")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    page.evaluate(WATCH_FOR_RESUME)
    with server.make_client() as client:
        approval_id = client.get(f"/api/runs/{asked}").json()["error"]["approval_id"]
    page.get_by_role("button", name="Reject").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("half a reason")
    decide = [find_program("uraniborg"), "decide", approval_id, "reject", "--note", "too early"]
    subprocess.run(decide, env=server.env, check=True, capture_output=True)
    expect(dialog.get_by_text("Rejected by Tycho, in the terminal.")).to_be_visible()
    expect(dialog.get_by_text("Your reason was not sent.")).to_be_visible()
    expect(dialog.get_by_label("Reason")).to_have_value("half a reason")
    expect(dialog.get_by_role("button", name="Reject")).to_have_count(0)
    dialog.get_by_role("button", name="Close").last.click()
    expect(page.get_by_text("This run was resumed:")).to_be_visible()
    expect(page.get_by_role("status").get_by_text("Decided", exact=True)).to_be_visible()
    expect(page.get_by_text("Rejected by Tycho, in the terminal.")).to_be_visible()
    assert not page.evaluate("window.hasOfferedResume")
    expect(get_node(page, "ask")).to_contain_text("Rejected")
    get_node(page, "ask").click()
    expect(page.get_by_role("complementary").get_by_text("Rejected by Tycho, in the terminal.")).to_be_visible()
    expect(page.get_by_text("A person has to decide")).to_have_count(0)
    page.goto(f"{server.url}/workflows?view=runs&workflow=asking")
    expect(page.get_by_role("list", name="Runs").get_by_text("Rejected by Tycho, in the terminal")).to_be_visible()


def get_node(page: Page, name: str) -> Locator:
    return page.get_by_role("list", name="Nodes").locator(f"a[href$='node={name}']")


def test_a_large_graph_opens_at_its_start_fits_into_the_frame_and_shows_the_selected_node(
    visitor: Visitor, server: ServerProcess
) -> None:
    leaves = [f"leaf{index}" for index in range(199)]
    document = {
        "nodes": [{"id": name, "type": "echo", "params": {"message": name}} for name in ["start", *leaves]],
        "edges": [{"from": "start", "to": name} for name in leaves],
    }
    write_draft(server, "wide", document)
    page = visitor.open_page(f"/runs/{run_to_end(server, 'wide', {})}")
    expect(get_node(page, "start")).to_be_in_viewport()
    for _ in range(5):
        page.keyboard.press("j")
        expect(page.locator(".graph-box [aria-current=true]")).to_be_in_viewport(ratio=0.99)
    last = get_node(page, "leaf198")
    expect(last).not_to_be_in_viewport()
    page.get_by_role("button", name="Fit the whole graph").click()
    box = page.get_by_role("region", name="Graph").bounding_box()
    assert box
    for name in ("start", "leaf0", "leaf198"):
        place = get_node(page, name).bounding_box()
        assert place
        assert box["x"] - 1 <= place["x"] <= place["x"] + place["width"] <= box["x"] + box["width"] + 1
        assert box["y"] - 1 <= place["y"] <= place["y"] + place["height"] <= box["y"] + box["height"] + 1


def open_active_run(page: Page, workflow: str) -> None:
    runs = page.get_by_role("list", name="Runs").get_by_role("link").filter(has_text=workflow)
    runs.filter(has_text="Running").click()


def test_a_run_fails_is_fixed_resumed_approved_and_compared(visitor: Visitor, server: ServerProcess) -> None:
    visitor.expected = ("status of 422",)  # secrets are not stored: the first attempt to resume is refused
    write_draft(server, "digest", DIGEST)
    Path(server.env["HOME"], "notes.md").write_text("Notes.", encoding="utf-8")
    page = visitor.open_page("/workflows")
    page.get_by_role("list", name="Drafts").get_by_role("link", name="digest").click()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("A value is required.")).to_be_visible()
    page.get_by_label("topic").fill("moons")
    page.get_by_label("days").fill("3")
    page.get_by_label("key").fill("sk-very-secret-key-01")
    assert page.get_by_label("key").get_attribute("type") == "password"
    page.get_by_role("button", name="What would happen").click()
    expect(page.get_by_role("region", name="What would happen").get_by_text("Nothing has run.")).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert").get_by_text("there is no such file")).to_be_visible()
    expect(get_node(page, "notes")).to_have_attribute("data-status", "failed")
    page.get_by_role("link", name="Show notes").click()
    expect(page.get_by_role("complementary").get_by_text("missing.md", exact=True)).to_be_visible()
    page.keyboard.press("e")
    text = page.get_by_label("Text of the workflow (JSON)")
    wrong = json.dumps(DIGEST, indent=2).replace("missing.md", "notes.md").replace('"read-file"', '"raed-file"')
    text.fill(wrong[:-1])
    expect(page.get_by_text("Line ").first).to_be_visible()
    text.fill(wrong)
    page.get_by_role("button", name='Change to "read-file"').click()
    expect(text).to_have_value(wrong.replace("raed-file", "read-file"))
    expect(page.get_by_role("complementary").get_by_text("No errors. It can run.")).to_be_visible()
    page.get_by_role("button", name="Save and resume the run").click()
    expect(page.get_by_role("alert").get_by_text("These inputs are not stored with the run: key.")).to_be_visible()
    form = page.get_by_role("dialog")
    expect(form.get_by_label("topic")).to_have_value("moons")
    expect(form.get_by_label("key")).to_have_value("")
    form.get_by_label("key").fill("sk-very-secret-key-02")
    form.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("heading", name="Send papers on moons?")).to_be_visible()
    expect(get_node(page, "collect")).to_have_attribute("data-status", "reused")
    get_node(page, "collect").click()
    expect(page.get_by_text("Reused: nothing that this node depends on has changed")).to_be_visible()
    expect(page.get_by_role("complementary").get_by_text("papers on moons").first).to_be_visible()
    waiting = page.url
    page.keyboard.press("a")
    expect(page.get_by_role("status").get_by_text("Done", exact=True)).to_be_visible()
    assert page.url != waiting
    expect(page.get_by_role("complementary").get_by_text("Notes. ***")).to_be_visible()
    assert "sk-very-secret" not in page.content()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("list", name="Compare with").get_by_role("link").last.click()
    expect(page.get_by_role("row", name="notes Failed").get_by_text("Reused")).to_be_visible()
    schedule_and_remove(page, server)


def test_control_z_removes_an_inserted_node_and_a_correction(visitor: Visitor, server: ServerProcess) -> None:
    nodes = [{"id": "first", "type": "ehco", "params": {"message": "x"}}]
    write_draft(server, "undone", {"nodes": nodes})
    page = visitor.open_page("/workflows/undone/edit?source=draft")
    text = page.get_by_label("Text of the workflow (JSON)")
    expect(text).to_be_focused()
    before = json.dumps({"nodes": nodes}, indent=2) + "\n"
    expect(text).to_have_value(before)
    page.get_by_role("button", name='Change to "echo"').click()
    corrected = before.replace("ehco", "echo")
    expect(text).to_have_value(corrected)
    page.get_by_role("list", name="Types of nodes").get_by_text("http", exact=True).click()
    page.get_by_role("button", name="Insert: http").click()
    expect(text).to_be_focused()
    assert len(json.loads(text.input_value())["nodes"]) == 2
    page.keyboard.press("Control+z")
    expect(text).to_have_value(corrected)
    page.keyboard.press("Control+z")
    expect(text).to_have_value(before)
    page.keyboard.press("Control+Shift+z")
    page.get_by_role("button", name="Discard changes").click()
    expect(text).to_have_value(before)
    page.keyboard.press("Control+z")
    expect(text).to_have_value(corrected)


def test_a_draft_that_an_agent_breaks_or_deletes_is_corrected_and_saved(
    visitor: Visitor, server: ServerProcess
) -> None:
    write_draft(server, "repaired", {"nodes": []})
    file = Path(server.env["URANIBORG_HOME"], "pflow", "workflows", "drafts", "repaired.json")
    file.write_text('{"nodes": [}\n', encoding="utf-8")
    page = visitor.open_page("/workflows")
    page.get_by_role("list", name="Files that cannot be read").get_by_role("link", name="repaired").click()
    text = page.get_by_label("Text of the workflow (JSON)")
    expect(text).to_have_value('{"nodes": [}\n')
    findings = page.get_by_role("complementary")
    expect(findings.get_by_role("button", name="line 1")).to_be_visible()
    mine = json.dumps({"nodes": [{"id": "say", "type": "echo", "params": {"message": "x"}}]})
    text.fill(mine)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("repaired is saved.")).to_be_visible()
    expect(findings.get_by_text("No errors. It can run.")).to_be_visible()
    file.write_text("{", encoding="utf-8")
    expect(page.get_by_text("The file cannot be read now")).to_be_visible()
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    expect(findings.get_by_text("No errors in this text.")).to_be_visible()
    expect(text).to_have_value(mine)
    page.get_by_role("button", name="Show the text of the other person or agent").click()
    expect(text).to_have_value("{")
    page.get_by_role("button", name="Show your text again").click()
    expect(text).to_have_value(mine)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("No unsaved changes")).to_be_visible()
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(mine)
    visitor.expected = ("404",)  # the page may ask for the file before it knows that the file is gone
    file.unlink()
    expect(page.get_by_text("Somebody has deleted this file")).to_be_visible()
    expect(text).to_have_value(mine)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("No unsaved changes")).to_be_visible()
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(mine)


def test_a_run_of_an_agent_in_another_process_is_shown_live_and_cancelled(
    visitor: Visitor, server: ServerProcess
) -> None:
    gate = Path(server.env["HOME"], "gate")
    write_talking_nodes(server)
    chain = [{"id": f"step-{number}", "type": "echo", "params": {"message": "x"}} for number in range(198)]
    batch = {"items": list(range(1_000)), "error_handling": "continue", "parallel": True}
    nodes = [
        {"id": "many", "type": "number", "params": {"number": "${item}"}, "batch": batch},
        {"id": "wait", "type": "wait", "params": {"gate": str(gate)}},
        *chain,
    ]
    edges = [{"from": one["id"], "to": other["id"]} for one, other in pairwise(nodes)]
    write_draft(server, "long-work", {"nodes": nodes, "edges": edges})
    page = visitor.open_page("/workflows?view=runs")
    expect(page.get_by_text("There are no runs yet.").or_(page.get_by_role("list", name="Runs"))).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    with Agent(server.env, "pflow", "mcp", "serve") as agent:
        calling = agent.start("execute", name="long-work")
        open_active_run(page, "long-work")
        expect(get_node(page, "wait")).to_have_attribute("data-status", "running")
        expect(get_node(page, "many")).to_have_attribute("data-status", "completed")
        expect(get_node(page, "step-197")).to_have_attribute("data-status", "pending")
        get_node(page, "wait").click()
        expect(page.get_by_text("It runs now.")).to_be_visible()
        expect(page.get_by_role("complementary").get_by_text("waits for the gate")).to_be_visible()
        look_at_items(page)
        gate.touch()
        expect(get_node(page, "step-197")).to_have_attribute("data-status", "completed")
        expect(page.get_by_text("200 of 200 nodes done")).to_be_visible()
        assert agent.finish(calling)["success"]
        gate.unlink()
        second = agent.start("execute", name="long-work")
        page.goto(f"{server.url}/workflows?view=runs")
        open_active_run(page, "long-work")
        expect(get_node(page, "wait")).to_have_attribute("data-status", "running")
        page.keyboard.press("c")
        expect(page.get_by_role("status").get_by_text("Cancelled", exact=True)).to_be_visible()
        assert agent.finish(second)["error"]["code"] == "run_cancelled"
        decide_for_agent(page, server, agent)


def test_the_whole_row_of_a_workflow_opens_it_and_j_and_k_move_through_the_list(
    visitor: Visitor, server: ServerProcess
) -> None:
    for name in ("row-1", "row-2"):
        write_draft(server, name, {"nodes": []})
    page = visitor.open_page("/workflows")
    rows = page.get_by_role("list", name="Drafts").get_by_role("listitem")
    row = rows.filter(has=page.get_by_role("link", name="row-2"))
    row.hover()
    assert find_accessibility_problems(page) == []
    row.click(position={"x": 400, "y": 40})
    page.wait_for_url("**/workflows/row-2")
    page.goto(f"{server.url}/workflows")
    rows.get_by_role("link", name="row-1").focus()
    page.keyboard.press("j")
    expect(rows.get_by_role("link", name="row-2")).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url("**/workflows/row-1")


VISIT_NODES = """async (names) => {
  const texts = {};
  const path = location.pathname;
  for (const name of names) {
    history.pushState(null, '', `${path}?node=${name}`);
    dispatchEvent(new PopStateEvent('popstate'));
    const end = performance.now() + 20000;
    const isShown = () => {
      const pane = document.querySelector('.context-pane');
      return pane?.querySelector('h2')?.textContent === name && pane.querySelector('pre') ? pane.textContent : '';
    };
    while (!(texts[name] = isShown()) && performance.now() < end) await new Promise(requestAnimationFrame);
  }
  return texts;
}"""


def test_no_text_of_a_workflow_or_run_is_executed_or_fetches_anything(visitor: Visitor, server: ServerProcess) -> None:
    names = [f"node-{number}" for number in range(len(PAYLOADS))]
    nodes = [
        {"id": name, "type": "echo", "purpose": payload, "params": {"message": f"${{p{number}}}"}}
        for number, (name, payload) in enumerate(zip(names, PAYLOADS, strict=True))
    ]
    details = [payload.replace("${", "$${") for payload in PAYLOADS]
    document: dict[str, Any] = {
        "inputs": {f"p{number}": {"type": "string", "description": text} for number, text in enumerate(PAYLOADS)},
        "nodes": [
            *nodes,
            {"id": "batch", "type": "number", "params": {"number": "${item}"}, "batch": {"items": details}},
            {"id": "constructor", "type": "approval", "params": {"question": PAYLOADS[0], "details": details}},
        ],
        "edges": [{"from": one, "to": other} for one, other in pairwise([*names, "batch", "constructor"])],
        "outputs": {"__proto__": {"source": "${node-0.echo}", "description": PAYLOADS[9]}},
    }
    write_talking_nodes(server)
    write_draft(server, "hostile", document)
    write_draft(server, "failing", {"nodes": [{"id": "shout", "type": "shout", "params": {"texts": details}}]})
    inputs = {f"p{number}": text for number, text in enumerate(PAYLOADS)}
    run_id = run_to_end(server, "hostile", inputs)
    failed_id = run_to_end(server, "failing", {})
    with server.make_client() as client:
        saving = {"final_name": "attacks", "description": "".join(filter(str.isprintable, " ".join(PAYLOADS)))[:500]}
        client.post("/api/drafts/hostile/save", json=saving).raise_for_status()
        scheduled = {"at": "mon 07:00", "inputs": inputs}
        reply = client.put("/api/schedules/attacks", json=scheduled)
        assert reply.is_success, reply.text
    fetched = record_fetches(visitor)
    page = visitor.open_page("/workflows")
    expect(page.get_by_text(PAYLOADS[0]).first).to_be_visible()
    check_nothing_happened(page, visitor, fetched)
    go_to(page, "/workflows?view=schedules")
    expect(page.get_by_role("link", name="attacks")).to_be_visible()
    check_nothing_happened(page, visitor, fetched)
    go_to(page, "/workflows?view=runs")
    expect(page.get_by_role("list", name="Runs").get_by_text(PAYLOADS[0]).first).to_be_visible()
    check_nothing_happened(page, visitor, fetched)
    go_to(page, f"/runs/{failed_id}?node=shout")
    expect(page.get_by_role("complementary").get_by_text(PAYLOADS[0]).first).to_be_visible()
    shown = page.locator("main").inner_text()
    assert [text for text in PAYLOADS if text.isprintable() and shown.count(text.strip()) < 2] == []
    check_nothing_happened(page, visitor, fetched)
    go_to(page, f"/runs/{run_id}")
    expect(page.get_by_role("heading", name=PAYLOADS[0])).to_be_visible()
    expect(get_node(page, "constructor")).to_be_visible()
    check_nothing_happened(page, visitor, fetched)
    texts = page.evaluate(VISIT_NODES, names)
    assert [name for name, text in zip(names, PAYLOADS, strict=True) if texts[name].count(text) < 2] == []
    check_nothing_happened(page, visitor, fetched)
    go_to(page, f"/runs/{run_id}?node=batch&item=0")
    items = page.get_by_role("region", name="Items")
    expect(items.locator("pre", has_text=PAYLOADS[0].strip()).first).to_be_visible()
    expect(items.get_by_role("list", name="Items").get_by_text(PAYLOADS[0].strip()).first).to_be_visible()
    check_nothing_happened(page, visitor, fetched)
    go_to(page, f"/runs/{run_id}?view=timeline")
    expect(page.get_by_role("list", name="Timeline")).to_be_visible()
    check_nothing_happened(page, visitor, fetched)
    go_to(page, "/workflows/attacks")
    expect(page.get_by_label("p79", exact=True)).to_be_visible()
    shown = page.locator("main").inner_text()
    assert [text for text in PAYLOADS if text.isprintable() and text.strip() not in shown] == []
    check_nothing_happened(page, visitor, fetched)
    go_to(page, "/workflows/attacks/edit")
    expect(page.get_by_text("No errors. It can run.").or_(page.get_by_text("warning").first)).to_be_visible()
    check_nothing_happened(page, visitor, fetched)


def test_the_pages_of_workflows_are_accessible_and_still(visitor: Visitor, server: ServerProcess) -> None:
    write_draft(server, "open", {**DIGEST, "nodes": [{**DIGEST["nodes"][0], "tpye": "echo"}, *DIGEST["nodes"][1:]]})
    write_draft(server, "digest", DIGEST)
    write_draft(server, "asking", {"nodes": [{"id": "ask", "type": "approval", "params": {"question": "Send?"}}]})
    first, second = (run_to_end(server, "digest", {"topic": topic}) for topic in ("moons", "tides"))
    asked = run_to_end(server, "asking", {}, fresh=True)
    items = {"items": [1, "two", {"three": 3}], "error_handling": "continue"}
    many = {"id": "many", "type": "read-file", "params": {"file_path": "${item}"}, "batch": items}
    write_draft(server, "batch", {"nodes": [many]})
    batch = run_to_end(server, "batch", {})
    page = visitor.open_page("/workflows")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    check_pages(
        page,
        [
            Visit("/workflows", ".search-item"),
            Visit("/workflows?new=1", "dialog"),
            Visit("/workflows?view=runs", ".virtual-list a"),
            Visit("/workflows?view=schedules", ".state, .table"),
            Visit("/workflows/open/edit?source=draft", ".findings li"),
            Visit("/workflows/digest", ".graph-node"),
            Visit("/workflows/digest", ".graph-node", click="button:has-text('Schedule')"),
            Visit(f"/runs/{first}", ".graph-node"),
            Visit(f"/runs/{first}?node=notes", ".context-body .failure"),
            Visit(f"/runs/{batch}?node=many&item=1", ".item-details"),
            Visit(f"/runs/{first}?view=timeline", ".timeline-row"),
            Visit(f"/runs/{first}/compare/{second}", ".compared-runs"),
            Visit(f"/runs/{first}", ".graph-node", click="button:has-text('Compare')"),
            Visit(f"/runs/{asked}", ".decision-bar"),
            Visit(f"/runs/{asked}", ".decision-bar", "r"),
        ],
    )
