"""PDFs among the inputs of a build stay on the shelf, and only those."""

# pyright: reportTypedDictNotRequiredAccess=false

from pathlib import Path

import pytest

from paper_library.domain.paper_ids import make_paper_id
from paper_library.errors import OriginalNotAvailable
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.store.verification import verify_shelf
from tests.paper_library.service.build.readers.files import write_file
from tests.paper_library.service.build.readers.pdfs import write_pdf

DOI = "10.1000/xyz"
FISH = make_paper_id(f"doi:{DOI}")
LINES = [(20.0, "Deep Fish of the North"), (10.0, f"doi:{DOI} They swim in the cold and deep water of the north.")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "in"
    write_file(
        found, "refs.bib", f"@article{{fish2019, title={{Deep Fish of the North}}, year={{2019}}, doi={{{DOI}}}}}"
    )
    write_pdf(found / "fish2019.pdf", LINES)
    write_file(found, "bird.md", "# High Birds of the South\n\nThey fly.\n")
    return found


def test_the_pdf_of_a_paper_is_stored_as_it_is_and_verified(folder: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    build_shelf([folder], shelf)
    library = Library.open(shelf)
    assert library.original(FISH) == (folder / "fish2019.pdf").read_bytes()
    assert library.stats()["with_original"] == 1
    bird = library.search("birds")["results"][0]["paper_id"]
    assert (library.has_original(FISH), library.has_original(bird)) == (True, False)
    with pytest.raises(OriginalNotAvailable):
        library.original(bird)
    assert library.search("cold water")["total"] == 1
    library.close()
    assert verify_shelf(shelf).is_intact
    (stored,) = (shelf / "static" / "original").rglob("*.pdf")
    stored.write_bytes(b"%PDF-1.4 changed")
    assert not verify_shelf(shelf).is_intact


def test_an_update_keeps_the_pdf_of_an_input_that_is_not_read_again_and_a_pruned_one_goes(
    folder: Path, tmp_path: Path
) -> None:
    shelf, content = tmp_path / "shelf", (folder / "fish2019.pdf").read_bytes()
    build_shelf([folder], shelf)
    (folder / "fish2019.pdf").unlink()
    report = build_shelf([folder], shelf, update=shelf)
    assert report.unchanged == 2
    library = Library.open(shelf)
    assert library.original(FISH) == content
    library.close()
    build_shelf([folder], shelf, update=shelf, prune=True)
    library = Library.open(shelf)
    assert not library.has_original(FISH)
    library.close()


def test_a_changed_pdf_is_a_changed_paper(folder: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    first = build_shelf([folder], shelf)
    (folder / "fish2019.pdf").write_bytes((folder / "fish2019.pdf").read_bytes() + b"\n% later\n")
    second = build_shelf([folder], shelf, update=shelf)
    assert first.build_id != second.build_id
    assert [change.paper_id for change in second.changes] == [FISH]


def test_two_inputs_with_one_name_and_files_that_are_too_large_are_not_stored(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pdf(tmp_path / "fish2019.pdf", LINES)
    build_shelf([folder / "fish2019.pdf", tmp_path / "fish2019.pdf", folder / "refs.bib"], tmp_path / "two")
    monkeypatch.setattr("paper_library.service.build.prepared_papers.ASSET_BYTES", 100)
    build_shelf([folder], tmp_path / "large")
    for name in ("two", "large"):
        library = Library.open(tmp_path / name)
        assert not library.has_original(FISH)
        library.close()
