"""The command line: the output and the errors of each command."""

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


def run_on_shelf(capsys: Capture, name: str, shelf: Path, *more: str) -> CommandResult:
    arguments = {"search": ["star"], "show": ["Onthenewstar"], "diff": [str(shelf)]}.get(name, [])
    return call_command(capsys, name, shelf, *arguments, *more)


@pytest.mark.parametrize(("harm", "code"), DAMAGES.values(), ids=DAMAGES.keys())
def test_every_command_refuses_a_damaged_shelf_as_text_and_as_json(
    capsys: Capture, shelf: Path, harm: Damage, code: str
) -> None:
    harm(shelf)
    for name in READING:
        text_result, json_result = run_on_shelf(capsys, name, shelf), run_on_shelf(capsys, name, shelf, "--json")
        assert text_result.code == json_result.code == {"shelf_not_found": 3}.get(code, 4), (name, text_result)
        if name == "verify" and "is_whole" in json_result.out:
            assert not json_result.json["is_whole"]
            assert text_result.out.startswith("Damaged")
            continue
        assert json_result.error["code"] == code
        assert json_result.error["hint"]
        assert text_result.out == ""
        assert text_result.err == f"error: {json_result.error['message']}\nhint: {json_result.error['hint']}\n"


@pytest.mark.parametrize(("harm", "code"), DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_shelf_is_not_served(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, shelf: Path, harm: Damage, code: str
) -> None:
    def started(*_args: object, **_options: object) -> None:
        pytest.fail("it was served")

    monkeypatch.setattr("uraniborg.kernel.http.uvicorn_server.run_server", started)
    monkeypatch.setattr("paper_library.cli.serve_command.configure_logging", lambda: None)
    harm(shelf)
    done = call_command(capsys, "serve", shelf, "--port", "0", "--json")
    assert done.code == {"shelf_not_found": 3}.get(code, 4)
    assert done.error["code"] == code


@pytest.mark.parametrize(
    ("options", "format_name", "start"),
    [((), "bibtex", "@"), (("-f", "json"), "json", "{"), (("-f", "ris"), "ris", "TY")],
)
def test_an_export_to_a_file_is_reported_as_text_or_as_json(
    capsys: Capture, tmp_path: Path, shelf: Path, options: tuple[str, ...], format_name: str, start: str
) -> None:
    file = tmp_path / "papers.txt"
    report = call_command(capsys, "export", shelf, *options, "-o", file, "--json")
    assert (report.code, report.json) == (0, {"path": str(file), "format": format_name, "file": str(file)})
    written = file.read_text()
    assert written.startswith(start)
    assert call_command(capsys, "export", shelf, *options, "-o", file).out == f"Wrote {file}.\n"
    assert file.read_text() == written == call_command(capsys, "export", shelf, *options).out


def test_verify_lists_each_damaged_file_and_exits_with_4(capsys: Capture, shelf: Path) -> None:
    (file,) = (shelf / "static" / "source").rglob("*.md")
    flip_bit(file, 3)
    text_result, json_result = call_command(capsys, "verify", shelf), call_command(capsys, "verify", shelf, "--json")
    name = file.relative_to(shelf).as_posix()
    assert (text_result.code, json_result.code) == (4, 4)
    assert json_result.json["problems"] == [f"{name} has changed since the build"]
    assert name in text_result.out


def test_verify_of_an_intact_shelf_exits_with_0(capsys: Capture, shelf: Path) -> None:
    text_result, json_result = call_command(capsys, "verify", shelf), call_command(capsys, "verify", shelf, "--json")
    assert (text_result.code, json_result.code, json_result.json["is_whole"], json_result.json["papers"]) == (
        0,
        0,
        True,
        3,
    )
    assert text_result.out.startswith("Intact: 3 papers")


def test_stats_counts_the_papers_that_lack_each_field(capsys: Capture, shelf: Path) -> None:
    counts = call_command(capsys, "stats", shelf, "--json").json
    assert counts["papers"] == 3
    assert counts["with_source"] == 1
    assert counts["missing"] == {
        "abstract": 1,
        "authors": 0,
        "year": 1,
        "venue": 3,
        "doi": 3,
        "keywords": 3,
        "source": 2,
        "bibtex": 1,
    }
    counts = call_command(capsys, "stats", shelf)
    assert counts.code == 0
    assert "3 papers from 1570 to 1571, 1 with their text." in counts.out


def test_diff_lists_added_removed_and_changed_papers(capsys: Capture, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    build_titled_shelf(old, "Stays", "Goes away")
    build_titled_shelf(new, "Stays", "Comes in new", note="x")
    result = call_command(capsys, "diff", old, new, "--json").json
    assert [one["title"] for one in result["added"]] == ["Comes in new"]
    assert [one["title"] for one in result["removed"]] == ["Goes away"]
    assert [one["title"] for one in result["changed"]] == ["Stays"]
    assert result["unchanged"] == 0
    assert "1 added" in call_command(capsys, "diff", old, new).out
    assert call_command(capsys, "diff", old, old, "--json").json["unchanged"] == 2


def test_search_prints_ranks_titles_and_ids(capsys: Capture, shelf: Path) -> None:
    found = call_command(capsys, "search", shelf, "new", "star", "--json").json
    result = call_command(capsys, "search", shelf, "new", "star")
    assert found["results"][0]["title"] == "On the new star"
    assert "1. On the new star (1570)" in result.out
    assert found["results"][0]["paper_id"] in result.out


@pytest.mark.parametrize("key", ["Onthenewstar", "nothing-of-the-kind", "../../etc/passwd", "a" * 10_000, "\x1b[31m"])
def test_show_accepts_every_identifier_of_a_paper(capsys: Capture, shelf: Path, key: str) -> None:
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
def test_a_search_beyond_the_limits_is_refused_with_the_allowed_range(
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


def test_escape_codes_in_a_title_are_not_printed(capsys: Capture, tmp_path: Path) -> None:
    source = tmp_path / "papers.jsonl"
    source.write_text(json.dumps({"title": f"Star {HOSTILE}", "abstract": f"A star {HOSTILE}"}))
    shelf = tmp_path / "shelf"
    result = [call_command(capsys, "build", source, source, "-o", shelf), call_command(capsys, "search", shelf, "star")]
    paper = call_command(capsys, "search", shelf, "star", "--json").json["results"][0]["paper_id"]
    result += [call_command(capsys, "show", shelf, paper), call_command(capsys, "show", shelf, paper, "--source")]
    for done in result:
        assert "\x1b" not in done.out + done.err
        assert "\x07" not in done.out + done.err
    assert "[bold]mark[/bold]" in result[1].out


def test_escape_codes_in_a_file_name_are_not_printed(capsys: Capture, tmp_path: Path) -> None:
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
def test_unknown_options_and_commands_are_reported_like_other_errors(capsys: Capture, arguments: list[str]) -> None:
    done = call_command(capsys, *arguments, "--json")
    assert done.code == 2
    assert done.error["code"] == "usage"


def test_the_installed_command_reports_errors_on_stderr_and_nothing_on_stdout(tmp_path: Path) -> None:
    done = run_process("stats", "nowhere", cwd=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert done.err == (
        "error: The shelf nowhere does not exist.\nhint: Build a shelf: paper-library build INPUT… -o SHELF\n"
    )


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (("--sort", "year_desc"), [3, 2, 1]),
        (("--sort", "year_asc"), [1, 2, 3]),
        (("--sort", "title_desc"), [2, 1, 3]),
        (("--sort", "title_asc", "--limit", "1"), [3]),
        (("--sort", "title_asc", "-n", "2", "--offset", "1"), [1, 2]),
    ],
)
def test_results_are_sorted_limited_and_continued_as_asked(
    capsys: Capture, tmp_path: Path, options: tuple[str, ...], numbers: list[int]
) -> None:
    titles = {1: "Comet of Hven", 2: "Stars and a comet", 3: "A comet"}
    build_titled_shelf(tmp_path / "sorted", *titles.values())
    found = call_command(capsys, "search", tmp_path / "sorted", "comet", *options, "--json").json
    assert [one["title"] for one in found["results"]] == [titles[number] for number in numbers]
    assert found["total"] == 3


def test_the_sample_shelf_is_built_once_and_its_folder_printed(capsys: Capture, tmp_path: Path) -> None:
    shelf = tmp_path / "sample"
    assert call_command(capsys, "sample", "-o", shelf, "--json").json == {"shelf": str(shelf)}
    built = (shelf / "manifest.json").stat().st_mtime_ns
    assert call_command(capsys, "sample", "-o", shelf).out == f"{shelf}\n"
    assert (shelf / "manifest.json").stat().st_mtime_ns == built


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("", {}),
        (
            "comets --host ::1 --port 0 --workers 2 --insecure --static-base-url https://a.org --token t0k3n-longer",
            {
                "shelf": Path("comets"),
                "host": "::1",
                "port": 0,
                "workers": 2,
                "insecure": True,
                "static_base_url": "https://a.org",
                "token": "t0k3n-longer",
            },
        ),
        (
            "--allow-origin https://a.org --allow-origin https://b.org --allow-host c.org --extra-tools",
            {"allow_origins": ["https://a.org", "https://b.org"], "allow_hosts": ["c.org"], "extra_tools": True},
        ),
        ("--no-extra-tools", {"extra_tools": False}),
    ],
)
def test_every_option_of_serve_is_a_setting_and_others_stay_as_they_are(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, line: str, options: dict[str, object]
) -> None:
    given: list[tuple[dict[str, object], bool]] = []

    def record(settings: dict[str, object], *, as_json: bool) -> None:
        given.append((settings, as_json))

    monkeypatch.setattr("paper_library.cli.serve_command.serve_shelf", record)
    assert call_command(capsys, "serve", *line.split()).code == 0
    assert call_command(capsys, "serve", *line.split(), "--json").code == 0
    assert given == [(options, False), (options, True)]
