"""An edge that can never be followed is reported: after an approval as an error, after other nodes as a warning."""

from pathlib import Path
from typing import Any

import pytest

from pflow.domain.ir.checker import CheckResult, check_workflow
from pflow.store.node_registry import Registry
from tests.pflow.domain.ir.workflows import Plain, echo, find_only, list_codes


def check_edge_after(node: Plain, action: str, home: Path) -> CheckResult:
    """Check a workflow with one edge for `action` from the node, beside that for its default action."""
    edges = [{"from": "ask", "to": "yes"}, {"from": "ask", "to": "no", "action": action}]
    document: Plain = {"nodes": [{"id": "ask", **node}, echo("yes"), echo("no")], "edges": edges}
    return check_workflow(document, Registry(home))


def build_approval(**params: Any) -> Plain:
    return {"type": "approval", "params": {"question": "Send it?", **params}}


@pytest.mark.parametrize("action", ["approve", "approved", "reject", "no", "Rejected", " rejected"])
@pytest.mark.parametrize("params", [{}, {"on_reject": "branch"}, {"on_reject": "${how}"}])
def test_an_action_that_an_approval_never_gives_is_an_error(tmp_path: Path, action: str, params: Plain) -> None:
    found = find_only(check_edge_after(build_approval(**params), action, tmp_path), "unknown_action")
    assert (found.severity, found.path, found.node) == ("error", "edges[1].action", "ask")
    assert found.available == (("default", "rejected", "error") if params else ("default", "error"))
    assert found.hint == "Approved is `default`; rejected is `rejected` if `on_reject` is `branch`."


@pytest.mark.parametrize("params", [{}, {"on_reject": "fail"}, {"on_reject": None}])
def test_an_edge_for_rejected_that_on_reject_rules_out_is_an_error_with_the_parameter(
    tmp_path: Path, params: Plain
) -> None:
    found = find_only(check_edge_after(build_approval(**params), "rejected", tmp_path), "unknown_action")
    assert (found.severity, found.path) == ("error", "edges[1].action")
    assert found.example == {"question": "Send it?", "on_reject": "branch"}
    assert list_codes(check_edge_after(build_approval(**found.example), "rejected", tmp_path)) == []


@pytest.mark.parametrize("action", ["rejected", "error"])
@pytest.mark.parametrize("on_reject", ["branch", "${how}"])
def test_edges_that_an_approval_can_follow_are_not_errors(tmp_path: Path, action: str, on_reject: str) -> None:
    assert check_edge_after(build_approval(on_reject=on_reject), action, tmp_path).errors == []


def test_an_approval_that_fails_is_followed_by_its_edge_for_error(tmp_path: Path) -> None:
    assert check_edge_after(build_approval(), "error", tmp_path).errors == []


def test_a_batch_of_approvals_never_follows_rejected(tmp_path: Path) -> None:
    node = {**build_approval(on_reject="branch"), "batch": {"items": [1, 2]}}
    found = find_only(check_edge_after(node, "rejected", tmp_path), "unknown_action")
    assert (found.severity, found.available) == ("error", ("default", "error"))
    assert "results" in found.hint
    assert check_edge_after(node, "error", tmp_path).errors == []


def test_an_action_that_another_node_never_gives_stays_a_warning(tmp_path: Path) -> None:
    found = find_only(
        check_edge_after({"type": "echo", "params": {"message": "x"}}, "rejected", tmp_path), "unknown_action"
    )
    assert found.severity == "warning"
