"""A review through the real server in which nothing is excluded unseen, and agents and people are counted apart."""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import AnyUrl

from paper_library.service.build.builder import build_shelf
from paper_search.sources.registry import KNOWN
from tests.installed_programs import find_program
from tests.paper_search.service.sessions.processes import environment
from tests.paper_search.tool_client import call_tool, export_papers
from uraniborg.kernel.mcp.testing import ClientSession, connect_stdio_client
from uraniborg.kernel.store.inbox import Inbox, InboxDecision

QUESTION = "tidal heating of moons since 1990, not about plumes"
UNDATED = "Tidal heating of moons, undated notes"
TITLES = {
    "Tidal heating of moons and their oceans": 2004,
    "Tidal heating of moons by resonance": 2006,
    UNDATED: None,
    "Moons of the outer planets": 2008,
    "Tidal heating of old moons": 1975,
}
WEAK = "Moons of the outer planets"


@asynccontextmanager
async def open_client(folder: Path) -> AsyncGenerator[ClientSession]:
    """Yield a client of a server whose only source is a shelf with the papers of TITLES."""
    if not (folder / "shelf").exists():
        years = {title: f", year={{{year}}}" if year else "" for title, year in TITLES.items()}
        author = ", author={Brahe, Tycho and Brahe, Sophie}"
        entries = [f"@article{{k{n}, title={{{title}}}{author}{years[title]}}}" for n, title in enumerate(TITLES)]
        (folder / "papers.bib").write_text("\n".join(entries))
        build_shelf([folder / "papers.bib"], folder / "shelf")
    settings = {
        "URANIBORG_PAPER_SEARCH__SOURCES": json.dumps({name: {"enabled": False} for name in KNOWN}),
        "URANIBORG_LIBRARY__SHELF": str(folder / "shelf"),
    }
    env = environment(folder, settings)
    del env["URANIBORG_PAPER_SEARCH__REPLAY_DIR"]
    with (folder / "stderr").open("a") as stderr:
        program = find_program("paper-search-mcp")
        async with connect_stdio_client(program, [], env, cwd=str(folder), stderr=stderr) as client:
            yield client


async def read_page(client: ClientSession, address: str) -> dict[str, Any]:
    (content,) = (await client.read_resource(AnyUrl(address))).contents
    return json.loads(content.model_dump()["text"])


def list_ids(papers: list[dict[str, Any]]) -> dict[str, str]:
    return {paper["title"]: paper["id"] for paper in papers}


async def decide(client: ClientSession, session_id: str, action: str, **data: Any) -> dict[str, Any]:
    return await call_tool(client, "decide", session_id=session_id, action=action, data=data or None)


@pytest.mark.timeout(120)
async def test_nothing_is_excluded_unseen_in_three_rounds(tmp_path: Path) -> None:
    async with open_client(tmp_path) as client:
        opened = await call_tool(client, "search_papers", query=QUESTION)
        session_id, plan = opened["session_id"], opened["checkpoint"]["payload"]
        assert "min_relevance" not in plan["strategy"]["filters"]
        assert any("without a year are kept" in note for note in plan["intent"]["notes"])

        found = await decide(
            client, session_id, "edit", queries=["tidal AND heating", "moons"], filters={"min_relevance": 0.5}
        )
        review = found["checkpoint"]["payload"]
        ids = list_ids(review["papers"])
        assert {UNDATED} == {paper["title"] for paper in review["papers"] if paper.get("year_unknown_kept")}
        assert review["year_unknown_kept"] == 1
        assert "1 paper below min_relevance was removed." in found["summary"]
        assert review["strategy"]["filters"]["min_relevance"] == 0.5
        removed = await read_page(client, review["removed_by_automation"]["list"])
        (weak,) = removed["papers"]
        assert (weak["title"], weak["reason"], weak["threshold"]) == (WEAK, "below_threshold", 0.5)
        assert weak["score"] < 0.5

        # The agent excludes a paper; both rounds' papers stay listed at the next plan.
        resonance = ids["Tidal heating of moons by resonance"]
        next_plan = await decide(
            client, session_id, "reject", decisions={resonance: {"status": "exclude", "reason": "old model"}}
        )
        assert next_plan["checkpoint_kind"] == "strategy_confirmation"
        so_far = (await call_tool(client, "get_session", session_id=session_id))["checkpoint"]["payload"][
            "papers_so_far"
        ]
        assert [paper["id"] for paper in so_far["excluded"]] == [resonance]
        assert UNDATED in list_ids(so_far["papers"])
        assert so_far["removed_by_automation"]["below_threshold"] == 1
        listed = await read_page(client, f"paper-search://sessions/{session_id}/papers")
        assert {paper["id"]: paper["status"] for paper in listed["papers"]}[resonance] == "exclude"
        assert not [note for note in next_plan["checkpoint"]["payload"]["intent"]["notes"] if "plumes" in note]

        back = await decide(client, session_id, "edit", filters={"min_relevance": None})
        assert WEAK in list_ids(back["checkpoint"]["payload"]["papers"])
        assert "removed_by_automation" not in back["checkpoint"]["payload"]

        await approve_as_person(tmp_path, client, session_id, back["checkpoint_id"], ids)
        log = await export_papers(client, session_id, "prisma")
        flow = json.loads(await export_papers(client, session_id, "prisma-json"))
        diagram = await export_papers(client, session_id, "prisma-svg")
    assert "plumes" not in "\n".join(flow["notes"])
    assert (flow["judged_by_person"], flow["judged_by_agent"], flow["judged_by_software"]) == (1, 1, 2)
    assert flow["excluded"] == {"by_agent": 1}
    for text in (log, diagram):
        assert "judged by an agent (n = 1)" in text
        assert "judged by a person (n = 1)" in text
        assert "Excluded by an agent: old model (n = 1)" in text
    assert re.search(r"Year unknown: 1 paper of unknown year was kept", log)


async def approve_as_person(
    folder: Path, client: ClientSession, session_id: str, checkpoint_id: str, ids: dict[str, str]
) -> None:
    """Let a person include a paper at a terminal and finish; wait for the end."""
    paper = ids["Tidal heating of moons and their oceans"]
    inbox = Inbox(folder / "data" / "inbox.db")
    try:
        inbox.decide(checkpoint_id, InboxDecision(action="approve", data={"decisions": {paper: "include"}}), "terminal")
    finally:
        inbox.close()
    for _ in range(200):
        if (await call_tool(client, "get_session", session_id=session_id))["is_complete"]:
            return
    raise AssertionError("the session did not end")
