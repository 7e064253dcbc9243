"""Builds of hostile, broken, odd and large inputs complete and report the skipped inputs."""

import json
import os
import random
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from paper_library.domain.entries import BuildReport
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.store.verification import verify_shelf
from tests.paper_library.operations.command_runs import CommandResult, call_command, run_process
from tests.paper_library.operations.shelves import build_titled_shelf, list_file_stats, read_titles, write_bibliography

NOBODY = 65_534
Capture = pytest.CaptureFixture[str]


def list_broken(report: BuildReport) -> dict[str, str]:
    return {problem.origin: problem.reason for problem in report.problems if problem.kind == "broken"}


def test_a_target_that_is_not_a_shelf_does_not_change(capsys: Capture, inputs: Path, target: Path) -> None:
    source = write_bibliography(inputs / "papers.bib", "Star")
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")
    done = call_command(capsys, "build", source, "-o", target, "--json")
    assert (done.code, done.error["code"]) == (4, "shelf_exists")
    assert done.error["hint"]
    assert (target / "thesis.tex").read_text() == "years of work"
    assert sorted(path.name for path in target.parent.iterdir()) == ["inputs", "shelf"]


def test_a_target_that_is_a_file_does_not_change(capsys: Capture, inputs: Path, target: Path) -> None:
    target.write_text("years of work")
    done = call_command(capsys, "build", write_bibliography(inputs / "papers.bib", "Star"), "-o", target, "--json")
    assert (done.code, done.error["code"]) == (4, "shelf_exists")
    assert target.read_text() == "years of work"


def test_a_target_below_a_file_is_refused(capsys: Capture, inputs: Path, target: Path) -> None:
    target.write_text("a file")
    done = call_command(
        capsys, "build", write_bibliography(inputs / "papers.bib", "Star"), "-o", target / "shelf", "--json"
    )
    assert done.code != 0
    assert target.read_text() == "a file"


def test_a_target_below_a_file_is_reported_as_such(capsys: Capture, inputs: Path, target: Path) -> None:
    target.write_text("a file")
    done = call_command(
        capsys, "build", write_bibliography(inputs / "papers.bib", "Star"), "-o", target / "shelf", "--json"
    )
    assert done.error["code"] != "internal_error"


def test_an_empty_folder_becomes_a_shelf(inputs: Path, target: Path) -> None:
    target.mkdir()
    build_shelf([write_bibliography(inputs / "papers.bib", "Star")], target)
    assert read_titles(target) == {"Star"}


def test_a_shelf_is_built_in_missing_folders(inputs: Path, target: Path) -> None:
    build_shelf([write_bibliography(inputs / "papers.bib", "Star")], target / "a" / "b")
    assert read_titles(target / "a" / "b") == {"Star"}


def test_no_inputs_and_missing_ones_are_refused(capsys: Capture, inputs: Path, target: Path) -> None:
    nothing = call_command(capsys, "build", "-o", target, "--json")
    missing = call_command(capsys, "build", inputs / "lost.bib", "-o", target, "--json")
    assert (nothing.code, nothing.error["code"]) == (2, "usage")
    assert (missing.code, missing.error["code"]) == (3, "input_not_found")
    assert "lost.bib" in missing.error["message"]
    assert not target.exists()


def test_inputs_without_papers_are_refused_and_leave_the_old_shelf(capsys: Capture, inputs: Path, target: Path) -> None:
    build_titled_shelf(target, "Star")
    before = list_file_stats(target)
    done = call_command(capsys, "build", inputs, "-o", target, "--json")
    assert (done.code, done.error["code"]) == (2, "nothing_to_shelve")
    assert list_file_stats(target) == before


def test_missing_inputs_do_not_change_the_old_shelf(capsys: Capture, inputs: Path, target: Path) -> None:
    build_titled_shelf(target, "Star")
    before = list_file_stats(target)
    assert call_command(capsys, "build", inputs / "lost.bib", "-o", target).code == 3
    assert list_file_stats(target) == before


def test_broken_files_are_reported_with_reasons_and_the_others_are_added(inputs: Path, target: Path) -> None:
    write_bibliography(inputs / "good.bib", "Star")
    (inputs / "unbalanced.bib").write_text("@article{a, title={Open {brace}, year=1600}\n@book{b, title={After it}}\n")
    (inputs / "latin.bib").write_bytes("@book{c, title={Über die Säule}, author={Müller, Jörg}}".encode("latin-1"))
    (inputs / "cut.json").write_text('[{"title": "cut off')
    (inputs / "bad.pdf").write_bytes(b"%PDF-1.7 nothing")
    (inputs / "bad.xml").write_text("<article><front>")
    (inputs / "deep.json").write_text("[" * 100_000)
    (inputs / "noise.md").write_bytes(bytes(random.Random(1).randbytes(5_000)))
    entities = "".join(f'<!ENTITY b{n} "{f"&b{n - 1};" * 10}">' for n in range(1, 10))
    (inputs / "bomb.xml").write_text(f'<!DOCTYPE a [<!ENTITY b0 "b">{entities}]><article>&b9;</article>')
    report = build_shelf([inputs], target)
    assert {"Star", "After it", "Über die Säule"} <= read_titles(target)
    assert {"cut.json", "bad.pdf", "bad.xml", "deep.json", "bomb.xml"} <= list_broken(report).keys()
    assert any(origin.startswith("unbalanced.bib") for origin in list_broken(report))
    assert all(reason.strip() for reason in list_broken(report).values())
    assert Library.open(target).search("author:Müller")["total"] == 1
    assert verify_shelf(target).is_intact


