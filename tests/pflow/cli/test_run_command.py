"""`pflow run`: its output, its exit codes and its results."""

import json
from pathlib import Path
from typing import Any

import pytest

from pflow.cli.workflow_sources import make_logged_name
from pflow.config import Settings
from pflow.service.operations import Service
from tests.pflow.cli.commands import ASKING, BROKEN, GREETER, RunPflow, Workplace
from tests.requirements import requirement


def _build_workflow_with_outputs(**data: Any) -> dict[str, Any]:
    """Return a workflow with these outputs."""
    return {
        "nodes": [{"id": "give", "type": "echo", "params": {"data": data}}],
        "outputs": {name: {"source": f"${{give.data.{name}}}"} for name in data},
    }


def test_a_single_output_is_printed_plainly_and_progress_goes_to_stderr(
    run_pflow: RunPflow, workplace: Workplace
) -> None:
    workplace.write_draft("greet", GREETER)
    done = run_pflow("run", "greet", "who=Ada")
    assert (done.code, done.out) == (0, "HELLO ADA!\n")
    assert "hello" in done.err
    assert "loud" in done.err
    assert "done in" in done.err


def test_quiet_prints_only_the_output(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    for option in ("-q", "--quiet"):
        done = run_pflow("run", "greet", "who=Ada", option)
        assert (done.code, done.out, done.err) == (0, "HELLO ADA!\n", "")


@pytest.mark.parametrize(("variables", "door"), [({}, "terminal"), ({"PFLOW_SCHEDULE": "mon 07:00"}, "schedule")])
def test_the_log_names_the_person_at_the_terminal_or_the_owner_of_the_schedule(
    run_pflow: RunPflow,
    workplace: Workplace,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    door: str,
) -> None:
    for name, value in {"URANIBORG_USER": "Ada", **variables}.items():
        monkeypatch.setenv(name, value)
    workplace.write_draft("hello", GREETER)
    assert run_pflow("run", "hello", "who=Ada").code == 0
    (run,) = run_pflow("history", "--json").json["runs"]
    assert run["starter"] == {"door": door, "name": "Ada"}


def test_a_mistake_in_the_settings_of_the_person_does_not_stop_a_run(
    run_pflow: RunPflow, workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_CONFIG", str(workplace.write_file("config.toml", "[uraniborg]\nusr = 'Ada'\n")))
    monkeypatch.setattr("getpass.getuser", lambda: "tycho")
    workplace.write_draft("hello", GREETER)
    assert run_pflow("run", "--dry-run", "hello", "who=Ada").code == 0
    done = run_pflow("run", "hello", "who=Ada")
    assert done.code == 0
    assert "Unknown setting 'usr'" in done.err
    assert "under the name of your account" in " ".join(done.err.split())
    (run,) = run_pflow("history", "--json").json["runs"]
    assert run["starter"]["name"] == "tycho"


def test_several_outputs_are_printed_with_their_names(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft(
        "many",
        _build_workflow_with_outputs(text="a b", lines="one\ntwo\n", number=2.5, yes=True, none=None, list=[1, "x"]),
    )
    done = run_pflow("run", "many", "-q")
    assert done.out == 'text: a b\nlines:\n  one\n  two\nnumber: 2.5\nyes: true\nnone:\nlist: [1,"x"]\n'


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ("ends with a newline\n", "ends with a newline\n"),
        ("", "\n"),
        (None, "\n"),
        (False, "false\n"),
        ({"a": 1}, '{"a":1}\n'),
        (["x" * 80], f'[\n  "{"x" * 80}"\n]\n'),
        ("tab\tand\r\x1b[31m", "tab\tand\r\x1b[31m\n"),
    ],
)
def test_output_to_a_file_or_a_program_is_unchanged(
    run_pflow: RunPflow, workplace: Workplace, value: Any, printed: str
) -> None:
    workplace.write_draft("one", _build_workflow_with_outputs(value=value))
    assert run_pflow("run", "one", "-q").out == printed


@requirement("PF-N6")
def test_json_is_the_reply_of_the_tool_and_nothing_else(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    done = run_pflow("run", "greet", "who=Ada", "--json")
    assert (done.code, done.err) == (0, "")
    replied = Service(Settings(home=workplace.home)).execute("greet", {"who": "Ada"}).reply()
    varying = {"run_id", "duration_ms"}
    assert done.json.keys() == replied.keys()
    assert {k: v for k, v in done.json.items() if k not in varying} == {
        k: v for k, v in replied.items() if k not in varying
    }


def test_json_is_not_bounded(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("long", _build_workflow_with_outputs(text="x" * 300_000))
    assert run_pflow("run", "long", "--json").json["outputs"]["text"] == "x" * 300_000


@requirement("PF-R10", "PF-E10")
def test_a_failed_run_exits_with_5_and_is_resumed(run_pflow: RunPflow, workplace: Workplace) -> None:
    path = workplace.write_draft("broken", BROKEN)
    first = run_pflow("run", "broken")
    assert (first.code, first.out) == (5, "")
    assert "error: 'second' failed. The command ended with exit code 3" in first.err
    assert "note: 1 node is done. Run it again" in first.err
    path.write_text(json.dumps(BROKEN).replace("exit 3", "exit 0"))
    second = run_pflow("run", "broken", "--json")
    assert second.code == 0
    assert second.json["reused_nodes"] == ["first"]


def test_fresh_starts_over(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("broken", BROKEN)
    run_pflow("run", "broken", "-q")
    assert run_pflow("run", "broken", "--json").json["reused_nodes"] == ["first"]
    assert run_pflow("run", "broken", "--json", "--fresh").json["reused_nodes"] == []


def test_only_runs_one_node_and_the_nodes_it_needs(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("broken", BROKEN)
    done = run_pflow("run", "broken", "--only", "first", "--json")
    assert (done.code, list(done.json["outputs"])) == (0, ["first"])
    wrong = run_pflow("run", "broken", "--only", "frst")
    assert wrong.code == 2
    assert "Did you mean 'first'?" in wrong.err


def test_a_dry_run_prints_the_plan_and_runs_nothing(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("asking", ASKING)
    report = run_pflow("run", "asking", "--dry-run")
    assert report.code == 0
    assert "1 node would run, 0 would be reused, 1 node would ask a person, 1 may be reached." in report.out
    assert "asks a person; the run stops until somebody has decided" in report.out
    assert "may run, depends on ask" in report.out
    assert "echo once >> before.txt" in report.out
    steps = run_pflow("run", "asking", "--dry-run", "--json", "--only", "before").json["plan"]
    assert [step["node"] for step in steps] == ["before"]
    assert not (workplace.folder / "before.txt").exists()
    assert run_pflow("history", "--json").json == {"runs": []}


def test_a_dry_run_prints_a_line_for_each_parameter_but_not_the_internal_ones(
    run_pflow: RunPflow, workplace: Workplace
) -> None:
    ir = {
        "inputs": {"text": {"type": "string"}},
        "nodes": [{"id": "a", "type": "shell", "params": {"command": "cat; echo ${text}", "stdin": "${text}"}}],
    }
    workplace.write_draft("long", ir)
    given = f"text={'many words ' * 300}\nand a line"
    report = run_pflow("run", "long", given, "--dry-run").out
    assert max(map(len, report.splitlines())) <= 100
    assert "      stdin          many words many words" in report
    assert "__" not in report
    (step,) = run_pflow("run", "long", given, "--dry-run", "--json").json["plan"]
    assert "stdin" in step["params"]
    assert not [name for name in step["params"] if name.startswith("__")]


def test_a_dry_run_prints_why_a_node_would_fail(run_pflow: RunPflow, workplace: Workplace) -> None:
    batch = {"items": [{"path": None}], "error_handling": "continue"}
    ir = {"nodes": [{"id": "a", "type": "read-file", "params": {"file_path": "${item.path}"}, "batch": batch}]}
    workplace.write_draft("failing", ir)
    (step,) = run_pflow("run", "failing", "--dry-run", "--json").json["plan"]
    assert f"\n      {step['problem']}\n" in run_pflow("run", "failing", "--dry-run").out


def test_a_dry_run_prints_the_results_to_reuse_unless_fresh(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("broken", BROKEN)
    run_pflow("run", "broken", "-q")
    will = [step["will"] for step in run_pflow("run", "broken", "--dry-run", "--json").json["plan"]]
    assert will == ["reuse", "run"]
    assert "1 node would run, 1 would be reused" in run_pflow("run", "broken", "--dry-run").out
    will = [step["will"] for step in run_pflow("run", "broken", "--dry-run", "--fresh", "--json").json["plan"]]
    assert will == ["run", "run"]


@requirement("PF-E4")
def test_missing_inputs_exit_with_2_and_the_hint_shows_how_to_give_them(
    run_pflow: RunPflow, workplace: Workplace
) -> None:
    workplace.write_draft("greet", GREETER)
    done = run_pflow("run", "greet")
    assert done.code == 2
    assert "error: Required inputs are missing: who (string: Whom to greet)." in done.err
    assert "hint: pflow run greet who=…\n" in done.err
    reply = run_pflow("run", "greet", "--json")
    assert (reply.code, reply.error["missing_variables"]) == (2, ["who"])


def test_a_variable_without_a_value_exits_with_2(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("lazy", {"nodes": [{"id": "say", "type": "echo", "params": {"message": "${api_url}"}}]})
    done = run_pflow("run", "lazy")
    assert done.code == 2
    assert "hint: pflow run lazy api_url=…\n" in done.err
    assert run_pflow("run", "lazy", "api_url=x", "-q").code == 0


def test_an_invalid_workflow_exits_with_2_and_shows_where(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("bad", '{\n  "nodes": [{"id": "a", "type": "ecko"}]\n}\n')
    done = run_pflow("run", "bad")
    assert (done.code, done.out) == (2, "")
    assert "error[unknown_type]: There is no node type 'ecko'." in done.err
    assert "workflows/drafts/bad.json:2:33" in done.err
    assert '"type": "ecko"' in done.err
    assert "'bad' is not valid: 1 error. Nothing was run." in done.err
    reply = run_pflow("run", "bad", "--json")
    assert (reply.code, reply.error["code"], len(reply.error["diagnostics"])) == (2, "invalid_workflow", 1)
    assert reply.json["checkpoint"]["resumable"] is False


@requirement("PF-E3")
def test_a_missing_workflow_exits_with_3(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    near = run_pflow("run", "gret")
    assert near.code == 3
    assert "Did you mean 'greet'?" in near.err
    far = run_pflow("run", "zzz")
    assert far.code == 3
    assert "`pflow new zzz` creates a draft" in far.err
    for path in ("./nowhere.json", "nowhere.json", "a/b", "nul\0.json"):
        done = run_pflow("run", path, "--json")
        assert (done.code, done.error["type"]) == (3, "FileNotFoundError")


@requirement("PF-E1")
def test_an_invalid_name_exits_with_4(run_pflow: RunPflow, workplace: Workplace) -> None:
    done = run_pflow("run", "..", "--json")
    assert (done.code, done.error["type"]) == (4, "SecurityError")


def test_an_approval_exits_with_4_with_a_hint_and_is_resumed_after_the_decision(
    run_pflow: RunPflow, workplace: Workplace
) -> None:
    from uraniborg.kernel.store.inbox import Inbox, InboxDecision

    workplace.write_draft("asking", ASKING)
    done = run_pflow("run", "asking")
    assert done.code == 4
    assert "waiting: A person has to decide: Shall we?" in done.err
    (entry,) = Inbox().pending("pflow")
    assert f"`uraniborg decide {entry.id} approve`" in done.err
    assert run_pflow("run", "asking", "--json").error["type"] == "approval_required"
    Inbox().decide(entry.id, InboxDecision(action="approve"), "test")
    assert run_pflow("run", "asking", "-q").out == "done\n"
    assert (workplace.folder / "before.txt").read_text() == "once\n"


def test_a_file_is_run_by_its_path_and_its_runs_are_kept_apart_from_others(
    run_pflow: RunPflow, workplace: Workplace
) -> None:
    workplace.write_file("here/greet.json", GREETER)
    workplace.write_file("there/greet.json", BROKEN)
    workplace.write_draft("greet", BROKEN)
    for path in ("here/greet.json", "./here/greet.json", workplace.folder / "here" / "greet.json"):
        assert run_pflow("run", path, "who=Ada", "-q").out == "HELLO ADA!\n"
    runs = run_pflow("history", "here/../here/greet.json", "--json").json["runs"]
    assert [run["workflow"] for run in runs] == [make_logged_name("here/greet.json")] * 3
    assert {run["source"] for run in runs} == {"file"}
    assert make_logged_name("here/greet.json") != make_logged_name("there/greet.json")
    assert make_logged_name("here/greet.json").startswith("greet@")
    assert run_pflow("history", "greet", "--json").json["runs"] == []


def test_messages_name_a_file_by_its_given_path(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_file("here/broken.json", BROKEN)
    workplace.write_file("here/bad.json", {"nodes": [{"id": "a", "type": "ecko"}]})
    reply = run_pflow("run", "./here/broken.json")
    assert reply.err.startswith("./here/broken.json  2 nodes, run run_")
    report = run_pflow("history").out + run_pflow("show").out + run_pflow("describe", "here/broken.json").out
    assert report.count("here/broken.json") == 4
    wrong = run_pflow("run", "here/bad.json", "--json")
    assert wrong.error["message"].startswith("'here/bad.json' is not valid.")
    checkpoint = workplace.home / "checkpoints" / f"{make_logged_name('here/broken.json')}.json"
    checkpoint.write_text("{")
    damaged = run_pflow("run", "here/broken.json", "--json").json
    assert "'here/broken.json'" in damaged["warnings"][0]
    reply = run_pflow("run", "here/broken.json")
    assert "@" not in reply.err + report + wrong.error["message"]
    assert damaged["checkpoint"]["workflow"] == make_logged_name("here/broken.json")
    (_, _, run) = run_pflow("history", "--json").json["runs"]
    assert (run["source"], run["file"]) == ("file", str(workplace.folder / "here" / "broken.json"))


def test_a_file_elsewhere_is_called_by_its_whole_path(
    run_pflow: RunPflow, workplace: Workplace, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = workplace.write_file("greet.json", GREETER)
    run_pflow("run", "greet.json", "who=Ada", "-q")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    assert "~/greet.json" in run_pflow("history").out
    monkeypatch.setenv("HOME", str(elsewhere))
    monkeypatch.setenv("PFLOW_HOME", str(workplace.home))
    assert f"  {path}  by " in run_pflow("history").out


def test_a_failed_run_of_a_file_is_resumed_by_any_path_to_it(run_pflow: RunPflow, workplace: Workplace) -> None:
    path = workplace.write_file("sub/broken.json", BROKEN)
    run_pflow("run", "sub/broken.json", "-q")
    assert run_pflow("run", str(path), "--json").json["reused_nodes"] == ["first"]


def test_a_path_with_unusual_characters_gives_a_valid_run_name(tmp_path: Path) -> None:
    names = {make_logged_name(str(tmp_path / name)) for name in ("ä b.json", "ä c.json", "x" * 200 + ".json", ".json")}
    assert len(names) == 4
    assert all(len(name) < 60 and "/" not in name and " " not in name for name in names)


@requirement("PF-N4")
def test_a_secret_is_nowhere_to_be_seen(run_pflow: RunPflow, workplace: Workplace) -> None:
    ir = {
        "inputs": {"api_key": {"type": "string"}},
        "nodes": [
            {"id": "use", "type": "shell", "params": {"command": "echo ${api_key}; echo ${api_key} >&2; exit 1"}},
        ],
    }
    workplace.write_draft("leak", ir)
    given = "api_key=sk-hunter2-hunter2"
    for options in ((), ("--json",), ("--dry-run",), ("--dry-run", "--json")):
        done = run_pflow("run", "leak", given, *options)
        assert "hunter2" not in done.out + done.err
    shown = run_pflow("show")
    assert shown.code == 0
    assert "hunter2" not in shown.out + run_pflow("show", "--json").out + run_pflow("history", "--json").out
    assert "hunter2" not in "".join(
        path.read_text(errors="replace") for path in workplace.home.rglob("*") if path.is_file()
    )


def test_control_characters_in_errors_are_escaped_on_the_terminal(run_pflow: RunPflow, workplace: Workplace) -> None:
    hostile = "printf 'a\\033[2Jb\\rforged\\n' >&2; exit 1"
    workplace.write_draft("hostile", {"nodes": [{"id": "a", "type": "shell", "params": {"command": hostile}}]})
    done = run_pflow("run", "hostile")
    assert done.code == 5
    assert "\x1b" not in done.err
    assert "\r" not in done.err
    assert "\\x1b[2Jb\\rforged" in done.err


def test_warnings_of_a_successful_run_are_printed(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    workplace.write_saved("greet", GREETER)
    done = run_pflow("run", "greet", "who=Ada", "whom=Eve", "-q")
    assert (done.code, done.out) == (0, "HELLO ADA!\n")
    assert "warning: A draft of the same name exists" in done.err
    assert "warning: Nothing uses the input 'whom'. Did you mean 'who'?" in done.err
    assert len(run_pflow("run", "greet", "who=Ada", "whom=Eve", "--json").json["warnings"]) == 2


def test_an_invalid_setting_is_reported_like_other_errors(
    run_pflow: RunPflow, workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PFLOW_TIMEOUT", "soon")
    done = run_pflow("run", "greet")
    assert done.code == 2
    assert "PFLOW_TIMEOUT" in done.err
    reply = run_pflow("run", "greet", "--json")
    assert (reply.code, reply.json["success"], reply.error["code"]) == (2, False, "invalid_config")
