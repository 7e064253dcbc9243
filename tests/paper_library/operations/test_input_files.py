"""Inputs that lead elsewhere, never end or cannot be read: a build passes over them and reports each of them."""

import errno
import os
import shutil
import socket
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from paper_library.domain.entries import BuildReport
from paper_library.errors import InputNotFound, ShelfUnwritable
from paper_library.service.build.builder import build_shelf
from paper_library.service.build.input_files import find_files, find_input_files
from paper_library.service.library import Library
from tests.paper_library.operations.command_runs import run_process
from tests.paper_library.operations.shelves import read_titles, write_bibliography
from tests.paper_library.service.build.readers.files import make_opening_fail

NOBODY = 65_534
PAPER = "---\ntitle: {}\n---\n\nThe text of it.\n"
SUFFIXES = (".bib", ".ris", ".json", ".jsonl.gz", ".md", ".xml", ".pdf")


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "inputs"
    folder.mkdir()
    (folder / "own.md").write_text(PAPER.format("Own paper"))
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_text(PAPER.format("A secret"))
    write_bibliography(folder / "secret.bib", "Another secret")
    return folder


def list_reasons(report: BuildReport) -> dict[str, str]:
    return {problem.origin: f"{problem.kind}: {problem.reason}" for problem in report.problems}


def test_links_that_lead_out_of_the_inputs_are_skipped_and_reported(inputs: Path, outside: Path) -> None:
    (inputs / "deep").mkdir()
    (inputs / "deep" / "file.md").symlink_to(outside / "secret.md")
    (inputs / "relative.bib").symlink_to("../outside/secret.bib")
    (inputs / "folder").symlink_to(outside)
    (inputs / "chain.md").symlink_to(inputs / "deep" / "file.md")
    (inputs / "environment.json").symlink_to("/proc/self/environ")
    (inputs / "processes").symlink_to("/proc")
    (inputs / "numbers.md").symlink_to("/dev/urandom")
    shelf = inputs.with_name("shelf")
    problems = list_reasons(build_shelf([inputs], shelf))
    assert problems.keys() == {
        *("deep/file.md", "relative.bib", "folder", "chain.md", "environment.json", "processes", "numbers.md")
    }
    assert all("leads out of the inputs" in reason and str(outside) not in reason for reason in problems.values())
    assert read_titles(shelf) == {"Own paper"}


def test_dangling_and_circular_links_are_reported(inputs: Path) -> None:
    (inputs / "gone.md").symlink_to(inputs / "nothing")
    (inputs / "one.md").symlink_to(inputs / "two.md")
    (inputs / "two.md").symlink_to(inputs / "one.md")
    (inputs / "self").symlink_to(inputs / "self")
    (inputs / "round").symlink_to(inputs)
    problems = list_reasons(build_shelf([inputs], inputs.with_name("shelf")))
    assert problems.keys() == {"gone.md", "one.md", "two.md", "self"}
    assert "has no target" in problems["gone.md"]
    assert os.strerror(errno.ELOOP) in problems["one.md"]


def test_an_input_that_is_a_link_is_read(inputs: Path, outside: Path, tmp_path: Path) -> None:
    (tmp_path / "to-folder").symlink_to(inputs)
    (tmp_path / "to-file.md").symlink_to(outside / "secret.md")
    report = build_shelf([tmp_path / "to-folder", tmp_path / "to-file.md"], tmp_path / "shelf")
    assert (report.problems, read_titles(tmp_path / "shelf")) == ([], {"Own paper", "A secret"})


def test_a_link_from_one_input_into_another_is_followed_under_its_own_name(inputs: Path, outside: Path) -> None:
    (outside / "untitled.md").write_text("Words without a heading.")
    (inputs / "brahe_1573.md").symlink_to(outside / "untitled.md")
    (inputs / "hidden.md").symlink_to(inputs / ".store")
    (inputs / ".store").write_text(PAPER.format("Stored by content"))
    found, problems = find_input_files([inputs, outside])
    assert problems == []
    assert {(one.origin, one.stem) for one in found} >= {("brahe_1573.md", "brahe_1573"), ("hidden.md", "hidden")}
    shelf = inputs.with_name("shelf")
    assert build_shelf([inputs, outside], shelf).problems == []
    assert {"Stored by content", "Brahe 1573"} <= read_titles(shelf)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_pipes_sockets_and_devices_are_skipped_without_blocking(inputs: Path, suffix: str) -> None:
    os.mkfifo(inputs / f"pipe{suffix}")
    (inputs / f"link{suffix}").symlink_to(inputs / f"pipe{suffix}")
    with socket.socket(socket.AF_UNIX) as listener:
        folder = os.open(inputs, os.O_RDONLY)  # the path itself may be too long for a socket
        listener.bind(f"/proc/self/fd/{folder}/socket{suffix}")
        os.close(folder)
        problems = list_reasons(
            build_shelf([inputs, inputs / f"pipe{suffix}", Path("/dev/null")], inputs.with_name("shelf"))
        )
    assert problems.keys() == {f"pipe{suffix}", f"link{suffix}", f"socket{suffix}", "null"}
    assert all(reason.startswith("skipped: The path is not a regular file") for reason in problems.values())


