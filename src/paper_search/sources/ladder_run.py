"""Climb the ladder of a strategy with one source, rung by rung, until there are enough papers; report on it."""

import re
from collections import Counter
from collections.abc import AsyncGenerator, Hashable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, Protocol

from paper_search.domain.large_work import call_in_thread_if_large
from paper_search.domain.query.filters import filter_papers
from paper_search.domain.query.query_texts import select_queries
from paper_search.domain.review_models import ExclusionReason
from paper_search.domain.source_descriptions import is_query_short
from paper_search.domain.strategies.platform_translation import describe_source_changes
from paper_search.errors import (
    CallLimitError,
    DeadlineError,
    MissingKeyError,
    NonRetryableError,
    SearchSourceError,
)
from paper_search.models import (
    QueryReport,
    RawPaper,
    SearchQuery,
    SearchStrategy,
    SourceKind,
    SourceReport,
    SourceStatus,
    StopReason,
)
from paper_search.sources.interfaces import SourcePage
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.logging import get_logger

MOST_DRY_RUNGS: Final = 2
"""The ladder ends after as many rungs in a row that matched papers but added none."""
_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A query as one source receives it."""

    query: SearchQuery
    text: str
    """The exact text that the source receives."""
    key: Hashable
    """Equal for queries that are the same to the source."""
    problem: str | None = None
    """Why the source cannot be sent the query."""
    is_lookup: bool = False


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page of the matches of a query, and whether the source has a further page."""

    page: SourcePage
    has_next: bool


