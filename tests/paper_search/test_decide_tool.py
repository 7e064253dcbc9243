"""The decide tool passes the fields of the Decision model to the engine, complete and unchanged."""

from pathlib import Path
from typing import Any

import pytest

from paper_search.models import SearchStrategy, UserFeedback
from paper_search.service.sessions import MCPCheckpointHandler
from paper_search.testing import FakeSource
from paper_search.workflow import Checkpoint, Decision
from tests.paper_search.service.sessions.helpers import QUERY, REVIEW, STRATEGY, DataFolder, make_moon_papers
from tests.paper_search.tool_client import call_tool, open_client
from tests.requirements import requirement
from uraniborg.kernel.mcp.testing import get_json

NOTE = "As we said on the phone: ‹ja›\n"
REVISED: dict[str, Any] = {
    "queries": [
        {
            "keywords": ["Europa", "ice"],
            "synonym_map": [{"keyword": "Europa", "synonyms": ["Jupiter II"]}],
            "boolean_query": "Europa AND ice",
        },
        {"keywords": ["Enceladus"], "synonym_map": [], "boolean_query": "Enceladus"},
        {"synonym_map": [{"keyword": "Io", "synonyms": ["Jupiter I"]}], "boolean_query": "Io"},
    ],
    "sources": ["beta"],
    "filters": {"year_from": 1990, "year_to": 2021, "language": "en", "max_results": 7},
    "notes": ["Agreed with the group."],
}


@pytest.fixture
def decisions(monkeypatch: pytest.MonkeyPatch) -> list[Decision]:
    """Return a list that collects the decisions that searches receive, in order."""
    found: list[Decision] = []
    handle = MCPCheckpointHandler.handle

    async def recorded(self: MCPCheckpointHandler, checkpoint: Checkpoint) -> Decision:
        decision = await handle(self, checkpoint)
        found.append(Decision(action=decision.action, revised_data=decision.revised_data, note=decision.note))
        return decision

    monkeypatch.setattr(MCPCheckpointHandler, "handle", recorded)
    return found


@pytest.fixture
def data_folder(home: Path) -> DataFolder:
    return DataFolder(
        home.parent / "data", FakeSource("alpha", make_moon_papers()), FakeSource("beta", make_moon_papers(2, "beta"))
    )


@requirement("PS-C3")
async def test_there_is_one_tool_for_all_decisions_and_its_arguments_are_the_fields_of_the_model(
    data_folder: DataFolder,
) -> None:
    async with open_client(data_folder) as client:
        schemas = {tool.name: tool.inputSchema for tool in (await client.list_tools()).tools}
    (deciding,) = [name for name, schema in schemas.items() if "action" in schema["properties"]]
    assert deciding == "decide"
    properties = schemas["decide"]["properties"]
    assert properties["action"]["enum"] == ["approve", "edit", "reject"]
    assert [one["type"] for one in properties["data"]["anyOf"]] == ["object", "null"]
    assert [one["type"] for one in properties["note"]["anyOf"]] == ["string", "null"]
    assert (properties["data"]["default"], properties["note"]["default"]) == (None, None)
    assert schemas["decide"]["required"] == ["session_id", "action"]


@requirement("PS-C3")
@pytest.mark.parametrize("note", [None, "", NOTE])
@pytest.mark.parametrize("action", ["approve", "reject"])
async def test_at_either_checkpoint_a_bare_action_and_its_note_arrive_as_sent(
    data_folder: DataFolder, decisions: list[Decision], action: str, note: str | None
) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        sent = [action, "approve", action] if action == "reject" else ["approve", "approve"]
        for one in sent:
            await call_tool(client, "decide", session_id=session_id, action=one, note=note)
    assert decisions == [Decision.model_validate({"action": one, "note": note}) for one in sent]


