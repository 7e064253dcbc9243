"""The shelf as a source of paper searches, and its error for a missing shelf."""

# pyright: reportArgumentType=false, reportReturnType=false, reportTypedDictNotRequiredAccess=false

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from paper_library.api.entry_points import ShelfSource, source
from paper_library.errors import PaperNotFound
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_search.domain.dedup.deduplication import deduplicate
from paper_search.models import Paper, RawPaper, SearchConstraints, SearchQuery
from paper_search.sources.query_translation import translate_queries
from paper_search.sources.registry import KNOWN
from tests.installed_programs import find_program
from tests.paper_library.operations.shelves import build_titled_shelf, flip_bit
from tests.paper_library.service.libraries import make_library
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
    assert "Your shelf" in done.stderr
    assert {"missing": "does not exist", "damaged": "is damaged"}[harm] in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_shelf_a_search_with_no_other_source_reports_that_it_has_none(tmp_path: Path) -> None:
    done = search_installed_sources(tmp_path, None)
    assert done.returncode == 5
    assert "No source is available" in done.stderr
    assert "Traceback" not in done.stderr


def make_strategy(*words: str, **filters: Any) -> dict[str, Any]:
    return {"queries": [{"keywords": list(words)}], "filters": filters}


async def ask(query: str, **filters: Any) -> dict[str, Any]:
    """Send one Boolean query to the source."""
    return await source().search_advanced({"queries": [{"boolean_query": query}], "filters": filters})