class PagedSource(Protocol):
    """A source that sends the matches of one query page by page."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> SourceKind | None: ...

    @property
    def capabilities(self) -> frozenset[str]:
        """The filters that the source applies itself."""
        ...

    def prepare_query(self, query: SearchQuery) -> PreparedQuery: ...

    def fetch_pages(self, prepared: PreparedQuery) -> AsyncGenerator[FetchedPage, None]:
        """Yield the pages. Raise SearchSourceError if the source fails."""
        ...


class LadderRun:
    """The run of `source` for a strategy. `climb` runs it, once.

    `limit` distinct papers are wanted that are new to the search: repeats, and papers whose ids are in `known`, are
    returned but do not count.
    """

    def __init__(self, source: PagedSource, strategy: SearchStrategy, limit: int, known: frozenset[str]) -> None:
        self._source = source
        self._filters = strategy.filters
        self._limit = limit
        self._known = known
        self._queries = select_queries(source.kind, strategy.queries)
        self._seen: set[str] = set()
        self._distinct = DistinctCount()
        self._new = 0
        self.keeps_repetitions = False
        """Whether the deduplicator receives repetitions: records of a source that joins others differ."""
        self.papers: list[RawPaper] = []
        self.removed: Counter[str] = Counter()
        self.errors: list[SearchSourceError] = []
        self.queries: list[QueryReport] = []
        """What the source did with each query, in the order of the plan."""

    async def climb(self) -> None:
        """Run all queries of a rung, the lowest first, until the search has enough papers or an error is final."""
        dry_rungs, end = 0, None
        for _, steps in groupby(sorted(self._prepare_queries(), key=_get_rung), key=_get_rung):
            rung = list(steps)
            end = end or self._explain_end(dry_rungs)
            for prepared, report in rung:
                report.reason = end or prepared.problem or self._explain_final_error()
                if report.reason is None:
                    await self._run_query(prepared, report)
            added, fetched = sum(report.added for _, report in rung), sum(report.fetched for _, report in rung)
            dry_rungs = dry_rungs + 1 if fetched and not added else 0

    def _prepare_queries(self) -> list[tuple[PreparedQuery, QueryReport]]:
        """Return the queries that differ for this source, each with its report; report on the others too."""
        distinct: dict[object, tuple[PreparedQuery, QueryReport]] = {}
        for query in self._queries:
            try:
                prepared = self._source.prepare_query(query)
            except Exception:  # raised again when the query is run
                prepared = PreparedQuery(query, query.boolean_query, query.boolean_query)
            changes = describe_source_changes(self._source.name, self._source.kind, query.boolean_query)
            report = QueryReport(text=prepared.text, rung=query.rung, stopped=StopReason.NOT_RUN, changes=changes)
            self.queries.append(report)
            if prepared.key in distinct:
                report.reason = "An earlier query gives the source the same text."
            else:
                distinct[prepared.key] = prepared, report
        return list(distinct.values())

    def _explain_end(self, dry_rungs: int) -> str | None:
        """Return why no further rung is run, or None to go on."""
        if self._new >= self._limit:
            return f"The source had already sent {plural(self._new, 'new paper')}; {self._limit:,} were wanted."
        return f"{MOST_DRY_RUNGS} rungs in a row added no paper." if dry_rungs >= MOST_DRY_RUNGS else None

    def _explain_final_error(self) -> str | None:
        final = next((error for error in self.errors if _is_final_for_source(error)), None)
        return final and f"An earlier query ended the search: {final.message}"

    async def _run_query(self, prepared: PreparedQuery, report: QueryReport) -> None:
        try:
            report.stopped = await self._fetch_until_enough(prepared, report)
        except SearchSourceError as error:
            self._add_error(report, error)
        except Exception as error:
            _log.exception("a source failed unexpectedly", source=self._source.name)
            self._add_error(report, NonRetryableError(f"Unexpected {type(error).__name__}; the log has the details."))

    def _add_error(self, report: QueryReport, error: SearchSourceError) -> None:
        self.errors.append(error)
        report.stopped = StopReason.DEADLINE if isinstance(error, DeadlineError) else StopReason.FAILED
        report.reason = error.message

    async def _fetch_until_enough(self, prepared: PreparedQuery, report: QueryReport) -> StopReason:
        new_before, accepted = self._new, 0
        async with aclosing(self._source.fetch_pages(prepared)) as pages:
            async for fetched in pages:
                page = fetched.page
                report.fetched += len(page.papers) if page.sent is None else page.sent
                report.found = _get_larger_count(report.found, page.found)
                most_new, size = new_before + self._limit, len(page.papers)
                papers, is_cut = await call_in_thread_if_large(
                    size, self.add_received, page.papers, [prepared.query.boolean_query], report, most_new
                )
                accepted += papers
                if page.stopped is not None:
                    return page.stopped
                if is_cut or (fetched.has_next and min(accepted, self._new) >= self._limit):
                    return StopReason.ENOUGH
        if prepared.is_lookup:
            return StopReason.COMPLETE
        if report.found is None:
            return StopReason.UNKNOWN
        return StopReason.COMPLETE if report.fetched >= report.found else StopReason.SOURCE_LIMIT

    def add_received(
        self, received: list[RawPaper], queries: Sequence[str], report: QueryReport, most_new: int
    ) -> tuple[int, bool]:
        """Add the papers that meet the filters; return the number of these papers, and whether some were cut."""
        papers, removed = filter_papers(received, self._filters, queries, self._source.capabilities)
        self.removed += removed
        return len(papers), self._add_papers(papers, report, most_new)

    def _add_papers(self, papers: list[RawPaper], report: QueryReport, most_new: int) -> bool:
        """Add the papers until `most_new` are new to the search, and count the others; return whether some were cut."""
        cut = 0
        for paper in papers:
            is_new = paper.id not in self._known and not self._distinct.is_repeat(paper)
            # Records without an identifier may share an id and yet be two papers: the deduplicator decides that.
            if (paper.identifiers or paper.doi) and paper.id in self._seen and not self.keeps_repetitions:
                self.removed[ExclusionReason.DUPLICATE.value] += 1
            elif is_new and self._new >= most_new:
                cut += 1
            else:
                self._seen.add(paper.id)
                self._distinct.add(paper)
                self.papers.append(paper)
                self._new += is_new
                report.added += 1
        if cut:
            self.removed[ExclusionReason.OVER_SOURCE_LIMIT.value] += cut
        return cut > 0


def _get_rung(step: tuple[PreparedQuery, QueryReport]) -> int:
    return step[0].query.rung


def _is_final_for_source(error: SearchSourceError) -> bool:
    """Return True if the source's other queries would fail in the same way."""
    return isinstance(error, MissingKeyError | CallLimitError | DeadlineError) or error.rate_limited


