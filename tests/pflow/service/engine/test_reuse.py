"""Reuse of results of nodes with effects."""

import itertools
import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from pflow.config import Settings
from pflow.errors import InvalidInputs, InvalidWorkflow
from pflow.service.operations import Service
from pflow.store.run_recorder import RunRecorder
from tests.pflow.run_results import get_error, get_outputs
from tests.requirements import requirement


def shell(name: str, command: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "shell", "params": {"command": command}, **more}


def chain(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    names = [node["id"] for node in nodes]
    return {
        "nodes": list(nodes),
        "edges": [{"from": a, "to": b} for a, b in itertools.pairwise(names)],
        **more,
    }


GATE = shell("gate", "test -e open")


@requirement("PF-E10")
def test_a_node_that_reads_a_rewritten_file_runs_again(service: Service) -> None:
    flow = chain(
        {"id": "write", "type": "write-file", "params": {"file_path": "it", "content": "${x}"}},
        {"id": "read", "type": "python", "params": {"code": f"result = open({str(service.folder / 'it')!r}).read()"}},
        GATE,
        inputs={"x": {}},
        outputs={"read": {"source": "${read.result}"}},
    )
    assert not service.run_document(flow, {"x": "one"}, name="flow").success
    (service.folder / "open").touch()
    assert service.run_document(flow, {"x": "two"}, name="flow").outputs == {"read": "two"}


@requirement("PF-E10")
def test_a_node_that_depends_on_its_parameters_alone_is_not_run_again(service: Service) -> None:
    flow = chain(
        shell("act", "echo ${x} >> acts"),
        {"id": "say", "type": "echo", "params": {"message": "the same"}},
        GATE,
        inputs={"x": {}},
    )
    service.run_document(flow, {"x": "one"}, name="flow")
    again = service.run_document(flow, {"x": "two"}, name="flow")
    assert again.progress.reused == ["say"]
    assert "act" in " ".join(again.warnings)


def test_a_file_that_is_gone_is_written_again(service: Service) -> None:
    flow = chain({"id": "write", "type": "write-file", "params": {"file_path": "it", "content": "x"}}, GATE)
    service.run_document(flow, name="flow")
    (service.folder / "it").unlink()
    again = service.run_document(flow, name="flow")
    assert again.progress.not_reused["write"] == "a file it wrote is missing"
    assert (service.folder / "it").read_text() == "x"


def test_another_folder_changes_the_fingerprint(service: Service, tmp_path: Path) -> None:
    flow = chain(shell("act", "pwd >> ../acts"), GATE)
    service.run_document(flow, name="flow")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Service(service.settings, folder=elsewhere).run_document(flow, name="flow")
    assert (tmp_path / "acts").read_text().split() == [str(service.folder), str(elsewhere)]


@requirement("PF-E10")
def test_a_node_with_effects_that_was_given_another_name_does_not_have_them_again(service: Service) -> None:
    for name in ("pay", "charge"):
        run = service.run_document(chain(shell(name, "echo paid >> paid"), GATE), name="flow")
    assert run.progress.reused == ["charge"]
    assert (service.folder / "paid").read_text() == "paid\n"


def test_two_nodes_that_do_the_same_both_do_it(service: Service) -> None:
    (service.folder / "open").touch()
    flow = chain(shell("a", "echo x >> xs"), shell("b", "echo x >> xs"), GATE)
    assert service.run_document(flow, name="flow").success
    assert (service.folder / "xs").read_text() == "x\nx\n"


def test_an_interrupted_node_that_was_edited_is_still_uncertain(service: Service) -> None:
    flow = chain(shell("act", "echo x >> xs; sleep 60", timeout=0.3), GATE)
    first: Any = service.run_document(flow, name="flow")
    assert (first.build_checkpoint_reply() or {})["uncertain_nodes"] == ["act"]
    again = service.run_document(chain(shell("act", "echo x >> xs"), GATE), name="flow")
    assert "uncertain" in " ".join(again.warnings)


def test_a_node_with_effects_that_was_given_up_on_is_not_tried_again(service: Service) -> None:
    flow = chain(shell("act", "echo x >> xs; sleep 60", timeout=2, retry={"attempts": 3}))
    assert not service.run_document(flow, name="flow").success
    assert (service.folder / "xs").read_text() == "x\n"


def test_a_truncated_output_is_never_used_as_complete(service: Service) -> None:
    flow = chain(
        shell("much", "head -c 20000000 /dev/zero | tr '\\0' x"),
        {"id": "count", "type": "shell", "params": {"command": "wc -c", "stdin": "${much.stdout}"}},
    )
    run = service.run_document(flow, name="flow")
    assert not run.success
    assert run.error_body is not None
    assert "${much.stdout_file}" in get_error(run)["hint"]
    flow["nodes"][1]["params"] = {"command": "wc -c < ${much.stdout_file}"}
    assert get_outputs(service.run_document(flow, name="flow"))["count"]["stdout"] == "20000000"


@pytest.mark.parametrize("kind", ["python", "code"])
def test_a_value_in_code_is_refused_with_a_fix(service: Service, kind: str) -> None:
    flow = chain({"id": "say", "type": kind, "params": {"code": "result = '${x}'"}})
    with pytest.raises(InvalidWorkflow) as refused:
        service.run_document(flow, {"x": "1"}, name="flow")
    (report,) = [one for one in refused.value.ids["diagnostics"] if one["code"] == "template_in_code"]
    assert report["example"] == {"code": "result = x", "inputs": {"x": "${x}"}}


def test_a_value_for_an_interpreter_in_a_command_is_refused_before_anything_runs(
    service: Service, tmp_path: Path
) -> None:
    flow = chain(shell("first", f"touch {tmp_path}/ran"), shell("say", 'sh -c "echo ${x}"'), inputs={"x": {}})
    with pytest.raises(InvalidWorkflow) as refused:
        service.run_document(flow, {"x": "1"}, name="flow")
    assert [one["code"] for one in refused.value.ids["diagnostics"]] == ["template_to_interpreter"]
    assert not (tmp_path / "ran").exists()


def test_a_nested_workflow_with_missing_inputs_is_an_error_before_anything_runs(service: Service) -> None:
    inner = chain({"id": "say", "type": "echo", "params": {"message": "${who}"}}, inputs={"who": {}})
    flow = chain({"id": "sub", "type": "workflow", "params": {"workflow_ir": inner, "inputs": {"whom": "x"}}})
    found = {(one.code, one.path) for one in service.check_document(flow).diagnostics}
    place = "nodes[0].params.inputs"
    assert {("missing_nested_input", f"{place}.who"), ("unknown_nested_input", f"{place}.whom")} <= found


def test_a_nested_workflow_is_not_tried_again_as_a_whole(service: Service) -> None:
    inner = chain({"id": "say", "type": "echo", "params": {"message": "x"}})
    flow = chain({"id": "sub", "type": "workflow", "params": {"workflow_ir": inner}, "retry": {"attempts": 2}})
    assert [one.code for one in service.check_document(flow).errors] == ["bad_retry"]


def test_an_input_must_not_be_named_like_a_node(service: Service) -> None:
    flow = chain({"id": "say", "type": "echo", "params": {"message": "x"}})
    run = service.run_document(flow, {"say": {"echo": "fake"}}, name="flow")
    assert isinstance(run.error, InvalidInputs)


def test_a_parameter_that_cannot_be_made_to_fit_is_reported_with_its_value(service: Service) -> None:
    (service.folder / "a").write_text("a")
    params = {"source_path": "a", "dest_path": "b", "overwrite": "${o}"}
    flow = chain({"id": "copy", "type": "copy-file", "params": params}, inputs={"o": {}})
    run = service.run_document(flow, {"o": "perhaps"}, name="flow")
    assert run.error_body is not None
    assert "`overwrite` of 'copy' must be bool, got str 'perhaps'" in run.error_body["message"]


def test_a_saved_draft_keeps_its_results(service: Service) -> None:
    drafts = service.home / "workflows" / "drafts"
    drafts.mkdir(parents=True)
    (drafts / "pay.json").write_text(json.dumps(chain(shell("pay", "echo paid >> paid"), GATE)))
    assert not service.execute("pay").success
    service.texts.save_to_library("pay", "final", "Pays")
    (service.folder / "open").touch()
    assert service.execute("final").progress.reused == ["pay"]
    assert (service.folder / "paid").read_text() == "paid\n"


def test_after_a_rejection_a_run_asks_again_and_other_decisions_stay(service: Service) -> None:
    from uraniborg.kernel.store.inbox import Inbox, InboxDecision

    flow = chain({"id": "ask", "type": "approval", "params": {"question": "Pay ${who}?"}}, inputs={"who": {}})
    runs = [service.run_document(flow, {"who": who}, name="flow") for who in ("x", "y")]
    asked = [get_error(run)["approval_id"] for run in runs]
    inbox = Inbox()
    inbox.decide(asked[0], InboxDecision(action="reject", note="no"), "test")
    inbox.decide(asked[1], InboxDecision(action="approve"), "test")
    refused = service.run_document(flow, {"who": "x"}, name="flow")
    assert (refused.error_body or {})["code"] == "node_failed"
    assert (service.run_document(flow, {"who": "x"}, name="flow").error_body or {})["code"] == "approval_required"
    assert service.run_document(flow, {"who": "y"}, name="flow").success


def test_a_run_that_waits_for_a_person_does_not_expire(service: Service, tmp_path: Path) -> None:
    from uraniborg.kernel.store.inbox import Inbox, InboxDecision

    impatient = Service(Settings(home=service.home, checkpoint_hours=1e-9), folder=service.folder)
    flow = chain(shell("act", "echo x >> xs"), {"id": "ask", "type": "approval", "params": {"question": "Go on?"}})
    run = impatient.run_document(flow, name="flow")
    Inbox().decide(get_error(run)["approval_id"], InboxDecision(action="approve"), "test")
    assert impatient.run_document(flow, name="flow").progress.reused == ["act"]


def test_a_question_contains_no_secret(service: Service) -> None:
    from uraniborg.kernel.store.inbox import Inbox

    flow = chain({"id": "ask", "type": "approval", "params": {"question": "Use ${api_key}?", "details": "${api_key}"}})
    service.run_document(flow, {"api_key": "sk-very-secret-1"}, name="flow")
    assert "sk-very" not in json.dumps(Inbox().pending()[0].payload)


def test_items_that_fail_and_are_skipped_are_reported(service: Service) -> None:
    flow = chain(shell("try", "test ${item} != b", batch={"items": ["a", "b"], "error_handling": "continue"}))
    run = service.run_document(flow, name="flow")
    assert run.success
    assert any("1 of 2 items of 'try' failed, the first at items[1]" in one for one in run.warnings)


def test_all_nodes_that_fail_in_parallel_are_reported(service: Service) -> None:
    flow = {
        "nodes": [shell("start", "true"), shell("a", "echo AAA >&2; false"), shell("b", "echo BBB >&2; false")],
        "edges": [{"from": "start", "to": "a"}, {"from": "start", "to": "b"}],
    }
    report = json.dumps(service.run_document(flow, name="flow").reply())
    assert "AAA" in report
    assert "BBB" in report


@requirement("PF-E10")
@pytest.mark.parametrize(
    ("first", "pays"),
    [
        ({"id": "try", "type": "read-file", "params": {"file_path": "absent"}}, 1),
        (shell("try", "exit 3"), 1),
        (shell("try", "date +%N >&2; exit 3"), 3),
    ],
    ids=["a pure one", "one that fails in the same way", "one that fails in another way each time"],
)
def test_after_a_failure_that_is_led_around_effects_are_had_again_only_if_it_differs(
    service: Service, first: dict[str, Any], pays: int
) -> None:
    flow = {
        "nodes": [first, shell("pay", "echo paid >> paid"), GATE],
        "edges": [{"from": "try", "to": "pay", "action": "error"}, {"from": "pay", "to": "gate"}],
    }
    for _ in range(3):
        assert not service.run_document(flow, name="flow").success
    assert (service.folder / "paid").read_text().split() == ["paid"] * pays


def test_a_file_that_went_from_one_content_to_another_and_back_is_written_each_time(service: Service) -> None:
    for content in ("A", "B", "A"):
        write = {"id": "write", "type": "write-file", "params": {"file_path": "it", "content": content}}
        assert not service.run_document(chain(write, GATE), name="flow").success
        assert (service.folder / "it").read_text() == content


def test_the_second_of_two_that_write_one_file_has_the_last_word_also_when_the_first_runs_again(
    service: Service,
) -> None:
    for content in ("one", "two"):
        first = {"id": "first", "type": "write-file", "params": {"file_path": "it", "content": content}}
        last = {"id": "last", "type": "write-file", "params": {"file_path": "it", "content": "last"}}
        assert not service.run_document(chain(first, last, GATE), name="flow").success
        assert (service.folder / "it").read_text() == "last"


def test_nodes_after_a_result_that_was_not_stored_are_not_run_again_because_of_it(service: Service) -> None:
    flow = chain(
        shell("login", "echo token-4711-zanzibar"),
        {"id": "use", "type": "echo", "params": {"data": {"auth_token": "${login.stdout}"}}},
        shell("pay", "echo paid >> paid"),
        GATE,
    )
    for _ in range(2):
        service.run_document(flow, name="flow")
    result = service.run_document(flow, name="flow")
    assert (service.folder / "paid").read_text() == "paid\n"
    assert "contains a secret" in result.progress.not_reused["login"]
    assert "pay" in result.progress.reused
    assert b"zanzibar" not in b"".join(path.read_bytes() for path in service.home.rglob("*") if path.is_file())


def test_the_reason_for_a_rerun_is_reported(service: Service) -> None:
    flow = chain(shell("act", "echo ${x} >> acts"), shell("mail", "echo mail >> mails"), GATE, inputs={"x": {}})
    service.run_document(flow, {"x": "one"}, name="flow")
    again = service.run_document(flow, {"x": "two"}, name="flow")
    assert again.progress.not_reused == {
        "act": "its inputs changed",
        "mail": "an earlier node with effects ran again",
        "gate": "it had not finished",
    }
    assert [report.partition(": ")[2] for report in again.warnings if "has effects" in report] == [
        "its inputs changed.",
        "an earlier node with effects ran again.",
    ]


def test_a_file_of_long_output_that_is_gone_is_made_again(service: Service) -> None:
    flow = chain(shell("long", "head -c 20000000 /dev/zero | tr '\\0' x"), shell("use", "wc -c < ${long.stdout_file}"))
    assert service.run_document(chain(*flow["nodes"], GATE), name="flow").progress.completed == ["long", "use"]
    for path in (service.home / "spool").glob("*/*"):
        path.unlink()
    (service.folder / "open").touch()
    again = service.run_document(chain(*flow["nodes"], GATE), name="flow")
    assert again.success
    assert "long" in again.progress.not_reused


def test_the_home_folder_of_an_unknown_user_is_a_missing_file(service: Service) -> None:
    flow = chain({"id": "read", "type": "read-file", "params": {"file_path": "~nosuchuser-4711/x"}})
    failed = service.run_document(flow, name="flow")
    assert get_error(failed)["node"] == "read"
    assert failed.is_resumable


def test_the_node_that_took_too_long_is_named_when_the_whole_run_did(service: Service) -> None:
    result = service.run_document(chain(shell("quick", "true"), shell("slow", "sleep 60"), timeout=1), name="flow")
    assert result.failed_node == "slow"
    assert (result.error_body or {})["code"] == "run_timed_out"


@requirement("PF-N3")
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_value_passed_to_a_secret_parameter_is_a_secret_everywhere(
    service: Service, monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    flow = chain(
        shell("login", 'echo \'{"key": "zanzibar-one"}\''),
        {"id": "use", "type": "echo", "params": {"data": {"password": "${login.stdout.key}", "auth": ["${plain}"]}}},
        GATE,
        inputs={"plain": {}},
    )
    if is_killed:  # nothing is settled: the journal is what is left
        monkeypatch.setattr(RunRecorder, "store_or_clear_results", Mock(return_value=False))
    result = service.run_document(flow, {"plain": "zanzibar-two"}, name="flow")
    assert result.failed_node == "gate"
    left = b"".join(path.read_bytes() for path in service.home.rglob("*") if path.is_file())
    assert b"login" in left
    assert b"zanzibar" not in left
    assert "zanzibar" not in json.dumps(result.reply())


def test_an_output_that_is_too_long_is_described_and_not_a_failure(service: Service) -> None:
    flow = chain(
        shell("long", "head -c 20000000 /dev/zero | tr '\\0' x"),
        outputs={"it": {"source": "${long.stdout}"}, "code": {"source": "${long.exit_code}"}},
    )
    result = service.run_document(flow, name="flow")
    assert result.success
    it = get_outputs(result)["it"]
    assert (it["truncated"], it["bytes"], get_outputs(result)["code"]) == (True, 20_000_000, 0)
    assert it["preview"] == "x" * 2_000
    assert Path(it["file"]).stat().st_size == 20_000_000
    assert "'it'" in " ".join(result.warnings)
    within = chain({"id": "sub", "type": "workflow", "params": {"workflow_ir": flow}})
    failed = service.run_document(within, name="within")
    assert "only its start is available" in (failed.error_body or {})["message"]


def test_outputs_are_unchanged_except_for_secrets_which_give_a_warning(service: Service) -> None:
    data = {"secretary": "Ann Lee", "cookies_sold": 12, "next_page_token": "p2", "url": "https://x.example/?key=abc"}
    flow = chain(
        {"id": "say", "type": "echo", "params": {"data": data, "message": "api_key=YOURS"}},
        outputs={"data": {"source": "${say.data}"}, "message": {"source": "${say.echo}"}},
    )
    plain = service.run_document(flow, name="flow")
    assert plain.outputs == {"data": data, "message": "api_key=YOURS"}
    assert plain.warnings == []
    secret = service.run_document(
        {**flow, "inputs": {"password": {}}}, {"password": "cookies_sold-Ann Lee"}, name="flow"
    )
    assert secret.outputs == plain.outputs
    masked = service.run_document(
        chain({"id": "say", "type": "echo", "params": {"message": "${password}"}}, inputs={"password": {}}),
        {"password": "zanzibar"},
        name="flow",
    )
    assert get_outputs(masked)["say"]["echo"] == "***"
    assert "***" in " ".join(masked.warnings)


def test_an_action_that_is_a_secret_is_in_no_reply_and_in_no_file(service: Service) -> None:
    nodes = service.home / "nodes"
    nodes.mkdir(parents=True)
    interface = {"type": "acts", "description": "Acts", "run": "acts.py:run", "params": {"it": "str"}}
    (nodes / "acts.json").write_text(json.dumps({"nodes": [{**interface, "open_actions": True}]}))
    (nodes / "acts.py").write_text(
        "from pflow.domain.node import Outcome\ndef run(params, context):\n    return Outcome({}, params['it'])\n"
    )
    flow: dict[str, Any] = {
        "inputs": {"password": {}},
        "nodes": [shell("first", "true"), {"id": "act", "type": "acts", "params": {"it": "${password}"}}, GATE],
        "edges": [{"from": "first", "to": "act"}, {"from": "first", "to": "gate"}],
    }
    result = service.run_document(flow, {"password": "zanzibar-4711"}, name="flow")
    assert result.failed_node == "gate"
    assert "zanzibar" not in json.dumps(result.reply())
    assert b"zanzibar" not in b"".join(path.read_bytes() for path in service.home.rglob("*") if path.is_file())
