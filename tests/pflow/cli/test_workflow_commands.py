"""Commands about workflows and runs: list, describe, browse, guide, history, show."""

import json
from typing import Any, Final, get_args

import pytest

from pflow.config import Settings
from pflow.domain.run_events import NodeStatus
from pflow.service.operations import Service
from pflow.store.run_log import RunLog
from pflow.store.run_log_rows import NodeRow
from tests.pflow.cli.commands import ASKING, BROKEN, GREETER, RunPflow, Workplace
from tests.requirements import requirement
from uraniborg.kernel.terminal.styled_text import measure_plain_width

HOSTILE: Final = "Hven\n✓ forged\r\x1b]0;owned\x07\x1b[31m"


def test_an_empty_home_prints_the_next_commands(run_pflow: RunPflow) -> None:
    assert "`pflow new NAME`" in run_pflow("list").out
    assert run_pflow("list", "--json").json == {"library": [], "drafts": [], "problems": []}
    assert run_pflow("history").out == "There are no runs yet.\n"
    assert (run_pflow("show").code, run_pflow("show", "--json").error["code"]) == (3, "run_not_found")


@requirement("PF-R4", "PF-R5")
def test_saved_workflows_and_drafts_are_listed_all_or_those_that_match(
    run_pflow: RunPflow, workplace: Workplace
) -> None:
    workplace.write_saved("greet", GREETER, "Greets a person.")
    workplace.write_draft("broken", BROKEN)
    workplace.write_file(".pflow/workflows/raw.json", GREETER)
    report = run_pflow("list").out
    assert (
        report.index("Library")
        < report.index("greet")
        < report.index("Drafts")
        < report.index("broken")
        < report.index("raw")
    )
    assert "Greets a person." in report
    reply = run_pflow("list", "--json").json
    assert reply["library"] == json.loads(json.dumps(Service(Settings(home=workplace.home)).list_library()))
    assert [one["name"] for one in reply["drafts"]] == ["broken", "raw"]
    assert run_pflow("list", "person", "--json").json["drafts"] == []
    assert [one["name"] for one in run_pflow("list", "br*", "--json").json["drafts"]] == ["broken"]
    assert "No workflow matches." in run_pflow("list", "zzz").out


