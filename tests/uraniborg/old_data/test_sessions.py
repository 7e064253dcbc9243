"""Search sessions of an older version: found in the phase they were left in, and brought to their end."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures import observatory
from tests.paper_search.service.sessions.processes import Server
from tests.uraniborg.old_data.folder import OldData

TITLES = list(observatory.TITLES)
SINCE_2005 = set(TITLES[1:8])
"""The results of both sources for the original query."""
PLUMES = set(TITLES[2:])
"""The results of both sources for the edited query, since 2006."""
RELEVANT = {TITLES[5], TITLES[9]}
IRRELEVANT = TITLES[7]
"""The papers that were marked at the first review: the first ones in the order of their titles."""
SESSIONS = {
    "at_strategy": (0, 0, "strategy_confirmation"),
    "strategy_rejected": (1, 1, "strategy_confirmation"),
    "at_review": (1, 0, "result_review"),
    "second_strategy": (2, 1, "strategy_confirmation"),
    "second_review": (3, 1, "result_review"),
}
"""The sessions that wait for a person: number of decisions, number of finished rounds, and the checkpoint."""
WORKING = ("cut_off", "cut_off_later", "decided_at_terminal")
COMPLETE = {"approved": (6, 2, None), "source_failed": (4, 1, None), "rounds_used_up": (6, 1, "max_rounds")}
"""The number of papers, the number of rounds, and the reason for the end of each session."""


def titles(papers: list[dict[str, Any]]) -> set[str]:
    return {paper["title"] for paper in papers}


def payload(state: dict[str, Any]) -> dict[str, Any]:
    return state["checkpoint"]["payload"]


def settled(server: Server, session_id: str) -> dict[str, Any]:
    return server.state_once(session_id, lambda state: state["is_complete"] or state["has_pending_checkpoint"])


def finished(server: Server, session_id: str) -> dict[str, Any]:
    """Approve every question of the session, and return its export."""
    state = settled(server, session_id)
    for _ in range(4):
        if state["is_complete"]:
            break
        state = server.call(
            "decide", session_id=session_id, action="approve", checkpoint_id=state["checkpoint_id"]
        ).state
    assert state["phase"] == "completed"
    exported = json.loads(server.call("export_results", session_id=session_id, format="json").text)
    assert state["paper_count"] == len(exported["papers"])
    return exported


def test_every_session_is_there(old: OldData) -> None:
    assert set(old.ids["sessions"]) == {*SESSIONS, *WORKING, *COMPLETE, "failed"}
    files = {path.stem for path in old.session_file("approved").parent.glob("*.db")}
    assert files == set(old.ids["sessions"].values())


def test_sessions_that_wait_are_at_the_checkpoint_they_were_at(old: OldData) -> None:
    with old.server() as server:
        states = {name: server.state(old.ids["sessions"][name]) for name in SESSIONS}
    for name, (iteration, rounds, kind) in SESSIONS.items():
        state = states[name]
        assert state["query"] == "tidal heating of icy moons since 2005"
        assert (state["iteration"], state["round"], state["current_checkpoint_kind"]) == (iteration, rounds, kind), name
    proposed = payload(states["at_strategy"])["strategy"]
    assert proposed["queries"][0]["boolean_query"] == '"tidal heating" AND "icy moons"'
    assert proposed["filters"]["year_from"] == 2005
    assert proposed["sources"] == ["brahe", "kepler"]
    assert "Enceladus" in payload(states["strategy_rejected"])["strategy"]["queries"][0]["boolean_query"]
    assert "orbits" in payload(states["second_strategy"])["strategy"]["queries"][0]["boolean_query"]
    assert titles(payload(states["at_review"])["papers"]) == SINCE_2005


def test_marks_and_edits_of_an_earlier_round_are_known_at_a_later_review(old: OldData) -> None:
    with old.server() as server:
        review = payload(server.state(old.ids["sessions"]["second_review"]))
    found = titles(review["papers"])
    assert found >= PLUMES - {IRRELEVANT}
    assert review["total_papers"] >= 8


@pytest.mark.parametrize("name", ["at_strategy", "at_review"])
def test_a_session_of_the_first_round_comes_to_its_end(old: OldData, name: str) -> None:
    with old.server() as server:
        exported = finished(server, old.ids["sessions"][name])
    assert titles(exported["papers"]) == SINCE_2005
    assert {paper["doi"] for paper in exported["papers"]} == {f"10.1000/moons.{number}" for number in range(1, 8)}
    assert [source["name"] for source in exported["metadata"]["sources"]] == ["brahe", "kepler"]


def test_a_session_whose_strategy_was_rejected_searches_for_what_was_missing(old: OldData) -> None:
    with old.server() as server:
        exported = finished(server, old.ids["sessions"]["strategy_rejected"])
    assert titles(exported["papers"]) >= {TITLES[8], TITLES[9]}


@pytest.mark.parametrize("name", ["second_strategy", "second_review", "cut_off_later"])
def test_marks_of_an_earlier_round_decide_about_the_result(old: OldData, name: str) -> None:
    with old.server() as server:
        exported = finished(server, old.ids["sessions"][name])
    found = titles(exported["papers"])
    assert found >= RELEVANT
    assert IRRELEVANT not in found
    assert found >= PLUMES - {IRRELEVANT}
    assert exported["metadata"]["rounds"] == 2


@pytest.mark.parametrize("name", ["cut_off", "decided_at_terminal"])
def test_a_decision_that_was_not_carried_out_is_carried_out_once(old: OldData, name: str) -> None:
    with old.server() as server:
        state = settled(server, old.ids["sessions"][name])
        assert (state["iteration"], state["current_checkpoint_kind"]) == (1, "result_review")
        assert titles(payload(state)["papers"]) == SINCE_2005
        asked = (old.sources / "asked").read_text().split()
        assert sorted(asked) == ["brahe", "brahe", "kepler", "kepler"], "each of two queries was sent once"
        assert titles(finished(server, old.ids["sessions"][name])["papers"]) == SINCE_2005


def test_another_round_can_follow_a_review_of_the_older_version(old: OldData) -> None:
    with old.server() as server:
        session_id = old.ids["sessions"]["at_review"]
        papers = {paper["title"]: paper["id"] for paper in payload(server.state(session_id))["papers"]}
        marks = {"marked_relevant": [papers[TITLES[1]]], "marked_irrelevant": [papers[TITLES[2]]]}
        state = server.call("decide", session_id=session_id, action="reject", data=marks, note="more").state
        assert (state["iteration"], state["round"]) == (2, 1)
        found = titles(finished(server, session_id)["papers"])
    assert TITLES[1] in found
    assert TITLES[2] not in found


@pytest.mark.parametrize("name", COMPLETE)
def test_a_complete_session_is_exported_in_every_format(old: OldData, name: str) -> None:
    count, rounds, reason = COMPLETE[name]
    session_id = old.ids["sessions"][name]
    with old.server() as server:
        state = server.state(session_id)
        assert (state["phase"], state["paper_count"], state["round"]) == ("completed", count, rounds)
        assert state["result"].get("reason") == reason
        exported = json.loads(server.call("export_results", session_id=session_id, format="json").text)
        assert len(exported["papers"]) == count
        for format_, mark in {"markdown": "| ", "bibtex": "@article{", "ris": "TY  - ", "csl-json": '"DOI"'}.items():
            assert mark in server.call("export_results", session_id=session_id, format=format_).text
        again = server.call("decide", session_id=session_id, action="approve")
    assert again.error["code"] == "session_complete"


def test_the_results_of_a_complete_session_are_unchanged(old: OldData) -> None:
    with old.server() as server:
        states = {name: server.state(old.ids["sessions"][name]) for name in COMPLETE}
        session_id = old.ids["sessions"]["approved"]
        exported = json.loads(server.call("export_results", session_id=session_id, format="json").text)
    assert titles(exported["papers"]) == {*TITLES[3:7], *TITLES[8:]}
    assert exported["metadata"]["search_strategy"]["sources"] == ["kepler"]
    statuses = {source["name"]: source["status"] for source in states["source_failed"]["sources"]}
    assert statuses == {"brahe": "ok", "kepler": "failed"}


def test_a_failed_session_still_says_that_it_failed(old: OldData) -> None:
    session_id = old.ids["sessions"]["failed"]
    with old.server() as server:
        state = server.state(session_id)
        assert (state["phase"], state["is_complete"], state["iteration"]) == ("failed", True, 1)
        assert state["error"] == "Something went wrong inside Uraniborg."
        assert server.call("decide", session_id=session_id, action="approve").error["code"] == "session_failed"


def test_a_decision_of_the_older_version_is_reported_and_not_taken_again(old: OldData) -> None:
    session_id = old.ids["sessions"]["second_review"]
    with old.server() as server:
        first = f"{session_id}:0:strategy_confirmation"
        reply = server.call("decide", session_id=session_id, action="approve", checkpoint_id=first).state
    assert reply["already_decided"]["action"] == "edit"
    assert reply["already_decided"]["note"] == "plumes only"
    assert reply["iteration"] == 3


def decisions(file: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute("SELECT step, value FROM steps WHERE step LIKE 'decision-%' ORDER BY rowid")
        return {step: json.loads(value) for step, value in rows}


def test_resuming_a_session_leaves_its_earlier_decisions_as_they_were(old: OldData) -> None:
    file = old.session_file("second_review")
    before = decisions(file)
    assert [one["action"] for one in before.values()] == ["edit", "reject", "approve"]
    assert len(before["decision-1"]["revised_data"]["marked_relevant"]) == 2
    with old.server() as server:
        finished(server, old.ids["sessions"]["second_review"])
    assert dict(list(decisions(file).items())[:3]) == before
