"""Whole runs: timeouts, full disks, approvals and secrets."""

import base64
import errno
import json
import os
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

from pflow.errors import InvalidWorkflow
from pflow.service.engine.results import RunResult
from pflow.store.run_log import RunLog
from tests.pflow.run_results import get_error, get_outputs
from tests.pflow.service.engine.counting_home import SOON_S, Home, build_graph, chain, node, until
from tests.requirements import requirement
from uraniborg.kernel.store.inbox import Inbox, InboxDecision
from uraniborg.kernel.store.sqlite import DatabaseUnusable

# Time.


@pytest.mark.parametrize("kind", ["on-loop", "pure"])
def test_a_run_that_takes_too_long_ends_at_a_checkpoint(home: Home, kind: str) -> None:
    home.order("wait-b")
    ir = chain(node("a", "effect"), node("b", kind, sleep=SOON_S * 3), timeout=0.3)
    result = home.run(ir)
    home.clear_orders()
    assert get_error(result)["code"] == "run_timed_out"
    checkpoint = result.build_checkpoint_reply()
    assert checkpoint is not None
    assert checkpoint["completed_nodes"] == ["a"]
    assert checkpoint["resumable"]
    assert home.run(chain(node("a", "effect"), node("b"))).progress.reused == ["a"]


def test_the_timeout_of_the_settings_applies_if_the_workflow_has_none(home: Home) -> None:
    ir = chain(node("a", "on-loop", sleep=SOON_S * 3))
    assert get_error(home.run_unlogged(ir, timeout=0.05))["code"] == "run_timed_out"


# Inputs.


@requirement("PF-E4", "PF-R10")
def test_missing_inputs_end_the_run_before_anything_runs_and_with_a_checkpoint(home: Home) -> None:
    ir = chain(node("a", value="${x} ${y}"), inputs={"x": {"type": "string"}, "y": {"type": "string"}})
    reply: Any = home.run(ir).reply()
    assert reply["error"]["type"] == "template_error"
    assert reply["error"]["missing_variables"] == ["x", "y"]
    assert reply["error"]["node"] == "a"
    assert reply["checkpoint"]["completed_nodes"] == []
    assert not home.lines()


def test_a_run_with_missing_inputs_leaves_earlier_results_unchanged(home: Home) -> None:
    ir = chain(node("a", "effect", value=1), node("end", value="${x}"), inputs={"x": {"type": "string"}})
    home.order("fail-end")
    home.run(ir, {"x": "1"})
    home.clear_orders()
    assert not home.run(ir).success
    assert home.run(ir, {"x": "2"}).progress.reused == ["a"]


# Parts of a workflow, and results that are kept.


def test_the_nodes_that_one_node_needs_can_be_run_alone_and_the_whole_workflow_reuses_them(home: Home) -> None:
    ir = build_graph(
        [node("a", "effect"), node("b", value="${a.value}"), node("c"), node("d")], "a>b", "a>c", "b>d", "c>d"
    )
    part = home.run(ir, only="b")
    assert part.success
    assert list(part.outputs) == ["b"]
    assert set(home.runs()) == {"a", "b"}
    whole = home.run(ir)
    assert whole.progress.reused == ["a", "b"]
    assert home.runs() == {"a": 1, "b": 1, "c": 1, "d": 1}
    assert home.run(ir).progress.reused == []


def test_an_unknown_node_for_only_is_refused_with_a_suggestion(home: Home) -> None:
    with pytest.raises(InvalidWorkflow, match="no node 'fetsh'") as failure:
        home.run(chain(node("fetch")), only="fetsh")
    assert "'fetch'" in failure.value.hint


def test_problems_of_a_workflow_are_reported_before_anything_runs(home: Home) -> None:
    with pytest.raises(InvalidWorkflow):
        home.run(build_graph([node("a", "effect"), node("b", value="${c.value}"), node("lost")], "a>b"))
    assert not home.lines()
    assert not home.checkpoints.exists()


