"""Exact feedback, and approvals whose note asks for something, over MCP and in the dialog of a client."""

from pathlib import Path
from typing import Any

import pytest

from paper_search.service.sessions.inbox_decisions import find_requests
from paper_search.workflow import Decision, DecisionAction
from tests.dialogs import Person, fill_in
from tests.paper_search.api.test_checkpoint_dialogs import call, read_entries, search
from tests.paper_search.api.test_checkpoint_dialogs import open_client as open_client_with_forms
from tests.paper_search.service.sessions.helpers import QUERY, REVIEW, STRATEGY, DataFolder
from tests.paper_search.tool_client import call_tool, open_client
from uraniborg.kernel.mcp.testing import get_json

NOTE = "only keep the first two"


async def reach_review(client: Any) -> dict[str, Any]:
    session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
    reply = await call_tool(client, "decide", session_id=session_id, action="approve")
    assert reply["checkpoint_kind"] == REVIEW
    return reply


async def test_exact_feedback_changes_the_next_plan_and_clauses_not_used_are_in_the_reply(
    data_folder: DataFolder,
) -> None:
    async with open_client(data_folder) as client:
        session_id = (await reach_review(client))["session_id"]
        data = {
            "add_terms": ["tides"],
            "exclude_terms": ["mice"],
            "set_years": {"year_from": 1990},
            "free_text_feedback": "None of these papers is about cancer",
        }
        reply = await call_tool(client, "decide", session_id=session_id, action="reject", data=data)
    strategy = reply["checkpoint"]["payload"]["strategy"]
    assert reply["checkpoint_kind"] == STRATEGY
    assert "tides" in [block["name"] for block in strategy["blocks"]]
    assert all("NOT" in query["boolean_query"] for query in strategy["queries"] if query["boolean_query"])
    assert "cancer" not in str(strategy["queries"])
    assert strategy["filters"]["year_from"] == 1990
    assert "Not used: “None of these papers is about cancer”" in reply["summary"]
    notes = " ".join(strategy["notes"])
    for note in ("Added: “tides”", "Excluded: “mice”", "Changed: first year is 1990", "Not used: “None of"):
        assert note in notes


async def test_a_change_that_is_not_possible_leaves_the_checkpoint_pending(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        session_id = (await reach_review(client))["session_id"]
        data = {"add_terms": ["mice"], "exclude_terms": ["mice"]}
        refused = await client.call_tool("decide", {"session_id": session_id, "action": "reject", "data": data})
        state = await call_tool(client, "get_session", session_id=session_id)
    assert refused.isError
    assert get_json(refused)["error"]["message"] == "The feedback adds and excludes “mice”."
    assert state["checkpoint_kind"] == REVIEW


@pytest.mark.parametrize("data", [{"drop_limits": ["years"]}, {"set_years": {"year_from": 2010}}])
async def test_a_limit_that_a_strategy_states_itself_is_changed_only_by_an_edit(
    data_folder: DataFolder, data: dict[str, Any]
) -> None:
    async with open_client(data_folder) as client:
        query = "moons[tiab] AND tides[tiab] AND 2016:2026[dp]"
        session_id = (await call_tool(client, "search_papers", query=query))["session_id"]
        call = {"session_id": session_id, "action": "reject"}
        refused = await client.call_tool("decide", {**call, "data": data})
        noted = await call_tool(client, "decide", **call, note="remove the year limit")
    message = "The query keeps its own limit “2016:2026[dp]”: edit the query to change it."
    assert get_json(refused)["error"]["message"] == message
    assert message in noted["checkpoint"]["payload"]["strategy"]["notes"]


@pytest.mark.parametrize("note", [NOTE, "but drop the reviews"])
async def test_an_approve_with_a_note_that_asks_for_something_is_applied_when_it_is_repeated(
    data_folder: DataFolder, note: str
) -> None:
    async with open_client(data_folder) as client:
        session_id = (await reach_review(client))["session_id"]
        decision = {"session_id": session_id, "action": "approve", "note": note}
        asked = await client.call_tool("decide", decision)
        assert asked.isError
        error = get_json(asked)["error"]
        assert error["code"] == "note_asks_for_change"
        assert error["message"].startswith("Nothing was decided: ")
        assert note in error["message"]
        for remedy in ("decisions about papers", "reject with feedback", "end the review, send the same approve again"):
            assert remedy in error["hint"].replace("or reject", "reject")
        assert (await call_tool(client, "get_session", session_id=session_id))["checkpoint_kind"] == REVIEW
        done = await call_tool(client, "decide", **decision)
    assert done["is_complete"]


async def test_the_question_survives_a_restart_of_the_server(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        session_id = (await reach_review(client))["session_id"]
        decision = {"session_id": session_id, "action": "approve", "note": NOTE}
        assert (await client.call_tool("decide", decision)).isError
    async with open_client(data_folder) as client:
        assert (await call_tool(client, "decide", **decision))["is_complete"]


async def test_an_approve_of_a_plan_is_asked_about_too(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        decision = {"session_id": session_id, "action": "approve", "note": "but exclude reviews"}
        error = get_json(await client.call_tool("decide", decision))["error"]
        assert "search with the plan as it is, send the same approve again" in error["hint"]
        assert (await call_tool(client, "decide", **decision))["checkpoint_kind"] == REVIEW


async def test_a_courteous_note_is_not_asked_about(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        session_id = (await reach_review(client))["session_id"]
        done = await call_tool(client, "decide", session_id=session_id, action="approve", note="thanks, great")
    assert done["is_complete"]


async def test_a_person_is_asked_about_the_note_in_the_dialog_of_the_client(tmp_path: Path) -> None:
    answer = fill_in(decision="approve", note="only keep the newest")
    person = Person(answer, answer, fill_in(decision="approve"))
    async with open_client_with_forms(tmp_path, person) as client:
        reply = await search(client)
        assert reply["dialog"]["state"] == "invalid"
        assert "send the same approve again" in reply["dialog"]["message"]
        assert read_entries(tmp_path, reply["session_id"])[0].state == "pending"
        done = await call(client, "get_session", session_id=reply["session_id"])
        assert done["is_complete"]
    assert person.questions[1].message.startswith("Nothing was decided: ")


@pytest.mark.parametrize(
    ("note", "asks"),
    [
        (NOTE, True),
        ("but drop the reviews", True),
        ("ok, aber nur die ersten zwei", True),
        ("super, mais sans les revues", True),
        ("perfect, exclude reviews next time", True),
        ("thanks, great", False),
        ("as agreed on the phone", False),
        ("no objections", False),
        ("Passt, danke", False),
        ("", False),
    ],
)
def test_a_note_that_asks_for_something_is_told_from_a_courtesy(note: str, asks: bool) -> None:
    assert bool(find_requests(Decision(action=DecisionAction.APPROVE, note=note))) == asks
    assert find_requests(Decision(action=DecisionAction.REJECT, note=note)) == ""
