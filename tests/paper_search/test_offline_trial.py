"""Offline trials over the real interfaces. Every process here ends at once if it touches the network."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paper_search import AppConfig, search
from paper_search.export import FORMATS, export
from paper_search.models import SourceStatus
from paper_search.recordings import OFFLINE_NOTICE, OFFLINE_TOPICS, QUERY, RECORDING
from paper_search.sources.offline_source import read_recorded_papers
from tests.paper_search.cli.test_command import Terminal
from tests.paper_search.tool_client import call_tool, export_papers
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.mcp.testing import ClientSession, connect_stdio_client, get_text

BIN = Path(sys.executable).parent
TRIED = 70
GUARD = f"""
import os, sys

def end_process(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind"):
        os._exit({TRIED})

sys.addaudithook(end_process)
"""


@pytest.fixture
def without_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the environment of processes that end with the code TRIED when they use the network."""
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "sitecustomize.py").write_text(GUARD)
    for name in [name for name in os.environ if name.startswith("URANIBORG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "guard"))
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "guard"), "URANIBORG_HOME": str(tmp_path / "home")}


def run_command(env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BIN / "paper-search"), *arguments], env=env, capture_output=True, text=True, timeout=50, check=False
    )


def test_a_search_that_is_not_a_trial_trips_the_guard(without_network: dict[str, str]) -> None:
    assert run_command(without_network, "run", "--source", "crossref", *QUERY.split()).returncode == TRIED


async def decide(client: ClientSession, reply: dict[str, Any], action: str, **arguments: Any) -> dict[str, Any]:
    asked = {"session_id": reply["session_id"], "checkpoint_id": reply["checkpoint_id"]}
    return await call_tool(client, "decide", **asked, action=action, **arguments)


async def test_an_agent_edits_rejects_and_marks_over_two_rounds_and_every_reply_says_that_it_is_a_trial(
    without_network: dict[str, str], tmp_path: Path
) -> None:
    env = {**without_network, "URANIBORG_PAPER_SEARCH__OFFLINE": "true"}
    async with connect_stdio_client(str(BIN / "paper-search-mcp"), [], env, cwd=str(tmp_path)) as client:
        first = await call_tool(client, "search_papers", query=QUERY)
        edit = {"sources": ["crossref", "arxiv", "europepmc"], "filters": {"year_from": 2017, "year_to": 2018}}
        second = await decide(client, first, "edit", data=edit)
        papers = second["checkpoint"]["payload"]["papers"]
        assert {paper["year"] for paper in papers} == {2017, 2018}
        assert not any("openalex" in paper["sources"] for paper in papers)
        assert all("not searched" in report["reason"] for report in second["sources"])
        marks = {papers[0]["id"]: {"status": "include"}, papers[-1]["id"]: {"status": "exclude", "reason": "off topic"}}
        third = await decide(client, second, "reject", data={"decisions": marks}, note="also the resonant chain")
        proposed = third["checkpoint"]["payload"]["strategy"]
        assert (proposed["filters"]["year_to"], proposed["sources"]) == (2018, edit["sources"])
        assert "resonant" in json.dumps(proposed["queries"])
        wider = {
            "filters": {"year_from": 1990, "year_to": 2030},
            "queries": [{"boolean_query": "TRAPPIST-1 OR Kepler-90"}],
        }
        fourth = await decide(client, third, "edit", data=wider)
        payload = fourth["checkpoint"]["payload"]
        assert payload["total_papers"] > len(papers)
        assert payload["status_counts"]["include"] == payload["status_counts"]["exclude"] == 1
        last = await decide(client, fourth, "approve")
        assert (last["is_complete"], last["round"]) == (True, 2)
        replies = [first, second, third, fourth, last]
        replies.append(await call_tool(client, "get_session", session_id=last["session_id"]))
        assert all(reply["offline"] and reply["summary"].startswith(OFFLINE_NOTICE) for reply in replies)
        assert last["result"]["summary"].startswith(OFFLINE_NOTICE)
        for format_name in FORMATS:
            assert OFFLINE_NOTICE in await export_papers(client, last["session_id"], format_name), format_name
        sessions = json.loads((await client.read_resource("paper-search://sessions")).contents[0].text)  # pyright: ignore
        assert [session["offline"] for session in sessions["sessions"]] == [True]


