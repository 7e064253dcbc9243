"""Notes and collections beside a shelf: nothing is lost when several people write or a write fails."""

import threading
from pathlib import Path

import pytest

from paper_library.errors import NoteChanged, NotesUnwritable, OutOfBounds
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.store.paper_notes import PaperNotes, count_collections
from tests.paper_library.service.build.readers.files import write_file

BIB = "@article{fish2019, title={Deep Fish of the North}, year={2019}, doi={10.1000/xyz}}\n"


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    write_file(tmp_path / "in", "refs.bib", BIB)
    build_shelf([tmp_path / "in"], tmp_path / "shelf")
    return tmp_path / "shelf"


def test_a_note_stays_with_its_paper_when_the_shelf_is_built_again(shelf: Path, tmp_path: Path) -> None:
    library = Library.open(shelf)
    paper_id = library.metadata("fish2019")["paper_id"]
    PaperNotes(shelf).write_note(paper_id, "Read the table.\nTwice.", ["to read", "Moons"], by="Sophie")
    write_file(tmp_path / "in", "refs.bib", BIB.replace("Deep", "Deepest"))
    build_shelf([tmp_path / "in"], shelf)
    renewed = Library.open(shelf)
    assert renewed.metadata("fish2019")["paper_id"] == paper_id
    note = PaperNotes(shelf).read_note(paper_id)
    assert (note.text, note.collections, note.by) == ("Read the table.\nTwice.", ("to read", "Moons"), "Sophie")
    library.close()
    renewed.close()


def test_notes_on_two_papers_that_a_build_merged_are_one_note(shelf: Path, tmp_path: Path) -> None:
    other = "@article{trout, title={Trout}, year={2019}, doi={10.1000/abc}}\n"
    write_file(tmp_path / "in", "refs.bib", BIB + other)
    build_shelf([tmp_path / "in"], shelf)
    library = Library.open(shelf)
    first, second = (library.metadata(key)["paper_id"] for key in ("fish2019", "trout"))
    PaperNotes(shelf).write_note(first, "Deep.", ["to read"], by="Sophie")
    PaperNotes(shelf).write_note(second, "Cold.", ["to read", "Moons"], by="Tycho")
    write_file(tmp_path / "in", "refs.bib", BIB + other.replace("10.1000/abc", "10.1000/xyz"))
    build_shelf([tmp_path / "in"], shelf)
    renewed = Library.open(shelf)
    kept = renewed.metadata(first)["paper_id"]
    assert renewed.metadata(second)["paper_id"] == kept
    notes = PaperNotes(shelf, renewed)
    joined = notes.read_note(kept)
    assert (joined.text, joined.collections, joined.by) == ("Deep.\n\nCold.", ("to read", "Moons"), "Tycho")
    notes.write_note(kept, "Deep and cold.", [], by="Sophie", revision=joined.revision)
    assert [note.text for note in notes.read_all().values()] == ["Deep and cold."]
    library.close()
    renewed.close()


def test_reading_the_note_of_a_paper_looks_up_no_other_paper(shelf: Path) -> None:
    looked_up: list[str] = []

    class Papers:
        def find_paper_id(self, paper: str, /) -> str:
            looked_up.append(paper)
            return paper

        def list_merged_ids(self, paper: str, /) -> list[str]:
            looked_up.append(paper)
            return []

    for number in range(3):
        PaperNotes(shelf).write_note(f"p{number}", "Deep.", [], by="Sophie")
    assert PaperNotes(shelf, Papers()).read_note("p1").text == "Deep."
    assert set(looked_up) == {"p1"}


def test_a_note_that_somebody_else_has_changed_is_not_overwritten(shelf: Path) -> None:
    notes = PaperNotes(shelf)
    empty = notes.read_note("p1")
    first = notes.write_note("p1", "mine", [], by="Sophie", revision=empty.revision)
    with pytest.raises(NoteChanged, match="Sophie"):
        notes.write_note("p1", "theirs", [], by="Tycho", revision=empty.revision)
    notes.write_note("p1", "ours", [], by="Tycho", revision=first.revision)
    assert notes.read_note("p1").text == "ours"


def test_an_emptied_note_is_gone_and_the_last_changed_one_comes_first(shelf: Path) -> None:
    notes = PaperNotes(shelf)
    for paper in ("p1", "p2", "p3"):
        notes.write_note(paper, paper, ["A  list", "a list"], by="Sophie")
    notes.write_note("p1", "again", ["a list"], by="Sophie")
    notes.write_note("p2", "", [], by="Sophie")
    assert list(notes.read_all()) == ["p1", "p3"]
    assert count_collections(notes.read_all()) == {"a list": 2}


def test_a_line_that_was_cut_off_costs_one_note_and_no_more(shelf: Path) -> None:
    notes = PaperNotes(shelf)
    notes.write_note("p1", "one", [], by="Sophie")
    file = shelf.with_name("shelf.notes")
    file.write_bytes(file.read_bytes() + b'{"paper_id": "p2", "te')
    notes.write_note("p3", "three", [], by="Sophie")
    assert {note.text for note in notes.read_all().values()} == {"one", "three"}
    assert file.stat().st_mode & 0o077 == 0


def test_notes_of_many_threads_are_all_there(shelf: Path) -> None:
    def write(number: int) -> None:
        PaperNotes(shelf).write_note(f"p{number}", f"note {number} 🪐", [], by="Sophie")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(PaperNotes(shelf).read_all()) == 8


def test_notes_that_are_too_long_or_cannot_be_stored_are_refused(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = PaperNotes(shelf)
    with pytest.raises(OutOfBounds):
        notes.write_note("p1", "x" * 20_001, [], by="Sophie")
    with pytest.raises(OutOfBounds):
        notes.write_note("p1", "x", ["y" * 101], by="Sophie")

    def refuse(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("paper_library.store.paper_notes.open_private", refuse)
    with pytest.raises(NotesUnwritable, match="No space"):
        notes.write_note("p1", "x", [], by="Sophie")
    assert notes.read_all() == {}