def _get_larger_count(first: int | None, second: int | None) -> int | None:
    return second if first is None else max(first, second or 0)


_WORD: Final = re.compile(r"\w+")


class DistinctCount:
    """Counts papers. A record with an identifier or the title of an earlier record is a repeat.

    Papers that only share a title count as repeats too, so that a source sends too many papers rather than too few.
    """

    def __init__(self) -> None:
        self._names: set[tuple[str, str]] = set()

    def is_repeat(self, paper: RawPaper) -> bool:
        """Return True if an added record has an identifier or the title of this one."""
        return any(name in self._names for name in _iterate_names(paper))

    def add(self, paper: RawPaper) -> None:
        self._names.update(_iterate_names(paper))


def _iterate_names(paper: RawPaper) -> Iterator[tuple[str, str]]:
    yield from ((scheme, value.lower()) for scheme, value in paper.identifiers.items())
    if paper.doi:
        yield "doi", paper.doi.lower()
    if title := " ".join(_WORD.findall(paper.title.casefold())):
        yield "title", title


@dataclass(slots=True)
class RunCost:
    """The requests, calls and seconds of a run. A request takes several calls if it is retried."""

    sent: int = 0
    calls: int = 0
    seconds: float = 0.0
    requests: list[str] = field(default_factory=list[str])
    """The first requests of each query as addresses."""

    def add_request(self, calls: int = 1, seconds: float = 0.0) -> None:
        self.sent += 1
        self.calls += calls
        self.seconds = round(self.seconds + seconds, 3)


def build_run_report(name: str, run: LadderRun, cost: RunCost) -> SourceReport:
    return SourceReport(
        name=name,
        status=_get_status(run, cost),
        returned=len(run.papers),
        removed=dict(sorted(run.removed.items())),
        found=_count_matches(run.queries),
        calls=cost.calls,
        seconds=cost.seconds,
        reason=_describe_outcome(run, cost),
        retry_at=next((error.retry_at for error in run.errors if error.retry_at), None),
        requests=cost.requests,
        queries=run.queries,
        partial=bool(run.papers and run.errors) or any(is_query_short(query) for query in run.queries),
    )


def _count_matches(queries: list[QueryReport]) -> int | None:
    """Return the matches of the only query that was run; of several, whose matches overlap, only 0 is known."""
    counts = [query.found for query in queries if query.stopped is not StopReason.NOT_RUN]
    return counts[0] if len(set(counts)) == 1 and (len(counts) == 1 or counts[0] == 0) else None


def _get_status(run: LadderRun, cost: RunCost) -> SourceStatus:
    if run.papers:
        return SourceStatus.OK
    if any(error.rate_limited for error in run.errors):
        return SourceStatus.RATE_LIMITED
    if run.errors:
        refused_unasked = cost.calls == 0 and isinstance(run.errors[0], MissingKeyError | CallLimitError)
        return SourceStatus.SKIPPED if refused_unasked else SourceStatus.FAILED
    if not cost.sent:
        return SourceStatus.SKIPPED
    tried = [query for query in run.queries if query.stopped is not StopReason.NOT_RUN]
    is_refused = bool(tried) and all(query.stopped is StopReason.TOO_BROAD for query in tried)
    return SourceStatus.FAILED if is_refused else SourceStatus.EMPTY


def _describe_outcome(run: LadderRun, cost: RunCost) -> str | None:
    refused = sum(query.stopped is StopReason.TOO_BROAD for query in run.queries)
    messages = [error.message for error in run.errors]
    if refused:
        messages.append(f"It refused {plural(refused, 'query', 'queries')} as too broad")
    if messages:
        return " ".join(f"{message}." for message in dict.fromkeys(text.rstrip(".") for text in messages))
    if run.papers:
        return None
    if not cost.sent:
        return next((query.reason for query in run.queries if query.reason), _NO_QUERY)
    received = run.removed.total()
    return f"Received {plural(received, 'paper')}; none meets the filters." if received else None


_NO_QUERY = "The strategy has no query that this source can search."
