"""The prompts of the search server."""

import pytest

from tests.paper_search.service.sessions.helpers import QUERY, DataFolder
from tests.paper_search.tool_client import call_tool, open_client
from tests.prompt_client import complete_argument, read_prompt

pytestmark = pytest.mark.usefixtures("home")


async def test_two_prompts_are_offered(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        prompts = (await client.list_prompts()).prompts
    offered = {one.name: [(argument.name, argument.required) for argument in one.arguments or []] for one in prompts}
    assert offered == {"start_review": [("question", True)], "continue_searches": [("session_id", False)]}


async def test_a_review_starts_with_the_question_and_leaves_the_decisions_to_the_person(
    data_folder: DataFolder,
) -> None:
    async with open_client(data_folder) as client:
        text = await read_prompt(client, "start_review", question='moons "with" water')
    assert r'Call search_papers with query "moons \"with\" water"' in text
    assert "Do not approve for me" in text
    for tool in ("decide", "get_session", "export_results"):
        assert tool in text


async def test_unfinished_searches_are_listed_with_their_state(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        assert "no unfinished paper search" in await read_prompt(client, "continue_searches")
        state = await call_tool(client, "search_papers", query=QUERY)
        session_id = state["session_id"]
        text = await read_prompt(client, "continue_searches")
        assert f'- {session_id}: "{QUERY}", waits for my decision (strategy_confirmation)' in text
        assert await complete_argument(client, "continue_searches", "session_id", session_id[:4]) == [session_id]
        assert await complete_argument(client, "continue_searches", "session_id", "none") == []
        chosen = await read_prompt(client, "continue_searches", session_id=session_id)
        assert f'Call get_session with session_id "{session_id}"' in chosen


async def test_ended_searches_are_not_offered_to_continue(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        state = await call_tool(client, "search_papers", query=QUERY)
        while not state["is_complete"]:
            answer = {"session_id": state["session_id"], "checkpoint_id": state["checkpoint_id"]}
            state = await call_tool(client, "decide", action="approve", **answer)
        assert "no unfinished paper search" in await read_prompt(client, "continue_searches")
