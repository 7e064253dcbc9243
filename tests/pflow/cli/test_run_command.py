"""`pflow run`: its output, its exit codes and its results."""

import json
from pathlib import Path
from typing import Any

import pytest

from pflow.cli.sources import make_run_name
from pflow.config import Settings
from pflow.service import Service
from tests.pflow.cli.commands import ASKING, BROKEN, GREETER, Ask, Workplace
from tests.requirements import requirement


def _giving(**data: Any) -> dict[str, Any]:
    """A workflow with these outputs."""
    return {
        "nodes": [{"id": "give", "type": "echo", "params": {"data": data}}],
        "outputs": {name: {"source": f"${{give.data.{name}}}"} for name in data},
    }


def test_a_single_output_is_printed_plainly_and_progress_goes_to_stderr(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    done = ask("run", "greet", "who=Ada")
    assert (done.code, done.out) == (0, "HELLO ADA!\n")
    assert "hello" in done.err
    assert "loud" in done.err
    assert "done in" in done.err


def test_quiet_prints_only_the_output(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    for option in ("-q", "--quiet"):
        done = ask("run", "greet", "who=Ada", option)
        assert (done.code, done.out, done.err) == (0, "HELLO ADA!\n", "")


def test_several_outputs_are_printed_with_their_names(ask: Ask, place: Workplace) -> None:
    place.draft("many", _giving(text="a b", lines="one\ntwo\n", number=2.5, yes=True, none=None, list=[1, "x"]))
    done = ask("run", "many", "-q")
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
def test_output_to_a_file_or_a_program_is_unchanged(ask: Ask, place: Workplace, value: Any, printed: str) -> None:
    place.draft("one", _giving(value=value))
    assert ask("run", "one", "-q").out == printed


@requirement("PF-N6")
def test_json_is_the_reply_of_the_tool_and_nothing_else(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    done = ask("run", "greet", "who=Ada", "--json")
    assert (done.code, done.err) == (0, "")
    replied = Service(Settings(home=place.home)).execute("greet", {"who": "Ada"}).reply()
    varying = {"run_id", "duration_ms"}
    assert done.json.keys() == replied.keys()
    assert {k: v for k, v in done.json.items() if k not in varying} == {
        k: v for k, v in replied.items() if k not in varying
    }


def test_json_is_not_bounded(ask: Ask, place: Workplace) -> None:
    place.draft("long", _giving(text="x" * 300_000))
    assert ask("run", "long", "--json").json["outputs"]["text"] == "x" * 300_000


@requirement("PF-R10", "PF-E10")
def test_a_failed_run_exits_with_5_and_is_resumed(ask: Ask, place: Workplace) -> None:
    path = place.draft("broken", BROKEN)
    first = ask("run", "broken")
    assert (first.code, first.out) == (5, "")
    assert "error: 'second' failed. The command ended with exit code 3" in first.err
    assert "note: 1 node is done. Run it again" in first.err
    path.write_text(json.dumps(BROKEN).replace("exit 3", "exit 0"))
    second = ask("run", "broken", "--json")
    assert second.code == 0
    assert second.json["reused_nodes"] == ["first"]


def test_fresh_starts_over(ask: Ask, place: Workplace) -> None:
    place.draft("broken", BROKEN)
    ask("run", "broken", "-q")
    assert ask("run", "broken", "--json").json["reused_nodes"] == ["first"]
    assert ask("run", "broken", "--json", "--fresh").json["reused_nodes"] == []


def test_only_runs_one_node_and_the_nodes_it_needs(ask: Ask, place: Workplace) -> None:
    place.draft("broken", BROKEN)
    done = ask("run", "broken", "--only", "first", "--json")
    assert (done.code, list(done.json["outputs"])) == (0, ["first"])
    wrong = ask("run", "broken", "--only", "frst")
    assert wrong.code == 2
    assert "Did you mean 'first'?" in wrong.err


def test_a_dry_run_prints_the_plan_and_runs_nothing(ask: Ask, place: Workplace) -> None:
    place.draft("asking", ASKING)
    told = ask("run", "asking", "--dry-run")
    assert told.code == 0
    assert "3 nodes would run, 0 would be reused. Nothing was run." in told.out
    assert "echo once >> before.txt" in told.out
    steps = ask("run", "asking", "--dry-run", "--json", "--only", "before").json["plan"]
    assert [step["node"] for step in steps] == ["before"]
    assert not (place.folder / "before.txt").exists()
    assert ask("history", "--json").json == {"runs": []}


def test_a_dry_run_prints_a_line_for_each_parameter_but_not_the_internal_ones(ask: Ask, place: Workplace) -> None:
    ir = {
        "inputs": {"text": {"type": "string"}},
        "nodes": [{"id": "a", "type": "shell", "params": {"command": "cat; echo ${text}", "stdin": "${text}"}}],
    }
    place.draft("long", ir)
    given = f"text={'many words ' * 300}\nand a line"
    told = ask("run", "long", given, "--dry-run").out
    assert max(map(len, told.splitlines())) <= 100
    assert "      stdin          many words many words" in told
    assert "__" not in told
    (step,) = ask("run", "long", given, "--dry-run", "--json").json["plan"]
    assert "stdin" in step["params"]
    assert not [name for name in step["params"] if name.startswith("__")]


def test_a_dry_run_prints_the_results_to_reuse_unless_fresh(ask: Ask, place: Workplace) -> None:
    place.draft("broken", BROKEN)
    ask("run", "broken", "-q")
    will = [step["will"] for step in ask("run", "broken", "--dry-run", "--json").json["plan"]]
    assert will == ["reuse", "run"]
    assert "1 node would run, 1 would be reused" in ask("run", "broken", "--dry-run").out
    will = [step["will"] for step in ask("run", "broken", "--dry-run", "--fresh", "--json").json["plan"]]
    assert will == ["run", "run"]


@requirement("PF-E4")
def test_missing_inputs_exit_with_2_and_the_hint_shows_how_to_give_them(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    done = ask("run", "greet")
    assert done.code == 2
    assert "error: Required inputs are missing: who (string: Whom to greet)." in done.err
    assert "hint: pflow run greet who=…\n" in done.err
    said = ask("run", "greet", "--json")
    assert (said.code, said.error["missing_variables"]) == (2, ["who"])


def test_a_variable_without_a_value_exits_with_2(ask: Ask, place: Workplace) -> None:
    place.draft("lazy", {"nodes": [{"id": "say", "type": "echo", "params": {"message": "${api_url}"}}]})
    done = ask("run", "lazy")
    assert done.code == 2
    assert "hint: pflow run lazy api_url=…\n" in done.err
    assert ask("run", "lazy", "api_url=x", "-q").code == 0


def test_an_invalid_workflow_exits_with_2_and_shows_where(ask: Ask, place: Workplace) -> None:
    place.draft("bad", '{\n  "nodes": [{"id": "a", "type": "ecko"}]\n}\n')
    done = ask("run", "bad")
    assert (done.code, done.out) == (2, "")
    assert "error[unknown_type]: There is no node type 'ecko'." in done.err
    assert "workflows/drafts/bad.json:2:33" in done.err
    assert '"type": "ecko"' in done.err
    assert "'bad' is not valid: 1 error. Nothing was run." in done.err
    said = ask("run", "bad", "--json")
    assert (said.code, said.error["code"], len(said.error["diagnostics"])) == (2, "invalid_workflow", 1)
    assert said.json["checkpoint"]["resumable"] is False


@requirement("PF-E3")
def test_a_missing_workflow_exits_with_3(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    near = ask("run", "gret")
    assert near.code == 3
    assert "Did you mean 'greet'?" in near.err
    far = ask("run", "zzz")
    assert far.code == 3
    assert "`pflow new zzz` creates a draft" in far.err
    for path in ("./nowhere.json", "nowhere.json", "a/b", "nul\0.json"):
        done = ask("run", path, "--json")
        assert (done.code, done.error["type"]) == (3, "FileNotFoundError")


@requirement("PF-E1")
def test_an_invalid_name_exits_with_4(ask: Ask, place: Workplace) -> None:
    done = ask("run", "..", "--json")
    assert (done.code, done.error["type"]) == (4, "SecurityError")


def test_an_approval_exits_with_4_with_a_hint_and_is_resumed_after_the_decision(ask: Ask, place: Workplace) -> None:
    from uraniborg.kernel.inbox import Decision, Inbox

    place.draft("asking", ASKING)
    done = ask("run", "asking")
    assert done.code == 4
    assert "waiting: A person has to decide: Shall we?" in done.err
    (entry,) = Inbox().pending("pflow")
    assert f"`uraniborg decide {entry.id} approve`" in done.err
    assert ask("run", "asking", "--json").error["type"] == "approval_required"
    Inbox().decide(entry.id, Decision(action="approve"), "test")
    assert ask("run", "asking", "-q").out == "done\n"
    assert (place.folder / "before.txt").read_text() == "once\n"


def test_a_file_is_run_by_its_path_and_its_runs_are_kept_apart_from_others(ask: Ask, place: Workplace) -> None:
    place.file("here/greet.json", GREETER)
    place.file("there/greet.json", BROKEN)
    place.draft("greet", BROKEN)
    for path in ("here/greet.json", "./here/greet.json", place.folder / "here" / "greet.json"):
        assert ask("run", path, "who=Ada", "-q").out == "HELLO ADA!\n"
    runs = ask("history", "here/../here/greet.json", "--json").json["runs"]
    assert [run["workflow"] for run in runs] == [make_run_name("here/greet.json")] * 3
    assert {run["source"] for run in runs} == {"file"}
    assert make_run_name("here/greet.json") != make_run_name("there/greet.json")
    assert make_run_name("here/greet.json").startswith("greet@")
    assert ask("history", "greet", "--json").json["runs"] == []


def test_messages_name_a_file_by_its_given_path(ask: Ask, place: Workplace) -> None:
    place.file("here/broken.json", BROKEN)
    place.file("here/bad.json", {"nodes": [{"id": "a", "type": "ecko"}]})
    said = ask("run", "./here/broken.json")
    assert said.err.startswith("./here/broken.json  2 nodes, run run_")
    told = ask("history").out + ask("show").out + ask("describe", "here/broken.json").out
    assert told.count("here/broken.json") == 4
    wrong = ask("run", "here/bad.json", "--json")
    assert wrong.error["message"].startswith("'here/bad.json' is not valid.")
    checkpoint = place.home / "checkpoints" / f"{make_run_name('here/broken.json')}.json"
    checkpoint.write_text("{")
    damaged = ask("run", "here/broken.json", "--json").json
    assert "'here/broken.json'" in damaged["warnings"][0]
    said = ask("run", "here/broken.json")
    assert "@" not in said.err + told + wrong.error["message"]
    assert damaged["checkpoint"]["workflow"] == make_run_name("here/broken.json")
    (_, _, run) = ask("history", "--json").json["runs"]
    assert (run["source"], run["file"]) == ("file", str(place.folder / "here" / "broken.json"))


def test_a_file_elsewhere_is_called_by_its_whole_path(
    ask: Ask, place: Workplace, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = place.file("greet.json", GREETER)
    ask("run", "greet.json", "who=Ada", "-q")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    assert "~/greet.json" in ask("history").out
    monkeypatch.setenv("HOME", str(elsewhere))
    monkeypatch.setenv("PFLOW_HOME", str(place.home))
    assert f"  {path}\n" in ask("history").out


def test_a_failed_run_of_a_file_is_resumed_by_any_path_to_it(ask: Ask, place: Workplace) -> None:
    path = place.file("sub/broken.json", BROKEN)
    ask("run", "sub/broken.json", "-q")
    assert ask("run", str(path), "--json").json["reused_nodes"] == ["first"]


def test_a_path_with_unusual_characters_gives_a_valid_run_name(tmp_path: Path) -> None:
    names = {make_run_name(str(tmp_path / name)) for name in ("ä b.json", "ä c.json", "x" * 200 + ".json", ".json")}
    assert len(names) == 4
    assert all(len(name) < 60 and "/" not in name and " " not in name for name in names)


@requirement("PF-N4")
def test_a_secret_is_nowhere_to_be_seen(ask: Ask, place: Workplace) -> None:
    ir = {
        "inputs": {"api_key": {"type": "string"}},
        "nodes": [
            {"id": "use", "type": "shell", "params": {"command": "echo ${api_key}; echo ${api_key} >&2; exit 1"}},
        ],
    }
    place.draft("leak", ir)
    given = "api_key=sk-hunter2-hunter2"
    for options in ((), ("--json",), ("--dry-run",), ("--dry-run", "--json")):
        done = ask("run", "leak", given, *options)
        assert "hunter2" not in done.out + done.err
    shown = ask("show")
    assert shown.code == 0
    assert "hunter2" not in shown.out + ask("show", "--json").out + ask("history", "--json").out
    assert "hunter2" not in "".join(
        path.read_text(errors="replace") for path in place.home.rglob("*") if path.is_file()
    )


def test_control_characters_in_errors_are_escaped_on_the_terminal(ask: Ask, place: Workplace) -> None:
    hostile = "printf 'a\\033[2Jb\\rforged\\n' >&2; exit 1"
    place.draft("hostile", {"nodes": [{"id": "a", "type": "shell", "params": {"command": hostile}}]})
    done = ask("run", "hostile")
    assert done.code == 5
    assert "\x1b" not in done.err
    assert "\r" not in done.err
    assert "\\x1b[2Jb\\rforged" in done.err


def test_warnings_of_a_successful_run_are_printed(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    place.saved("greet", GREETER)
    done = ask("run", "greet", "who=Ada", "whom=Eve", "-q")
    assert (done.code, done.out) == (0, "HELLO ADA!\n")
    assert "warning: A draft of the same name exists" in done.err
    assert "warning: Nothing uses the input 'whom'. Did you mean 'who'?" in done.err
    assert len(ask("run", "greet", "who=Ada", "whom=Eve", "--json").json["warnings"]) == 2


def test_an_invalid_setting_is_reported_like_other_errors(
    ask: Ask, place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PFLOW_TIMEOUT", "soon")
    done = ask("run", "greet")
    assert done.code == 2
    assert "PFLOW_TIMEOUT" in done.err
    said = ask("run", "greet", "--json")
    assert (said.code, said.json["success"], said.error["code"]) == (2, False, "invalid_config")