@requirement("PS-C3")
async def test_data_at_the_strategy_checkpoint_is_the_strategy_that_is_searched(
    data_folder: DataFolder, decisions: list[Decision]
) -> None:
    first, second, third = REVISED["queries"]
    whole = [first, second, {**third, "keywords": ["Io"]}]
    strategy = SearchStrategy.model_validate({**REVISED, "queries": whole})
    async with open_client(data_folder) as client:
        reply = await call_tool(client, "search_papers", query=QUERY)
        assert reply["checkpoint_kind"] == STRATEGY
        reply = await call_tool(
            client, "decide", session_id=reply["session_id"], action="edit", data=REVISED, note=NOTE
        )
        assert reply["checkpoint_kind"] == REVIEW
    (decision,) = decisions
    assert (decision.action, decision.note) == ("edit", NOTE)
    assert SearchStrategy.model_validate(decision.revised_data) == strategy
    alpha, beta = data_folder.engine.sources
    assert isinstance(alpha, FakeSource)
    assert isinstance(beta, FakeSource)
    searched = [asked.model_copy(update={"origins": [], "blocks": []}) for asked in beta.asked]
    assert (alpha.asked, searched) == ([], [strategy])
    used = {block.name: block.variants for block in beta.asked[0].blocks if block.active}
    assert used == {"Europa": ["Europa"], "ice": ["ice"], "Enceladus": ["Enceladus"], "Io": ["Io"]}


@requirement("PS-C3")
@pytest.mark.parametrize("action", ["edit", "reject"])
async def test_data_at_the_review_is_user_feedback_and_arrives_complete(
    data_folder: DataFolder, decisions: list[Decision], action: str
) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        reply = await call_tool(client, "decide", session_id=session_id, action="approve")
        good, bad, *_ = (paper["id"] for paper in reply["checkpoint"]["payload"]["papers"])
        feedback = {"marked_relevant": [good], "marked_irrelevant": [bad], "free_text_feedback": "more on Europa"}
        await call_tool(client, "decide", session_id=session_id, action=action, data=feedback, note=NOTE)
    decision = decisions[-1]
    assert (decision.action, decision.note) == (action, NOTE)
    by_agent = {**feedback, "reviewer": "agent"}
    assert UserFeedback.model_validate(decision.revised_data) == UserFeedback.model_validate(by_agent)


@requirement("PS-C3")
async def test_the_data_of_one_checkpoint_is_refused_at_the_other(
    data_folder: DataFolder, decisions: list[Decision]
) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        feedback = {"free_text_feedback": "more on Europa"}
        wrong = await client.call_tool("decide", {"session_id": session_id, "action": "edit", "data": feedback})
        assert (wrong.isError, get_json(wrong)["error"]["code"]) == (True, "invalid_decision")
        await call_tool(client, "decide", session_id=session_id, action="approve")
        for action in ("edit", "reject"):
            wrong = await client.call_tool("decide", {"session_id": session_id, "action": action, "data": REVISED})
            assert (wrong.isError, get_json(wrong)["error"]["code"]) == (True, "invalid_decision")
    assert decisions == [Decision.model_validate({"action": "approve"})]


async def test_a_broken_query_is_refused_with_its_position_and_the_session_stays_pending(
    data_folder: DataFolder, decisions: list[Decision]
) -> None:
    async with open_client(data_folder) as client:
        refused = await client.call_tool("search_papers", {"query": "(Europa AND (ice OR"})
        assert refused.isError
        error = get_json(refused)["error"]
        assert (error["code"], error["start"], error["end"]) == ("invalid_query", 0, 1)

        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        edit = {"queries": ["Europa AND OR ice"]}
        refused = await client.call_tool("decide", {"session_id": session_id, "action": "edit", "data": edit})
        assert refused.isError
        error = get_json(refused)["error"]
        assert (error["code"], error["query"], error["start"], error["end"]) == ("invalid_decision", 0, 7, 10)
        assert "Write a word after AND" in error["hint"]
        assert decisions == []
        reply = await call_tool(
            client, "decide", session_id=session_id, action="edit", data={"queries": ["Europa AND ice"]}
        )
        assert reply["checkpoint_kind"] == REVIEW
