"""The question of a workflow as a person sees it."""

import pytest

from pflow.service.approvals import format_payload
from uraniborg.kernel.json_values import JsonObject


@pytest.mark.parametrize(("name", "expected"), [("report", "report"), ("report@1a2b3c4d", "report.json")])
def test_a_workflow_is_named_as_the_person_names_it(name: str, expected: str) -> None:
    assert format_payload({"workflow": name, "node": "ask"}) == [f"Workflow {expected}, at ask"]


def test_the_details_of_a_question_are_shown_in_full() -> None:
    payload: JsonObject = {"workflow": "report", "node": "ask", "details": {"papers": 3}}
    assert format_payload(payload)[1:] == ["", "{", '  "papers": 3', "}"]
    assert format_payload({**payload, "details": "two\nlines"})[1:] == ["", "two", "lines"]