@pytest.fixture
def served(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """Return the shelf, which is the one of the settings."""
    monkeypatch.setenv("URANIBORG_LIBRARY__SHELF", str(shelf))
    return Library.open(shelf)


async def test_papers_have_the_fields_of_search_results_and_are_in_the_requested_years(served: Library) -> None:
    found = (await source().search_advanced(make_strategy("comets")))["papers"]
    assert {paper["title"]: paper["year"] for paper in found} == {
        "Lattice dynamics of comets": 1570,
        "Comets and their tails": 1571,
    }
    assert found[0]["authors"] == [{"name": "Tycho Brahe"}, {"name": "Sophie Brahe"}]
    late = (await source().search_advanced(make_strategy("comets", year_from=1571)))["papers"]
    assert [paper["year"] for paper in late] == [1571]
    assert len((await source().search_advanced(make_strategy("comets", max_results=1)))["papers"]) == 1


async def test_the_query_runs_as_it_is_written_and_the_total_is_exact(served: Library) -> None:
    assert source().kind == "boolean"
    found = await ask('"their tails" AND comet NOT lattice')
    assert [paper["title"] for paper in found["papers"]] == ["Comets and their tails"]
    assert (found["total"], found["stopped"]) == (1, None)
    first = await ask("comets", max_results=1)
    assert (len(first["papers"]), first["total"], first["stopped"]) == (1, 2, None)
    assert await ask("comets AND submarines") == {"papers": [], "total": 0, "stopped": None}


def test_the_plan_of_a_search_states_with_what_the_shelf_compares_a_query() -> None:
    query = SearchQuery(keywords=["comets"], boolean_query="comets NOT tails")
    [[translation]] = translate_queries(["library"], [query], SearchConstraints(year_from=1571))
    assert translation["notes"] == [ShelfSource.remark]
    assert "not with full texts" in ShelfSource.remark


async def test_a_source_that_gives_out_fewer_papers_than_are_wanted_says_so(
    served: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paper_library.api.entry_points.SOURCE_PAPERS", 1)
    found = await ask("comets", max_results=50)
    assert (len(found["papers"]), found["total"], found["stopped"]) == (1, 2, "source_limit")


async def test_several_queries_are_joined_and_their_total_is_known_only_if_all_papers_are_returned(
    served: Library,
) -> None:
    queries = [{"boolean_query": "lattice"}, {"boolean_query": "comets"}]
    for limit, total in ((10, 2), (1, None)):
        found = await source().search_advanced({"queries": queries, "filters": {"max_results": limit}})
        assert found["papers"][0]["title"] == "Lattice dynamics of comets"
        assert (len(found["papers"]), found["total"]) == (min(limit, 2), total)


async def test_a_record_has_the_id_the_key_and_the_stated_address_of_the_paper_on_the_shelf(
    served: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    (record,) = (await ask("lattice"))["papers"]
    known = served.metadata(record["identifiers"]["shelf"])
    assert known["title"] == record["title"]
    assert record["identifiers"] == {
        "shelf": known["paper_id"],
        "shelf_paper": f"shelf/{known['paper_id']}",
        "bibkey": known["citation_key"],
    }
    assert served.name == "shelf"
    monkeypatch.setenv("URANIBORG_LIBRARY__PORT", "9000")
    (record,) = (await ask("lattice"))["papers"]
    assert record["identifiers"]["shelf_url"] == f"http://127.0.0.1:9000/papers/{known['paper_id']}"


async def test_the_ids_of_a_search_name_the_papers_on_the_shelf(served: Library) -> None:
    for record in (await ask("comets"))["papers"]:
        paper = RawPaper.model_validate(record)
        assert served.metadata(paper.id)["paper_id"] == paper.identifiers["shelf"]
        assert served.find_paper_id(f"paper://{paper.id}/metadata") == paper.identifiers["shelf"]
        (merged,) = deduplicate([paper]).papers
        assert (merged.id, merged.identifiers["shelf"]) == (paper.id, paper.identifiers["shelf"])


def test_a_shelf_built_from_a_search_has_the_ids_of_the_search_and_of_the_earlier_shelf(tmp_path: Path) -> None:
    shelf_id, url = "0123456789abcdef" * 2, "http://127.0.0.1:9000/papers/x"
    paper = Paper(
        id="p_00000000000000ff",
        other_ids=["p_00000000000000fe"],
        title="On kilns",
        source="library",
        identifiers={
            "doi": "10.1000/kiln",
            "shelf": shelf_id,
            "shelf_paper": f"old/{shelf_id}",
            "shelf_url": url,
            "bibkey": "kiln90",
        },
    )
    library = make_library(tmp_path, paper.model_dump(mode="json"))
    known = library.metadata("p_00000000000000ff")
    assert (known["title"], known["citation_key"]) == ("On kilns", "kiln90")
    assert library.find_paper_id("p_00000000000000fe") == known["paper_id"]
    assert not {"shelf", "shelf_paper", "shelf_url"} & known["identifiers"].keys()


def test_an_id_of_a_search_that_is_not_on_the_shelf_is_explained_with_the_server_it_belongs_to(
    served: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(PaperNotFound) as missing:
        served.metadata("p_0123456789abcdef")
    for words in ("paper-search server", "paper-search://sessions/SESSION_ID/papers", "paper-library server"):
        assert words in missing.value.hint
    assert "earlier version" not in missing.value.hint
    monkeypatch.setattr("paper_library.store.shelf.RECORD_SCHEME", "unknown")
    with pytest.raises(PaperNotFound, match="Paper not found") as unknown:
        served.summary("p_0123456789abcdef")
    assert "build it again" in unknown.value.hint
    with pytest.raises(PaperNotFound) as other:
        served.metadata("nobody")
    assert "paper-search" not in other.value.hint


async def test_papers_without_a_year_survive_the_limits_of_years(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    years = ("", ", year={1571}", ", year={1600}")
    entries = [f"@article{{k{n}, title={{Comets {n}}}{year}}}" for n, year in enumerate(years)]
    (tmp_path / "papers.bib").write_text("\n".join(entries))
    build_shelf([tmp_path / "papers.bib"], tmp_path / "shelf")
    monkeypatch.setenv("URANIBORG_LIBRARY__SHELF", str(tmp_path / "shelf"))
    for limits, kept in [
        ({"year_from": 1580}, {None, 1600}),
        ({"year_to": 1580}, {None, 1571}),
        ({"year_from": 1572, "year_to": 1580}, {None}),
    ]:
        found = await source().search_advanced(make_strategy("comets", **limits))
        assert {paper["year"] for paper in found["papers"]} == kept, limits


@pytest.mark.parametrize("words", [[], [""], ["x" * 5_000], ['"', "(", "AND", "year:"], ["\x00"]])
async def test_no_query_makes_the_source_fail(served: Library, words: list[str]) -> None:
    assert (await source().search_advanced(make_strategy(*words)))["total"] is not None


async def test_a_missing_shelf_raises_the_error_of_opening_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_LIBRARY__SHELF", str(tmp_path / "nowhere"))
    with pytest.raises(UraniborgError, match="does not exist"):
        await source().search_advanced(make_strategy("comets"))
