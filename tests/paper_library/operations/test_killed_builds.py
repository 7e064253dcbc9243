"""A killed build leaves the old shelf or the new one, never a mix, and the next build removes leftovers."""

import resource
import shutil
from pathlib import Path

import pytest

from paper_library.service.build.builder import build_shelf
from paper_library.service.build.shelf_writer import stage_replacement
from paper_library.store.layout import read_manifest
from paper_library.store.verification import verify_shelf
from tests.paper_library.operations.command_runs import CommandResult, call_command, run_process
from tests.paper_library.operations.killed_build import build_until_killed
from tests.paper_library.operations.shelves import build_titled_shelf, list_file_stats, write_bibliography
from uraniborg.kernel.store.files import Locked

EVERY = 3
"""Every third moment of a build is tried; a build has about a hundred."""


@pytest.fixture
def shelves(tmp_path: Path) -> Path:
    (tmp_path / "shelves").mkdir()
    return tmp_path / "shelves"


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_build_killed_at_any_moment_leaves_the_old_or_the_new_shelf_intact(inputs: Path, shelves: Path) -> None:
    target = shelves / "shelf"
    one, other = (
        write_bibliography(inputs / "one.bib", "Star", "Comet"),
        write_bibliography(inputs / "other.bib", "Moon"),
    )
    ids = {path: build_shelf([path], target).build_id for path in (other, one)}
    moment, died, outcomes = 1, True, set[bool]()
    while died:
        before = read_manifest(target).build_id
        coming = other if before == ids[one] else one
        died = build_until_killed([coming], target, moment)
        after = read_manifest(target).build_id
        assert verify_shelf(target).is_intact, f"killed before step {moment}"
        assert after in (before, ids[coming])
        outcomes.add(after == before)
        moment += EVERY
    assert outcomes == {True, False}
    assert moment > 20 * EVERY
    assert list_names(shelves) == ["shelf", "shelf.ids.json"]


def test_the_next_build_removes_the_leftovers_of_a_killed_build(inputs: Path, shelves: Path) -> None:
    source, target = write_bibliography(inputs / "papers.bib", "Star"), shelves / "shelf"
    moment = 1
    while not [name for name in list_names(shelves) if name.startswith(".")]:
        shutil.rmtree(target, ignore_errors=True)
        assert build_until_killed([source], target, moment)
        moment += EVERY
    build_shelf([source], target)
    assert list_names(shelves) == ["shelf", "shelf.ids.json"]


def test_a_first_build_that_is_killed_leaves_no_shelf_that_opens(inputs: Path, shelves: Path) -> None:
    source, target = write_bibliography(inputs / "papers.bib", "Star"), shelves / "shelf"
    assert build_until_killed([source], target, 12)
    assert not target.exists()


def test_of_two_builds_of_one_shelf_the_second_is_refused(capsys: pytest.CaptureFixture[str], inputs: Path) -> None:
    target = inputs.parent / "shelf"
    build_titled_shelf(target, "Star")
    source = write_bibliography(inputs / "papers.bib", "Comet")
    before = list_file_stats(target)
    with stage_replacement(target) as folder:
        (folder / "manifest.json").write_text("{}")
        done = call_command(capsys, "build", source, "-o", target, "--json")
        assert (done.code, done.error["code"]) == (4, "locked")
        assert done.error["hint"]
        assert list_file_stats(target) == before
    assert not folder.exists()


def test_builds_of_two_shelves_can_run_at_the_same_time(inputs: Path, shelves: Path) -> None:
    source = write_bibliography(inputs / "papers.bib", "Comet")
    with stage_replacement(shelves / "one") as folder:
        (folder / "manifest.json").write_text("{}")
        assert build_shelf([source], shelves / "other").papers == 1
        with pytest.raises(Locked):
            build_shelf([source], shelves / "one")
    assert list_names(shelves) == ["one", "other", "other.ids.json"]


def test_a_build_does_not_affect_a_shelf_with_the_same_name_prefix(inputs: Path, shelves: Path) -> None:
    source = write_bibliography(inputs / "papers.bib", "Comet")
    with stage_replacement(shelves / "one.more") as folder:
        (folder / "manifest.json").write_text("{}")
        build_shelf([source], shelves / "one")
        assert folder.exists()


def test_the_next_build_removes_leftovers_of_a_shelf_with_brackets_in_its_name(inputs: Path, shelves: Path) -> None:
    source, target = write_bibliography(inputs / "papers.bib", "Star"), shelves / "shelf [2]"
    left = shelves / ".shelf [2].0123abcd.new"
    left.mkdir()
    build_shelf([source], target)
    assert list_names(shelves) == ["shelf [2]", "shelf [2].ids.json"]


def test_a_shelf_behind_a_link_is_replaced_and_nothing_is_left_beside_it(inputs: Path, shelves: Path) -> None:
    source, real, link = write_bibliography(inputs / "papers.bib", "Comet"), shelves / "v1", shelves / "shelf"
    build_titled_shelf(real, "Star")
    link.symlink_to(real)
    build_shelf([source], link)
    assert list_names(shelves) == ["shelf", "v1", "v1.ids.json"]
    assert read_manifest(link).papers == 1


LIMITS = {"stored papers": 1 << 10, "database": 60 << 10}


@pytest.mark.parametrize("size", LIMITS.values(), ids=LIMITS.keys())
def test_a_full_disk_leaves_the_old_shelf_intact_and_no_other_files(inputs: Path, shelves: Path, size: int) -> None:
    target = shelves / "shelf"
    build_titled_shelf(target, "Star")
    before = list_file_stats(target)
    done = _build_with_full_disk(inputs, target, size)
    assert done.code != 0
    assert list_file_stats(target) == before
    assert verify_shelf(target).is_intact
    assert list_names(shelves) == ["shelf", "shelf.ids.json"]


@pytest.mark.parametrize("size", LIMITS.values(), ids=LIMITS.keys())
def test_a_full_disk_is_reported_as_such(inputs: Path, shelves: Path, size: int) -> None:
    done = _build_with_full_disk(inputs, shelves / "shelf", size)
    assert done.code == 5
    assert done.error["code"] != "internal_error"
    assert done.error["hint"]


def _build_with_full_disk(inputs: Path, target: Path, size: int) -> CommandResult:
    source = write_bibliography(inputs / "papers.bib", *(f"Star number {number}" for number in range(200)))
    limit = (size, size)
    return run_process(
        "build",
        source,
        "-o",
        target,
        "--json",
        cwd=inputs,
        before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )
