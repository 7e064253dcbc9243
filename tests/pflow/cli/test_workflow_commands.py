"""Commands about workflows and runs: list, describe, browse, guide, history, show."""

import json
from typing import Any, Final, get_args

import pytest

from pflow.cli.printing import measure_width
from pflow.config import Settings
from pflow.engine.output import NodeStatus
from pflow.engine.runlog import NodeRow, RunLog
from pflow.service import Service
from tests.pflow.cli.commands import ASKING, BROKEN, GREETER, Ask, Workplace
from tests.requirements import requirement

HOSTILE: Final = "Hven\n✓ forged\r\x1b]0;owned\x07\x1b[31m"


def test_an_empty_home_prints_the_next_commands(ask: Ask) -> None:
    assert "`pflow new NAME`" in ask("list").out
    assert ask("list", "--json").json == {"library": [], "drafts": [], "problems": []}
    assert ask("history").out == "There are no runs yet.\n"
    assert (ask("show").code, ask("show", "--json").error["code"]) == (3, "run_not_found")


@requirement("PF-R4", "PF-R5")
def test_saved_workflows_and_drafts_are_listed_all_or_those_that_match(ask: Ask, place: Workplace) -> None:
    place.saved("greet", GREETER, "Greets a person.")
    place.draft("broken", BROKEN)
    place.file(".pflow/workflows/raw.json", GREETER)
    told = ask("list").out
    assert told.index("Library") < told.index("greet") < told.index("Drafts") < told.index("broken") < told.index("raw")
    assert "Greets a person." in told
    said = ask("list", "--json").json
    assert said["library"] == json.loads(json.dumps(Service(Settings(home=place.home)).list_library()))
    assert [one["name"] for one in said["drafts"]] == ["broken", "raw"]
    assert ask("list", "person", "--json").json["drafts"] == []
    assert [one["name"] for one in ask("list", "br*", "--json").json["drafts"]] == ["broken"]
    assert "No workflow matches." in ask("list", "zzz").out


