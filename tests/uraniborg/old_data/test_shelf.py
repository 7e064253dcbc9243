"""A shelf of an older version: opened and searched, or refused with the command that builds it again."""

import json
import shutil
from contextlib import suppress

import pytest

from paper_library.errors import ShelfTooOld
from paper_library.service.library import Library
from paper_library.store import layout
from tests.fixtures.data import SHELF_INPUTS
from tests.uraniborg.old_data.folder import OldData


@pytest.fixture
def library(old: OldData) -> Library:
    """Return the shelf, rebuilt as the error suggests if this version cannot read it."""
    with suppress(ShelfTooOld):
        return Library.open(old.shelf)
    with pytest.raises(ShelfTooOld) as refusal:
        Library.open(old.shelf)
    assert "paper-library build" in refusal.value.hint
    shutil.copytree(SHELF_INPUTS / "papers", old.folder / "papers")
    old.run("paper-library", "build", str(old.folder / "papers"), "-o", str(old.shelf))
    return Library.open(old.shelf)


def test_every_paper_is_there_and_found(library: Library) -> None:
    assert library.stats()["papers"] == 5
    found = library.search("tidal heating")
    assert found["total"] == 3
    assert {one["title"] for one in found["results"]} >= {"Tidal heating of icy moons: a primer"}
    assert library.search("Laplace resonance")["results"][0]["title"].startswith("Orbital resonance")
    assert library.search("author:Kepler")["total"] == 2


@pytest.mark.parametrize("name", ["brahe2004", "10.1000/moons.0", "https://doi.org/10.1000/MOONS.0"])
def test_a_paper_is_known_by_its_key_and_its_doi(library: Library, name: str) -> None:
    paper = library.metadata(name)
    assert (paper["year"], paper["authors"]) == (2004, ["Tycho Brahe", "Sophie Brahe"])
    assert library.bibtex(name).startswith("@article{brahe2004")


def test_texts_and_translations_are_read(library: Library) -> None:
    assert "Laplace resonance" in library.source("kepler2007")
    assert library.metadata("kepler2007")["translations"] == ["de"]
    assert library.metadata("10.1000/moons.9")["identifiers"]["arxiv"] == "1301.00009"


def test_the_shelf_is_verified_and_can_be_added_to(old: OldData, library: Library) -> None:
    assert old.run("paper-library", "verify", str(old.shelf))["is_whole"]
    bib = old.folder / "more.bib"
    bib.write_text("@article{new2024, title={A new paper on tides}, author={Brahe, Sophie}, year={2024}}")
    more = old.folder / "more"
    report = old.run("paper-library", "build", str(bib), "--update", str(old.shelf), "-o", str(more))
    assert report["papers"] == 6
    assert Library.open(more).metadata("brahe2004")["paper_id"] == library.metadata("brahe2004")["paper_id"]


def test_a_later_schema_says_how_to_build_the_shelf_again(old: OldData, monkeypatch: pytest.MonkeyPatch) -> None:
    version = json.loads((old.shelf / "manifest.json").read_bytes())["schema_version"]
    monkeypatch.setattr(layout, "READABLE_SINCE", version + 1)
    monkeypatch.chdir(old.folder)
    with pytest.raises(ShelfTooOld, match="earlier version") as refusal:
        Library.open(old.shelf)
    assert refusal.value.ids["inputs"] == ["found.json", "notes/kepler2007.md", "refs.bib"]
    assert "paper-library build INPUT… -o shelf. It was built from found.json, " in refusal.value.hint


def test_a_later_schema_is_reported_even_if_the_old_shelf_cannot_be_read(
    old: OldData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "READABLE_SINCE", 99)
    monkeypatch.setattr(layout, "SCHEMA_VERSION", 99)
    (old.shelf / "shelf.db").write_bytes(b"of another kind")
    with pytest.raises(ShelfTooOld, match="earlier version") as refusal:
        Library.open(old.shelf)
    assert refusal.value.ids["inputs"] == []
    assert refusal.value.hint.endswith("-o shelf.")
