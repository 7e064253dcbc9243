import asyncio
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from paper_search.models import RawPaper, SearchConstraints, SourceReport, SourceStatus, StopReason
from paper_search.sources.http_source import HttpSource
from paper_search.sources.in_process_sources import (
    GROUP,
    InstalledDefinition,
    InstalledTransport,
    list_installed_entry_points,
    load_installed_definition,
    load_source_kind,
)
from paper_search.sources.transport.recording import Recording
from tests.paper_search.sources.tiny_definition import make_strategy
from uraniborg.kernel.errors import NotFound


class Entry:
    """An entry point that loads to the given object."""

    def __init__(self, loaded: Any, name: str = "shelf") -> None:
        self.name = name
        self._loaded = loaded

    def load(self) -> Any:
        if isinstance(self._loaded, Exception):
            raise self._loaded
        return self._loaded


class InstalledSource:
    source_name = "shelf"

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        self.asked: list[dict[str, Any]] = []

    async def search_advanced(self, strategy: dict[str, Any]) -> Any:
        self.asked.append(strategy)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def make_source(loaded: Any, deadline_s: float = 5.0) -> HttpSource:
    entries: Any = {"shelf": Entry(loaded)}
    return HttpSource(InstalledDefinition("shelf"), InstalledTransport(entries), deadline_s=deadline_s)


async def search_source(loaded: Any, **filters: Any) -> tuple[list[str], SourceReport]:
    result = await make_source(loaded).search_with_report(make_strategy("graphene", **filters))
    return [paper.title for paper in result.papers], result.report


async def test_plain_dictionaries_become_papers() -> None:
    shelf = InstalledSource(
        [{"title": "A", "year": 2020, "authors": [{"name": "Ada"}], "doi": "10.1/a", "source": "other"}]
    )
    result = await make_source(lambda: shelf).search_with_report(
        make_strategy("graphene", max_results=7, year_from=2010)
    )
    (paper,) = result.papers
    assert (paper.title, paper.authors[0].name, paper.source) == ("A", "Ada", "shelf")
    assert result.report.status is SourceStatus.OK
    (asked,) = shelf.asked
    assert asked["queries"][0]["boolean_query"] == "graphene"
    assert asked["filters"] == SearchConstraints(year_from=2010, max_results=7).model_dump()


async def test_limits_are_applied_to_the_papers_of_an_installed_source() -> None:
    records = [{"title": "Old", "year": 1990}, *({"title": f"New {i}", "year": 2020} for i in range(20))]
    titles, _ = await search_source(lambda: InstalledSource(records), year_from=2000, max_results=3)
    assert titles == ["New 0", "New 1", "New 2"]


async def test_an_installed_source_without_matches_is_empty() -> None:
    _, report = await search_source(lambda: InstalledSource([]))
    assert (report.status, report.found) == (SourceStatus.EMPTY, None)


def need_an_argument(_argument: Any) -> Any: ...


class NamelessSource:
    async def search_advanced(self, strategy: dict[str, Any]) -> list[Any]:
        return []


class BlockingSource:
    source_name = "shelf"

    def search_advanced(self, strategy: dict[str, Any]) -> list[Any]:
        return []


