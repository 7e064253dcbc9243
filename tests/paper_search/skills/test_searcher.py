import asyncio
import subprocess
import sys
from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest

from paper_search.errors import CreditsExhaustedError, NonRetryableError, RetryableError
from paper_search.models import (
    RawPaper,
    SearchConstraints,
    SearchQuery,
    SearchStrategy,
    SourceReport,
    SourceStatus,
)
from paper_search.skills.searcher import Searcher
from paper_search.sources.interfaces import SearchSource, SourceResult
from paper_search.testing import FakeSource
from paper_search.workflow.skill_interfaces import ReportedPapers, SearchOutcome
from uraniborg.kernel.errors import InvalidInput, NotFound

LATER = datetime(2026, 4, 1, tzinfo=UTC)


def make_paper(title: str, source: str = "any") -> RawPaper:
    return RawPaper(title=title, source=source)


def make_strategy(*sources: str, queries: int = 1) -> SearchStrategy:
    return SearchStrategy(
        queries=[SearchQuery(keywords=["graphene"], boolean_query="graphene")] * queries,
        sources=list(sources),
        filters=SearchConstraints(max_results=10),
    )


def list_titles(outcome: ReportedPapers) -> list[str]:
    return [found.title for found in outcome]


def list_statuses(outcome: ReportedPapers) -> dict[str, SourceStatus]:
    return {report.name: report.status for report in outcome.reports}


async def wait_until(happened: Callable[[], object]) -> None:
    for _ in range(1000):
        if happened():
            return
        await asyncio.sleep(0)
    pytest.fail("it never happened")


async def test_papers_of_all_sources_are_returned_with_a_report_for_each_source() -> None:
    searcher = Searcher([FakeSource("one", [make_paper("A"), make_paper("B")]), FakeSource("two", [make_paper("C")])])
    outcome = await searcher.search(make_strategy())
    assert list_titles(outcome) == ["A", "B", "C"]
    assert [(report.name, report.returned) for report in outcome.reports] == [("one", 2), ("two", 1)]


async def test_sources_are_searched_concurrently() -> None:
    gate = asyncio.Event()
    sources = [FakeSource(name, [make_paper(name)], gate=gate) for name in ("one", "two", "three")]
    task = asyncio.create_task(Searcher(sources).search(make_strategy()))
    await wait_until(lambda: all(source.asked for source in sources))
    gate.set()
    assert list_titles(await task) == ["one", "two", "three"]


@pytest.mark.parametrize("finishing", list(permutations(["one", "two", "three"])))
async def test_the_outcome_does_not_depend_on_which_source_finishes_first(finishing: tuple[str, ...]) -> None:
    gates = {name: asyncio.Event() for name in finishing}
    sources = [FakeSource(name, [make_paper(name)], gate=gates[name]) for name in ("one", "two", "three")]
    arrived: list[str] = []
    task = asyncio.create_task(
        Searcher(sources).search(make_strategy("three", "one", "two"), lambda report: arrived.append(report.name))
    )
    for count, name in enumerate(finishing, start=1):
        gates[name].set()
        await wait_until(lambda count=count: len(arrived) == count)
    outcome = await task
    assert arrived == list(finishing)
    assert list_titles(outcome) == ["three", "one", "two"]
    assert [report.name for report in outcome.reports] == ["three", "one", "two"]


async def test_results_stream_in_before_the_slowest_source_has_finished() -> None:
    gate = asyncio.Event()
    searcher = Searcher([FakeSource("slow", [make_paper("S")], gate=gate), FakeSource("fast", [make_paper("F")])])
    async with aclosing(searcher.stream_results(make_strategy())) as stream:
        assert (await anext(stream)).report.name == "fast"
        gate.set()
        assert (await anext(stream)).report.name == "slow"
        with pytest.raises(StopAsyncIteration):
            await anext(stream)


async def test_without_queries_every_source_is_skipped_and_none_is_searched() -> None:
    sources = [FakeSource("one", [make_paper("A")]), FakeSource("two")]
    outcome = await Searcher(sources).search(make_strategy(queries=0))
    assert outcome == []
    assert list_statuses(outcome) == {"one": SourceStatus.SKIPPED, "two": SourceStatus.SKIPPED}
    assert all(report.reason == "The strategy has no query." for report in outcome.reports)
    assert [source.asked for source in sources] == [[], []]


async def test_only_the_named_sources_are_searched() -> None:
    one, two = FakeSource("one", [make_paper("A")]), FakeSource("two", [make_paper("B")])
    outcome = await Searcher([one, two]).search(make_strategy("two", "two"))
    assert list_titles(outcome) == ["B"]
    assert list_statuses(outcome) == {"two": SourceStatus.OK}
    assert one.asked == []


