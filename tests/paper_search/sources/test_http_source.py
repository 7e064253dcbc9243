import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from paper_search.errors import (
    CallLimitError,
    CreditsExhaustedError,
    MissingKeyError,
    NonRetryableError,
    RetryableError,
    SearchSourceError,
)
from paper_search.models import MAX_RESULTS_CAP, QueryReport, SearchQuery, SourceReport, SourceStatus, StopReason
from paper_search.sources.http_source import MOST_REQUESTS_PER_QUERY, HttpSource
from paper_search.sources.interfaces import ReportingSource, Request, Response, SourcePage
from paper_search.testing import FakeTransport
from tests.paper_search.sources.tiny_definition import URL, TinyDefinition, make_page, make_strategy

LATER = datetime(2026, 4, 1, tzinfo=UTC)


async def search_titles(
    answers: dict[str, Any], *queries: str, definition: TinyDefinition | None = None, **filters: Any
) -> tuple[list[str], SourceReport]:
    transport = FakeTransport({f"{URL}/{path}": answer for path, answer in answers.items()})
    result = await HttpSource(definition or TinyDefinition(), transport).search_with_report(
        make_strategy(*queries, **filters)
    )
    assert result.report.returned == len(result.papers)
    assert result.report.received == result.report.returned + sum(result.report.removed.values())
    return [paper.title for paper in result.papers], result.report


async def test_papers_are_returned_with_a_report() -> None:
    titles, report = await search_titles({"a": make_page("A", "B", total=2, seconds=0.25)}, "a")
    assert titles == ["A", "B"]
    assert report.requests == [f"{URL}/a?rows=100"]
    assert report.model_copy(update={"requests": []}) == SourceReport(
        name="tiny",
        status=SourceStatus.OK,
        returned=2,
        found=2,
        calls=1,
        seconds=0.25,
        queries=[QueryReport(text=f"{URL}/a?rows=100", found=2, fetched=2, added=2, stopped=StopReason.COMPLETE)],
    )
    assert isinstance(HttpSource(TinyDefinition(), FakeTransport({})), ReportingSource)


async def test_equal_queries_send_one_request() -> None:
    titles, report = await search_titles({"a": make_page("A", total=1)}, "a", "a")
    assert (titles, report.calls, len(report.requests)) == (["A"], 1, 1)


async def test_different_queries_with_the_same_request_send_it_once() -> None:
    titles, report = await search_titles({"a": make_page("A", total=1)}, "a AND b", "a OR b", "a")
    assert (titles, report.calls, len(report.requests)) == (["A"], 1, 1)


async def test_a_source_whose_budget_ends_after_a_call_is_failed_and_not_skipped() -> None:
    spent = CallLimitError("The call budget of tiny (1) is used up.", calls=0)
    _, asked = await search_titles({"a": make_page(follow=[f"{URL}/2"]), "2": spent}, "a")
    assert (asked.status, asked.calls) == (SourceStatus.FAILED, 1)
    _, unasked = await search_titles({"a": spent}, "a")
    assert (unasked.status, unasked.calls) == (SourceStatus.SKIPPED, 0)


async def test_no_matches_give_the_status_empty() -> None:
    titles, report = await search_titles({"a": make_page(total=0)}, "a")
    assert (titles, report.status, report.found, report.reason) == ([], SourceStatus.EMPTY, 0, None)


async def test_pages_are_followed_until_the_limit() -> None:
    answers = {
        "a": make_page(*"ABCDEF", follow=[f"{URL}/2"]),
        "2": make_page(*"GHIJKL", follow=[f"{URL}/3"]),
        "3": make_page("never"),
    }
    titles, report = await search_titles(answers, "a", max_results=12)
    assert titles == list("ABCDEFGHIJKL")
    assert report.calls == 2


async def test_the_requested_limit_is_applied() -> None:
    titles, _ = await search_titles({"a": make_page(*map(str, range(50)))}, "a", max_results=3)
    assert titles == ["0", "1", "2"]


class GenerousDefinition(TinyDefinition):
    """A definition that returns more papers than requested."""

    def read_response(self, request: Request, response: Response) -> SourcePage:
        return super().read_response(request, response)


async def test_records_over_the_limit_out_of_range_and_repeated_are_counted() -> None:
    records = [*({"title": f"T{n}", "doi": f"10.1/{n}", "year": 2000 + n} for n in range(10)), "", "A", "A", "B"]
    titles, report = await search_titles(
        {"a": make_page(*records)}, "a", definition=GenerousDefinition(), year_from=2008, max_results=3
    )
    assert titles == ["T8", "T9", "A"]
    assert report.received == 14
    assert report.removed == {"duplicate": 1, "no_title": 1, "over_source_limit": 1, "year": 8}


