"""The inbox: questions of every part arrive, are decided here or elsewhere, and stay in the history."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.installed_programs import find_program
from tests.pflow.mcp.gates import Gate
from tests.uraniborg.console.browser.conftest import Visitor, find_accessibility_problems
from tests.uraniborg.console.processes import ServerProcess
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(300)
QUESTION = {"question": "Publish 14 notes?", "details": "to the wiki"}
ASK = {"nodes": [{"id": "ask", "type": "approval", "params": QUESTION}]}


def start_search(client: httpx.Client) -> dict[str, Any]:
    return client.post("/api/searches", json={"query": QUERY}).json()


def read_question(client: httpx.Client, entry_id: str) -> dict[str, Any]:
    return client.get(f"/api/inbox/{entry_id}").json()


def decide_in_terminal(server: ServerProcess, entry_id: str, action: str) -> None:
    command = [find_program("uraniborg"), "decide", entry_id, action]
    subprocess.run(command, env=server.env, cwd=server.env["HOME"], check=True, timeout=60, capture_output=True)


def test_a_proposed_search_is_approved_by_keyboard_and_its_results_arrive_live(
    page: Page, client: httpx.Client
) -> None:
    expect(page.get_by_text("Live")).to_be_visible()
    state = start_search(client)
    row = page.get_by_role("link").filter(has_text="Search plan").first
    expect(row).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("heading", name=QUERY)).to_be_visible()
    expect(page.get_by_text("Nothing is sent to a source before you decide.")).to_be_visible()
    assert find_accessibility_problems(page) == []
    page.keyboard.press("a")
    expect(page.get_by_text("Decided. The search continues.")).to_be_visible()
    decided = read_question(client, state["checkpoint_id"])
    assert (decided["state"], decided["door"], decided["decided_by"]) == ("decided", "console", "Sophie Brahe")
    expect(page.get_by_role("link").filter(has_text="papers to review").first).to_be_visible()
    expect(page.get_by_role("link").filter(has_text="by you, in the console").first).to_be_visible()


def test_a_review_is_rejected_with_a_hint_and_the_next_one_kept_whole_by_keyboard_alone(
    page: Page, client: httpx.Client, server: ServerProcess
) -> None:
    path = f"/api/searches/{start_search(client)['session_id']}"
    review = client.post(f"{path}/decide", json={"action": "approve"}).json()
    page.goto(f"{server.url}/inbox/{review['checkpoint_id']}")
    best = page.get_by_role("table", name="Best matches").get_by_role("row")
    expect(best.nth(1)).to_contain_text("TRAPPIST-1")
    page.keyboard.press("r")
    expect(page.get_by_role("dialog").get_by_role("textbox")).to_be_focused()
    page.keyboard.type("also papers about stellar flares")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("link").filter(has_text="in the console: also papers about stellar flares")).to_be_visible()
    plan = client.post(f"{path}/decide", json={"action": "approve", "checkpoint_id": review["checkpoint_id"]}).json()
    assert (plan["checkpoint_kind"], plan["already_decided"]["decided_by"]) == ("strategy_confirmation", "Sophie Brahe")
    second = client.post(f"{path}/decide", json={"action": "approve"}).json()["checkpoint_id"]
    page.goto(f"{server.url}/inbox/{second}")
    expect(page.get_by_role("button", name="Keep all")).to_be_visible()
    page.keyboard.press("a")
    expect(page.locator(".toasts, [aria-label=Messages]").get_by_text("Approved.")).to_be_visible()
    decided = read_question(client, second)
    assert (decided["decision"]["action"], decided["door"], decided["decided_by"]) == (
        "approve",
        "console",
        "Sophie Brahe",
    )
    assert client.post(f"{path}/decide", json={"action": "approve", "checkpoint_id": second}).json()["is_complete"]


def test_a_plan_is_edited_in_place_and_stays_in_the_history(page: Page, client: httpx.Client) -> None:
    entry_id = start_search(client)["checkpoint_id"]
    own = page.locator(f'a[href*="{quote(entry_id, safe="")}"]')  # questions of other tests may wait above it
    own.filter(has_text="Search plan").first.click()
    expect(page.get_by_role("button", name="Edit plan")).to_be_visible()
    page.keyboard.press("e")
    page.get_by_role("textbox", name="Query 1", exact=True).fill('"TRAPPIST-1" AND flares')
    page.get_by_role("button", name="Search with these edits").click()
    edited = own.filter(has_text="Edited").first
    expect(edited).to_be_visible()
    edited.click()
    expect(page.get_by_text("Edited by you, in the console.")).to_be_visible()
    expect(page.get_by_role("region", name="Details").get_by_text("Where and how much")).to_be_visible()
    assert read_question(client, entry_id)["decision"]["action"] == "edit"


def test_a_decision_in_the_terminal_is_shown_at_once_with_its_name(
    page: Page, client: httpx.Client, server: ServerProcess
) -> None:
    entry_id = start_search(client)["checkpoint_id"]
    page.goto(f"{server.url}/inbox/{entry_id}")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    page.keyboard.press("r")
    page.get_by_role("textbox").fill("a hint that is being typed")
    decide_in_terminal(server, entry_id, "approve")
    expect(page.get_by_text("Approved by Tycho, in the terminal.")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)


def test_the_second_of_two_deciders_is_told_who_was_first(
    make_visitor: Callable[..., Visitor], client: httpx.Client, server: ServerProcess
) -> None:
    entry_id = start_search(client)["checkpoint_id"]
    visitor = make_visitor(name="Ada")
    visitor.expected = ("net::ERR_FAILED",)
    page = visitor.open_page(f"/inbox/{entry_id}")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    page.route("**/api/events", lambda route: route.abort())  # Ada's browser does not hear of the first decision
    page.route(
        "**/api/searches/*/decide", lambda route: (decide_in_terminal(server, entry_id, "reject"), route.continue_())
    )
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("alert").get_by_text("NOT APPLIED")).to_contain_text("Tycho")
    expect(page.get_by_text("Rejected by Tycho, in the terminal.")).to_be_visible()


def test_a_workflow_is_rejected_with_a_reason(page: Page, client: httpx.Client) -> None:
    client.put("/api/drafts/publish", json={"document": ASK})
    client.post("/api/runs", json={"name": "publish"})
    page.get_by_role("link").filter(has_text="Publish 14 notes?").click()
    expect(page.get_by_text("to the wiki")).to_be_visible()
    page.get_by_role("button", name="Reject").click()
    page.get_by_label("Reason (optional)").fill("not before Friday")
    page.get_by_role("dialog").get_by_role("button", name="Reject").click()
    expect(page.get_by_role("link").filter(has_text="by you, in the console: not before Friday")).to_be_visible()


def test_runs_and_jobs_are_counted_while_any_process_runs_them(
    page: Page, client: httpx.Client, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    gate = Gate(tmp_path, "gate")
    request.addfinalizer(gate.close)
    running = page.locator(".pane-footer")
    expect(running).to_have_text("No search, workflow or job runs now.")
    client.put("/api/drafts/gated", json={"document": {"nodes": [gate.node("wait")]}})
    client.post("/api/runs", json={"name": "gated"})
    expect(running).to_have_text("Running now: 1 run")
    client.post("/api/universes", json={"id": "t1", "name": "TRAPPIST-1", "from": "trappist-1"})
    job = client.post("/api/universes/t1/jobs", json={"kind": "nbody", "days": 100_000}).json()
    expect(running).to_have_text("Running now: 1 run, 1 job of a universe")
    assert client.get("/api/running").json() == {"searches": 0, "runs": 1, "jobs": 1}
    gate.open()
    expect(running).to_have_text("Running now: 1 job of a universe")
    client.post(f"/api/universes/t1/jobs/{job['id']}/cancel")
    expect(running).to_have_text("No search, workflow or job runs now.")


def test_typed_words_survive_a_reload(page: Page, client: httpx.Client, server: ServerProcess) -> None:
    page.goto(f"{server.url}/inbox/{start_search(client)['checkpoint_id']}")
    page.get_by_role("button", name="Reject with a hint").click()
    page.get_by_role("textbox").fill("too broad")
    page.reload()
    expect(page.get_by_role("textbox")).to_have_value("too broad")


def test_two_tabs_share_one_stream_and_the_second_takes_over(visitor: Visitor, client: httpx.Client) -> None:
    requests: list[str] = []
    visitor.context.on("request", lambda request: requests.append(urlsplit(request.url).path))
    first = visitor.open_page()
    expect(first.get_by_text("Live")).to_be_visible()
    second = visitor.open_page()
    expect(second.get_by_text("Live")).to_be_visible()
    entry_id = start_search(client)["checkpoint_id"]
    link = f"main a[href*='{entry_id.replace(':', '%3A')}']"
    expect(second.locator(link)).to_be_visible()
    assert requests.count("/api/events") == 1
    first.close()
    other = start_search(client)["checkpoint_id"]
    expect(second.locator(f"main a[href*='{other.replace(':', '%3A')}']")).to_be_visible()
    assert requests.count("/api/events") == 2


def test_at_phone_width_the_list_leads_to_the_question_and_back(
    make_visitor: Callable[..., Visitor], client: httpx.Client
) -> None:
    start_search(client)
    page = make_visitor(width=390, theme="dark").open_page()
    expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
    assert find_accessibility_problems(page) == []
    page.get_by_role("link").filter(has_text="Search plan").first.click()
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    assert find_accessibility_problems(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
