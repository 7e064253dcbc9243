"""How the question of a workflow is told to a person."""

import pytest

from pflow.approvals import format_payload


@pytest.mark.parametrize(("name", "told"), [("report", "report"), ("report@1a2b3c4d", "report.json")])
def test_a_workflow_is_called_what_the_person_calls_it(name: str, told: str) -> None:
    assert format_payload({"workflow": name, "node": "ask"}) == [f"Workflow {told}, at ask"]


def test_what_was_given_along_is_told_whole() -> None:
    payload = {"workflow": "report", "node": "ask", "details": {"papers": 3}}
    assert format_payload(payload)[1:] == ["", "{", '  "papers": 3', "}"]
    assert format_payload({**payload, "details": "two\nlines"})[1:] == ["", "two", "lines"]
