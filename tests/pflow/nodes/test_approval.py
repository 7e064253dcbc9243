"""An approval asks one question, however often the run is resumed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pflow.config import Settings
from pflow.domain.node import NodeContext
from pflow.errors import ApprovalRequired
from pflow.nodes import approval
from pflow.service.operations import Service
from tests.pflow.run_results import get_error
from uraniborg.kernel.store.inbox import Inbox, InboxDecision

get_or_request_decision: Any = approval.get_or_request_decision
"""Called with parameters of any shape."""

QUESTION = {"question": "Send it?"}


@pytest.fixture
def context(tmp_path: Path) -> NodeContext:
    return NodeContext("run_2", "draft", "ask", tmp_path, tmp_path, tmp_path, lineage="run_1")


def ask_question(context: NodeContext, params: dict[str, Any] = QUESTION) -> str:
    with pytest.raises(ApprovalRequired) as caught:
        get_or_request_decision(params, context)
    return caught.value.ids["approval_id"]


def test_the_question_of_a_workflow_that_was_renamed_is_the_same_question(inbox: Inbox, context: NodeContext) -> None:
    entry = ask_question(context)
    assert ask_question(replace(context, workflow="final", run_id="run_3")) == entry
    assert [(one.id, one.payload["workflow"]) for one in inbox.pending()] == [(entry, "draft")]


def test_another_run_another_node_or_another_wording_is_another_question(inbox: Inbox, context: NodeContext) -> None:
    others = (
        replace(context, lineage="run_9"),
        replace(context, node_id="ask[1]"),
        replace(context, lineage=""),
        replace(context, lineage="", run_id="run_9"),
    )
    entries = [ask_question(context), *map(ask_question, others), ask_question(context, {"question": "Send them?"})]
    assert len({*entries}) == 5, "a run that does not resume another run has its own lineage"


def test_a_question_of_a_run_that_cannot_be_resumed_is_withdrawn_and_asked_again_if_needed(
    inbox: Inbox, context: NodeContext
) -> None:
    other_inputs = ask_question(context, {"question": "Send them?"})
    first, elsewhere = ask_question(context), ask_question(replace(context, workflow="other", lineage="run_9"))
    assert {one.id for one in inbox.pending()} == {other_inputs, first, elsewhere}
    asked_again = ask_question(replace(context, lineage="run_9"))
    assert {one.id for one in inbox.pending()} == {asked_again, elsewhere}
    assert ask_question(context) == first
    assert {one.id for one in inbox.pending()} == {first, elsewhere}


def test_a_draft_that_is_saved_while_its_question_waits_resumes_with_the_answer(inbox: Inbox, tmp_path: Path) -> None:
    service = Service(Settings(home=tmp_path / "home"), folder=tmp_path)
    drafts = service.home / "workflows" / "drafts"
    drafts.mkdir(parents=True)
    plain = {"nodes": [{"id": "ask", "type": "approval", "params": QUESTION}], "edges": []}
    (drafts / "draft.json").write_text(json.dumps(plain))
    waiting = service.execute("draft")
    service.texts.save_to_library("draft", "final", "Asks")
    inbox.decide(get_error(waiting)["approval_id"], InboxDecision(action="approve"), "test")
    assert service.execute("final").success
