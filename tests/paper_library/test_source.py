"""The shelf as a source of paper searches, and its error for a missing shelf."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from paper_library.source import source
from paper_search.sources.registry import KNOWN
from tests.installed_programs import find_program
from tests.paper_library.operations.shelves import build_titled_shelf, flip_bit
from uraniborg.kernel.errors import UraniborgError


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    build_titled_shelf(
        tmp_path / "shelf", "Lattice dynamics of comets", "Comets and their tails", abstract="Comets have tails."
    )
    return tmp_path / "shelf"


def search_installed_sources(folder: Path, shelf: Path | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Search for comets with the installed sources only."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("URANIBORG_")}
    env |= {
        "URANIBORG_HOME": str(folder / "home"),
        "URANIBORG_PAPER_SEARCH__SOURCES": json.dumps({name: {"enabled": False} for name in KNOWN}),
    }
    if shelf is not None:
        env["URANIBORG_LIBRARY__SHELF"] = str(shelf)
    return subprocess.run(
        [find_program("python"), "-m", "paper_search", *arguments, "comets"],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        cwd=folder,
        env=env,
    )


def test_a_search_with_no_other_source_finds_the_papers_of_the_shelf(tmp_path: Path, shelf: Path) -> None:
    done = search_installed_sources(tmp_path, shelf, "--json")
    assert done.returncode == 0, done.stderr
    papers = json.loads(done.stdout)["papers"]
    assert {paper["title"] for paper in papers} == {"Lattice dynamics of comets", "Comets and their tails"}


@pytest.mark.parametrize("harm", ["missing", "damaged"])
def test_a_shelf_that_cannot_be_opened_is_a_failure_of_the_source_with_the_reason(
    tmp_path: Path, shelf: Path, harm: str
) -> None:
    if harm == "damaged":
        flip_bit(shelf / "shelf.db", 50_000)
    done = search_installed_sources(tmp_path, {"missing": tmp_path / "nowhere", "damaged": shelf}[harm])
    assert "library" in done.stderr
    assert {"missing": "does not exist", "damaged": "is damaged"}[harm] in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_shelf_a_search_with_no_other_source_reports_that_it_has_none(tmp_path: Path) -> None:
    done = search_installed_sources(tmp_path, None)
    assert done.returncode == 5
    assert "No source is available" in done.stderr
    assert "Traceback" not in done.stderr


def make_strategy(*words: str, **filters: Any) -> dict[str, Any]:
    return {"queries": [{"keywords": list(words)}], "filters": filters}


async def test_papers_have_the_fields_of_search_results_and_are_in_the_requested_years(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_LIBRARY__SHELF", str(shelf))
    found = await source().search_advanced(make_strategy("comets"))
    assert {paper["title"]: paper["year"] for paper in found} == {
        "Lattice dynamics of comets": 1570,
        "Comets and their tails": 1571,
    }
    assert found[0]["authors"] == [{"name": "Tycho Brahe"}, {"name": "Sophie Brahe"}]
    late = await source().search_advanced(make_strategy("comets", year_from=1571))
    assert [paper["year"] for paper in late] == [1571]
    assert len(await source().search_advanced(make_strategy("comets", max_results=1))) == 1


@pytest.mark.parametrize("words", [[], [""], ["x" * 5_000], ['"', "(", "AND", "year:"], ["\x00"]])
async def test_no_query_makes_the_source_fail(shelf: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setenv("URANIBORG_LIBRARY__SHELF", str(shelf))
    assert isinstance(await source().search_advanced(make_strategy(*words)), list)


async def test_a_missing_shelf_raises_the_error_of_opening_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_LIBRARY__SHELF", str(tmp_path / "nowhere"))
    with pytest.raises(UraniborgError, match="does not exist"):
        await source().search_advanced(make_strategy("comets"))
