from collections.abc import Sequence
from typing import Any

import pytest

from paper_search.errors import NonRetryableError
from paper_search.models import (
    QueryReport,
    RawPaper,
    SearchConstraints,
    SearchQuery,
    SearchStrategy,
    SourceKind,
    SourceReport,
    SourceStatus,
    StopReason,
)
from paper_search.skills.searcher import Searcher
from paper_search.sources.interfaces import SearchSource
from uraniborg.kernel.errors import NotFound


class Catalogue(SearchSource):
    """A source with a reply for each text. `asked` holds the texts and the numbers of papers it was asked for."""

    def __init__(self, replies: dict[str, Any], kind: SourceKind = "boolean") -> None:
        self.kind = kind
        self._replies = replies
        self.asked: list[tuple[str, int]] = []

    @property
    def source_name(self) -> str:
        return "catalogue"

    async def search_advanced(self, strategy: SearchStrategy) -> Any:
        (query,) = strategy.queries
        self.asked.append((query.boolean_query, strategy.filters.max_results))
        reply = self._replies.get(query.boolean_query, [])
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, range):
            most = strategy.filters.max_results
            return {"papers": make_papers(reply[:most]), "total": len(reply), "stopped": None}
        return reply


def make_papers(numbers: Sequence[int]) -> list[RawPaper]:
    return [RawPaper(title=f"Paper {number}", doi=f"10.1/{number}", source="catalogue") for number in numbers]


def make_ladder(*rungs: str | tuple[str, ...], **filters: Any) -> SearchStrategy:
    texts = [
        (text, rung) for rung, given in enumerate(rungs) for text in ([given] if isinstance(given, str) else given)
    ]
    queries = [SearchQuery(keywords=[], boolean_query=text, rung=rung) for text, rung in texts]
    return SearchStrategy(queries=queries, sources=[], filters=SearchConstraints(**filters))


async def search(
    catalogue: Catalogue, strategy: SearchStrategy, known: frozenset[str] = frozenset()
) -> tuple[list[str], SourceReport]:
    found = await Searcher([catalogue]).search(strategy, known=known)
    (report,) = found.reports
    assert report.returned == len(found)
    return [paper.title for paper in found], report


def outline(queries: list[QueryReport]) -> list[tuple[str, int | None, int, int, str]]:
    return [(one.text, one.found, one.fetched, one.added, one.stopped.value) for one in queries]


async def test_a_source_climbs_until_it_has_enough_papers() -> None:
    catalogue = Catalogue({"a": range(3), "b": range(1, 10), "c": range(90)})
    titles, report = await search(catalogue, make_ladder("a", "b", "c", max_results=10))
    assert len(titles) == 10
    assert outline(report.queries) == [
        ("a", 3, 3, 3, "complete"),
        ("b", 9, 9, 7, "complete"),
        ("c", None, 0, 0, "not_run"),
    ]
    assert report.queries[2].reason == "The source had already sent 10 new papers; 10 were wanted."
    assert not report.partial, "the queries that were run fetched all their matches"


async def test_all_queries_of_a_rung_are_run_lowest_rung_first() -> None:
    catalogue = Catalogue({"a": range(20), "b": range(20, 40)})
    strategy = make_ladder(("a", "b"), "c", max_results=5)
    strategy.queries.reverse()
    titles, report = await search(catalogue, strategy)
    assert [text for text, _ in catalogue.asked] == ["b", "a"]
    assert len(titles) == 10
    assert [(query.text, query.rung, query.stopped.value) for query in report.queries] == [
        ("c", 1, "not_run"),
        ("b", 0, "enough"),
        ("a", 0, "enough"),
    ], "reports are in the order of the plan"


async def test_matches_that_an_earlier_query_returned_do_not_count_as_results() -> None:
    catalogue = Catalogue({"a": range(6), "b": [*make_papers(range(4))] * 4, "c": range(90)})
    titles, report = await search(catalogue, make_ladder(("a", "b"), "c", max_results=10))
    assert len(titles) == 10
    assert [(query.text, query.added) for query in report.queries] == [("a", 6), ("b", 0), ("c", 4)]
    assert report.removed == {"duplicate": 22}


async def test_known_papers_are_returned_and_do_not_count_as_results() -> None:
    known = frozenset(paper.id for paper in make_papers(range(8)))
    titles, report = await search(Catalogue({"a": range(90)}), make_ladder("a", "b", max_results=10), known)
    assert titles[:18] == [f"Paper {number}" for number in range(18)]
    assert outline(report.queries)[0] == ("a", 90, 20, 18, "enough")
    assert report.queries[1].stopped is StopReason.NOT_RUN


async def test_two_rungs_that_match_and_add_nothing_end_the_ladder() -> None:
    catalogue = Catalogue({"a": range(3), "b": range(2), "c": range(3), "d": range(9)})
    _, report = await search(catalogue, make_ladder("a", "b", "c", "d"))
    assert [query.stopped.value for query in report.queries] == ["complete", "complete", "complete", "not_run"]
    assert report.queries[3].reason == "2 rungs in a row added no paper."


async def test_rungs_without_matches_do_not_end_the_ladder() -> None:
    titles, _ = await search(Catalogue({"d": range(2)}), make_ladder("a", "b", "c", "d"))
    assert titles == ["Paper 0", "Paper 1"]


