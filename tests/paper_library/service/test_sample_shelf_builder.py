"""The sample shelf is available before any build."""

import json
from pathlib import Path

import pytest

from paper_library.service.library import Library
from paper_library.service.shelf_catalog import sample_shelf
from paper_library.store.layout import read_manifest


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_shelf(tmp_path_factory.mktemp("sample") / "shelf")


@pytest.fixture
def library(shelf: Path) -> Library:
    return Library.open(shelf)


def test_searches_for_its_three_subjects_find_sample_papers(library: Library) -> None:
    for subject in ("exoplanet", "solar cell", "neural network"):
        assert library.search(subject)["total"] > 0, subject


def test_the_sample_has_every_kind_of_content(library: Library) -> None:
    stats = library.stats()
    assert stats["papers"] >= 10
    assert stats["with_source"] > 0
    assert stats["translations"]
    assert set(stats["summaries"]) > {"default"}


def test_every_paper_of_the_sample_has_authors_a_year_and_a_summary(library: Library) -> None:
    for hit in library.search("", limit=100)["results"]:
        paper_metadata = library.metadata(hit["paper_id"])
        assert paper_metadata["authors"], paper_metadata["title"]
        assert paper_metadata["year"], paper_metadata["title"]
        assert json.loads(library.summary(hit["paper_id"])), paper_metadata["title"]


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


def test_an_incomplete_sample_is_built_again(tmp_path: Path) -> None:
    (tmp_path / "shelf").mkdir()
    assert read_manifest(sample_shelf(tmp_path / "shelf")).papers > 0


def test_without_a_target_the_sample_is_built_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from paper_library.service import shelf_catalog

    monkeypatch.setattr(shelf_catalog, "get_sample_shelf_path", lambda: tmp_path / "data" / "sample-shelf")
    assert sample_shelf() == tmp_path / "data" / "sample-shelf"
    assert read_manifest(tmp_path / "data" / "sample-shelf").papers > 0