# The disk.


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`full_disk(n)` lets n more writes to journals through."""
    write = os.write
    left = [10**9]

    def limited(file: int, data: bytes) -> int:
        if bytes(data).startswith((b'{"started"', b'{"finished"', b'{"failed"')):
            if left[0] <= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            left[0] -= 1
        return write(file, data)

    monkeypatch.setattr(os, "write", limited)

    def fill(writes: int) -> None:
        left[0] = writes

    yield fill
    left[0] = 10**9


def test_a_node_with_effects_is_not_started_when_its_start_cannot_be_recorded(home: Home, full_disk: Any) -> None:
    ir = chain(node("a"), node("e", "effect"), node("f", "effect"))
    full_disk(3)  # a finished, e started and finished
    result = home.run(ir)
    assert get_error(result)["node"] == "f"
    assert "was not started" in get_error(result)["message"]
    assert os.strerror(errno.ENOSPC) in get_error(result)["message"]
    assert "Free disk space" in get_error(result)["hint"]
    assert home.runs() == {"a": 1, "e": 1}
    full_disk(100)
    second = home.run(ir)
    assert second.success
    assert second.progress.reused == ["a", "e"]
    assert second.uncertain == []
    assert home.runs("done") == {"a": 1, "e": 1, "f": 1}


def test_an_effect_of_which_only_the_beginning_could_be_written_down_is_uncertain(home: Home, full_disk: Any) -> None:
    ir = chain(node("e", "effect"), node("p"), node("f", "effect"))
    full_disk(1)
    first = home.run(ir)
    assert get_error(first)["node"] == "f"
    assert [report for report in first.warnings if "Not all results of this run could be recorded" in report]
    full_disk(100)
    second = home.run(ir)
    assert second.success
    assert second.uncertain == ["e"]


def test_a_run_without_effects_succeeds_on_a_full_disk_with_warnings(home: Home, full_disk: Any) -> None:
    full_disk(0)
    result = home.run(chain(node("a"), node("b")))
    assert result.success
    assert [report for report in result.warnings if os.strerror(errno.ENOSPC) in report]


def test_a_home_in_which_no_checkpoint_can_be_made_runs_with_a_warning(home: Home) -> None:
    home.checkpoints.write_text("in the way")
    result = home.run(chain(node("a"), node("e", "effect")))
    assert result.success
    (report,) = result.warnings
    assert report.startswith("This run cannot be resumed later: ")
    home.order("fail-e")
    failed = home.run(chain(node("a"), node("e", "effect")))
    checkpoint = failed.build_checkpoint_reply()
    assert checkpoint is not None
    assert checkpoint["resumable"] is False
    assert checkpoint["completed_nodes"] == ["a"]


def test_a_run_that_cannot_read_earlier_results_fails_before_it_repeats_an_effect(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    ir = chain(node("e", "effect"), node("end"))
    home.order("fail-end")
    home.run(ir)
    home.clear_orders()

    def no_room(*_: Any) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("pflow.store.resume_point.RunJournal", no_room)
        refused = home.run(ir)
    assert get_error(refused)["code"] == "checkpoint_unusable"
    assert home.runs("done")["e"] == 1
    assert home.run(ir).progress.reused == ["e"]


def test_a_damaged_checkpoint_costs_a_rerun_and_is_reported(home: Home) -> None:
    ir = chain(node("a"), node("end"))
    home.order("fail-end")
    home.run(ir)
    home.clear_orders()
    (home.checkpoints / "flow.json").write_bytes(b'{"format": 1, "results": [')
    result = home.run(ir)
    assert result.success
    assert result.warnings == [
        "The checkpoint of 'flow' could not be read and was renamed to flow.damaged: every node runs."
    ]
    assert result.progress.reused == []


def test_a_log_of_runs_that_cannot_be_written_is_a_warning(home: Home) -> None:
    (home.path / "runs.db").mkdir(parents=True)
    result = home.run(chain(node("a")))
    assert result.success
    assert [report for report in result.warnings if report.startswith("This run is not in the log of runs: ")]


@pytest.mark.parametrize(
    "first",
    [node("e", "effect"), node("n", "workflow", workflow_ir=chain(node("e", "effect")))],
    ids=["node", "nested"],
)
def test_a_run_with_effects_is_refused_before_its_first_node_if_it_cannot_be_logged(
    home: Home, first: dict[str, Any]
) -> None:
    (home.path / "runs.db").mkdir(parents=True)
    result = home.run(chain(node("a"), first))
    assert get_error(result)["code"] == "run_not_recorded"
    assert "was not started" in get_error(result)["message"]
    assert "runs.db" in get_error(result)["message"]
    assert get_error(result)["hint"]
    assert not home.lines()


def test_a_run_that_is_looked_up_later_is_refused_without_effects_too_if_it_cannot_be_logged(home: Home) -> None:
    (home.path / "runs.db").mkdir(parents=True)
    result = home.run(chain(node("a")), must_be_logged=True)
    assert get_error(result)["code"] == "run_not_recorded"
    assert not home.lines()


def test_a_run_whose_log_fails_in_the_middle_says_that_its_record_is_incomplete(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_rows(*_: Any) -> NoReturn:
        raise DatabaseUnusable("The disk is full.", hint="Free disk space.")

    monkeypatch.setattr(RunLog, "record_nodes", refuse_rows)
    result = home.run(chain(node("a"), node("e", "effect")))
    assert result.success
    assert result.warnings == ["The log of runs does not have all of this run: The disk is full."]


# Runs beside each other.


@requirement("PF-E6")
def test_runs_of_one_workflow_at_the_same_time_are_isolated(home: Home) -> None:
    ir = chain(node("a", "effect", value="${n}"), node("b", echo="${n}"), outputs={"n": {"source": "${b.echo}"}})
    results: dict[int, RunResult] = {}

    def run(number: int) -> None:
        results[number] = home.run(ir, {"n": number})

    home.order("wait-a")
    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    until(lambda: home.runs()["a"] == 6)
    home.clear_orders()
    for thread in threads:
        thread.join(SOON_S)
    assert {number: result.outputs["n"] for number, result in results.items()} == {n: n for n in range(6)}
    assert all(result.success and not result.progress.reused for result in results.values())
    assert len({result.run_id for result in results.values()}) == 6
    assert not list(home.checkpoints.glob("*.json")) + list(home.checkpoints.glob("*.journal"))


# People who decide.


def build_approval_workflow(**params: Any) -> dict[str, Any]:
    return chain(
        node("a", "effect"),
        node("ask", "approval", question="Send ${a.value}?", **params),
        node("send", "effect", said="${ask.decision}", note="${ask.note}"),
    )


@requirement("PF-R10", "PF-E10")
def test_a_person_is_asked_once_and_the_run_continues_after_approval(home: Home, inbox: Inbox) -> None:
    first: Any = home.run(build_approval_workflow()).reply()
    assert first["error"]["type"] == first["error"]["code"] == "approval_required"
    assert first["error"]["node"] == "ask"
    assert first["checkpoint"]["completed_nodes"] == ["a"]
    assert first["checkpoint"]["resumable"]
    (entry,) = inbox.pending("pflow")
    assert entry.id == first["error"]["approval_id"]
    assert str(entry.payload["question"]).startswith("Send ")
    again: Any = home.run(build_approval_workflow()).reply()
    assert again["error"]["approval_id"] == entry.id
    assert [one.id for one in inbox.pending("pflow")] == [entry.id]
    inbox.decide(entry.id, InboxDecision(action="approve", note="go on"), "test")
    third = home.run(build_approval_workflow())
    assert third.success
    assert third.progress.reused == ["a"]
    assert third.progress.not_reused["ask"] == "it had not finished"
    assert home.runs() == {"a": 1, "send": 1}


def test_a_decision_counts_for_the_run_it_was_made_for_and_no_other(home: Home, inbox: Inbox) -> None:
    first = get_error(home.run(build_approval_workflow()))["approval_id"]
    inbox.decide(first, InboxDecision(action="approve"), "test")
    assert home.run(build_approval_workflow()).success
    second = home.run(build_approval_workflow())
    assert get_error(second)["approval_id"] != first
    assert home.runs("done")["send"] == 1


def test_a_question_that_changed_is_asked_again(home: Home, inbox: Inbox) -> None:
    first = get_error(home.run(build_approval_workflow()))["approval_id"]
    inbox.decide(first, InboxDecision(action="approve"), "test")
    changed = home.run(build_approval_workflow(details="something else"))
    assert get_error(changed)["approval_id"] != first


def test_a_rejection_fails_the_run_and_the_next_run_asks_again_and_repeats_nothing(home: Home, inbox: Inbox) -> None:
    inbox.decide(
        get_error(home.run(build_approval_workflow()))["approval_id"],
        InboxDecision(action="reject", note="too dear"),
        "test",
    )
    refused = home.run(build_approval_workflow())
    assert get_error(refused)["type"] == "execution_error"
    assert "too dear" in get_error(refused)["message"]
    asked_again = home.run(build_approval_workflow())
    inbox.decide(get_error(asked_again)["approval_id"], InboxDecision(action="approve"), "test")
    assert home.run(build_approval_workflow()).success
    assert home.runs() == {"a": 1, "send": 1}


def test_a_no_may_choose_a_branch(home: Home, inbox: Inbox) -> None:
    ir = build_approval_workflow(on_reject="branch")
    ir["nodes"].append(node("instead", echo="${ask.note}"))
    ir["edges"].append({"from": "ask", "to": "instead", "action": "rejected"})
    inbox.decide(get_error(home.run(ir))["approval_id"], InboxDecision(action="reject", note="no"), "test")
    result = home.run(ir)
    assert result.success
    assert get_outputs(result)["instead"]["echo"] == "no"
    assert result.progress.skipped == ["send"]


def test_an_error_edge_does_not_lead_around_a_person(home: Home, inbox: Inbox) -> None:
    ir = build_approval_workflow()
    ir["nodes"].append(node("help"))
    ir["edges"].append({"from": "ask", "to": "help", "action": "error"})
    assert get_error(home.run(ir))["code"] == "approval_required"
    assert "help" not in home.runs()
    assert len(inbox.pending("pflow")) == 1


def test_a_person_can_be_asked_for_each_item_and_in_a_nested_workflow(home: Home, inbox: Inbox) -> None:
    inner = chain(node("ask", "approval", question="${who}?"), inputs={"who": {}})
    ir = chain(node("sub", "workflow", workflow_ir=inner, inputs={"who": "${item}"}, batch={"items": ["p", "q"]}))
    for _ in range(2):
        result = home.run(ir)
        assert get_error(result)["code"] == "approval_required"
        assert result.failed_node == "sub"
        inbox.decide(get_error(result)["approval_id"], InboxDecision(action="approve"), "test")
    assert home.run(ir).success


def test_a_run_that_waits_for_a_person_is_not_logged_as_a_failure(home: Home, inbox: Inbox) -> None:
    result = home.run(build_approval_workflow())
    assert inbox.pending("pflow")
    log = RunLog(home.path / "runs.db")
    assert log.get_run(result.run_id)["status"] == "waiting"
    assert log.compute_statistics("flow")["failure_count"] == 0


# Secrets.

SECRET = "s3cr3t-Äpfel/&+ 'quoted'"


def find_files_with_secret(home: Home) -> list[str]:
    """Return the files under the home that contain the secret, plain or in the spelling of JSON, URLs or base64."""
    from urllib.parse import quote, quote_plus

    texts = [SECRET, json.dumps(SECRET)[1:-1], json.dumps(SECRET, ensure_ascii=False)[1:-1]]
    texts += [quote(SECRET, safe=""), quote(SECRET), quote_plus(SECRET), repr(SECRET)[1:-1]]
    spellings = [text.encode() for text in texts] + [base64.b64encode(SECRET.encode())]
    files = [path for path in home.path.rglob("*") if path.is_file()]
    assert files
    return [path.name for path in files if any(text in path.read_bytes() for text in spellings)]


def is_secret_in_reply(result: RunResult) -> bool:
    reply = json.dumps(result.reply(), ensure_ascii=False)
    return SECRET in reply or json.dumps(SECRET)[1:-1] in json.dumps(result.reply())


SECRET_INPUTS: dict[str, Any] = {
    "declared": ("phrase", {"phrase": {"secret": True}}),
    "declared by name": ("api_key", {"api_key": {"type": "string"}}),
    "by name": ("token", {}),
}


@requirement("PF-N4")
@pytest.mark.parametrize(("name", "inputs"), SECRET_INPUTS.values(), ids=SECRET_INPUTS)
def test_a_secret_that_nodes_echo_and_fail_with_is_in_no_file_and_no_reply(
    home: Home, name: str, inputs: dict[str, Any]
) -> None:
    ir = build_graph(
        [
            node("a", "effect", echo=f"key: ${{{name}}}!"),
            node("b", echo={"deep": [f"${{{name}}}"], "url": f"https://x/?k=${{{name}}}"}),
            node("c", "effect", value="${b.echo.deep[0]}"),
            node("d"),
            node("help", echo="${d.error}"),
            node("end", echo="${a.echo}"),
        ],
        *("a>b", "b>c", "c>d", "d>help:error", "help>end"),
        inputs=inputs,
    )
    home.order("fail-d", text=f"no entry with {SECRET}")
    home.order("fail-end", text=f"cannot: {SECRET}")
    first = home.run(ir, {name: SECRET})
    assert first.failed_node == "end"
    assert not is_secret_in_reply(first)
    assert "***" in get_error(first)["message"]
    assert find_files_with_secret(home) == []
    home.clear_orders("fail-end")
    second = home.run(ir, {name: SECRET})
    assert second.success
    assert not is_secret_in_reply(second)
    assert find_files_with_secret(home) == []


@requirement("PF-N4")
def test_a_node_whose_output_contains_a_secret_is_not_reused_and_the_reason_is_reported(home: Home) -> None:
    ir = chain(node("a", echo="${api_key}"), node("b", "effect", value="${api_key}"), node("end"))
    home.order("fail-end")
    home.run(ir, {"api_key": SECRET})
    home.clear_orders()
    second = home.run(ir, {"api_key": SECRET})
    assert second.progress.reused == ["b"]
    assert second.progress.not_reused["a"] == "its result contains a secret and was not stored"
    assert [report for report in second.warnings if "'a' ran again although nothing changed" in report]
    assert home.runs() == {"a": 2, "b": 1, "end": 2}


def test_a_secret_in_bytes_that_a_node_gives_is_not_stored_either(home: Home) -> None:
    home.record_nodes(
        "raw",
        [{"type": "raw", "description": "r", "run": "raw.py:act", "open_params": True}],
        "def act(params, context):\n    return {'raw': params['text'].encode()}\n",
    )
    home.order("fail-end")
    home.run(chain(node("a", "raw", text="${api_key}"), node("end")), {"api_key": SECRET})
    assert find_files_with_secret(home) == []


def test_a_secret_in_the_action_that_a_node_answers_with_is_not_stored_either(home: Home) -> None:
    home.order("fail-end")
    result = home.run(build_graph([node("a", action="${api_key}"), node("b")], "a>b:other"), {"api_key": SECRET})
    assert result.success
    failing = build_graph([node("start"), node("a", action="${api_key}"), node("end")], "start>a", "start>end")
    assert home.run(failing, {"api_key": SECRET}).failed_node == "end"
    assert find_files_with_secret(home) == []
    home.clear_orders()
    again = home.run(failing, {"api_key": SECRET}).reply()
    assert SECRET not in json.dumps(again)
    assert "a" not in again["reused_nodes"], "its outputs were not kept"


def test_a_secret_that_is_a_number_is_a_secret(home: Home) -> None:
    ir = chain(node("a", echo="${pin_secret}"), node("end"))
    home.order("fail-end")
    result = home.run(ir, {"pin_secret": 98765432})
    assert "98765432" not in json.dumps(result.reply())
    assert not [path for path in home.path.rglob("*") if path.is_file() and b"98765432" in path.read_bytes()]


def test_a_secret_in_output_that_is_too_long_for_a_value_is_in_no_file(home: Home) -> None:
    command = 'i=0; while [ $i -lt 60000 ]; do echo "${api_key}"; i=$((i+1)); done'
    assert home.run(chain(node("a", "shell", command=command)), {"api_key": SECRET}).success
    assert find_files_with_secret(home) == []


def test_a_secret_from_the_environment_is_a_secret(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("api_key", SECRET)
    home.order("fail-end")
    result = home.run(chain(node("a", echo="${api_key}"), node("end"), inputs={"api_key": {}}))
    assert result.failed_node == "end"
    assert find_files_with_secret(home) == []


def test_progress_contains_no_secret(home: Home) -> None:
    from pflow.domain.run_events import NullOutput

    reports: list[str] = []

    class RecordingOutput(NullOutput):
        def on_node_finished(self, node_id: str, status: Any, duration_ms: float, note: str = "") -> None:
            reports.append(f"{node_id} {status} {note}")

    home.order("fail-a", text=SECRET)
    home.run(chain(node("a")), {"api_key": SECRET}, output=RecordingOutput())
    assert reports == ["a failed ordered to fail: ***"]


@requirement("PF-N4")
def test_a_secret_of_a_nested_workflow_is_a_secret(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("api_key", SECRET)
    inner = chain(node("x", echo="${api_key}"), inputs={"api_key": {}}, outputs={"said": {"source": "${x.echo}"}})
    home.order("fail-end")
    ir = chain(node("sub", "workflow", workflow_ir=inner), node("b", echo="${sub.said}"), node("end"))
    result = home.run(ir)
    assert result.failed_node == "end"
    assert not is_secret_in_reply(result)
    assert find_files_with_secret(home) == []


@requirement("PF-N4")
def test_a_secret_that_is_a_parameter_by_its_name_is_in_no_checkpoint_log_or_reply(home: Home) -> None:
    home.order("fail-a", text=f"denied: {SECRET}")
    ir = build_graph(
        [node("a", password=SECRET), node("help", echo="${a.error}"), node("end")], "a>help:error", "help>end"
    )
    home.order("fail-end")
    result = home.run(ir)
    assert not is_secret_in_reply(result)
    assert find_files_with_secret(home) == []