def test_folders_of_the_operating_system_are_skipped_even_if_they_are_named(inputs: Path) -> None:
    report = build_shelf([inputs, Path("/proc/self"), Path("/proc/self/status")], inputs.with_name("shelf"))
    assert len(report.problems) == 2
    assert all("operating system" in problem.reason for problem in report.problems)


def test_a_pipe_among_translations_and_summaries_does_not_block_the_build(inputs: Path, outside: Path) -> None:
    os.mkfifo(inputs / "own.de.md")
    (inputs / "own.fr.md").symlink_to(outside / "secret.md")
    summaries = inputs.with_name("summaries")
    (summaries / "short").mkdir(parents=True)
    os.mkfifo(summaries / "short" / "own.json")
    (summaries / "long").mkdir()
    (outside / "own.json").write_text('{"text": "A secret"}')
    (summaries / "long" / "own.json").symlink_to(outside / "own.json")
    (summaries / "round").mkdir()
    (summaries / "round" / "own.json").symlink_to(summaries / "round" / "own.json")
    shelf = inputs.with_name("shelf")
    problems = list_reasons(build_shelf([inputs], shelf, summaries=summaries))
    assert problems.keys() == {"own.de.md", "own.fr.md", "short/own.json", "long/own.json", "round/own.json"}
    library = Library.open(shelf)
    known = library.metadata(library.find_ids_by_title("Own paper")[0])
    assert (known["translations"], known["available_summary_templates"]) == ([], ["default"])


@pytest.mark.parametrize("swapped", ["file", "folder", "pipe"])
def test_a_link_or_pipe_that_replaces_a_found_file_is_not_opened(inputs: Path, outside: Path, swapped: str) -> None:
    (inputs / "deep").mkdir()
    (inputs / "deep" / "secret.md").write_text(PAPER.format("Nothing secret"))
    found, _ = find_input_files([inputs])
    if swapped == "folder":
        shutil.rmtree(inputs / "deep")
        (inputs / "deep").symlink_to(outside)
    else:
        (inputs / "deep" / "secret.md").unlink()
        if swapped == "file":
            (inputs / "deep" / "secret.md").symlink_to(outside / "secret.md")
        else:
            os.mkfifo(inputs / "deep" / "secret.md")
    read = [(one.origin, item) for one in found for item in one.read_entries()]
    ((origin, problem),) = [item for item in read if not hasattr(item[1], "title")]
    assert origin == "deep/secret.md"
    assert getattr(problem, "kind", "") == "broken"
    assert "A secret" not in {getattr(item, "title", "") for _, item in read}


@pytest.mark.parametrize("name", ["x" * 300, "a/" * 3_000 + "b", "../" * 50 + "etc/passwd", "/dev/zero", "\\0", "."])
def test_no_bibliography_name_stops_a_build(inputs: Path, name: str) -> None:
    shown = name.replace("\\0", "\0")
    (inputs / "paper.md").write_text(f'---\ntitle: Citing\nbibliography: "{name}"\n---\n\nText.\n')
    (inputs / "other.md").write_text(f"---\ntitle: Citing too\nbibliography: [{shown}]\n---\n\nText.\n")
    shelf = inputs.with_name("shelf")
    build_shelf([inputs], shelf)
    assert {"Citing", "Citing too", "Own paper"} <= read_titles(shelf)


def test_a_bibliography_in_a_parent_folder_is_recognised_as_a_reference_list(inputs: Path) -> None:
    (inputs / "paper").mkdir()
    (inputs / "paper" / "paper.md").write_text("---\ntitle: Citing\nbibliography: ../refs.bib\n---\n\nText.\n")
    write_bibliography(inputs / "refs.bib", "Cited")
    report = build_shelf([inputs], inputs.with_name("shelf"))
    assert "reference list" in list_reasons(report)["refs.bib"]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT])
def test_an_unreadable_file_is_reported_and_the_others_are_read(
    inputs: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for suffix in SUFFIXES:
        (inputs / f"bad{suffix}").write_bytes(b"x")
    (inputs / "bad.de.md").write_text("Text")
    for suffix in (*SUFFIXES, ".de.md"):
        make_opening_fail(monkeypatch, f"bad{suffix}", number)
    shelf = inputs.with_name("shelf")
    problems = list_reasons(build_shelf([inputs], shelf))
    assert {f"bad{suffix}" for suffix in SUFFIXES} <= problems.keys()
    assert all(reason.startswith("broken:") for reason in problems.values())
    assert read_titles(shelf) == {"Own paper"}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE, errno.EDQUOT])
