"""Commands for drafts: new, save, examples."""

import json

import pytest

from pflow.cli.draft_commands import EXAMPLES_FOLDER
from tests.pflow.cli.commands import BROKEN, GREETER, Ask, Workplace
from tests.requirements import requirement


def test_a_new_draft_is_valid_explains_itself_and_runs(ask: Ask, place: Workplace) -> None:
    done = ask("new", "mine")
    assert done.code == 0
    path = place.home / "workflows" / "drafts" / "mine.json"
    assert str(path) in done.out
    for command in ("pflow run mine who=Ada", "pflow check mine", "pflow browse", "pflow guide", "pflow save mine"):
        assert command in done.out
    assert all(node["purpose"] for node in json.loads(path.read_text())["nodes"])
    assert ask("check", "mine", "--json").json["diagnostics"] == []
    assert ask("run", "mine", "who=Ada", "-q").out == "greeting: Hello, Ada!\nletters: 11\n"


def test_nothing_is_overwritten_wherever_the_name_is_taken(ask: Ask, place: Workplace) -> None:
    place.saved("kept", GREETER)
    place.draft("half", "{")
    raw = place.file(".pflow/workflows/raw.json", GREETER)
    assert ask("new", "mine", "--json").json["name"] == "mine"
    before = {path: path.read_bytes() for path in place.home.rglob("*.json")}
    for name in ("mine", "kept", "half", "raw"):
        done = ask("new", name)
        assert done.code == 4
        assert f"A workflow '{name}' already exists" in done.err
        assert ask("examples", "hello", "--as", name, "--json").error["type"] == "already_exists"
    assert {path: path.read_bytes() for path in before} == before
    assert raw in before


@requirement("PF-R16")
@pytest.mark.parametrize("name", ["../up", "/etc/x", "a b", "x.json", ""])
def test_a_draft_has_a_name_and_no_path(ask: Ask, place: Workplace, name: str) -> None:
    done = ask("new", name, "--json")
    assert (done.code, done.error["type"]) == (4, "SecurityError")
    assert not list(place.folder.rglob("*.json"))


def test_a_home_that_cannot_be_written_is_an_error(ask: Ask, place: Workplace) -> None:
    place.file(".pflow", "a file")
    done = ask("new", "mine")
    assert done.code == 5
    assert f"The pflow home {place.home} is not a folder." in done.err


@requirement("PF-R13", "PF-R15")
def test_a_draft_is_saved_with_its_statistics_and_is_gone(ask: Ask, place: Workplace) -> None:
    path = place.draft("greet", GREETER)
    ask("run", "greet", "who=Ada", "-q")
    done = ask("save", "greet", "greeter", "--description", "Greets.")
    assert (done.code, done.out) == (0, "✓ Saved greeter  workflows/greeter.json\n")
    assert not path.exists()
    assert ask("list", "--json").json["library"][0]["execution_count"] == 1


def test_saving_a_workflow_that_never_succeeded_gives_a_warning(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    assert "warning: This workflow has not run successfully yet." in ask("save", "greet", "one", "-d", "x").err
    place.draft("greet", GREETER)
    said = ask("save", "greet", "two", "-d", "x", "--json").json
    assert said == {
        "success": True,
        "path": "workflows/two.json",
        "name": "two",
        "warnings": ["This workflow has not run successfully yet."],
    }


@requirement("PF-E5")
def test_each_reason_to_refuse_a_save_has_its_exit_code(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    place.draft("bad", {"nodes": [{"id": "a", "type": "ecko"}]})
    place.saved("taken", BROKEN)
    assert ask("save", "nothing", "x", "-d", "x").code == 3
    assert ask("save", "greet", "taken", "-d", "x").code == 4
    assert ask("save", "bad", "x", "-d", "x").code == 2
    assert ask("save", "greet", "x").code == 2
    assert ask("save", "greet", "x", "--json").error["code"] == "usage"


def test_the_examples_are_listed_printed_and_copied(ask: Ask, place: Workplace) -> None:
    names = sorted(path.stem for path in EXAMPLES_FOLDER.glob("*.json"))
    listed = ask("examples", "--json").json["examples"]
    assert [one["name"] for one in listed] == names
    assert all(one["description"] for one in listed)
    assert all(name in ask("examples").out for name in names)
    text = (EXAMPLES_FOLDER / "hello.json").read_text(encoding="utf-8")
    assert ask("examples", "hello").out == text
    assert ask("examples", "hello", "--as", "mine").code == 0
    assert (place.home / "workflows" / "drafts" / "mine.json").read_text(encoding="utf-8") == text
    assert ask("run", "mine", "who=Ada", "-q").code == 0


def test_an_unknown_example_is_reported_with_the_available_ones(ask: Ask) -> None:
    done = ask("examples", "helo")
    assert done.code == 3
    assert "Did you mean 'hello'?" in done.err
    for name in ("../hello", "/etc/passwd"):
        assert ask("examples", name, "--json").error["type"] == "FileNotFoundError"
    assert ask("examples", "--as", "x").code == 2