async def test_each_query_may_fetch_as_many_papers_as_the_search_wants() -> None:
    transport = FakeTransport({f"{URL}/{q}": make_page(*(f"{q}{i}" for i in range(40))) for q in "abc"})
    result = await HttpSource(TinyDefinition(), transport).search_with_report(
        make_strategy("a", "b", "c", max_results=25)
    )
    assert [dict(request.params)["rows"] for request in transport.requests] == ["25", "25", "25"]
    assert [paper.title[0] for paper in result.papers] == ["a"] * 25 + ["b"] * 25 + ["c"] * 25


async def test_twenty_thousand_papers_fit_into_the_requests_of_one_query() -> None:
    assert MOST_REQUESTS_PER_QUERY * 100 >= 20_000
    pages = {
        f"{URL}/{n}": make_page(*(f"{n}-{i}" for i in range(100)), total=20_000, follow=[f"{URL}/{n + 1}"])
        for n in range(200)
    }
    source = HttpSource(TinyDefinition(), FakeTransport(pages))
    wanted = min(20_000, MAX_RESULTS_CAP)
    result = await source.search_with_report(make_strategy("0", max_results=20_000))
    assert (len(result.papers), result.report.found) == (wanted, 20_000)


async def test_a_higher_rung_is_not_sent_when_nothing_more_is_wanted() -> None:
    transport = FakeTransport({URL: make_page(*map(str, range(10)))})
    strategy = make_strategy("a", "b", max_results=5)
    strategy.queries[1].rung = 1
    await HttpSource(TinyDefinition(), transport).search_with_report(strategy)
    assert len(transport.requests) == 1


async def test_a_paper_that_two_queries_find_is_returned_once() -> None:
    editorial = {"title": "Editorial"}
    answers = {"a": make_page("A", editorial), "b": make_page("A", "B", editorial)}
    titles, _ = await search_titles(answers, "a", "b")
    assert titles == ["A", "Editorial", "B", "Editorial"]


async def test_papers_before_a_failed_page_are_returned_as_partial() -> None:
    answers = {"a": make_page("A", total=90, follow=[f"{URL}/2"]), "2": RetryableError("tiny fell over")}
    titles, report = await search_titles(answers, "a")
    assert titles == ["A"]
    assert (report.status, report.partial, report.reason, report.found) == (
        SourceStatus.OK,
        True,
        "tiny fell over.",
        90,
    )


async def test_one_failing_query_does_not_affect_the_others() -> None:
    answers = {"a": NonRetryableError("bad query"), "b": make_page("B")}
    titles, report = await search_titles(answers, "a", "b")
    assert (titles, report.partial, report.reason) == (["B"], True, "bad query.")


async def test_each_reason_is_reported_once() -> None:
    answers = {"a": NonRetryableError("Bad query."), "b": NonRetryableError("Bad query."), "c": RetryableError("down")}
    _, report = await search_titles(answers, "a", "b", "c")
    assert report.reason == "Bad query. down."


async def test_a_failure_beside_an_empty_query_is_a_failure() -> None:
    _, report = await search_titles({"a": make_page(), "b": NonRetryableError("bad query")}, "a", "b")
    assert (report.status, report.partial) == (SourceStatus.FAILED, False)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RetryableError("slow down", rate_limited=True, retry_at=LATER), SourceStatus.RATE_LIMITED),
        (CreditsExhaustedError("no credits", retry_at=LATER), SourceStatus.RATE_LIMITED),
        (RetryableError("down", retry_at=LATER), SourceStatus.FAILED),
    ],
)
async def test_a_rate_limit_is_reported_with_its_end(error: SearchSourceError, status: SourceStatus) -> None:
    _, report = await search_titles({"": error}, "a")
    assert (report.status, report.retry_at, report.reason) == (status, LATER, f"{error.message}.")


async def test_other_queries_are_not_sent_to_a_source_that_limits_the_rate() -> None:
    transport = FakeTransport({URL: RetryableError("slow down", rate_limited=True)})
    await HttpSource(TinyDefinition(), transport).search_with_report(make_strategy("a", "b", "c"))
    assert len(transport.requests) == 1


@pytest.mark.parametrize("error", [MissingKeyError("set KEY", calls=0), CallLimitError("budget 0", calls=0)])
async def test_a_source_without_its_key_or_budget_is_skipped(error: SearchSourceError) -> None:
    _, report = await search_titles({"": error}, "a", "b")
    assert (report.status, report.calls, report.reason) == (SourceStatus.SKIPPED, 0, f"{error.message}.")