async def test_an_unavailable_source_is_skipped_and_not_replaced() -> None:
    one = FakeSource("one", [make_paper("A")])
    outcome = await Searcher([one]).search(make_strategy("scopus"))
    assert outcome == []
    (report,) = outcome.reports
    assert (report.name, report.status) == ("scopus", SourceStatus.SKIPPED)
    assert "one" in (report.reason or "")
    assert one.asked == []


async def test_without_any_source_the_outcome_is_empty() -> None:
    outcome = await Searcher([]).search(make_strategy())
    assert SearchOutcome.from_papers(outcome) == SearchOutcome()
    assert "none" in ((await Searcher([]).search(make_strategy("one"))).reports[0].reason or "")


async def test_one_failing_source_does_not_affect_the_others() -> None:
    sources = [FakeSource("bad", error=NonRetryableError("refused")), FakeSource("good", [make_paper("A")])]
    outcome = await Searcher(sources).search(make_strategy())
    assert list_titles(outcome) == ["A"]
    assert list_statuses(outcome) == {"bad": SourceStatus.FAILED, "good": SourceStatus.OK}


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (RetryableError("slow down", rate_limited=True, retry_at=LATER), SourceStatus.RATE_LIMITED, "slow down"),
        (CreditsExhaustedError("no credits", retry_at=LATER), SourceStatus.RATE_LIMITED, "no credits"),
        (RetryableError("down", retry_at=LATER), SourceStatus.FAILED, "down"),
        (NotFound("no shelf"), SourceStatus.FAILED, "no shelf"),
        (KeyError("secret"), SourceStatus.FAILED, "Unexpected KeyError; the log has the details."),
    ],
)
async def test_a_failure_is_reported_with_its_reason(error: Exception, status: SourceStatus, reason: str) -> None:
    (report,) = (await Searcher([FakeSource("bad", error=error)]).search(make_strategy())).reports
    assert (report.status, report.reason, report.returned) == (status, reason, 0)
    assert report.retry_at == getattr(error, "retry_at", None)


async def test_a_source_without_matches_is_empty_and_not_failed() -> None:
    (report,) = (await Searcher([FakeSource("one")]).search(make_strategy())).reports
    assert (report.status, report.reason) == (SourceStatus.EMPTY, None)