def test_a_pipe_is_reported_and_does_not_block_the_build(inputs: Path, target: Path) -> None:
    os.mkfifo(inputs / "pipe.bib")
    report = build_shelf([inputs / "pipe.bib", write_bibliography(inputs / "good.bib", "Star")], target)
    assert [(problem.origin, problem.kind) for problem in report.problems] == [("pipe.bib", "skipped")]
    assert report.papers == 1


def test_a_dangling_link_is_reported(inputs: Path, target: Path) -> None:
    write_bibliography(inputs / "good.bib", "Star")
    (inputs / "gone.bib").symlink_to(inputs / "nowhere.bib")
    report = build_shelf([inputs], target)
    assert [problem.origin for problem in report.problems] == ["gone.bib"]


@pytest.fixture
def unprivileged(tmp_path: Path) -> Generator[Path]:
    """Provide a folder and drop root privileges for the test, so that files can be unreadable."""
    if os.geteuid() != 0:
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp())
    build_shelf(
        [write_bibliography(folder / "first.bib", "Star")], folder / "first"
    )  # imports what root alone may read
    os.chown(folder, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        os.seteuid(0)
        shutil.rmtree(folder)


def test_an_unreadable_file_is_reported_and_the_others_are_added(unprivileged: Path) -> None:
    inputs = unprivileged / "inputs"
    inputs.mkdir()
    write_bibliography(inputs / "good.bib", "Star")
    write_bibliography(inputs / "locked.bib", "Comet").chmod(0)
    report = build_shelf([inputs], unprivileged / "shelf")
    assert list_broken(report).keys() == {"locked.bib"}
    assert read_titles(unprivileged / "shelf") == {"Star"}


def test_an_unreadable_folder_is_reported_and_the_others_are_added(unprivileged: Path) -> None:
    inputs = unprivileged / "inputs"
    inputs.mkdir()
    write_bibliography(inputs / "good.bib", "Star")
    (inputs / "closed").mkdir(mode=0)
    report = build_shelf([inputs], unprivileged / "shelf")
    assert [problem.origin for problem in report.problems] == ["closed"]
    assert report.papers == 1


def test_link_loops_do_not_block_the_build(inputs: Path, target: Path) -> None:
    (inputs / "round").symlink_to(inputs)
    (inputs / "itself.bib").symlink_to("itself.bib")
    write_bibliography(inputs / "good.bib", "Star")
    assert build_shelf([inputs], target).papers == 1


HOSTILE_NAMES = [b"bad\xff.bib", b"new\nline.bib", b"esc\x1b[31m.bib", b"-rf.bib", b"[bold].bib", b" .bib", b"%00.bib"]


def write_hostile_files(inputs: Path) -> None:
    for number, name in enumerate(HOSTILE_NAMES):
        write_bibliography(inputs / "papers.bib", f"Star number {number}").rename(inputs / os.fsdecode(name))


def test_hostile_file_names_are_read_like_others(inputs: Path, target: Path) -> None:
    write_hostile_files(inputs)
    report = build_shelf([inputs], target)
    assert (report.papers, report.problems) == (len(HOSTILE_NAMES), [])
    assert verify_shelf(target).is_intact
    library = Library.open(target)
    for hit in library.search("", limit=100)["results"]:
        assert json.dumps(library.metadata(hit["paper_id"]))


def test_a_skipped_file_whose_name_is_not_text_is_reported_in_json(inputs: Path, target: Path) -> None:
    write_bibliography(inputs / "good.bib", "Star")
    (inputs / os.fsdecode(b"bad\xff.exe")).write_text("x")
    done = run_process("build", inputs, "-o", target, "--json", cwd=inputs.parent)
    assert done.code == 0
    assert done.json["skipped"] == 1


def test_a_shelf_among_its_inputs_is_not_read_by_the_next_build(inputs: Path) -> None:
    write_bibliography(inputs / "papers.bib", "Star")
    (inputs / "comet.md").write_text("---\ntitle: Comet\n---\nA comet has a tail.\n")
    first = build_shelf([inputs], inputs / "shelf")
    again = build_shelf([inputs], inputs / "shelf")
    assert (again.build_id, again.entries, again.problems) == (first.build_id, first.entries, [])


@pytest.mark.timeout(180)
def test_a_bibliography_with_40_entries_for_each_of_250_keys_is_read_completely(inputs: Path, target: Path) -> None:
    entry = "@misc{{k{0}, title={{Lattice study {1}}}, doi={{10.1000/{0}}}}}\n"
    text = "".join(entry.format(number % 250, number) for number in range(10_000))
    (inputs / "large.bib").write_text(text)
    report = build_shelf([inputs / "large.bib"], target)
    assert (report.entries, report.papers, report.merged, report.broken) == (10_000, 250, 9_750, 0)
    assert len(report.merges) <= 1_000
    assert Library.open(target).metadata("k249")["identifiers"]["doi"] == "10.1000/249"


def test_a_thousand_papers_with_the_same_title_and_no_authors_stay_separate(inputs: Path, target: Path) -> None:
    text = "".join(f"@misc{{k{number}, title={{Introduction}}}}\n" for number in range(1_000))
    (inputs / "same.bib").write_text(text)
    report = build_shelf([inputs / "same.bib"], target)
    assert report.papers == 1_000
    assert Library.open(target).metadata("k999")["title"] == "Introduction"


def test_two_papers_with_the_same_key_are_both_added(inputs: Path, target: Path) -> None:
    text = "@book{k, title={On stars}, author={Ada Lovelace}}\n@book{k, title={On bread}, author={Bo Baker}}\n"
    (inputs / "keys.bib").write_text(text)
    report = build_shelf([inputs / "keys.bib"], target)
    assert report.papers == 2
    library = Library.open(target)
    assert library.metadata("k")["title"] in {"On stars", "On bread"}
    ids = {hit["paper_id"] for hit in library.search("")["results"]}
    assert len(ids) == 2


def test_the_order_of_inputs_changes_nothing(inputs: Path, tmp_path: Path) -> None:
    write_bibliography(inputs / "a.bib", "On stars", "On comets", doi="10.1000/a")
    write_bibliography(inputs / "b.bib", "On stars", "On moons", abstract="Moons go round.")
    (inputs / "c.md").write_text("---\ntitle: On comets\nauthors: [Tycho Brahe, Sophie Brahe]\n---\nText.\n")
    files = sorted(inputs.iterdir())
    built: set[str] = set()
    for seed in range(4):
        random.Random(seed).shuffle(files)
        shelf = tmp_path / f"shelf{seed}"
        report = build_shelf(files, shelf)
        built.add(json.dumps([report.build_id, *sorted(_read_ids(shelf).items())]))
    assert len(built) == 1


def _read_ids(shelf: Path) -> dict[str, str]:
    found = Library.open(shelf).search("", limit=100)["results"]
    return {hit["paper_id"]: hit["title"] for hit in found}


def test_the_same_inputs_under_another_folder_give_the_same_build_id(inputs: Path, tmp_path: Path) -> None:
    write_bibliography(inputs / "a.bib", "On stars")
    other = tmp_path / "elsewhere" / "deep"
    other.mkdir(parents=True)
    write_bibliography(other / "renamed.bib", "On stars")
    assert build_shelf([inputs], tmp_path / "one").build_id == build_shelf([other], tmp_path / "two").build_id


def test_summaries_without_a_paper_or_valid_json_are_reported(capsys: Capture, inputs: Path, target: Path) -> None:
    source = write_bibliography(inputs / "papers.bib", "Star", "Comet")
    summaries = inputs / "summaries" / "deep_read"
    summaries.mkdir(parents=True)
    (summaries / "Star.json").write_text('{"summary": "It shines."}')
    (summaries / "Comet.json").write_text('{"summary": "cut')
    (summaries / "Planet.json").write_text("{}")
    done: CommandResult = call_command(capsys, "build", source, "-o", target, "--summaries", summaries.parent, "--json")
    reported_problems = {one["origin"]: one["kind"] for one in done.json["problems"]}
    assert reported_problems == {"deep_read/Comet.json": "broken", "deep_read/Planet.json": "skipped"}
    library = Library.open(target)
    assert json.loads(library.summary("Star", "deep_read")) == {"summary": "It shines."}
    assert library.metadata("Comet")["available_summary_templates"] == ["default"]
    assert library.stats()["summaries"] == {"deep_read": 1, "default": 2}


def test_a_missing_summary_folder_is_refused(capsys: Capture, inputs: Path, target: Path) -> None:
    source = write_bibliography(inputs / "papers.bib", "Star")
    done = call_command(capsys, "build", source, "-o", target, "--summaries", inputs / "none", "--json")
    assert (done.code, done.error["code"]) == (3, "input_not_found")
    assert not target.exists()