async def test_a_budget_that_ends_during_the_search_makes_the_result_partial() -> None:
    answers = {"a": make_page("A", follow=[f"{URL}/2"]), "2": CallLimitError("budget used up", calls=0)}
    titles, report = await search_titles(answers, "a", "b")
    assert (titles, report.partial, report.calls, report.reason) == (["A"], True, 1, "budget used up.")


async def test_calls_and_seconds_of_answers_and_failures_add_up() -> None:
    answers = {
        "a": Response(200, make_page("A").body, seconds=1.25, calls=3),
        "b": RetryableError("down", calls=3, seconds=6.1),
        "c": Response(200, make_page("C").body, seconds=0.5, calls=0),
    }
    _, report = await search_titles(answers, "a", "b", "c")
    assert (report.calls, report.seconds) == (6, 7.85)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>oops</html>",
        b'{"items": [',
        b"[]",
        b"null",
        b'{"items": [7]}',
        b'{"items": 7}',
        b"[" * 100_000,
        b"\xff",
    ],
)
async def test_a_malformed_answer_fails_the_source_and_raises_nothing(body: bytes) -> None:
    _, report = await search_titles({"": Response(200, body)}, "a")
    assert report.status is SourceStatus.FAILED
    assert report.reason is not None
    assert report.reason.lower().startswith("malformed answer")


async def test_a_huge_malformed_answer_is_read_off_the_loop_and_reported_the_same_way() -> None:
    _, report = await search_titles({"": Response(200, b"[" + b"1," * 400_000)}, "a")
    assert report.reason is not None
    assert report.reason.startswith("Malformed answer")


async def test_a_temporary_failure_in_an_answer_is_requested_once_more() -> None:
    busy = make_page(busy="yes")
    titles, report = await search_titles({"a": [busy, make_page("A")]}, "a")
    assert (titles, report.calls, report.partial) == (["A"], 2, False)
    _, report = await search_titles({"a": busy}, "a")
    assert (report.status, report.calls, report.reason) == (SourceStatus.FAILED, 2, "tiny is busy.")


async def test_a_rate_limit_in_an_answer_is_not_retried() -> None:
    _, report = await search_titles({"a": make_page(busy="limit")}, "a")
    assert (report.status, report.calls) == (SourceStatus.RATE_LIMITED, 1)


class RememberingTransport(FakeTransport):
    forgotten: Sequence[Request] = ()

    async def forget_answer(self, request: Request) -> None:
        self.forgotten = [*self.forgotten, request]


async def test_an_unusable_answer_is_dropped_from_the_cache() -> None:
    transport = RememberingTransport({URL: Response(200, b"<html>")})
    await HttpSource(TinyDefinition(), transport).search_with_report(make_strategy("a"))
    assert list(transport.forgotten) == transport.requests


async def test_filters_that_the_source_lacks_are_applied_afterwards() -> None:
    items = [
        {"title": "Old", "year": 1999},
        {"title": "Graphene oxide", "year": 2020},
        {"title": "", "year": 2020},
        {"title": "Kept", "year": 2020},
    ]
    query = "graphene NOT oxide"
    titles, report = await search_titles({"": make_page(*items)}, query, year_from=2010)
    assert (titles, report.returned) == (["Kept"], 1)
    able = TinyDefinition(capabilities=frozenset({"year", "not"}))
    titles, _ = await search_titles({"": make_page(*items)}, query, definition=able, year_from=2010)
    assert titles == ["Old", "Graphene oxide", "Kept"]


async def test_if_no_paper_meets_the_filters_the_report_explains_the_empty_result() -> None:
    _, report = await search_titles({"": make_page({"title": "Old", "year": 1999})}, "a", year_from=2010)
    assert report.status is SourceStatus.EMPTY
    assert report.reason is not None
    assert "Received 1 paper;" in report.reason


async def test_filtered_papers_do_not_use_up_the_limit() -> None:
    old = [{"title": f"Old {i}", "year": 1999} for i in range(10)]
    answers = {"a": make_page(*old, follow=[f"{URL}/2"]), "2": make_page({"title": "New", "year": 2020})}
    titles, _ = await search_titles(answers, "a", year_from=2010, max_results=10)
    assert titles == ["New"]


async def test_a_cycle_of_pages_ends() -> None:
    answers = {
        "a": make_page(follow=[f"{URL}/2"]),
        "2": make_page("B", follow=[f"{URL}/2", f"{URL}/3"]),
        "3": make_page(follow=[f"{URL}/2"]),
    }
    titles, report = await search_titles(answers, "a")
    assert (titles, report.calls, report.status) == (["B"], 3, SourceStatus.OK)


