"""There is something to look at before anything was built."""

import json
from pathlib import Path

import pytest

from paper_library.library import Library
from paper_library.sample import sample_shelf
from paper_library.store.manifest import read_manifest


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_shelf(tmp_path_factory.mktemp("sample") / "shelf")


@pytest.fixture
def library(shelf: Path) -> Library:
    return Library.open(shelf)


def test_the_sample_is_found_by_its_three_subjects(library: Library) -> None:
    for subject in ("exoplanet", "solar cell", "neural network"):
        assert library.search(subject)["total"] > 0, subject


def test_the_sample_has_something_of_everything_to_try(library: Library) -> None:
    stats = library.stats()
    assert stats["papers"] >= 10
    assert stats["with_source"] > 0
    assert stats["translations"]
    assert set(stats["summaries"]) > {"default"}


def test_every_paper_of_the_sample_has_authors_a_year_and_a_summary(library: Library) -> None:
    for hit in library.search("", limit=100)["results"]:
        said = library.metadata(hit["paper_id"])
        assert said["authors"], said["title"]
        assert said["year"], said["title"]
        assert json.loads(library.summary(hit["paper_id"])), said["title"]


def test_no_two_papers_of_the_sample_share_an_identifier(library: Library) -> None:
    dois = [
        library.metadata(hit["paper_id"])["identifiers"].get("doi") for hit in library.search("", limit=100)["results"]
    ]
    known = [doi for doi in dois if doi]
    assert len(known) == len(set(known))


def test_the_sample_is_built_once(shelf: Path) -> None:
    before = read_manifest(shelf).built_at
    assert sample_shelf(shelf) == shelf
    assert read_manifest(shelf).built_at == before


def test_a_sample_that_was_cut_off_is_built_again(tmp_path: Path) -> None:
    (tmp_path / "shelf").mkdir()
    assert read_manifest(sample_shelf(tmp_path / "shelf")).papers > 0


def test_without_a_place_the_sample_goes_to_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from paper_library import sample

    monkeypatch.setattr(sample, "sample_shelf_path", lambda: tmp_path / "data" / "sample-shelf")
    assert sample_shelf() == tmp_path / "data" / "sample-shelf"
    assert read_manifest(tmp_path / "data" / "sample-shelf").papers > 0
