"""Workflows and runs of an older version: listed, shown, and resumed without repeating an effect."""

from pathlib import Path

import pytest

from tests.uraniborg.old_data.folder import OldData

STATUSES = {
    "greeter": "success",
    "harvest": "failed",
    "waiting": "waiting",
    "approved": "waiting",
    "refused": "success",
    "asked_again": "waiting",
    "slow": "interrupted",
}


def effects(old: OldData) -> list[str]:
    """Return the effects of the nodes that ran here, in order."""
    return old.effects.read_text().split() if old.effects.exists() else []


def test_every_run_is_listed_and_shown(old: OldData) -> None:
    runs = {run["id"]: run for run in old.run("pflow", "history")["runs"]}
    assert len(runs) == 10
    for name, status in STATUSES.items():
        run = runs[old.ids["runs"][name]]
        assert (run["workflow"], run["status"]) == (name, status)
    shown = old.run("pflow", "show", old.ids["runs"]["harvest"])
    assert shown["failed_node"] == "gate"
    assert shown["inputs"] == {"who": "Tycho"}
    assert [(node["node"], node["status"]) for node in shown["nodes"]][:2] == [
        ("greet", "completed"),
        ("each", "completed"),
    ]


def test_saved_workflows_and_drafts_are_there_with_their_figures(old: OldData) -> None:
    listed = old.run("pflow", "list")
    assert [one["name"] for one in listed["library"]] == ["greeter", "slow"]
    assert {one["name"] for one in listed["drafts"]} == {"harvest", "waiting", "approved", "refused", "asked_again"}
    assert listed["problems"] == []
    described = old.run("pflow", "describe", "greeter")
    assert described["description"] == "Greets somebody and counts the letters."
    assert described["statistics"]["execution_count"] == 2, "also the run it had as a draft"
    assert described["statistics"]["success_count"] == 2


def test_a_saved_workflow_runs(old: OldData) -> None:
    reply = old.run("pflow", "run", "greeter", "who=Johannes")
    assert reply["outputs"] == {"greeting": "Hello, Johannes!", "letters": "16"}


def test_a_failed_run_is_resumed_and_repeats_no_effect(old: OldData) -> None:
    reply = old.run("pflow", "run", "harvest", "who=Tycho", OPEN="1")
    assert reply["resumed_from"] == old.ids["runs"]["harvest"]
    assert reply["reused_nodes"] == ["greet", "each"]
    assert reply["outputs"] == {"said": "Hello, Tycho! 2"}
    assert effects(old) == ["gate"]


def test_an_interrupted_run_is_resumed_and_reports_the_uncertain_nodes(old: OldData) -> None:
    reply = old.run("pflow", "run", "slow", OPEN="1")
    assert reply["reused_nodes"] == ["log"]
    assert "uncertain" in reply["warnings"][0]
    assert effects(old) == []


def test_a_run_that_waits_asks_the_same_question_again(old: OldData) -> None:
    reply = old.run("pflow", "run", "waiting", code=4)
    assert reply["error"]["approval_id"] == old.ids["runs"]["waiting approval"]
    assert effects(old) == []


@pytest.mark.parametrize(("name", "decides"), [("waiting", True), ("asked_again", True), ("approved", False)])
def test_an_approved_run_resumes_and_repeats_no_effect(old: OldData, name: str, decides: bool) -> None:
    if decides:
        old.run("uraniborg", "decide", old.ids["runs"][f"{name} approval"], "approve")
    reply = old.run("pflow", "run", name)
    assert reply["success"]
    assert reply["reused_nodes"] == ["log"]
    assert effects(old) == ["publish"]


def test_resuming_leaves_no_resume_point_behind(old: OldData) -> None:
    def left() -> set[str]:
        return {path.name for path in Path(old.pflow / "checkpoints").iterdir() if path.suffix in (".json", ".journal")}

    assert left() >= {"harvest.json", "waiting.json", "approved.json", "asked_again.json"}
    old.run("pflow", "run", "harvest", "who=Tycho", OPEN="1")
    old.run("pflow", "run", "slow", OPEN="1")
    assert left() == {"waiting.json", "approved.json", "asked_again.json"}
