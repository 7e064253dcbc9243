"""A folder is replaced in one step or not at all."""

from pathlib import Path

import pytest

from paper_library.errors import ShelfExists
from paper_library.service.build import shelf_writer
from paper_library.service.build.shelf_writer import stage_replacement
from paper_library.store.layout import MANIFEST
from uraniborg.kernel.store.files import Locked


def write_shelf(target: Path, content: str) -> None:
    with stage_replacement(target) as folder:
        (folder / MANIFEST).write_text(content)


def fail_in_block(target: Path, failure: type[BaseException]) -> None:
    with stage_replacement(target) as folder:
        (folder / MANIFEST).write_text("never")
        raise failure


def read_content(target: Path) -> str:
    return (target / MANIFEST).read_text()


def list_siblings(target: Path) -> list[str]:
    return sorted(path.name for path in target.parent.iterdir() if path != target)


def test_a_finished_folder_replaces_the_target_and_leaves_nothing_else(target: Path) -> None:
    write_shelf(target, "one")
    assert (read_content(target), list_siblings(target)) == ("one", [])
    write_shelf(target, "two")
    assert (read_content(target), list_siblings(target)) == ("two", [])


def test_readers_see_the_old_folder_until_the_block_ends(target: Path) -> None:
    write_shelf(target, "old")
    with stage_replacement(target) as folder:
        (folder / MANIFEST).write_text("new")
        assert read_content(target) == "old"
    assert read_content(target) == "new"


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_folder_and_no_other_files(target: Path, failure: type[BaseException]) -> None:
    write_shelf(target, "old")
    with pytest.raises(failure):
        fail_in_block(target, failure)
    assert (read_content(target), list_siblings(target)) == ("old", [])


def test_a_reader_that_holds_the_old_folder_open_keeps_reading_it(target: Path) -> None:
    write_shelf(target, "old")
    with (target / MANIFEST).open() as held:
        write_shelf(target, "new")
        assert held.read() == "old"


def test_the_folder_always_exists_during_a_replacement(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not shelf_writer.sys.platform.startswith("linux"):
        pytest.skip("folders change places in one step on Linux only")
    write_shelf(target, "old")
    away: list[Path] = []

    def rename(path: Path, _: Path) -> None:
        away.append(path)

    monkeypatch.setattr(Path, "rename", rename)
    write_shelf(target, "new")
    assert (read_content(target), away) == ("new", [])


def test_without_an_atomic_exchange_the_new_folder_still_replaces_the_old_one(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(_: Path, __: Path) -> bool:
        return False

    monkeypatch.setattr(shelf_writer, "_try_exchange_folders", never)
    write_shelf(target, "old")
    write_shelf(target, "new")
    assert (read_content(target), list_siblings(target)) == ("new", [])


def test_leftovers_of_a_killed_build_are_removed(target: Path) -> None:
    write_shelf(target, "old")
    (target.parent / ".shelf.0123abcd.new" / "index").mkdir(parents=True)
    write_shelf(target, "new")
    assert (read_content(target), list_siblings(target)) == ("new", [])


def test_a_shelf_moved_by_a_killed_build_is_restored(target: Path) -> None:
    aside = target.parent / ".shelf.old"
    aside.mkdir()
    (aside / MANIFEST).write_text("old")
    with pytest.raises(RuntimeError):
        fail_in_block(target, RuntimeError)
    assert (read_content(target), list_siblings(target)) == ("old", [])


def test_the_build_of_a_shelf_with_the_same_name_prefix_is_not_affected(target: Path) -> None:
    other = target.parent / "shelf.v2"
    with stage_replacement(other) as folder:
        (folder / MANIFEST).write_text("other")
        write_shelf(target, "one")
        assert folder.exists()


def test_leftovers_of_a_shelf_with_brackets_in_its_name_are_removed(tmp_path: Path) -> None:
    target = tmp_path / "shelf [1]"
    (tmp_path / f".{target.name}.0123abcd.new").mkdir()
    write_shelf(target, "new")
    assert list_siblings(target) == []


def test_a_shelf_behind_a_link_is_replaced_without_leftovers(target: Path) -> None:
    real = target.parent / "real"
    write_shelf(real, "old")
    target.symlink_to(real)
    write_shelf(target, "new")
    assert read_content(target) == "new"
    assert set(list_siblings(target)) <= {"real"}


def test_a_second_builder_of_one_shelf_is_refused_and_the_first_wins(target: Path) -> None:
    with stage_replacement(target) as folder:
        (folder / MANIFEST).write_text("first")
        with pytest.raises(Locked), stage_replacement(target):
            pytest.fail("two builds of one shelf at once")
        assert folder.exists()
    assert (read_content(target), list_siblings(target)) == ("first", [])


def test_the_next_build_can_start_after_a_build(target: Path) -> None:
    with pytest.raises(RuntimeError):
        fail_in_block(target, RuntimeError)
    write_shelf(target, "next")
    assert read_content(target) == "next"


def test_a_folder_that_is_not_a_shelf_is_never_replaced(target: Path) -> None:
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")
    with pytest.raises(ShelfExists), stage_replacement(target):
        pytest.fail("a folder that is not a shelf was treated as one")
    assert (target / "thesis.tex").read_text() == "years of work"
    assert list_siblings(target) == []


def test_a_file_is_never_replaced(target: Path) -> None:
    target.write_text("years of work")
    with pytest.raises(ShelfExists), stage_replacement(target):
        pytest.fail("a file was taken for a shelf")
    assert target.read_text() == "years of work"


def test_an_empty_folder_or_missing_parents_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write_shelf(tmp_path / "empty", "one")
    write_shelf(tmp_path / "a" / "b" / "shelf", "two")
    assert read_content(tmp_path / "empty") == "one"
    assert read_content(tmp_path / "a" / "b" / "shelf") == "two"
