"""Commands for drafts: new, save, examples."""

import json

import pytest

from pflow.cli.draft_commands import EXAMPLES_FOLDER
from tests.pflow.cli.commands import BROKEN, GREETER, RunPflow, Workplace
from tests.requirements import requirement


def test_a_new_draft_is_valid_explains_itself_and_runs(run_pflow: RunPflow, workplace: Workplace) -> None:
    done = run_pflow("new", "mine")
    assert done.code == 0
    path = workplace.home / "workflows" / "drafts" / "mine.json"
    assert str(path) in done.out
    for command in ("pflow run mine who=Ada", "pflow check mine", "pflow browse", "pflow guide", "pflow save mine"):
        assert command in done.out
    assert all(node["purpose"] for node in json.loads(path.read_text())["nodes"])
    assert run_pflow("check", "mine", "--json").json["diagnostics"] == []
    assert run_pflow("run", "mine", "who=Ada", "-q").out == "greeting: Hello, Ada!\nletters: 11\n"


def test_a_draft_of_an_example_is_by_who_copied_it(run_pflow: RunPflow) -> None:
    assert run_pflow("new", "empty").code == 0
    assert run_pflow("examples", "hello", "--as", "copied").code == 0
    actors = {draft["name"]: draft["actor"] for draft in run_pflow("list", "--json").json["drafts"]}
    assert actors["empty"]["kind"] == "person"
    assert actors["copied"] == actors["empty"]


def test_nothing_is_overwritten_wherever_the_name_is_taken(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_saved("kept", GREETER)
    workplace.write_draft("half", "{")
    raw = workplace.write_file(".pflow/workflows/raw.json", GREETER)
    assert run_pflow("new", "mine", "--json").json["name"] == "mine"
    before = {path: path.read_bytes() for path in workplace.home.rglob("*.json")}
    for name in ("mine", "kept", "half", "raw"):
        done = run_pflow("new", name)
        assert done.code == 4
        assert f"A workflow '{name}' already exists" in done.err
        assert run_pflow("examples", "hello", "--as", name, "--json").error["type"] == "already_exists"
    assert {path: path.read_bytes() for path in before} == before
    assert raw in before


@requirement("PF-R16")
@pytest.mark.parametrize("name", ["../up", "/etc/x", "a b", "x.json", ""])
def test_a_draft_has_a_name_and_no_path(run_pflow: RunPflow, workplace: Workplace, name: str) -> None:
    done = run_pflow("new", name, "--json")
    assert (done.code, done.error["type"]) == (4, "SecurityError")
    assert not list(workplace.folder.rglob("*.json"))


def test_a_home_that_cannot_be_written_is_an_error(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_file(".pflow", "a file")
    done = run_pflow("new", "mine")
    assert done.code == 5
    assert f"The pflow home {workplace.home} is not a folder." in done.err


@requirement("PF-R13", "PF-R15")
def test_a_draft_is_saved_with_its_statistics_and_is_gone(run_pflow: RunPflow, workplace: Workplace) -> None:
    path = workplace.write_draft("greet", GREETER)
    run_pflow("run", "greet", "who=Ada", "-q")
    done = run_pflow("save", "greet", "greeter", "--description", "Greets.")
    assert (done.code, done.out) == (0, "✓ Saved greeter  workflows/greeter.json\n")
    assert not path.exists()
    assert run_pflow("list", "--json").json["library"][0]["execution_count"] == 1


def test_saving_a_workflow_that_never_succeeded_gives_a_warning(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    assert "warning: This workflow has not run successfully yet." in run_pflow("save", "greet", "one", "-d", "x").err
    workplace.write_draft("greet", GREETER)
    reply = run_pflow("save", "greet", "two", "-d", "x", "--json").json
    assert reply == {
        "success": True,
        "path": "workflows/two.json",
        "name": "two",
        "warnings": ["This workflow has not run successfully yet."],
    }


@requirement("PF-E5")
def test_each_reason_to_refuse_a_save_has_its_exit_code(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    workplace.write_draft("bad", {"nodes": [{"id": "a", "type": "ecko"}]})
    workplace.write_saved("taken", BROKEN)
    assert run_pflow("save", "nothing", "x", "-d", "x").code == 3
    assert run_pflow("save", "greet", "taken", "-d", "x").code == 4
    assert run_pflow("save", "bad", "x", "-d", "x").code == 2
    assert run_pflow("save", "greet", "x").code == 2
    assert run_pflow("save", "greet", "x", "--json").error["code"] == "usage"


def test_the_examples_are_listed_printed_and_copied(run_pflow: RunPflow, workplace: Workplace) -> None:
    names = sorted(path.stem for path in EXAMPLES_FOLDER.glob("*.json"))
    listed = run_pflow("examples", "--json").json["examples"]
    assert [one["name"] for one in listed] == names
    assert all(one["description"] for one in listed)
    assert all(name in run_pflow("examples").out for name in names)
    text = (EXAMPLES_FOLDER / "hello.json").read_text(encoding="utf-8")
    assert run_pflow("examples", "hello").out == text
    assert run_pflow("examples", "hello", "--as", "mine").code == 0
    assert (workplace.home / "workflows" / "drafts" / "mine.json").read_text(encoding="utf-8") == text
    assert run_pflow("run", "mine", "who=Ada", "-q").code == 0


def test_an_unknown_example_is_reported_with_the_available_ones(run_pflow: RunPflow) -> None:
    done = run_pflow("examples", "helo")
    assert done.code == 3
    assert "Did you mean 'hello'?" in done.err
    for name in ("../hello", "/etc/passwd"):
        assert run_pflow("examples", name, "--json").error["type"] == "FileNotFoundError"
    assert run_pflow("examples", "--as", "x").code == 2
