"""An id with a mistake, or an id of something else, is answered with the id that was probably meant."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import AnyUrl

from paper_search.testing import FakeSource
from tests.paper_search.service.sessions.helpers import QUERY, DataFolder, make_moon_papers
from tests.paper_search.tool_client import call_tool, open_client
from uraniborg.kernel.mcp.testing import ClientSession, McpError, get_json

DOI = "10.1000/alpha.1"


@pytest.fixture
def data_folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path / "data", FakeSource("alpha", make_moon_papers()))


async def read_error(client: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert result.isError
    return get_json(result)["error"]


def misspell(session_id: str) -> str:
    return session_id[:10] + ("0" if session_id[10] != "0" else "1") + session_id[11:]


async def test_a_session_id_in_upper_case_or_without_its_end_finds_the_session(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        for given in (
            session_id.upper(),
            session_id[:20].upper(),
            f"paper-search://sessions/{session_id.upper()}/papers",
        ):
            assert (await call_tool(client, "get_session", session_id=given))["session_id"] == session_id


async def test_a_session_id_with_a_wrong_character_is_answered_with_the_nearest(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        for tool, more in (("get_session", {}), ("decide", {"action": "approve"}), ("export_results", {})):
            error = await read_error(client, tool, session_id=misspell(session_id), **more)
            assert error["code"] == "session_not_found"
            assert error["hint"].startswith(f"Did you mean '{session_id}'? ")
            assert error["nearest"] == [session_id]


async def test_the_message_of_an_address_with_a_wrong_session_id_has_the_nearest(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        for part in ("papers", "removed", "queries", "export"):
            with pytest.raises(McpError, match=f"Did you mean '{session_id}'") as caught:
                await client.read_resource(AnyUrl(f"paper-search://sessions/{misspell(session_id)}/{part}"))
            assert caught.value.error.code == -32002


async def test_the_id_of_a_paper_is_not_mistaken_for_that_of_a_session(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        error = await read_error(client, "get_session", session_id="p_0123456789abcdef")
        assert error["hint"].startswith("This is the id of a paper, not of a session. ")


@pytest.mark.parametrize("form", ["{}", " {} ", "paper-search://sessions/{}", "{}:0:strategy_confirmation"])
async def test_a_query_that_is_the_id_of_a_session_names_the_tool_to_call(data_folder: DataFolder, form: str) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        error = await read_error(client, "search_papers", query=form.format(session_id))
        assert error["code"] == "invalid_query"
        assert error["hint"] == f"Call get_session with the session_id {session_id}."


async def test_a_query_of_32_hexadecimal_digits_that_no_session_has_is_searched(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        assert (await call_tool(client, "search_papers", query="0123456789abcdef" * 2))["has_pending_checkpoint"]


async def test_a_paper_by_its_doi_title_or_a_broken_id_is_answered_with_its_id(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        state = await call_tool(client, "decide", session_id=session_id, action="approve")
        paper = next(one for one in state["checkpoint"]["payload"]["papers"] if one["doi"] == DOI)
        broken = paper["id"][:-2] + ("0" if paper["id"][-2] != "0" else "1") + paper["id"][-1]
        for given in (
            DOI,
            f"https://doi.org/{DOI}",
            paper["title"].upper(),
            broken,
            paper["id"][:-3],
            paper["id"].upper(),
        ):
            for data in ({"marked_irrelevant": [given]}, {"decisions": {given: {"status": "exclude"}}}):
                error = await read_error(client, "decide", session_id=session_id, action="edit", data=data)
                assert error["code"] == "invalid_decision"
                assert error["hint"].startswith(f"Did you mean '{paper['id']}'? "), given


async def test_invalid_feedback_is_answered_with_an_example_of_all_its_parts(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        await call_tool(client, "decide", session_id=session_id, action="approve")
        error = await read_error(
            client, "decide", session_id=session_id, action="edit", data={"decisions": {"exclude": ["p_1"]}}
        )
        assert '{"decisions": {"p_...": {"status": "exclude"' in error["hint"]
        assert "statuses: include, exclude, maybe, undecided." in error["hint"]


async def test_a_filter_beside_the_filters_and_a_field_about_sources_are_explained(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        error = await read_error(client, "decide", session_id=session_id, action="edit", data={"max_results": 50})
        assert 'max_results belongs to filters: {"filters": {"max_results": …}}.' in error["hint"]
        error = await read_error(
            client, "decide", session_id=session_id, action="edit", data={"exclude_sources": ["x"]}
        )
        assert "sources has those to search, of: alpha." in error["hint"]