def test_drafts_of_the_project_are_listed_unless_one_of_the_home_hides_them(
    run_pflow: RunPflow, workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = workplace.folder / "project"
    workplace.write_draft("greet", GREETER)
    for name in ("greet", "local"):
        workplace.write_file(f"project/.pflow/workflows/{name}.json", GREETER)
    monkeypatch.chdir(project)
    drafts = run_pflow("list", "--json").json["drafts"]
    assert [(one["name"], one["path"]) for one in drafts] == [
        ("greet", "workflows/drafts/greet.json"),
        ("local", ".pflow/workflows/local.json"),
    ]
    assert run_pflow("check", "local").code == 0


def test_files_that_are_not_workflows_are_reported(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("half", "{")
    assert "half.json is not a valid workflow" in run_pflow("list").out
    assert len(run_pflow("list", "--json").json["problems"]) == 1


@requirement("PF-R6", "PF-R7", "PF-T7")
def test_a_workflow_is_described_with_how_to_run_it_and_how_it_went(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft(
        "greet", {**GREETER, "nodes": [*GREETER["nodes"][:1], {**GREETER["nodes"][1], "purpose": "Shout"}]}
    )
    assert "Runs" not in run_pflow("describe", "greet").out
    run_pflow("run", "greet", "who=Ada", "-q")
    run_pflow("run", "greet", "-q")
    report = run_pflow("describe", "greet").out
    for part in ("draft, workflows/drafts/greet.json", "string  required  Whom to greet", "→ loud", "Shout"):
        assert part in report
    assert "2 runs, 1 succeeded, 1 failed" in report
    assert "last failure" in report
    assert "  pflow run greet who=text\n" in report
    reply = run_pflow("describe", "greet", "--json").json
    assert reply == json.loads(json.dumps(Service(Settings(home=workplace.home)).describe_workflow("greet")))


def test_a_file_is_described_too(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_file("g.json", GREETER)
    run_pflow("run", "g.json", "who=x", "-q")
    report = run_pflow("describe", "g.json").out
    assert "1 run, 1 succeeded" in report
    assert "  pflow run g.json who=text\n" in report


def test_the_default_of_a_secret_is_not_printed(run_pflow: RunPflow, workplace: Workplace) -> None:
    secret = {"inputs": {"api_key": {"type": "string", "default": "sk-hunter2"}}, "nodes": [
        {"id": "a", "type": "echo", "params": {"message": "${api_key}"}}]}  # fmt: skip
    workplace.write_draft("secret", secret)
    report, reply = run_pflow("describe", "secret"), run_pflow("describe", "secret", "--json")
    assert report.code == 0
    assert "api_key" in report.out
    assert "hunter2" not in report.out + reply.out
    assert reply.json["inputs"]["api_key"]["secret"] is True


def test_the_description_of_an_invalid_workflow_lists_its_problems_and_no_command_to_run_it(
    run_pflow: RunPflow, workplace: Workplace
) -> None:
    workplace.write_draft("bad", {"nodes": [{"id": "a", "type": "ecko"}]})
    report = run_pflow("describe", "bad").out
    assert "1 error: `pflow check bad`" in report
    assert "Run it" not in report


@requirement("PF-R2")
def test_a_node_type_given_by_name_is_described_in_full(run_pflow: RunPflow) -> None:
    report = run_pflow("browse", "shell").out
    assert report.startswith("shell  effectful\n")
    for part in ("Parameters", "command", "required", "Outputs", "exit_code", "Example", '"type": "shell"'):
        assert part in report
    assert run_pflow("browse", "shell", "--json").json["nodes"][0]["type"] == "shell"


@requirement("PF-R3")
def test_nodes_and_workflows_are_found_by_words(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_saved("greet", GREETER, "Greets a person.")
    report = run_pflow("browse", "greet", "a", "person").out
    assert "Workflows" in report
    assert "Greets a person." in report
    assert "workflows" not in run_pflow("browse", "greet", "--no-workflows", "--json").json
    assert "Nothing matches." in run_pflow("browse", "xqzxqz").out
    everything = run_pflow("browse").out
    for kind in ("echo", "http", "git-log", "write-file"):
        assert f"  {kind}  " in everything


def test_the_guide_is_printed(run_pflow: RunPflow) -> None:
    assert run_pflow("guide").out.startswith("# How workflows are written")
    assert run_pflow("guide", "--json").json["guide"] == run_pflow("guide").out


def test_runs_are_listed_the_newest_first_and_shown_node_by_node(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    workplace.write_draft("broken", BROKEN)
    run_pflow("run", "greet", "who=Ada", "-q")
    run_pflow("run", "broken", "-q")
    report = run_pflow("history").out.splitlines()
    assert report[1].startswith("✗")
    assert "second: The command ended with exit code 3" in report[1]
    assert report[2].startswith("✓")
    runs = run_pflow("history", "--json").json["runs"]
    assert [run["workflow"] for run in runs] == ["broken", "greet"]
    assert len(run_pflow("history", "-n", "1", "--json").json["runs"]) == 1
    shown = run_pflow("show").out
    assert shown.startswith("✗ broken  failed after ")
    for part in ("✓  first   shell", "✗  second  shell", "█", "error: The command ended", "hint: "):
        assert part in shown
    earlier = run_pflow("show", runs[1]["id"][:12])
    assert "who  Ada" in earlier.out
    assert "greeting  HELLO ADA!" in earlier.out
    reply = run_pflow("show", runs[1]["id"], "--json").json
    assert [node["node"] for node in reply["nodes"]] == ["hello", "loud"]
    assert run_pflow("show", "run_zzz").code == 3


def test_asking_for_runs_of_an_unknown_workflow_is_an_error(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    path = workplace.write_file("g.json", GREETER)
    workplace.write_file("half.json", "{")
    for name in ("greet", "g.json", "half.json"):
        assert run_pflow("history", name).out == f"'{name}' does not have runs yet.\n"
        assert run_pflow("history", name, "--json").json == {"runs": []}
    near = run_pflow("history", "gret")
    assert (near.code, near.out) == (3, "")
    assert "Did you mean 'greet'?" in near.err
    far = run_pflow("history", "zzzzzz", "--json")
    assert (far.code, far.error["type"]) == (3, "FileNotFoundError")
    assert run_pflow("history", "gone.json").code == 3
    run_pflow("run", "g.json", "who=x", "-q")
    path.unlink()
    assert len(run_pflow("history", "g.json", "--json").json["runs"]) == 1


def test_runs_of_a_deleted_workflow_are_listed_and_its_name_is_suggested(
    run_pflow: RunPflow, workplace: Workplace
) -> None:
    path = workplace.write_draft("greet", GREETER)
    run_pflow("run", "greet", "who=Ada", "-q")
    path.unlink()
    assert len(run_pflow("history", "greet", "--json").json["runs"]) == 1
    assert "Did you mean 'greet'?" in run_pflow("history", "gret").err


def test_a_run_that_waits_for_a_person_is_listed_and_shown_as_such(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("asking", ASKING)
    run_pflow("run", "asking", "-q")
    assert run_pflow("history").out.splitlines()[1].startswith("◦  run_")
    shown = run_pflow("show")
    assert shown.code == 0
    assert shown.out.startswith("◦ asking  waiting after ")
    assert "  ◦  ask     approval  waiting" in shown.out
    assert "waiting: A person has to decide: Shall we?\n" in shown.out
    assert "1 run, 1 waited for a person, " in run_pflow("describe", "asking").out


@pytest.mark.parametrize("status", get_args(NodeStatus))
def test_a_node_is_shown_however_it_ended(run_pflow: RunPflow, workplace: Workplace, status: NodeStatus) -> None:
    workplace.home.mkdir()
    log = RunLog(workplace.home / "runs.db")
    log.record_run_start("run_1", "x", "draft", "2026-01-01T00:00:00Z", {})
    log.record_nodes("run_1", [NodeRow(0, "step", "echo", status)])
    log.close()
    shown = run_pflow("show", "run_1")
    assert shown.code == 0
    assert "step  echo" in shown.out


def test_a_workflow_of_very_many_nodes_is_described_and_json_has_all(run_pflow: RunPflow, workplace: Workplace) -> None:
    nodes = [{"id": f"n{number}", "type": "echo", "params": {"message": "x"}} for number in range(1_000)]
    edges = [{"from": f"n{number}", "to": f"n{number + 1}"} for number in range(999)]
    outputs = {f"o{number}": {"source": f"${{n{number}.echo}}"} for number in range(200)}
    workplace.write_draft("long", {"nodes": nodes, "edges": edges, "outputs": outputs})
    report = run_pflow("describe", "long")
    assert report.code == 0
    assert "… and 940 more; --json lists all." in report.out
    reply = run_pflow("describe", "long", "--json").json
    assert (len(reply["nodes"]), len(reply["edges"]), len(reply["outputs"])) == (1_000, 999, 200)
    assert (reply["nodes_total"], reply["edges_total"], reply["truncated"]) == (1_000, 999, False)


WORDY: Final = "A long story of what this is for, and of why. " * 4


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize(
    "command", [("list",), ("describe", "wordy"), ("browse", "wordy"), ("browse",), ("history",), ("show",)]
)
def test_every_page_fits_its_width_and_shows_no_escaped_line_breaks(
    run_pflow: RunPflow, workplace: Workplace, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], width: int
) -> None:
    complaint = "printf 'first line\\nsecond line\\n' >&2; exit 3"
    wordy: dict[str, Any] = {
        "inputs": {"x": {"default": "one\ntwo", "description": f"{WORDY}\n{WORDY}"}},
        "nodes": [
            {"id": "a-node-with-quite-a-name", "type": "echo", "purpose": f"{WORDY}\n{WORDY}"},
            {"id": "b", "type": "shell", "params": {"command": complaint}},
        ],
        "edges": [{"from": "a-node-with-quite-a-name", "to": "b"}],
        "outputs": {"out": {"source": "${a-node-with-quite-a-name.echo}", "description": f"{WORDY}\n{WORDY}"}},
    }
    workplace.write_saved("wordy", wordy, f"{WORDY}\n{WORDY}")
    workplace.write_file("sub/folder/of-some-depth/wordy.json", wordy)
    for given in ("wordy", "sub/folder/of-some-depth/wordy.json"):
        assert run_pflow("run", given, "-q").code == 5
    monkeypatch.setenv("COLUMNS", str(width))
    done = run_pflow(*command)
    lines = [line for line in done.out.splitlines() if not line.startswith(("error: ", "hint: "))]
    assert done.code == 0
    assert [line for line in lines if measure_plain_width(line) > width] == []
    assert "\\n" not in done.out
    if command in (("history",), ("show",), ("describe", "wordy")):
        assert "The command ended" in done.out


def test_an_error_of_several_lines_is_shown_whole_with_its_run(run_pflow: RunPflow, workplace: Workplace) -> None:
    params = {"command": "printf 'x\\ny\\n' >&2; exit 1"}
    workplace.write_draft("two", {"nodes": [{"id": "a", "type": "shell", "params": params}]})
    run_pflow("run", "two", "-q")
    assert "Its stderr ends: x\n  y\n" in run_pflow("show").out


@pytest.mark.parametrize("home", ["file", "file/below"])
def test_every_command_reports_a_home_that_cannot_be_used(
    run_pflow: RunPflow, workplace: Workplace, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    workplace.write_file("file", "")
    workplace.write_file("g.json", GREETER)
    monkeypatch.setenv("PFLOW_HOME", str(workplace.folder / home))
    for command in (
        ("list",),
        ("history",),
        ("show",),
        ("browse",),
        ("describe", "greet"),
        ("check", "greet"),
        ("run", "greet"),
        ("new", "greet"),
        ("mcp", "list"),
        ("mcp", "add", "x", "--", "y"),
    ):
        done = run_pflow(*command)
        assert (done.code, done.out) == (5, "")
        assert f"error: The pflow home {workplace.folder / home} " in done.err
        assert "PFLOW_HOME" in done.err
        assert run_pflow(*command[:2], "--json", *command[2:]).error["code"] == "unavailable"
    assert run_pflow("check", "g.json").code == 0
    assert run_pflow("run", "g.json", "who=Ada", "-q").out == "HELLO ADA!\n"


def test_a_home_that_is_not_there_yet_has_nothing_in_it(run_pflow: RunPflow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PFLOW_HOME", "somewhere/new")
    assert run_pflow("history").out == "There are no runs yet.\n"


def test_a_resumed_run_shows_the_run_it_resumed_from(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("broken", BROKEN)
    run_pflow("run", "broken", "-q")
    run_pflow("run", "broken", "-q")
    shown = run_pflow("show").out
    assert "resumed from run_" in shown
    assert "↺  first   shell  reused" in shown


@pytest.mark.parametrize(
    "command",
    [("list",), ("describe", "odd"), ("browse", "odd"), ("browse",), ("history",), ("show",), ("check", "odd")],
)
def test_control_characters_in_files_are_escaped_on_the_terminal(
    run_pflow: RunPflow, workplace: Workplace, command: tuple[str, ...]
) -> None:
    odd: dict[str, Any] = {
        "inputs": {"x": {"default": HOSTILE, "description": HOSTILE}},
        "nodes": [
            {"id": "a", "type": "echo", "purpose": HOSTILE, "params": {"message": HOSTILE, HOSTILE: HOSTILE}},
            {"id": "b", "type": "shell", "params": {"command": "printf '\\033[31m\\r' >&2; exit 1"}},
        ],
        "edges": [{"from": "a", "to": "b"}],
        "outputs": {"out": {"source": "${a.echo}", "description": HOSTILE}},
    }
    workplace.write_saved("odd", odd, HOSTILE)
    workplace.write_file(f".pflow/workflows/{'é' * 3}\x1b.json", "{")
    run_pflow("run", "odd", "-q", f"x={HOSTILE}")
    done = run_pflow(*command)
    assert done.code == 0
    assert not set("\x1b\r\x07") & set(done.out + done.err)
    assert "\n✓ forged" not in done.out