class OddSource(SearchSource):
    """A source that returns or raises the given value."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    @property
    def source_name(self) -> str:
        return "odd"

    async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
        strategy.queries.clear()
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer


@pytest.mark.parametrize("answer", [None, 7, ["a title"], [None], asyncio.CancelledError()])
async def test_a_source_that_raises_unexpectedly_fails_alone(answer: Any) -> None:
    outcome = await Searcher([OddSource(answer), FakeSource("good", [make_paper("A")])]).search(make_strategy())
    assert list_titles(outcome) == ["A"]
    assert list_statuses(outcome) == {"odd": SourceStatus.FAILED, "good": SourceStatus.OK}


async def test_a_source_cannot_change_the_strategy_of_other_sources() -> None:
    given, good = make_strategy(), FakeSource("good")
    await Searcher([OddSource([]), good]).search(given)
    assert good.asked == [make_strategy()]
    assert given == make_strategy()


class SelfReportingSource(FakeSource):
    """A source that reports under another name."""

    async def search_with_report(self, strategy: SearchStrategy) -> SourceResult:
        report = SourceReport(name="alias", status=SourceStatus.OK, returned=1, found=99, calls=3, partial=True)
        return SourceResult(await self.search_advanced(strategy), report)


async def test_the_report_of_a_source_is_used_except_for_its_name() -> None:
    (report,) = (await Searcher([SelfReportingSource("one", [make_paper("A")])]).search(make_strategy())).reports
    assert (report.name, report.found, report.calls, report.partial) == ("one", 99, 3, True)


async def test_papers_are_counted_even_if_the_report_of_the_source_differs() -> None:
    (report,) = (
        await Searcher([SelfReportingSource("one", [make_paper("A"), make_paper("B")])]).search(make_strategy())
    ).reports
    assert (report.returned, report.received) == (2, 2)


async def test_records_removed_from_a_plain_source_are_counted_by_reason() -> None:
    old = RawPaper(title="Graphene", year=1999, source="one")
    french = RawPaper(title="Le graphène", language="fr", source="one")
    named = [make_paper(f"Graphene {number}") for number in range(12)]
    strategy = make_strategy()
    strategy.filters = SearchConstraints(year_from=2000, language="en", max_results=10)
    strategy.queries[0].boolean_query = "graphene NOT oxide"
    records = [old, french, make_paper(" "), make_paper("Graphene oxide"), *named]
    (report,) = (await Searcher([FakeSource("one", records)]).search(strategy)).reports
    assert (report.received, report.returned) == (16, 10)
    assert report.removed == {"year": 1, "language": 1, "no_title": 1, "excluded_words": 1, "over_source_limit": 2}


async def test_a_plain_source_receives_and_applies_only_the_boolean_queries() -> None:
    strategy = make_strategy()
    strategy.queries[0].boolean_query = "graphene NOT oxide"
    strategy.queries.append(SearchQuery(keywords=[], boolean_query="", words="graphene sheets"))
    source = FakeSource("one", [make_paper("Graphene"), make_paper("Graphene oxide")])
    outcome = await Searcher([source]).search(strategy)
    assert [query.boolean_query for query in source.asked[0].queries] == ["graphene NOT oxide"]
    assert list_titles(outcome) == ["Graphene"]


async def test_papers_of_earlier_rounds_do_not_count_towards_the_limit_of_a_plain_source() -> None:
    papers = [make_paper(f"Graphene {number}") for number in range(12)]
    known = frozenset(paper.id for paper in papers[:2])
    outcome = await Searcher([FakeSource("one", papers)]).search(make_strategy(), known=known)
    assert list_titles(outcome) == [paper.title for paper in papers]


async def test_repetitions_of_a_plain_source_reach_the_deduplicator() -> None:
    paper = RawPaper(title="Graphene", doi="10.1000/182", source="one")
    outcome = await Searcher([FakeSource("one", [paper, paper])]).search(make_strategy())
    assert list_titles(outcome) == ["Graphene", "Graphene"]


async def test_two_sources_with_the_same_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match="same name"):
        Searcher([FakeSource("one"), FakeSource("one")])


def test_the_available_sources_are_named_in_order() -> None:
    assert Searcher([FakeSource("two"), FakeSource("one")]).available == ["two", "one"]


class WatchedSource(FakeSource):
    """A source that never finishes and records how it ended."""

    def __init__(self, name: str) -> None:
        super().__init__(name, gate=asyncio.Event())
        self.ended = ""

    async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
        try:
            return await super().search_advanced(strategy)
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise

    async def aclose(self) -> None:
        self.ended += " and closed"


async def test_cancelling_a_search_ends_every_source() -> None:
    sources = [WatchedSource("one"), WatchedSource("two")]
    task = asyncio.create_task(Searcher(sources).search(make_strategy()))
    await wait_until(lambda: all(source.asked for source in sources))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [source.ended for source in sources] == ["cancelled", "cancelled"]


async def test_leaving_the_stream_early_cancels_the_running_sources() -> None:
    slow = WatchedSource("slow")
    async with aclosing(
        Searcher([FakeSource("fast"), slow]).stream_results(make_strategy("absent", "fast", "slow"))
    ) as stream:
        assert (await anext(stream)).report.status is SourceStatus.SKIPPED
        await wait_until(lambda: slow.asked)
    assert slow.ended == "cancelled"


async def test_a_listener_that_raises_stops_the_search_and_its_sources() -> None:
    slow = WatchedSource("slow")

    def listen(_report: SourceReport) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Searcher([FakeSource("fast"), slow]).search(make_strategy(), listen)
    assert slow.ended == "cancelled"


async def test_closing_closes_the_sources_that_can_be_closed() -> None:
    watched = WatchedSource("one")
    await Searcher([watched, FakeSource("two")]).aclose()
    assert watched.ended == " and closed"


async def test_an_outcome_can_be_stored_as_json_and_read_back() -> None:
    outcome = await Searcher([FakeSource("one", [make_paper("Ω\u2028")]), FakeSource("two")]).search(make_strategy())
    stored = SearchOutcome.from_papers(outcome)
    assert SearchOutcome.model_validate_json(stored.model_dump_json()) == stored


async def test_a_hundred_sources_are_searched_at_once() -> None:
    names = [f"source {i}" for i in range(100)]
    outcome = await Searcher([FakeSource(name, [make_paper(name)] * 10) for name in names]).search(make_strategy())
    assert [report.name for report in outcome.reports] == names
    assert len(outcome) == 1000


def test_the_skill_loads_neither_http_nor_a_server() -> None:
    program = "import sys, paper_search.skills.searcher; sys.exit(bool({'httpx', 'mcp', 'typer'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stderr
