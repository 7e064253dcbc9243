"""Descriptions of workflows: bounded size, and counts of runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from pflow.config import Settings
from pflow.errors import WorkflowNotFound
from pflow.service.operations import Service
from pflow.store.node_registry import Registry
from pflow.store.run_log import Ending, RunLog
from tests.requirements import requirement


def _draft(home: Path, ir: dict[str, Any]) -> Service:
    path = home / "workflows" / "drafts" / "x.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(ir))
    return Service(Settings(home=home), folder=home)


def _chain(length: int) -> dict[str, Any]:
    return {
        "nodes": [{"id": f"n{number}", "type": "echo", "params": {"message": "x"}} for number in range(length)],
        "edges": [{"from": f"n{number}", "to": f"n{number + 1}"} for number in range(length - 1)],
        "outputs": {f"o{number}": {"source": f"${{n{number}.echo}}"} for number in range(length)},
    }


@requirement("PF-R6")
def test_only_the_first_of_very_many_nodes_are_described_with_the_total(tmp_path: Path) -> None:
    report = _draft(tmp_path, _chain(1_000)).describe_workflow("x")
    assert [node["id"] for node in report["nodes"]] == [f"n{number}" for number in range(100)]
    assert {frozenset(edge) for edge in report["edges"]} == {frozenset(("from", "to", "action"))}
    assert {frozenset(one) for one in report["outputs"].values()} == {frozenset(("type", "description", "source"))}
    assert (report["nodes_total"], report["edges_total"], report["truncated"]) == (1_000, 999, True)


def test_a_workflow_described_in_full_is_not_truncated(tmp_path: Path) -> None:
    report = _draft(tmp_path, _chain(3)).describe_workflow("x")
    assert (report["nodes_total"], report["edges_total"], report["truncated"]) == (3, 2, False)


@pytest.mark.parametrize("ending", ["waiting", "cancelled"])
def test_runs_that_neither_succeeded_nor_failed_are_counted_by_how_they_ended(tmp_path: Path, ending: Ending) -> None:
    service: Any = _draft(tmp_path, _chain(1))
    assert service.describe_workflow("x")["statistics"]["other_endings"] == {}
    log = RunLog(tmp_path / "runs.db")
    for number, status in enumerate(("success", ending, ending, "failed")):
        log.record_run_start(f"run_{number}", "x", "draft", "2026-01-01T00:00:00Z", {})
        log.record_run_end(f"run_{number}", status, "2026-01-01T00:00:01Z", 5.0)
    log.close()
    figures: Any = service.describe_workflow("x")["statistics"]
    assert (figures["execution_count"], figures["success_count"], figures["failure_count"]) == (4, 1, 1)
    assert figures["other_endings"] == {ending: 2}


def test_a_node_type_is_not_found_as_a_workflow_and_is_described_with_an_example(tmp_path: Path) -> None:
    service = _draft(tmp_path, _chain(1))
    for ask in (service.describe_workflow, service.execute):
        with pytest.raises(WorkflowNotFound) as caught:
            ask("shell")
        error: Any = caught.value.body()["error"]
        assert (error["type"], error["code"]) == ("FileNotFoundError", "workflow_not_found")
        known = Registry(tmp_path).load()["shell"]
        node = {"id": "shell-1", "type": "shell", "params": known.example}
        assert error["node_type"] == {"type": "shell", "description": known.description, "example": node}
        assert error["message"] == f"Workflow not found: 'shell' is a node type. {known.description}"
        assert json.loads(error["hint"].partition(": ")[2]) == node
        assert "x" in error["available"]
        assert service.check_document({"nodes": [node]}).errors == []


def test_a_name_that_is_neither_a_workflow_nor_a_node_type_is_not_described(tmp_path: Path) -> None:
    with pytest.raises(WorkflowNotFound) as caught:
        _draft(tmp_path, _chain(1)).describe_workflow("shel")
    assert "node_type" not in caught.value.ids
