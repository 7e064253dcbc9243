"""The command line: what each command says of a shelf, and how each fails."""

import json
from pathlib import Path

import pytest

from tests.paper_library.operations.command_runs import CommandResult, call_command, run_process
from tests.paper_library.operations.shelves import (
    DAMAGES,
    Damage,
    build_titled_shelf,
    flip_bit,
    write_bibliography,
)

Capture = pytest.CaptureFixture[str]
READING = ("search", "show", "stats", "verify", "diff")


def ask(capsys: Capture, name: str, shelf: Path, *more: str) -> CommandResult:
    arguments = {"search": ["star"], "show": ["Onthenewstar"], "diff": [str(shelf)]}.get(name, [])
    return call_command(capsys, name, shelf, *arguments, *more)


@pytest.mark.parametrize(("harm", "code"), DAMAGES.values(), ids=DAMAGES.keys())
def test_every_command_refuses_a_harmed_shelf_in_words_and_in_json(
    capsys: Capture, shelf: Path, harm: Damage, code: str
) -> None:
    harm(shelf)
    for name in READING:
        told, said = ask(capsys, name, shelf), ask(capsys, name, shelf, "--json")
        assert told.code == said.code == {"shelf_not_found": 3}.get(code, 4), (name, told)
        if name == "verify" and "is_whole" in said.out:
            assert not said.json["is_whole"]
            assert told.out.startswith("Damaged")
            continue
        assert said.error["code"] == code
        assert said.error["hint"]
        assert told.out == ""
        assert told.err == f"error: {said.error['message']}\nhint: {said.error['hint']}\n"


@pytest.mark.parametrize(("harm", "code"), DAMAGES.values(), ids=DAMAGES.keys())
def test_a_harmed_shelf_is_not_served(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, shelf: Path, harm: Damage, code: str
) -> None:
    def started(*_args: object, **_options: object) -> None:
        pytest.fail("it was served")

    monkeypatch.setattr("uraniborg.kernel.http_server.run_server", started)
    monkeypatch.setattr("paper_library.serving.configure_logging", lambda: None)
    harm(shelf)
    done = call_command(capsys, "serve", shelf, "--port", "0", "--json")
    assert done.code == {"shelf_not_found": 3}.get(code, 4)
    assert done.error["code"] == code


def test_verify_names_each_harmed_file_and_exits_with_4(capsys: Capture, shelf: Path) -> None:
    (file,) = (shelf / "static" / "source").rglob("*.md")
    flip_bit(file, 3)
    told, said = call_command(capsys, "verify", shelf), call_command(capsys, "verify", shelf, "--json")
    name = file.relative_to(shelf).as_posix()
    assert (told.code, said.code) == (4, 4)
    assert said.json["problems"] == [f"{name} has changed since the build"]
    assert name in told.out


def test_verify_of_a_whole_shelf_exits_with_0(capsys: Capture, shelf: Path) -> None:
    told, said = call_command(capsys, "verify", shelf), call_command(capsys, "verify", shelf, "--json")
    assert (told.code, said.code, said.json["is_whole"], said.json["papers"]) == (0, 0, True, 3)
    assert told.out.startswith("Intact: 3 papers")


def test_stats_reports_what_is_missing_where(capsys: Capture, shelf: Path) -> None:
    said = call_command(capsys, "stats", shelf, "--json").json
    assert said["papers"] == 3
    assert said["with_source"] == 1
    assert said["missing"] == {
        "abstract": 1,
        "authors": 0,
        "year": 1,
        "venue": 3,
        "doi": 3,
        "keywords": 3,
        "source": 2,
        "bibtex": 1,
    }
    told = call_command(capsys, "stats", shelf)
    assert told.code == 0
    assert "3 papers from 1570 to 1571, 1 with their text." in told.out