class EndlessTransport(FakeTransport):
    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        return make_page(follow=[f"{URL}/{len(self.requests)}"])


async def test_endless_pages_are_stopped_and_reported() -> None:
    transport = EndlessTransport({})
    result = await HttpSource(TinyDefinition(), transport).search_with_report(make_strategy("a"))
    assert len(transport.requests) == MOST_REQUESTS_PER_QUERY
    assert result.report.status is SourceStatus.FAILED
    assert "Stopped after" in (result.report.reason or "")


class StuckTransport(FakeTransport):
    """A transport that answers only the first request."""

    async def send(self, request: Request) -> Response:
        if self.requests:
            self.requests.append(request)
            await asyncio.Event().wait()
        return await super().send(request)


async def test_papers_before_the_deadline_are_returned() -> None:
    transport = StuckTransport({URL: make_page("A", seconds=0.01, follow=[f"{URL}/2"])})
    result = await HttpSource(TinyDefinition(), transport, deadline_s=0.05).search_with_report(make_strategy("a", "b"))
    assert [paper.title for paper in result.papers] == ["A"]
    assert result.report.partial
    assert result.report.reason == "Did not finish within 0.05 s."
    assert result.report.seconds == 0.05
    assert len(transport.requests) == 2


async def test_a_deadline_without_any_answer_is_a_failure() -> None:
    transport = StuckTransport({})
    transport.requests.append(Request("tiny", URL))
    result = await HttpSource(TinyDefinition(), transport, deadline_s=0.02).search_with_report(make_strategy("a"))
    assert result.report.status is SourceStatus.FAILED


async def test_cancellation_is_not_reported_as_a_deadline() -> None:
    transport = StuckTransport({})
    transport.requests.append(Request("tiny", URL))
    task = asyncio.create_task(HttpSource(TinyDefinition(), transport).search_with_report(make_strategy("a")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_strategy_without_queries_is_skipped_with_a_reason() -> None:
    for queries in ((), ("",)):
        _, report = await search_titles({}, *queries)
        assert report.status is SourceStatus.SKIPPED
        assert report.reason


async def test_an_unexpected_exception_is_reported_without_its_text() -> None:
    _, report = await search_titles({"": OSError("/home/someone/secret")}, "a")
    assert report.status is SourceStatus.FAILED
    assert "OSError" in (report.reason or "")
    assert "secret" not in (report.reason or "")


async def test_search_advanced_raises_a_failure_and_returns_a_partial_result() -> None:
    with pytest.raises(NonRetryableError, match="bad query"):
        await HttpSource(TinyDefinition(), FakeTransport({URL: NonRetryableError("bad query")})).search_advanced(
            make_strategy("a")
        )
    half = FakeTransport({f"{URL}/a": make_page("A", follow=[f"{URL}/2"]), f"{URL}/2": NonRetryableError("bad page")})
    assert [paper.title for paper in await HttpSource(TinyDefinition(), half).search_advanced(make_strategy("a"))] == [
        "A"
    ]


async def test_a_plain_query_is_searched() -> None:
    transport = FakeTransport({URL: make_page({"title": "Old", "year": 1999}, {"title": "New", "year": 2020})})
    papers = await HttpSource(TinyDefinition(), transport).search("graphene", year_from=2010)
    assert [paper.title for paper in papers] == ["New"]


async def test_closing_the_source_closes_its_transport() -> None:
    transport = FakeTransport({})
    await HttpSource(TinyDefinition(), transport).aclose()
    assert transport.closed


class GrowingDefinition(TinyDefinition):
    """A definition that requests two pages at once."""

    def build_requests(self, query: SearchQuery, filters: Any, limit: int) -> list[Request]:
        return [Request(self.name, f"{URL}/{n}") for n in (1, 2)]


async def test_papers_of_an_answer_over_the_limit_are_cut() -> None:
    answers = {"1": make_page(*"ABCDEFG"), "2": make_page(*"HIJKLMN")}
    titles, _ = await search_titles(answers, "a", definition=GrowingDefinition(), max_results=10)
    assert titles == list("ABCDEFGHIJ")


async def test_three_hundred_authors_nul_bytes_and_right_to_left_text_pass_through() -> None:
    item = {"title": "مرحبا\x00 بالعالم", "authors": [{"name": f"Author {i}"} for i in range(300)]}
    transport = FakeTransport({URL: Response(200, json.dumps({"items": [item]}).encode())})
    (paper,) = await HttpSource(TinyDefinition(), transport).search_advanced(make_strategy("a"))
    assert (paper.title, len(paper.authors)) == ("مرحبا بالعالم", 300)