async def test_a_trial_that_finds_nothing_says_which_topics_the_recording_holds(
    without_network: dict[str, str], tmp_path: Path
) -> None:
    env = {**without_network, "URANIBORG_PAPER_SEARCH__OFFLINE": "true"}
    async with connect_stdio_client(str(BIN / "paper-search-mcp"), [], env, cwd=str(tmp_path)) as client:
        first = await call_tool(client, "search_papers", query="quantum cryptography")
        second = await decide(client, first, "approve")
        assert second["summary"].startswith(f"{OFFLINE_NOTICE} {OFFLINE_TOPICS} No papers were found.")
        edit = {"sources": ["pubmed"]}
        third = await decide(client, second, "reject", note="more")
        refused = await client.call_tool("decide", {"session_id": third["session_id"], "action": "edit", "data": edit})
        assert refused.isError
        assert "crossref" in get_text(refused)
    done = run_command(without_network, "run", "--offline", "quantum", "cryptography")
    assert (done.returncode, OFFLINE_TOPICS in done.stderr, "No papers found." in done.stderr) == (0, True, True)


def test_a_person_edits_and_searches_again_at_a_terminal(
    without_network: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import json, pathlib, sys\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "strategy = json.loads(file.read_text())\n"
        "strategy['filters']['year_from'] = 2018\n"
        "strategy['sources'].remove('openalex')\n"
        "file.write_text(json.dumps(strategy))\n"
    )
    monkeypatch.setenv("EDITOR", f"{sys.executable} {editor}")
    monkeypatch.delenv("VISUAL", raising=False)
    trial = Terminal(tmp_path, "run", "--review", "--offline", "-f", "prisma", *QUERY.split())
    trial.expect("note +Offline trial, not a search").expect(r"\[q\]uit").type("e")
    trial.expect("Offline trial, not a search").expect(r"1/\d+  undecided").type("i").expect(r"2/\d+").type("r")
    trial.expect("What is missing").type("more about migration\r")
    trial.expect("Round 2").expect("note +Offline trial").expect(r"\[q\]uit").type("a")
    trial.expect("Offline trial, not a search").expect(r"\[q\]uit").type("a")
    trial.expect(r"Complete: \d+ papers").expect("Offline trial, not a search")
    assert trial.close() == 0
    log = trial.stdout.read_text()
    assert log.startswith(f"# Search log\n\n- **{OFFLINE_NOTICE}**")
    assert "marked include" in log or "include (n = 1)" in log
    assert "openalex" not in log
    assert (
        "(offline trial)"
        in run_command(without_network | {"URANIBORG_HOME": str(tmp_path / "home")}, "sessions", "list").stdout
    )


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--source", "arxiv"], {"arxiv"}),
        (["--max-results", "3"], {"arxiv", "crossref", "openalex", "europepmc"}),
    ],
)
def test_sources_and_limits_can_be_chosen_offline(
    without_network: dict[str, str], options: list[str], found: set[str]
) -> None:
    done = run_command(without_network, "run", "--offline", "--json", *options, "TRAPPIST-1")
    result = json.loads(done.stdout)
    assert {report["name"] for report in result["metadata"]["sources"]} == found
    assert result["metadata"]["notes"][0] == OFFLINE_NOTICE
    held = sum("trappist-1" in paper.text.lower() for paper in read_recorded_papers()["arxiv"])
    assert len(result["papers"]) == (3 if "--max-results" in options else held)


def test_offline_replaces_the_settings_and_cannot_be_combined_with_a_replay(without_network: dict[str, str]) -> None:
    set_up = without_network | {"URANIBORG_PAPER_SEARCH__REPLAY_DIR": str(RECORDING)}
    assert OFFLINE_NOTICE in run_command(set_up, "run", "--offline", "random", "forests").stdout
    refused = run_command(without_network, "run", "--offline", "--replay", str(RECORDING), QUERY)
    assert (refused.returncode, "Use only one of" in refused.stderr) == (2, True)
    offline = without_network | {"URANIBORG_PAPER_SEARCH__OFFLINE": "true"}
    replayed = run_command(offline, "run", "--replay", str(RECORDING), QUERY)
    assert (replayed.returncode, "Offline trial" in replayed.stdout + replayed.stderr) == (0, False)
    held = len(read_recorded_papers()["crossref"])
    assert f"{held} papers in the shipped recording" in run_command(offline, "sources").stdout


async def test_a_replay_stays_strict_and_is_not_a_trial() -> None:
    exact = await search(QUERY, AppConfig(replay_dir=RECORDING))
    assert not any("trial" in note for note in exact.metadata.notes)
    changed = await search("random forests", AppConfig(replay_dir=RECORDING))
    statuses = {report.status for report in changed.metadata.sources}
    assert (changed.papers, statuses) == ([], {SourceStatus.FAILED})
    assert "The recording does not have this request" in (changed.metadata.sources[0].reason or "")


async def test_a_trial_uses_no_model_and_notes_it() -> None:
    config = AppConfig.model_validate({"offline": True, "llm": {"model": "some-model"}})
    result = await search("random forests", config)
    assert "The language model is not used offline; rules replace it." in result.metadata.notes
    assert OFFLINE_NOTICE in export(result, "markdown")
    with pytest.raises(InvalidInput):
        await search("random forests", config.model_copy(update={"replay_dir": RECORDING}))
