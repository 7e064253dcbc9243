"""The lists of questions, page by page."""

from types import SimpleNamespace

import httpx
import pytest
from fastapi import FastAPI

from uraniborg.console.routes.inbox import router
from uraniborg.kernel.http.secure_app import add_routes
from uraniborg.kernel.store.inbox import InboxDecision, MemoryInbox


@pytest.mark.parametrize("address", ["/api/inbox", "/api/inbox/summaries"])
async def test_the_pages_of_a_list_have_every_question_once(address: str) -> None:
    api, inbox = FastAPI(), MemoryInbox()
    api.state.services = SimpleNamespace(inbox=inbox)
    add_routes(api, router)
    for number in range(5):
        inbox.put(f"dec_{number}", "pflow", "approval", f"run_{number}", {"question": f"Question {number}"})
    inbox.put("dec_search", "paper_search", "result_review", "ses_1", {"query": "tides", "total_papers": 7})
    inbox.decide("dec_0", InboxDecision(action="approve", note="go on"), "cli")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(api), base_url="http://test") as client:
        assert await _list_pages(client, address) == [["0", "search"], ["4", "3"], ["2", "1"]]
        assert await _list_pages(client, address, state="pending") == [["search", "4"], ["3", "2"], ["1"]]
        assert await _list_pages(client, address, state="decided") == [["0"]]
        page = (await client.get(address, params={"limit": 1})).json()
    assert page["pending"] == {"pflow": 4, "paper_search": 1}


async def _list_pages(client: httpx.AsyncClient, address: str, **filters: str) -> list[list[str]]:
    """Return the ends of the ids of the questions on each page of two."""
    pages: list[list[str]] = []
    params: dict[str, str | int] = {**filters, "limit": 2}
    for _ in range(5):
        page = (await client.get(address, params=params)).json()
        pages.append([one["id"].removeprefix("dec_") for one in page["entries"]])
        if page["next"] is None:
            return [one for one in pages if one]
        params["before"] = page["next"]
    raise AssertionError(f"The pages have no end: {pages}")
