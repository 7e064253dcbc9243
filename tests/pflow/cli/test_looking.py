"""Looking at what there is and at what was: list, describe, browse, guide, history, show."""

import json
from typing import Any, Final

import pytest

from pflow.config import Settings
from pflow.service import Service
from tests.pflow.cli.commands import BROKEN, GREETER, Ask, Place
from tests.requirements import requirement

HOSTILE: Final = "Hven\n✓ forged\r\x1b]0;owned\x07\x1b[31m"


def test_nothing_yet_is_said_with_what_to_do(ask: Ask) -> None:
    assert "`pflow new NAME`" in ask("list").out
    assert ask("list", "--json").json == {"library": [], "drafts": [], "problems": []}
    assert ask("history").out == "Nothing has run yet.\n"
    assert ask("history", "greet").out == "'greet' has not run yet.\n"
    assert (ask("show").code, ask("show", "--json").error["code"]) == (3, "run_not_found")


@requirement("PF-R4", "PF-R5")
def test_saved_ones_and_drafts_are_listed_all_or_those_that_fit(ask: Ask, place: Place) -> None:
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
    assert "No workflow fits this." in ask("list", "zzz").out


def test_drafts_of_the_project_are_listed_unless_one_of_the_home_hides_them(
    ask: Ask, place: Place, monkeypatch: pytest.MonkeyPatch
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


def test_files_that_are_no_workflows_are_told_of(ask: Ask, place: Place) -> None:
    place.draft("half", "{")
    assert "half.json is no workflow" in ask("list").out
    assert len(ask("list", "--json").json["problems"]) == 1


@requirement("PF-R6", "PF-R7", "PF-T7")
def test_a_workflow_is_described_with_how_to_run_it_and_how_it_went(ask: Ask, place: Place) -> None:
    place.draft("greet", {**GREETER, "nodes": [*GREETER["nodes"][:1], {**GREETER["nodes"][1], "purpose": "Shout"}]})
    assert "Runs" not in ask("describe", "greet").out
    ask("run", "greet", "who=Ada", "-q")
    ask("run", "greet", "-q")
    told = ask("describe", "greet").out
    for part in ("draft, workflows/drafts/greet.json", "string  required  Whom to greet", "→ loud", "Shout"):
        assert part in told
    assert "2 runs, 1 well, 1 failed" in told
    assert "last failure" in told
    assert "  pflow run greet who=text\n" in told
    said = ask("describe", "greet", "--json").json
    assert said == json.loads(json.dumps(Service(Settings(home=place.home)).describe("greet")))


def test_a_file_is_described_too(ask: Ask, place: Place) -> None:
    place.file("g.json", GREETER)
    ask("run", "g.json", "who=x", "-q")
    told = ask("describe", "g.json").out
    assert "1 run, 1 well" in told
    assert "  pflow run g.json who=text\n" in told


def test_the_default_of_a_secret_is_not_told(ask: Ask, place: Place) -> None:
    secret = {"inputs": {"api_key": {"type": "string", "default": "sk-hunter2"}}, "nodes": [
        {"id": "a", "type": "echo", "params": {"message": "${api_key}"}}]}  # fmt: skip
    place.draft("secret", secret)
    told, said = ask("describe", "secret"), ask("describe", "secret", "--json")
    assert told.code == 0
    assert "api_key" in told.out
    assert "hunter2" not in told.out + said.out
    assert said.json["inputs"]["api_key"]["secret"] is True


def test_what_is_wrong_with_a_workflow_is_in_its_description_and_no_way_to_run_it(ask: Ask, place: Place) -> None:
    place.draft("bad", {"nodes": [{"id": "a", "type": "ecko"}]})
    told = ask("describe", "bad").out
    assert "1 error: `pflow check bad`" in told
    assert "Run it" not in told


@requirement("PF-R2")
def test_a_node_type_that_is_named_is_told_in_full(ask: Ask) -> None:
    told = ask("browse", "shell").out
    assert told.startswith("shell  effectful\n")
    for part in ("Parameters", "command", "required", "Outputs", "exit_code", "Example", '"type": "shell"'):
        assert part in told
    assert ask("browse", "shell", "--json").json["nodes"][0]["type"] == "shell"


@requirement("PF-R3")
def test_nodes_and_workflows_are_found_by_words(ask: Ask, place: Place) -> None:
    place.saved("greet", GREETER, "Greets a person.")
    told = ask("browse", "greet", "a", "person").out
    assert "Workflows" in told
    assert "Greets a person." in told
    assert "workflows" not in ask("browse", "greet", "--no-workflows", "--json").json
    assert "Nothing fits this." in ask("browse", "xqzxqz").out
    everything = ask("browse").out
    for kind in ("echo", "http", "git-log", "write-file"):
        assert f"  {kind}  " in everything


def test_the_guide_is_printed(ask: Ask) -> None:
    assert ask("guide").out.startswith("# How workflows are written")
    assert ask("guide", "--json").json["guide"] == ask("guide").out


def test_runs_are_listed_the_newest_first_and_shown_node_by_node(ask: Ask, place: Place) -> None:
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


def test_a_run_that_goes_on_from_another_says_so(ask: Ask, place: Place) -> None:
    place.draft("broken", BROKEN)
    ask("run", "broken", "-q")
    ask("run", "broken", "-q")
    shown = ask("show").out
    assert "went on from run_" in shown
    assert "↺  first   shell  reused" in shown


@pytest.mark.parametrize(
    "command",
    [("list",), ("describe", "odd"), ("browse", "odd"), ("browse",), ("history",), ("show",), ("check", "odd")],
)
def test_what_files_hold_cannot_draw_on_the_terminal(ask: Ask, place: Place, command: tuple[str, ...]) -> None:
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
