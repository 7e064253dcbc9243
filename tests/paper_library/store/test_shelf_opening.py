"""A damaged shelf is not opened, and the error names the reason and the remedy."""

# pyright: reportPrivateUsage=false

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.store import shelf as shelf_module
from paper_library.store.layout import compute_file_digest, read_manifest
from paper_library.store.shelf import Shelf
from paper_library.store.verification import verify_shelf
from tests.paper_library.operations.shelves import (
    DAMAGES,
    Damage,
    build_titled_shelf,
    flip_bit,
    list_file_stats,
    remove_database,
    replace_file,
    rewrite_manifest,
)
from tests.requirements import requirement
from uraniborg.kernel.errors import UraniborgError

CHECKOUT = Path(__file__).parents[3]
AnyBit = st.tuples(st.integers(0, 1 << 20), st.integers(0, 7))


def catch_error(ask: Callable[[], Any]) -> UraniborgError:
    with pytest.raises(UraniborgError) as caught:
        ask()
    return caught.value


@pytest.mark.parametrize(("harm", "code"), DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_shelf_is_refused_with_reason_and_remedy(shelf: Path, harm: Damage, code: str) -> None:
    harm(shelf)
    error = catch_error(lambda: Shelf.open(shelf))
    assert error.code == code
    assert "shelf" in error.message
    assert error.hint
    assert str(shelf.parent) not in error.message + error.hint


@pytest.mark.parametrize(
    "facts",
    [
        {"build_id": 7},
        {"built_at": 7},
        {"papers": True},
        {"papers": "3"},
        {"software": None},
        {"files": {"shelf.db": 7}},
    ],
    ids=str,
)
def test_a_manifest_with_values_of_the_wrong_type_is_refused_or_harmless(shelf: Path, facts: dict[str, Any]) -> None:
    rewrite_manifest(**facts)(shelf)
    assert read_field_types(shelf) in ("shelf_damaged", {"built_at": str, "build_id": str, "papers": int})


def read_field_types(shelf: Path) -> str | dict[str, type]:
    """Return the types of the manifest's fields, or the error code."""
    try:
        counts = Library.open(shelf).stats()
    except UraniborgError as error:
        return error.code
    return {name: type(counts[name]) for name in ("built_at", "build_id", "papers")}


def test_a_manifest_that_names_files_outside_the_shelf_is_refused_though_their_digests_are_right(shelf: Path) -> None:
    outside = shelf.parent / "outside"
    outside.write_text("not of this shelf")
    files = {**read_manifest(shelf).files, f"../{outside.name}": compute_file_digest(outside)}
    rewrite_manifest(files=files)(shelf)
    refused = catch_error(lambda: Shelf.open(shelf))
    assert refused.code == "shelf_damaged"
    assert "is invalid" in refused.message


@settings(max_examples=60)
@given(AnyBit)
def test_a_shelf_with_one_flipped_bit_in_the_database_is_refused(intact_shelf: Path, at: tuple[int, int]) -> None:
    database = intact_shelf / "shelf.db"
    before = database.read_bytes()
    flip_bit(database, *at)
    try:
        assert catch_error(lambda: Shelf.open(intact_shelf)).code == "shelf_damaged"
        assert verify_shelf(intact_shelf).problems == ["shelf.db has changed since the build"]
    finally:
        replace_file(database, before)


def test_one_flipped_bit_in_the_index_is_found_by_verify(shelf: Path) -> None:
    outcomes = run_flips("verify", shelf)
    assert len(outcomes) > 80
    assert set(outcomes) == {"found"}


def test_a_shelf_with_one_flipped_bit_in_the_index_is_refused(shelf: Path) -> None:
    outcomes = run_flips("open", shelf)
    assert len(outcomes) > 80
    assert set(outcomes) == {"shelf_damaged"}


def run_flips(what: str, shelf: Path) -> list[str]:
    """Return the outcome of each of many bit flips, run in another process because the index library can crash."""
    script = [sys.executable, "-m", "tests.paper_library.store.bit_flips", what, str(shelf)]
    done = subprocess.run(script, capture_output=True, text=True, timeout=50, check=False, cwd=CHECKOUT)
    assert done.returncode == 0, done.stderr[-500:]
    return done.stdout.split()


def test_a_shelf_without_database_whose_manifest_names_none_is_damaged(shelf: Path) -> None:
    remove_database(shelf)
    assert catch_error(lambda: Shelf.open(shelf)).code == "shelf_damaged"


@settings(max_examples=30)
@given(st.randoms(use_true_random=False), AnyBit)
def test_a_flipped_bit_in_a_static_file_affects_only_that_file(
    intact_shelf: Path, choose: Any, at: tuple[int, int]
) -> None:
    file = choose.choice(sorted(path for path in (intact_shelf / "static").rglob("*") if path.is_file()))
    before = file.read_bytes()
    flip_bit(file, *at)
    try:
        library = Library.open(intact_shelf)
        codes = {_code_of(library, hit["paper_id"]) for hit in library.search("")["results"]}
        assert codes == {"", "asset_invalid"}
        assert verify_shelf(intact_shelf).problems == [
            f"{file.relative_to(intact_shelf).as_posix()} has changed since the build"
        ]
        library.close()
    finally:
        replace_file(file, before)


def _code_of(library: Library, paper: str) -> str:
    try:
        library.summary(paper)
        if library.metadata(paper)["has_source"]:
            library.source(paper)
    except UraniborgError as error:
        return error.code
    return ""


@pytest.mark.parametrize("change", [b"", b"x" * 100_000])
def test_a_static_file_of_another_length_is_invalid(shelf: Path, change: bytes) -> None:
    (file,) = (shelf / "static" / "source").rglob("*.md")
    file.write_bytes(change)
    library = Library.open(shelf)
    (paper,) = library.find_ids_by_title("On comets")
    error = catch_error(lambda: library.source(paper))
    assert error.code == "asset_invalid"
    assert error.ids == {"paper_id": paper}


def test_a_missing_static_file_is_reported_for_its_paper(shelf: Path) -> None:
    shutil.rmtree(shelf / "static" / "source")
    library = Library.open(shelf)
    (paper,) = library.find_ids_by_title("On comets")
    error = catch_error(lambda: library.source(paper))
    assert (error.code, error.ids) == ("asset_fetch_failed", {"reason": "missing", "paper_id": paper})
    assert library.search("comets")["total"] == 1
    assert [one for one in verify_shelf(shelf).problems if "source" in one and one.endswith("is missing")]


def test_a_static_file_that_links_out_of_the_shelf_is_not_followed(shelf: Path) -> None:
    secret = shelf.parent / "secret.txt"
    (file,) = (shelf / "static" / "source").rglob("*.md")
    shutil.move(file, secret)
    file.symlink_to(secret)
    library = Library.open(shelf)
    (paper,) = library.find_ids_by_title("On comets")
    with pytest.raises(UraniborgError):
        library.source(paper)
    secret.write_text("On comets: the word quokka is nowhere on the shelf.")
    (found,) = library.search("comets")["results"]
    assert "quokka" not in str(found)


def test_a_pipe_instead_of_a_text_delays_no_other_client(shelf: Path) -> None:
    (file,) = (shelf / "static" / "source").rglob("*.md")
    file.unlink()
    os.mkfifo(file)
    library = Library.open(shelf)
    (paper,) = library.find_ids_by_title("On comets")
    assert catch_error(lambda: library.source(paper)).code == "asset_invalid"
    assert library.search("comets")["total"] == 1
    assert [one for one in verify_shelf(shelf).problems if "source" in one and "regular" in one]


@pytest.mark.parametrize("name", ["manifest.json", "shelf.db"])
def test_a_pipe_instead_of_a_shelf_file_is_damage(shelf: Path, name: str) -> None:
    (shelf / name).unlink()
    os.mkfifo(shelf / name)
    assert catch_error(lambda: Library.open(shelf)).code == "shelf_damaged"


def test_a_shelf_whose_files_are_links_to_the_same_contents_opens(shelf: Path, tmp_path: Path) -> None:
    for name in ("manifest.json", "shelf.db"):
        shutil.move(shelf / name, tmp_path / name)
        (shelf / name).symlink_to(tmp_path / name)
    assert Library.open(shelf).search("comets")["total"] == 1
    (tmp_path / "shelf.db").write_bytes(b"another file")
    assert catch_error(lambda: Library.open(shelf)).code == "shelf_damaged"


@requirement("PL-17")
def test_reading_writes_nothing_into_the_shelf(shelf: Path) -> None:
    before = list_file_stats(shelf)
    library = Library.open(shelf)
    library.search("comets", facets=["author"])
    library.source(library.find_ids_by_title("On comets")[0])
    library.close()
    assert verify_shelf(shelf).is_intact
    assert list_file_stats(shelf) == before


@requirement("PL-17")
def test_the_database_is_opened_read_only(shelf: Path) -> None:
    import sqlite3

    opened = Shelf.open(shelf)
    with pytest.raises(sqlite3.OperationalError, match=r"readonly|read-only|query_only"):
        opened.get_connection().execute("DELETE FROM paper")
    opened.close()


def test_a_shelf_opens_though_its_folder_of_links_cannot_be_removed(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed = shutil.rmtree

    def stubborn(path: Any, *args: Any, onerror: Any = None, **options: Any) -> None:
        removed(path, *args, onerror=onerror, **options)
        Path(path).mkdir(exist_ok=True)
        (Path(path) / "late").touch()
        try:
            os.rmdir(path)
        except OSError:
            if not options.get("ignore_errors") and not onerror:
                raise
            if onerror:
                onerror(os.rmdir, str(path), sys.exc_info())

    monkeypatch.setattr(shutil, "rmtree", stubborn)
    opened = Shelf.open(shelf)
    assert opened.manifest.papers == 3
    opened.close()


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_a_shelf_is_private_under_any_umask(tmp_path: Path, umask: int) -> None:
    (tmp_path / "a.bib").write_text("@article{a, title={A star}}")
    shelf = tmp_path / "new" / "shelf"
    before = os.umask(umask)
    try:
        build_shelf([tmp_path / "a.bib"], shelf)
    finally:
        os.umask(before)
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in (shelf.parent, *shelf.parent.rglob("*"))}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_a_shelf_replaced_during_opening_is_opened_again(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    build_titled_shelf(other, "Another star")
    build_id = read_manifest(other).build_id
    assert read_manifest(shelf).build_id != build_id
    opened = shelf_module._open_linked_index

    def replaced(*given: Any) -> Any:
        index = opened(*given)
        if other.exists():
            shelf.rename(tmp_path / "old")
            other.rename(shelf)
        return index

    monkeypatch.setattr(shelf_module, "_open_linked_index", replaced)
    found = Shelf.open(shelf)
    assert found.build_id == found.manifest.build_id == build_id
    assert [row.title for row in found.read_rows([0])] == ["Another star"]
