"""`verify` checks every file of a shelf."""

import shutil
from pathlib import Path

import pytest

from paper_library.store.verification import verify_shelf
from tests.paper_library.operations.shelves import DAMAGES, Damage
from uraniborg.kernel.errors import UraniborgError

UNLISTED = {"manifest.json", "built_by.json"}  # the list itself, and who built the shelf, which has no digest


def test_every_file_of_an_intact_shelf_is_read(intact_shelf: Path) -> None:
    verdict = verify_shelf(intact_shelf)
    files = [path for path in intact_shelf.rglob("*") if path.is_file() and path.name not in UNLISTED]
    assert (verdict.is_intact, verdict.problems) == (True, [])
    assert verdict.files == len(files)
    assert verdict.papers == 3


@pytest.mark.parametrize(("harm", "code"), DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_shelf_is_never_reported_as_intact(
    intact_shelf: Path, tmp_path: Path, harm: Damage, code: str
) -> None:
    shelf = shutil.copytree(intact_shelf, tmp_path / "shelf")
    harm(shelf)
    assert verify_files(shelf) in {code, "damaged"}


def verify_files(shelf: Path) -> str:
    try:
        return "whole" if verify_shelf(shelf).is_intact else "damaged"
    except UraniborgError as error:
        return error.code


def test_each_missing_file_is_named(intact_shelf: Path, tmp_path: Path) -> None:
    shelf = shutil.copytree(intact_shelf, tmp_path / "shelf")
    lost = sorted(path for path in (shelf / "static").rglob("*") if path.is_file())
    for path in lost:
        path.unlink()
    named = [f"{path.relative_to(shelf).as_posix()} is missing" for path in lost]
    assert sorted(verify_shelf(shelf).problems) == named