@pytest.mark.parametrize(
    ("loaded", "says"),
    [
        (ImportError("no such module"), "ImportError"),
        (7, "TypeError"),
        (need_an_argument, "TypeError"),
        (lambda: None, "does not return a source"),
        (NamelessSource, "does not return a source"),
        (BlockingSource, "does not return a source"),
        (lambda: InstalledSource(RuntimeError("boom")), "RuntimeError"),
        (lambda: InstalledSource(TimeoutError()), "TimeoutError"),
        (lambda: InstalledSource(None), "NoneType"),
        (lambda: InstalledSource("papers"), "str"),
        (lambda: InstalledSource({"records": []}), "papers: Field required"),
        (lambda: InstalledSource({"papers": 3}), "papers: Input should be a valid list"),
        (lambda: InstalledSource({"papers": [], "total": "many"}), "total: Input should be a valid integer"),
        (lambda: InstalledSource({"papers": [], "total": -1}), "total: Input should be greater than or equal to 0"),
        (lambda: InstalledSource({"papers": [{"title": "A"}], "total": 0}), "total is 0, but there are 1 papers"),
        (lambda: InstalledSource({"papers": [], "stopped": "bored"}), "stopped: Input should be 'complete', 'enough'"),
        (lambda: InstalledSource([{"title": object()}]), "TypeError"),
        (lambda: InstalledSource([{"year": 2020}, 7, None]), "None of the 3 records"),
        (lambda: InstalledSource(NotFound("There is no shelf here.")), "There is no shelf here."),
    ],
)
async def test_every_fault_of_an_installed_source_is_a_failure_with_a_reason(loaded: Any, says: str) -> None:
    titles, report = await search_source(loaded)
    assert (titles, report.status) == ([], SourceStatus.FAILED)
    assert says in (report.reason or "")
    assert "boom" not in (report.reason or "")


async def test_records_that_are_not_papers_are_skipped() -> None:
    titles, report = await search_source(
        lambda: InstalledSource([{"title": "A"}, {"year": 2020}, "B", {"title": "C", "year": "x"}])
    )
    assert (titles, report.returned, report.queries[0].fetched) == (["A"], 1, 4)


async def test_an_installed_source_that_never_answers_reaches_its_deadline() -> None:
    class Stuck(InstalledSource):
        async def search_advanced(self, strategy: dict[str, Any]) -> Any:
            await asyncio.Event().wait()

    result = await make_source(lambda: Stuck([]), deadline_s=0.02).search_with_report(make_strategy("graphene"))
    assert result.report.status is SourceStatus.FAILED
    assert "0.02 s" in (result.report.reason or "")


async def test_an_installed_source_is_loaded_once() -> None:
    loads: list[InstalledSource] = []

    def load() -> InstalledSource:
        loads.append(InstalledSource([]))
        return loads[-1]

    asked = make_source(load)
    await asked.search_with_report(make_strategy("a", "b"))
    await asked.search_with_report(make_strategy("c"))
    assert len(loads) == 1
    assert len(loads[0].asked) == 3


async def test_an_installed_source_is_recorded_and_replayed_like_any_other(tmp_path: Path) -> None:
    entries: Any = {"shelf": Entry(lambda: InstalledSource([{"title": "A"}]))}
    definition = InstalledDefinition("shelf")
    transport = Recording.create(tmp_path, query="graphene").make_recording_transport(InstalledTransport(entries))
    live = await HttpSource(definition, transport).search_with_report(make_strategy("graphene"))
    await transport.aclose()
    again = await HttpSource(definition, Recording.open(tmp_path).make_replay_transport()).search_with_report(
        make_strategy("graphene")
    )
    assert (again.papers, again.report) == (live.papers, live.report)


def test_entry_points_are_listed_by_name_without_being_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [EntryPoint(name, "nowhere:nothing", GROUP) for name in ("zettel", "shelf")]

    def entry_points(*, group: str) -> list[EntryPoint]:
        assert group == GROUP
        return listed

    monkeypatch.setattr("paper_search.sources.in_process_sources.entry_points", entry_points)
    assert list(list_installed_entry_points()) == ["shelf", "zettel"]


async def test_an_installed_source_is_searched_for_identifiers_and_only_these_works_are_returned() -> None:
    shelf = InstalledSource([{"title": "A", "doi": "10.5555/a"}, {"title": "B", "doi": "10.5555/b"}, {"title": "C"}])
    result = await make_source(lambda: shelf).search_with_report(make_strategy('"10.5555/b" OR "PMID:7"'))
    assert [paper.title for paper in result.papers] == ["B"]
    assert shelf.asked[0]["queries"][0]["keywords"] == ["10.5555/b", "PMID:7"]


class PagedShelf(InstalledSource):
    """A ranked source that states its total."""

    kind = "ranked"

    async def search_advanced(self, strategy: dict[str, Any]) -> Any:
        records = await super().search_advanced(strategy)
        return {"papers": records[: strategy["filters"]["max_results"]], "total": len(records)}