def test_a_disk_error_stops_the_build_and_the_old_shelf_stays(
    inputs: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = inputs.with_name("shelf")
    build_shelf([inputs], shelf)
    (inputs / "new.bib").write_text("@article{new, title = {New}}")
    make_opening_fail(monkeypatch, "new.bib", number)
    with pytest.raises(ShelfUnwritable, match=os.strerror(number)):
        build_shelf([inputs], shelf)
    assert read_titles(shelf) == {"Own paper"}
    assert sorted(path.name for path in shelf.parent.iterdir()) == ["inputs", "shelf", "shelf.ids.json"]


def test_a_file_removed_before_it_is_read_is_reported(inputs: Path) -> None:
    (inputs / "gone.bib").write_text("@article{a, title = {A}}")
    (inputs / "own.de.md").write_text("Text")
    found, _ = find_input_files([inputs])
    (inputs / "gone.bib").unlink()
    (inputs / "own.de.md").unlink()
    metadata = {getattr(item, "origin", ""): item for one in found for item in one.read_entries()}
    assert "No such file" in getattr(metadata["gone.bib"], "reason", "")
    assert "No such file" in getattr(metadata["own.de.md"], "reason", "")


@pytest.fixture
def deep_folder(inputs: Path) -> Generator[Path]:
    """Provide a folder nested deeper than the recursion limit. Remove it at the end, because pytest cannot."""
    depth = 1_100
    here = inputs
    for _ in range(depth):
        here = here / "d"
        here.mkdir()
    yield here
    (here / "deep.md").unlink(missing_ok=True)
    for _ in range(depth):
        here.rmdir()
        here = here.parent


def test_folders_deeper_than_any_call_stack_are_searched(inputs: Path, deep_folder: Path) -> None:
    (deep_folder / "deep.md").write_text(PAPER.format("Deep"))
    assert any(file.origin.endswith("/deep.md") for file in find_files([inputs]).files)


def test_an_invalid_file_name_is_an_input_that_does_not_exist(inputs: Path) -> None:
    for name in ("nothing", "x\0y", "own.md/below"):
        with pytest.raises(InputNotFound):
            find_files([inputs, inputs / name])
    found = find_files([inputs, inputs / ("x" * 300)])
    assert [problem.kind for problem in found.problems] == ["broken"]


@pytest.fixture
def public_folder() -> Generator[Path]:
    """Provide a folder that every user can enter, unlike the temporary folders of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="inputs-"))
    folder.chmod(0o777)
    yield folder
    for path in (*folder.rglob("*"), folder):
        path.chmod(0o700)
    shutil.rmtree(folder)


def test_files_and_folders_without_permission_are_reported(public_folder: Path) -> None:
    inputs = public_folder / "inputs"
    inputs.mkdir(mode=0o755)
    (inputs / "own.md").write_text(PAPER.format("Own paper"))
    (inputs / "closed.bib").write_text("@article{a, title = {A}}")
    (inputs / "folder").mkdir()
    (inputs / "listed").mkdir()
    (inputs / "listed" / "in.md").write_text(PAPER.format("In it"))
    (inputs / "closed.bib").chmod(0)
    (inputs / "folder").chmod(0)
    (inputs / "listed").chmod(0o444)
    is_root = os.geteuid() == 0
    if is_root:  # whom no permission stops
        os.seteuid(NOBODY)
    try:
        problems = list_reasons(build_shelf([inputs], public_folder / "shelf"))
    finally:
        if is_root:
            os.seteuid(0)
    assert {origin: os.strerror(errno.EACCES) in reason for origin, reason in problems.items()} == {
        "closed.bib": True,
        "folder": True,
        "listed/in.md": True,
    }
    assert read_titles(public_folder / "shelf") == {"Own paper"}


def test_the_command_reports_all_problems_and_exits_with_0(inputs: Path, outside: Path, tmp_path: Path) -> None:
    os.mkfifo(inputs / "pipe.bib")
    (inputs / "out.md").symlink_to(outside / "secret.md")
    (inputs / "loop.md").symlink_to(inputs / "loop.md")
    (inputs / "deep").mkdir()
    (inputs / "deep" / "long.md").write_text(f"---\ntitle: Long\nbibliography: {'x' * 300}\n---\n\nText.\n")
    os.symlink("own.md", os.fsencode(inputs) + b"/\xff\xfe.md")
    with open(os.fsencode(inputs) + b"/\xe9.bib", "w") as file:
        file.write("@article{bytes, title = {Named by bytes}}")
    done = run_process("build", inputs, "-o", tmp_path / "shelf", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    assert {one["origin"] for one in done.json["problems"]} == {"pipe.bib", "out.md", "loop.md"}
    assert read_titles(tmp_path / "shelf") == {"Own paper", "Long", "Named by bytes"}
    plain = run_process("build", inputs, "-o", tmp_path / "shelf", cwd=tmp_path)
    assert plain.code == 0, plain.err
    assert "out.md" in plain.out + plain.err
