"""The tools send their replies as structured content, which has the published schema, in every state of a session."""

from unittest.mock import ANY

from paper_search.testing import FakeSource
from tests.paper_search.service.sessions.helpers import QUERY, REVIEW, STRATEGY, DataFolder, make_moon_papers
from tests.paper_search.tool_client import call_tool, open_client
from uraniborg.kernel.errors import Unavailable


async def test_every_state_of_a_search_has_structured_content_with_the_published_schema(
    data_folder: DataFolder,
) -> None:
    data_folder.engine.sources = [FakeSource("alpha", make_moon_papers(600))]
    async with open_client(data_folder) as client:
        pending = await call_tool(client, "search_papers", query=QUERY)
        session = {"session_id": pending["session_id"]}
        assert pending["checkpoint_kind"] == STRATEGY
        review = await call_tool(client, "decide", **session, action="approve", checkpoint_id=pending["checkpoint_id"])
        assert review["checkpoint"]["payload"]["more"], "the list is shortened"
        again = await call_tool(client, "decide", **session, action="reject", checkpoint_id=pending["checkpoint_id"])
        assert not again["already_decided"]["same_as_sent"]
        proposed = await call_tool(client, "decide", **session, action="reject", note="Europa")
        assert proposed["checkpoint"]["payload"]["papers_so_far"]["total_papers"]
        long = [f"{'moon ' * 200}AND ring{number}" for number in range(60)]
        edited = await call_tool(client, "decide", **session, action="edit", data={"queries": long})
        assert edited["checkpoint"]["payload"]["strategy"]["shortened"]
        rejected = await call_tool(client, "decide", **session, action="reject", note="again")
        assert rejected["checkpoint"]["payload"]["all_queries"]
        assert await call_tool(client, "get_session", **session) == {**rejected, "elapsed_s": ANY}
        await call_tool(client, "decide", **session, action="approve")
        complete = await call_tool(client, "decide", **session, action="approve")
        assert complete["result"]["paper_count"] == complete["paper_count"]


async def test_searches_that_find_nothing_or_fail_have_structured_content_too(data_folder: DataFolder) -> None:
    data_folder.engine.sources = [FakeSource("alpha", [])]
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        empty = await call_tool(client, "decide", session_id=session_id, action="approve")
        assert (empty["checkpoint_kind"], empty["checkpoint"]["payload"]["papers"]) == (REVIEW, [])
        data_folder.engine.failures["dedup"] = Unavailable("The search failed.")
        await call_tool(client, "decide", session_id=session_id, action="reject", note="Europa")
        failed = await client.call_tool("decide", {"session_id": session_id, "action": "approve"})
        assert failed.isError
        assert failed.structuredContent is None
        assert (await call_tool(client, "get_session", session_id=session_id))["error"]


async def test_an_export_has_only_text(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        for _ in range(2):
            await call_tool(client, "decide", session_id=session_id, action="approve")
        exported = await client.call_tool("export_results", {"session_id": session_id, "format": "json"})
        assert exported.structuredContent is None