async def test_a_refused_query_does_not_end_the_ladder() -> None:
    refused: Any = {"papers": [], "total": 5_000, "stopped": "too_broad"}
    titles, report = await search(Catalogue({"a": refused, "b": range(2)}), make_ladder("a", "b"))
    assert len(titles) == 2
    assert outline(report.queries) == [("a", 5_000, 0, 0, "too_broad"), ("b", 2, 2, 2, "complete")]
    assert (report.status, report.partial) == (SourceStatus.OK, True)
    assert report.reason == "It refused 1 query as too broad."


async def test_a_source_that_refuses_every_query_does_not_look_empty() -> None:
    refused: Any = {"papers": [], "total": 5_000, "stopped": "too_broad"}
    _, report = await search(Catalogue({"a": refused}), make_ladder("a"))
    assert (report.status, report.found, report.partial) == (SourceStatus.FAILED, 5_000, True)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (NonRetryableError("bad query"), "bad query"),
        (NotFound("There is no shelf."), "There is no shelf."),
        (KeyError("secret"), "Unexpected KeyError; the log has the details."),
    ],
)
async def test_a_query_that_fails_does_not_end_the_ladder(error: Exception, reason: str) -> None:
    titles, report = await search(Catalogue({"a": error, "b": range(2)}), make_ladder("a", "b"))
    assert (len(titles), report.status, report.partial) == (2, SourceStatus.OK, True)
    assert (report.queries[0].stopped, report.queries[0].reason) == (StopReason.FAILED, reason)


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        (7, "must return a list of papers or an object with papers, got int"),
        ({"papers": [], "total": -1}, "total: Input should be greater than or equal to 0"),
        ({"papers": [], "total": True}, "total: Input should be a valid integer"),
        ({"papers": [], "stopped": "bored"}, "stopped: Input should be"),
        ({"papers": ["a title"]}, "something that is not a RawPaper"),
        ({"papers": make_papers([1, 2]), "total": 1}, "total is 1, but there are 2 papers"),
    ],
)
async def test_an_invalid_reply_is_a_failure_that_names_the_field(reply: Any, complaint: str) -> None:
    titles, report = await search(Catalogue({"a": reply}), make_ladder("a"))
    assert (titles, report.status) == ([], SourceStatus.FAILED)
    assert complaint in (report.reason or "")


async def test_a_bare_list_states_no_total() -> None:
    _, report = await search(Catalogue({"a": make_papers([1, 2])}), make_ladder("a"))
    assert (report.found, report.partial, report.queries[0].stopped) == (None, False, StopReason.UNKNOWN)
    _, report = await search(Catalogue({"a": make_papers(range(10))}), make_ladder("a", max_results=3))
    assert (report.found, report.partial, report.returned) == (None, True, 3)


async def test_fewer_papers_than_match_make_the_result_partial() -> None:
    limited = {"papers": make_papers(range(200)), "total": 4_312, "stopped": "source_limit"}
    _, report = await search(Catalogue({"a": limited}), make_ladder("a", max_results=500))
    assert outline(report.queries) == [("a", 4_312, 200, 200, "source_limit")]
    assert (report.found, report.partial) == (4_312, True)


async def test_the_matches_of_several_queries_are_unknown_because_they_overlap() -> None:
    _, report = await search(Catalogue({"a": range(3), "b": range(5)}), make_ladder(("a", "b")))
    assert report.found is None
    _, report = await search(Catalogue({"a": range(0), "b": range(0)}), make_ladder(("a", "b")))
    assert report.found == 0


async def test_equal_texts_are_sent_once_and_reported_twice() -> None:
    catalogue = Catalogue({"a": range(2)})
    _, report = await search(catalogue, make_ladder("a", "a"))
    assert len(catalogue.asked) == 1
    assert [query.stopped.value for query in report.queries] == ["complete", "not_run"]
    assert report.queries[1].reason == "An earlier query gives the source the same text."


async def test_each_kind_of_source_receives_its_queries() -> None:
    strategy = SearchStrategy(
        queries=[
            SearchQuery(keywords=[], boolean_query="a AND b", words=""),
            SearchQuery(keywords=[], boolean_query="", words="a b c"),
            SearchQuery(keywords=[], boolean_query="a OR b", words="a b"),
        ],
        sources=[],
    )
    asked: dict[SourceKind, list[str]] = {"boolean": [], "ranked": []}
    for kind, texts in asked.items():
        catalogue = Catalogue({}, kind)
        _, report = await search(catalogue, strategy)
        texts += [text for text, _ in catalogue.asked]
        assert [query.text for query in report.queries] == texts
    assert asked == {"boolean": ["a AND b", "a OR b"], "ranked": ["a b c", "a b"]}


async def test_a_ranking_source_receives_the_words_of_boolean_queries_if_no_query_has_words() -> None:
    catalogue = Catalogue({}, "ranked")
    _, report = await search(catalogue, make_ladder('"a b"[tiab] AND (c OR d*) NOT e'))
    assert catalogue.asked == [("a b c d", 100)]
    assert [query.text for query in report.queries] == ["a b c d"]


async def test_words_with_a_minus_exclude_papers_of_a_source_that_ignores_it() -> None:
    strategy = make_ladder("x")
    strategy.queries[0].words = "paper -3"
    titles, report = await search(Catalogue({"paper": make_papers(range(5))}, "ranked"), strategy)
    assert (len(titles), report.removed) == (4, {"excluded_words": 1})
