"""A review of two rounds by an agent: statuses, edits that stay, and decisions with the approval."""

import json
from pathlib import Path

import pytest

from paper_search.models import SourceRecord
from paper_search.testing import FakeSource
from tests.paper_search.service.sessions.helpers import QUERY, DataFolder, make_moon_papers
from tests.paper_search.tool_client import call_tool, export_papers, open_client


@pytest.fixture
def data_folder(home: Path) -> DataFolder:
    return DataFolder(home.parent / "data", FakeSource("alpha", make_moon_papers(24)), FakeSource("beta", []))


async def test_edits_and_decisions_of_an_agent_are_in_the_result(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        reply = await call_tool(client, "search_papers", query=QUERY)
        session_id = reply["session_id"]
        edit = {"sources": ["alpha"], "filters": {"year_from": 2010}}
        reply = await call_tool(client, "decide", session_id=session_id, action="edit", data=edit)
        papers = [paper["id"] for paper in reply["checkpoint"]["payload"]["papers"]]
        assert reply["checkpoint"]["payload"]["total_papers"] == 24

        marks = {papers[0]: "include", papers[1]: {"status": "include"}, papers[2]: "exclude"}
        data = {"decisions": {**marks, papers[3]: {"status": "exclude", "reason": "off topic"}}}
        reply = await call_tool(client, "decide", session_id=session_id, action="reject", data=data, note="wider")
        strategy = reply["checkpoint"]["payload"]["strategy"]
        assert (strategy["sources"], strategy["filters"]["year_from"]) == (["alpha"], 2010)
        inherited = {origin["part"]: origin["reason"] for origin in strategy["origins"] if origin["inherited"]}
        assert inherited["sources"] == inherited["year_from"] == "set by an agent in round 1"
        assert any(note.startswith("Loosened: ") for note in strategy["notes"])

        reply = await call_tool(client, "decide", session_id=session_id, action="approve")
        payload = reply["checkpoint"]["payload"]
        assert payload["total_papers"] == 22
        assert payload["status_counts"] == {"include": 2, "exclude": 2, "maybe": 0, "undecided": 20}
        statuses = {paper["id"]: paper["status"] for paper in payload["papers"]}
        assert (statuses[papers[0]], statuses[papers[4]]) == ("include", "undecided")

        last = {"decisions": {papers[2]: "include", papers[4]: "exclude"}}
        reply = await call_tool(client, "decide", session_id=session_id, action="approve", data=last)
        assert reply["paper_count"] == 22
        exported = json.loads(await export_papers(client, session_id, "json"))
    final = {paper["id"]: paper for paper in exported["papers"]}
    assert (final[papers[2]]["status"], final[papers[2]]["decisions"][0]["reviewer"]) == ("include", "agent")
    gone = {exclusion["paper_id"]: exclusion["detail"] for exclusion in exported["metadata"]["exclusions"]}
    assert gone == {papers[3]: "off topic", papers[4]: None}


async def test_an_approval_with_other_data_is_refused_and_the_review_stays(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        reply = await call_tool(client, "decide", session_id=session_id, action="approve")
        for data in ({"queries": ["moons"]}, {"free_text_feedback": "more"}, {"decisions": {"p_unknown": "include"}}):
            result = await client.call_tool("decide", {"session_id": session_id, "action": "approve", "data": data})
            assert result.isError
        assert await call_tool(client, "get_session", session_id=session_id) == reply


async def test_an_agent_splits_and_merges_papers_and_the_log_counts_its_merge_apart(home: Path) -> None:
    papers = make_moon_papers(3)
    twin = papers[0].model_copy(update={"source": "beta", "records": [SourceRecord(source="beta", record_id="twin")]})
    folder = DataFolder(home.parent / "data", FakeSource("alpha", papers), FakeSource("beta", [twin]))
    async with open_client(folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        reply = await call_tool(client, "decide", session_id=session_id, action="approve")
        first, second, third = sorted(reply["checkpoint"]["payload"]["papers"], key=lambda paper: paper["title"])
        refused = await client.call_tool(
            "decide", {"session_id": session_id, "action": "approve", "data": {"split": [second["id"]]}}
        )
        assert refused.isError
        assert "has one record" in str(refused.content)
        data = {"split": [first["id"]], "merge": [[second["id"], third["id"]]]}
        reply = await call_tool(client, "decide", session_id=session_id, action="approve", data=data)
        assert reply["paper_count"] == 3
        exported = json.loads(await export_papers(client, session_id, "json"))
        flow = json.loads(await export_papers(client, session_id, "prisma-json"))
    assert sorted(len(paper["records"]) for paper in exported["papers"]) == [1, 1, 2]
    assert flow["removed"]["duplicate_by_agent"] == 1
    assert sum(flow["identified"].values()) == sum(flow["removed"].values()) + flow["screened"]
    assert [(one["kind"], one["by_agent"]) for one in flow["corrections"]] == [("merge", True), ("split", True)]
