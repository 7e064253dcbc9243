"""A review of two rounds through the real server: edits, marks, a kill, failing sources, exports, shelf, citations."""

import asyncio
import json
import os
import re
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import AnyUrl

from tests.fixtures import observatory
from tests.fixtures.observatory import TITLES
from tests.installed_programs import find_program
from tests.paper_search.service.sessions.processes import environment, eventually
from tests.paper_search.tool_client import call_tool, export_papers
from uraniborg.kernel.mcp.testing import ClientSession, connect_stdio_client

QUERY = "tidal heating of icy moons since 2005"
EDITED = '"tidal heating" AND Enceladus'
SHOWN = set(TITLES[2:])
"""The results of the first round: ten records of eight papers."""
EXCLUDED = {TITLES[5], TITLES[7]}
MAYBE = TITLES[6]
WRONG_MOON = "It is about other moons."
READ_AGAIN = "Read its appendix first."
CORE = "The best account of the plumes."


class Review:
    """A review: the folder of the server and the sources, which can be blocked or made to fail."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sources = folder / "sources"
        self.env = environment(folder, observatory.install(self.sources))
        self.pid = folder / "pid"

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[ClientSession]:
        """Yield the official client of a new server."""
        start = ["-c", 'echo $$ > "$0" && exec "$1"', str(self.pid), find_program("paper-search-mcp")]
        with (self.folder / "stderr").open("a") as stderr:
            async with connect_stdio_client("/bin/sh", start, self.env, cwd=str(self.folder), stderr=stderr) as client:
                yield client

    def kill_server(self) -> None:
        os.kill(int(self.pid.read_text()), signal.SIGKILL)

    def command(self, name: str, *arguments: str) -> str:
        """Run a command that must succeed; return its output."""
        command = [find_program(name), *arguments]
        done = subprocess.run(command, env=self.env, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def review(tmp_path: Path) -> Review:
    return Review(tmp_path)


async def wait_for_state(
    client: ClientSession, session_id: str, wanted: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    async with asyncio.timeout(30):
        while not wanted(state := await call_tool(client, "get_session", session_id=session_id)):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return state


def list_shown_papers(state: Mapping[str, Any]) -> dict[str, str]:
    """Return the ids of the papers under review by title."""
    return {paper["title"]: paper["id"] for paper in state["checkpoint"]["payload"]["papers"]}


async def run_first_round(review: Review) -> str:
    """Edit the strategy, decide about papers, and kill the server during the next search."""
    async with review.client() as client:
        opened = await call_tool(client, "search_papers", query=QUERY)
        edit = {"queries": [{"boolean_query": EDITED}], "filters": {"year_from": 2006}}
        session_id = opened["session_id"]
        found = await call_tool(client, "decide", session_id=session_id, action="edit", data=edit, note="plumes only")
        assert found["current_checkpoint_kind"] == "result_review"
        papers = list_shown_papers(found)
        assert set(papers) == SHOWN
        data = {
            "marked_relevant": [papers[TITLES[9]]],
            "marked_irrelevant": [papers[TITLES[5]]],
            "decisions": {
                papers[TITLES[8]]: {"status": "include", "reason": CORE},
                papers[TITLES[7]]: {"status": "exclude", "reason": WRONG_MOON},
                papers[MAYBE]: {"status": "maybe", "reason": READ_AGAIN},
            },
        }
        again = await call_tool(
            client, "decide", session_id=session_id, action="reject", data=data, note="more on orbits"
        )
        assert (again["current_checkpoint_kind"], again["round"]) == ("strategy_confirmation", 1)
        asked = review.sources / "asked"
        before = len(asked.read_text().splitlines())
        (review.sources / "shut").touch()
        arguments = {"session_id": session_id, "action": "approve", "checkpoint_id": again["checkpoint_id"]}
        unanswered = asyncio.create_task(client.call_tool("decide", arguments))
        await asyncio.to_thread(eventually, lambda: len(asked.read_text().splitlines()) >= before + 2)
        review.kill_server()
        with suppress(Exception):
            async with asyncio.timeout(30):
                await unanswered
        unanswered.cancel()
    return session_id


async def find_or_restore_session(client: ClientSession) -> str:
    """Find the id of the only session, as a client that has lost it."""
    listed = await client.read_resource(AnyUrl("paper-search://sessions"))
    (content,) = listed.contents
    text = content.model_dump()["text"]
    assert QUERY in text
    (session_id,) = set(re.findall(r"\b[0-9a-f]{32}\b", text))
    return session_id


async def run_second_round(review: Review, client: ClientSession, session_id: str) -> dict[str, Any]:
    """Continue the interrupted search with failing sources: the papers are those of the first round."""
    state = await wait_for_state(client, session_id, lambda state: state["has_pending_checkpoint"])
    assert (state["current_checkpoint_kind"], state["round"], state["iteration"]) == ("result_review", 1, 3)
    assert {source["name"]: source["status"] for source in state["sources"]} == {"brahe": "failed", "kepler": "failed"}
    assert set(list_shown_papers(state)) >= SHOWN - EXCLUDED
    return await call_tool(
        client, "decide", session_id=session_id, action="approve", checkpoint_id=state["checkpoint_id"], note="done"
    )


def check_exported(text: str) -> None:
    """Check that the result has the papers of the first round without the excluded ones, with all decisions."""
    exported = json.loads(text)
    remaining = {paper["title"] for paper in exported["papers"] if '"exclude"' not in json.dumps(paper)}
    assert remaining == SHOWN - EXCLUDED, "undecided papers stay, and a round without answers drops no paper"
    by_title = {paper["title"]: json.dumps(paper) for paper in exported["papers"]}
    assert CORE in by_title[TITLES[8]]
    assert '"include"' in by_title[TITLES[9]]
    assert '"maybe"' in by_title[MAYBE]
    assert READ_AGAIN in by_title[MAYBE]


def check_prisma(text: str) -> None:
    """Check that the log names every round, source, query, reason and count."""
    for word in ("identified", "duplicates", "screened", "excluded", "included"):
        assert word in text.lower(), word
    for fact in ("brahe", "kepler", EDITED, WRONG_MOON):
        assert fact in text, fact


def list_keys(bibtex: str) -> dict[str, str]:
    """Return the titles of the entries by key."""
    found = re.findall(r"^@\w+\{([^,\s]+),(.*?)^\}", bibtex, re.MULTILINE | re.DOTALL)
    return {
        key: re.sub(r"[{}]", "", re.findall(r"^\s*title\s*=\s*(.*?),?$", body, re.MULTILINE)[0]) for key, body in found
    }


def check_shelf(review: Review, titles: Mapping[str, str]) -> None:
    """Check that the shelf contains each exported paper once, cited by the keys of the export."""
    for shelf, inputs in {"both": ("found.json", "found.bib"), "json": ("found.json",)}.items():
        built = json.loads(review.command("paper-library", "build", *inputs, "-o", shelf, "--json"))
        assert built["papers"] == len(titles)
        for key, title in sorted(titles.items())[:2]:
            assert json.loads(review.command("paper-library", "show", shelf, key, "--json"))["title"] == title
            cited = review.command("paper-library", "show", shelf, key, "--bibtex")
            assert re.match(rf"@\w+\{{{re.escape(key)},", cited), cited


@pytest.mark.timeout(120)
async def test_a_review_of_two_rounds_ends_in_citations_and_loses_nothing(review: Review) -> None:
    opened = await run_first_round(review)
    (review.sources / "closed").touch()
    (review.sources / "shut").unlink()
    async with review.client() as client:
        session_id = await find_or_restore_session(client)
        assert session_id == opened
        ended = await run_second_round(review, client, session_id)
        assert (ended["is_complete"], ended["phase"]) == (True, "completed")
        assert ended["paper_count"] == len(SHOWN - EXCLUDED)
        exported = {name: await export_papers(client, session_id, name) for name in ("json", "bibtex", "prisma")}
    check_exported(exported["json"])
    check_prisma(exported["prisma"])
    titles = list_keys(exported["bibtex"])
    assert set(titles.values()) == SHOWN - EXCLUDED
    (review.folder / "found.json").write_text(exported["json"])
    (review.folder / "found.bib").write_text(exported["bibtex"])
    check_shelf(review, titles)
    assert session_id[:8] in review.command("paper-search", "sessions", "list")
    assert QUERY in review.command("paper-search", "sessions", "show", session_id)
    for name in ("bibtex", "prisma"):
        assert review.command("paper-search", "export", session_id, "--format", name).strip() == exported[name].strip()


async def test_a_killed_server_forgets_no_split_and_no_merge_and_later_rounds_respect_both(review: Review) -> None:
    async with review.client() as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        found = await call_tool(client, "decide", session_id=session_id, action="approve")
        papers = found["checkpoint"]["payload"]["papers"]
        split = next(paper["id"] for paper in papers if len(paper["sources"]) == 2)
        merge = [paper["id"] for paper in papers if len(paper["sources"]) == 1][:2]
        data = {"split": [split], "merge": [merge], "reviewer": "Tycho"}
        await call_tool(client, "decide", session_id=session_id, action="reject", data=data)
        review.kill_server()
    async with review.client() as client:
        await wait_for_state(client, session_id, lambda state: state["has_pending_checkpoint"])
        again = await call_tool(client, "decide", session_id=session_id, action="approve")  # the records come again
        assert again["checkpoint"]["payload"]["total_papers"] >= found["checkpoint"]["payload"]["total_papers"]
        await call_tool(client, "decide", session_id=session_id, action="approve")
        exported = json.loads(await export_papers(client, session_id, "json"))
        flow = json.loads(await export_papers(client, session_id, "prisma-json"))
    owners = {name: paper for paper in exported["papers"] for name in (*paper["other_ids"], paper["id"])}
    assert len(owners[split]["records"]) == 1
    assert owners[merge[0]] is owners[merge[1]]
    assert [(one["kind"], one["reviewer"]) for one in flow["corrections"]] == [("merge", "Tycho"), ("split", "Tycho")]
    assert flow["removed"]["duplicate_by_agent"] == 1
    assert sum(flow["identified"].values()) == sum(flow["removed"].values()) + flow["screened"]