async def search_paged_shelf(
    shelf: PagedShelf, known: frozenset[str], query: str = "graphene AND oxide", words: str = "", **filters: Any
) -> tuple[list[str], SourceReport]:
    entries: Any = {"shelf": Entry(lambda: shelf)}
    source = HttpSource(InstalledDefinition("shelf", "ranked"), InstalledTransport(entries))
    strategy = make_strategy(query, **filters)
    strategy.queries[0].words = words
    result = await source.search_with_report(strategy, known)
    return [paper.title for paper in result.papers], result.report


async def test_an_installed_ranked_source_receives_words_and_states_its_total() -> None:
    shelf = PagedShelf([{"title": f"Paper {i}", "doi": f"10.1/{i}"} for i in range(20)])
    titles, report = await search_paged_shelf(shelf, frozenset(), words="graphene oxide", max_results=5)
    assert [asked["queries"][0]["boolean_query"] for asked in shelf.asked] == ["graphene oxide"]
    (query,) = report.queries
    assert (len(titles), query.text, query.found, query.fetched) == (5, "graphene oxide", 20, 5)
    assert (query.stopped, report.found, report.partial) == (StopReason.ENOUGH, 20, True)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('title:"graphene oxide" AND (film* OR sheet) NOT silicon', ""),
        ("graphene", "graphene oxide film sheet -silicon"),
    ],
    ids=["typed", "words with an exclusion"],
)
async def test_an_installed_ranked_source_receives_no_operators_and_exclusions_are_checked_afterwards(
    query: str, words: str
) -> None:
    shelf = PagedShelf([{"title": "Graphene oxide film"}, {"title": "Graphene oxide film on silicon"}])
    titles, report = await search_paged_shelf(shelf, frozenset(), query, words)
    assert {asked["queries"][0]["boolean_query"] for asked in shelf.asked} == {"graphene oxide film sheet"}
    assert [asked.text for asked in report.queries] == ["graphene oxide film sheet"]
    assert titles == ["Graphene oxide film"]


async def test_an_installed_source_is_called_again_if_the_first_papers_are_known() -> None:
    shelf = PagedShelf([{"title": f"Paper {i}", "doi": f"10.1/{i}"} for i in range(20)])
    known = frozenset(RawPaper(title="", doi=f"10.1/{i}", source="shelf").id for i in range(4))
    titles, report = await search_paged_shelf(shelf, known, max_results=5)
    assert [asked["filters"]["max_results"] for asked in shelf.asked] == [5, 10]
    assert titles == [f"Paper {i}" for i in range(9)]
    assert (report.queries[0].fetched, report.removed) == (10, {"over_source_limit": 1})


async def test_the_kind_of_an_installed_source_is_read_from_its_object(monkeypatch: pytest.MonkeyPatch) -> None:
    class OddKind(InstalledSource):
        kind = "fuzzy"

    loaded = {
        "ranked": Entry(lambda: PagedShelf([])),
        "old": Entry(lambda: InstalledSource([])),
        "odd": Entry(lambda: OddKind([])),
        "broken": Entry(ImportError("no such module")),
    }
    monkeypatch.setattr("paper_search.sources.in_process_sources.list_installed_entry_points", lambda: loaded)
    assert [load_source_kind(name) for name in loaded] == ["ranked", None, None, None]
    assert all(load_installed_definition(name).capabilities == frozenset() for name in loaded)


async def test_an_installed_source_declares_the_filters_that_it_applies_and_a_remark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Exact(InstalledSource):
        capabilities = frozenset({"year", "magic"})
        remark = "Compared with titles."

    loaded = {"exact": Entry(lambda: Exact([]))}
    monkeypatch.setattr("paper_search.sources.in_process_sources.list_installed_entry_points", lambda: loaded)
    definition = load_installed_definition("exact")
    assert (definition.capabilities, definition.remark) == ({"year"}, "Compared with titles.")
    assert InstalledDefinition("words", "ranked", capabilities=frozenset({"not", "year"})).capabilities == {"year"}