def test_diff_reports_what_is_added_removed_and_changed(capsys: Capture, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    build_titled_shelf(old, "Stays", "Goes away")
    build_titled_shelf(new, "Stays", "Comes in new", note="x")
    said = call_command(capsys, "diff", old, new, "--json").json
    assert [one["title"] for one in said["added"]] == ["Comes in new"]
    assert [one["title"] for one in said["removed"]] == ["Goes away"]
    assert [one["title"] for one in said["changed"]] == ["Stays"]
    assert said["unchanged"] == 0
    assert "1 added" in call_command(capsys, "diff", old, new).out
    assert call_command(capsys, "diff", old, old, "--json").json["unchanged"] == 2


def test_search_prints_places_titles_and_ids(capsys: Capture, shelf: Path) -> None:
    found = call_command(capsys, "search", shelf, "new", "star", "--json").json
    told = call_command(capsys, "search", shelf, "new", "star")
    assert found["results"][0]["title"] == "On the new star"
    assert "1. On the new star (1570)" in told.out
    assert found["results"][0]["paper_id"] in told.out


@pytest.mark.parametrize("key", ["Onthenewstar", "nothing-of-the-kind", "../../etc/passwd", "a" * 10_000, "\x1b[31m"])
def test_show_answers_to_any_name(capsys: Capture, shelf: Path, key: str) -> None:
    done = call_command(capsys, "show", shelf, key, "--json")
    if key == "Onthenewstar":
        assert done.json["title"] == "On the new star"
    else:
        assert (done.code, done.error["code"]) == (3, "paper_not_found")
        assert "\x1b" not in call_command(capsys, "show", shelf, key).err


def test_show_prints_text_summary_and_bibtex(capsys: Capture, shelf: Path) -> None:
    paper = call_command(capsys, "search", shelf, "comets", "--json").json["results"][0]["paper_id"]
    assert call_command(capsys, "show", shelf, paper, "--source").out.startswith("# Comets")
    assert (
        json.loads(call_command(capsys, "show", shelf, paper, "--summary", "default").out)["paper_title"] == "On comets"
    )
    assert call_command(capsys, "show", shelf, "Onthenewstar", "--bibtex").out.startswith("@article{Onthenewstar")
    both = call_command(capsys, "show", shelf, "Onthenewstar", "--bibtex", "--source", "--json")
    assert (both.code, both.error["code"]) == (2, "invalid_argument")
    lost = call_command(capsys, "show", shelf, "Onthenewstar", "--source", "--json")
    assert (lost.code, lost.error["code"]) == (3, "source_not_available")


@pytest.mark.parametrize(
    "arguments",
    [["--limit", "0"], ["--limit", "101"], ["--offset", "-1"], ["--offset", "10001"], ["--sort", "colour"]],
    ids=" ".join,
)
def test_a_search_beyond_the_limits_is_refused_with_what_is_allowed(
    capsys: Capture, shelf: Path, arguments: list[str]
) -> None:
    done = call_command(capsys, "search", shelf, "star", "--json", *arguments)
    assert (done.code, done.error["code"]) == (2, "invalid_argument")
    assert done.error["argument"] == arguments[0].removeprefix("--")
    assert done.error["allowed"]


def test_a_query_of_501_characters_is_refused_and_one_of_500_is_not(capsys: Capture, shelf: Path) -> None:
    assert call_command(capsys, "search", shelf, "s" * 500, "--json").code == 0
    done = call_command(capsys, "search", shelf, "s" * 501, "--json")
    assert (done.code, done.error["code"], done.error["argument"]) == (2, "invalid_argument", "query")


HOSTILE = "\x1b]0;owned\x07\x1b[31mred [bold]mark[/bold]"


def test_a_hostile_title_reaches_the_terminal_without_its_escapes(capsys: Capture, tmp_path: Path) -> None:
    source = tmp_path / "papers.jsonl"
    source.write_text(json.dumps({"title": f"Star {HOSTILE}", "abstract": f"A star {HOSTILE}"}))
    shelf = tmp_path / "shelf"
    told = [call_command(capsys, "build", source, source, "-o", shelf), call_command(capsys, "search", shelf, "star")]
    paper = call_command(capsys, "search", shelf, "star", "--json").json["results"][0]["paper_id"]
    told += [call_command(capsys, "show", shelf, paper), call_command(capsys, "show", shelf, paper, "--source")]
    for done in told:
        assert "\x1b" not in done.out + done.err
        assert "\x07" not in done.out + done.err
    assert "[bold]mark[/bold]" in told[1].out


def test_a_hostile_file_name_reaches_the_terminal_without_its_escapes(capsys: Capture, tmp_path: Path) -> None:
    source = tmp_path / "papers"
    source.mkdir()
    (source / "\x1b]0;owned\x07.exe").write_text("x")
    (source / "a\n0 broken\n.bib").write_text("@article{")
    write_bibliography(source / "papers.bib", "Star")
    done = call_command(capsys, "build", source, "-o", tmp_path / "shelf")
    assert done.code == 0
    assert "\x1b" not in done.out + done.err
    assert "0 broken" not in done.out.splitlines()
    assert "a\\n0 broken\\n.bib" in done.out


@pytest.mark.parametrize(
    "arguments", [["dance"], ["build"], ["search"], ["stats", "--colour"], ["serve", "--port", "x"]]
)
def test_what_the_command_does_not_know_is_reported_as_every_error_is(capsys: Capture, arguments: list[str]) -> None:
    done = call_command(capsys, *arguments, "--json")
    assert done.code == 2
    assert done.error["code"] == "usage"


def test_the_installed_command_reports_errors_on_stderr_and_nothing_on_stdout(tmp_path: Path) -> None:
    done = run_process("stats", "nowhere", cwd=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert done.err == (
        "error: The shelf nowhere does not exist.\nhint: Build a shelf: paper-library build INPUT… -o SHELF\n"
    )