def test_drafts_of_the_project_are_listed_unless_one_of_the_home_hides_them(
    ask: Ask, place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = place.folder / "project"
    place.draft("greet", GREETER)
    for name in ("greet", "local"):
        place.file(f"project/.pflow/workflows/{name}.json", GREETER)
    monkeypatch.chdir(project)
    drafts = ask("list", "--json").json["drafts"]
    assert [(one["name"], one["path"]) for one in drafts] == [
        ("greet", "workflows/drafts/greet.json"),
        ("local", ".pflow/workflows/local.json"),
    ]
    assert ask("check", "local").code == 0


def test_files_that_are_not_workflows_are_reported(ask: Ask, place: Workplace) -> None:
    place.draft("half", "{")
    assert "half.json is not a valid workflow" in ask("list").out
    assert len(ask("list", "--json").json["problems"]) == 1


@requirement("PF-R6", "PF-R7", "PF-T7")
def test_a_workflow_is_described_with_how_to_run_it_and_how_it_went(ask: Ask, place: Workplace) -> None:
    place.draft("greet", {**GREETER, "nodes": [*GREETER["nodes"][:1], {**GREETER["nodes"][1], "purpose": "Shout"}]})
    assert "Runs" not in ask("describe", "greet").out
    ask("run", "greet", "who=Ada", "-q")
    ask("run", "greet", "-q")
    told = ask("describe", "greet").out
    for part in ("draft, workflows/drafts/greet.json", "string  required  Whom to greet", "→ loud", "Shout"):
        assert part in told
    assert "2 runs, 1 succeeded, 1 failed" in told
    assert "last failure" in told
    assert "  pflow run greet who=text\n" in told
    said = ask("describe", "greet", "--json").json
    assert said == json.loads(json.dumps(Service(Settings(home=place.home)).describe("greet")))


def test_a_file_is_described_too(ask: Ask, place: Workplace) -> None:
    place.file("g.json", GREETER)
    ask("run", "g.json", "who=x", "-q")
    told = ask("describe", "g.json").out
    assert "1 run, 1 succeeded" in told
    assert "  pflow run g.json who=text\n" in told


def test_the_default_of_a_secret_is_not_printed(ask: Ask, place: Workplace) -> None:
    secret = {"inputs": {"api_key": {"type": "string", "default": "sk-hunter2"}}, "nodes": [
        {"id": "a", "type": "echo", "params": {"message": "${api_key}"}}]}  # fmt: skip
    place.draft("secret", secret)
    told, said = ask("describe", "secret"), ask("describe", "secret", "--json")
    assert told.code == 0
    assert "api_key" in told.out
    assert "hunter2" not in told.out + said.out
    assert said.json["inputs"]["api_key"]["secret"] is True


def test_the_description_of_an_invalid_workflow_lists_its_problems_and_no_command_to_run_it(
    ask: Ask, place: Workplace
) -> None:
    place.draft("bad", {"nodes": [{"id": "a", "type": "ecko"}]})
    told = ask("describe", "bad").out
    assert "1 error: `pflow check bad`" in told
    assert "Run it" not in told


@requirement("PF-R2")
def test_a_node_type_given_by_name_is_described_in_full(ask: Ask) -> None:
    told = ask("browse", "shell").out
    assert told.startswith("shell  effectful\n")
    for part in ("Parameters", "command", "required", "Outputs", "exit_code", "Example", '"type": "shell"'):
        assert part in told
    assert ask("browse", "shell", "--json").json["nodes"][0]["type"] == "shell"


@requirement("PF-R3")
def test_nodes_and_workflows_are_found_by_words(ask: Ask, place: Workplace) -> None:
    place.saved("greet", GREETER, "Greets a person.")
    told = ask("browse", "greet", "a", "person").out
    assert "Workflows" in told
    assert "Greets a person." in told
    assert "workflows" not in ask("browse", "greet", "--no-workflows", "--json").json
    assert "Nothing matches." in ask("browse", "xqzxqz").out
    everything = ask("browse").out
    for kind in ("echo", "http", "git-log", "write-file"):
        assert f"  {kind}  " in everything


def test_the_guide_is_printed(ask: Ask) -> None:
    assert ask("guide").out.startswith("# How workflows are written")
    assert ask("guide", "--json").json["guide"] == ask("guide").out


def test_runs_are_listed_the_newest_first_and_shown_node_by_node(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    place.draft("broken", BROKEN)
    ask("run", "greet", "who=Ada", "-q")
    ask("run", "broken", "-q")
    told = ask("history").out.splitlines()
    assert told[1].startswith("✗")
    assert "second: The command ended with exit code 3" in told[1]
    assert told[2].startswith("✓")
    runs = ask("history", "--json").json["runs"]
    assert [run["workflow"] for run in runs] == ["broken", "greet"]
    assert len(ask("history", "-n", "1", "--json").json["runs"]) == 1
    shown = ask("show").out
    assert shown.startswith("✗ broken  failed after ")
    for part in ("✓  first   shell", "✗  second  shell", "█", "error: The command ended", "hint: "):
        assert part in shown
    earlier = ask("show", runs[1]["id"][:12])
    assert "who  Ada" in earlier.out
    assert "greeting  HELLO ADA!" in earlier.out
    said = ask("show", runs[1]["id"], "--json").json
    assert [node["node"] for node in said["nodes"]] == ["hello", "loud"]
    assert ask("show", "run_zzz").code == 3


def test_asking_for_runs_of_an_unknown_workflow_is_an_error(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    path = place.file("g.json", GREETER)
    place.file("half.json", "{")
    for name in ("greet", "g.json", "half.json"):
        assert ask("history", name).out == f"'{name}' does not have runs yet.\n"
        assert ask("history", name, "--json").json == {"runs": []}
    near = ask("history", "gret")
    assert (near.code, near.out) == (3, "")
    assert "Did you mean 'greet'?" in near.err
    far = ask("history", "zzzzzz", "--json")
    assert (far.code, far.error["type"]) == (3, "FileNotFoundError")
    assert ask("history", "gone.json").code == 3
    ask("run", "g.json", "who=x", "-q")
    path.unlink()
    assert len(ask("history", "g.json", "--json").json["runs"]) == 1


def test_runs_of_a_deleted_workflow_are_listed_and_its_name_is_suggested(ask: Ask, place: Workplace) -> None:
    path = place.draft("greet", GREETER)
    ask("run", "greet", "who=Ada", "-q")
    path.unlink()
    assert len(ask("history", "greet", "--json").json["runs"]) == 1
    assert "Did you mean 'greet'?" in ask("history", "gret").err


def test_a_run_that_waits_for_a_person_is_listed_and_shown_as_such(ask: Ask, place: Workplace) -> None:
    place.draft("asking", ASKING)
    ask("run", "asking", "-q")
    assert ask("history").out.splitlines()[1].startswith("◦  run_")
    shown = ask("show")
    assert shown.code == 0
    assert shown.out.startswith("◦ asking  waiting after ")
    assert "  ◦  ask     approval  waiting" in shown.out
    assert "waiting: A person has to decide: Shall we?\n" in shown.out
    assert "1 run, 1 waited for a person, " in ask("describe", "asking").out


@pytest.mark.parametrize("status", get_args(NodeStatus))
def test_a_node_is_shown_however_it_ended(ask: Ask, place: Workplace, status: NodeStatus) -> None:
    place.home.mkdir()
    log = RunLog(place.home / "runs.db")
    log.begin_run("run_1", "x", "draft", "2026-01-01T00:00:00Z", {})
    log.add_nodes("run_1", [NodeRow(0, "step", "echo", status)])
    log.close()
    shown = ask("show", "run_1")
    assert shown.code == 0
    assert "step  echo" in shown.out


def test_a_workflow_of_very_many_nodes_is_described_and_json_has_all(ask: Ask, place: Workplace) -> None:
    nodes = [{"id": f"n{number}", "type": "echo", "params": {"message": "x"}} for number in range(1_000)]
    edges = [{"from": f"n{number}", "to": f"n{number + 1}"} for number in range(999)]
    outputs = {f"o{number}": {"source": f"${{n{number}.echo}}"} for number in range(200)}
    place.draft("long", {"nodes": nodes, "edges": edges, "outputs": outputs})
    told = ask("describe", "long")
    assert told.code == 0
    assert "… and 940 more; --json lists all." in told.out
    said = ask("describe", "long", "--json").json
    assert (len(said["nodes"]), len(said["edges"]), len(said["outputs"])) == (1_000, 999, 200)
    assert (said["nodes_total"], said["edges_total"], said["truncated"]) == (1_000, 999, False)


WORDY: Final = "A long story of what this is for, and of why. " * 4


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize(
    "command", [("list",), ("describe", "wordy"), ("browse", "wordy"), ("browse",), ("history",), ("show",)]
)
def test_every_page_fits_its_width_and_shows_no_escaped_line_breaks(
    ask: Ask, place: Workplace, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], width: int
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
    place.saved("wordy", wordy, f"{WORDY}\n{WORDY}")
    place.file("sub/folder/of-some-depth/wordy.json", wordy)
    for given in ("wordy", "sub/folder/of-some-depth/wordy.json"):
        assert ask("run", given, "-q").code == 5
    monkeypatch.setenv("COLUMNS", str(width))
    done = ask(*command)
    lines = [line for line in done.out.splitlines() if not line.startswith(("error: ", "hint: "))]
    assert done.code == 0
    assert [line for line in lines if measure_width(line) > width] == []
    assert "\\n" not in done.out
    if command in (("history",), ("show",), ("describe", "wordy")):
        assert "The command ended" in done.out


def test_an_error_of_several_lines_is_shown_whole_with_its_run(ask: Ask, place: Workplace) -> None:
    params = {"command": "printf 'x\\ny\\n' >&2; exit 1"}
    place.draft("two", {"nodes": [{"id": "a", "type": "shell", "params": params}]})
    ask("run", "two", "-q")
    assert "Its stderr ends: x\n  y\n" in ask("show").out


@pytest.mark.parametrize("home", ["file", "file/below"])
def test_every_command_reports_a_home_that_cannot_be_used(
    ask: Ask, place: Workplace, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    place.file("file", "")
    place.file("g.json", GREETER)
    monkeypatch.setenv("PFLOW_HOME", str(place.folder / home))
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
        done = ask(*command)
        assert (done.code, done.out) == (5, "")
        assert f"error: The pflow home {place.folder / home} " in done.err
        assert "PFLOW_HOME" in done.err
        assert ask(*command[:2], "--json", *command[2:]).error["code"] == "unavailable"
    assert ask("check", "g.json").code == 0
    assert ask("run", "g.json", "who=Ada", "-q").out == "HELLO ADA!\n"


def test_a_home_that_is_not_there_yet_has_nothing_in_it(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PFLOW_HOME", "somewhere/new")
    assert ask("history").out == "There are no runs yet.\n"


def test_a_resumed_run_shows_the_run_it_resumed_from(ask: Ask, place: Workplace) -> None:
    place.draft("broken", BROKEN)
    ask("run", "broken", "-q")
    ask("run", "broken", "-q")
    shown = ask("show").out
    assert "resumed from run_" in shown
    assert "↺  first   shell  reused" in shown


@pytest.mark.parametrize(
    "command",
    [("list",), ("describe", "odd"), ("browse", "odd"), ("browse",), ("history",), ("show",), ("check", "odd")],
)
def test_control_characters_in_files_are_escaped_on_the_terminal(
    ask: Ask, place: Workplace, command: tuple[str, ...]
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
    place.saved("odd", odd, HOSTILE)
    place.file(f".pflow/workflows/{'é' * 3}\x1b.json", "{")
    ask("run", "odd", "-q", f"x={HOSTILE}")
    done = ask(*command)
    assert done.code == 0
    assert not set("\x1b\r\x07") & set(done.out + done.err)
    assert "\n✓ forged" not in done.out
