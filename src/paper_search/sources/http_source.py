"""HTTP sources: a definition's requests sent, pages followed, limits applied and failures reported."""

import asyncio
from collections import Counter, deque
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Final

from paper_search.errors import (
    CallLimitError,
    DeadlineError,
    MissingKeyError,
    NonRetryableError,
    RetryableError,
    SearchSourceError,
)
from paper_search.identifier_queries import read_identifiers
from paper_search.models import MAX_RESULTS_CAP, RawPaper, SearchQuery, SearchStrategy, SourceReport, SourceStatus
from paper_search.query.filters import compute_query_limit, filter_papers
from paper_search.review_models import ExclusionReason
from paper_search.sources.interfaces import (
    LookupDefinition,
    Page,
    Request,
    Response,
    SearchSource,
    SourceDefinition,
    SourceResult,
    Transport,
    forget_answer,
)
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.text import plural

MOST_REQUESTS_PER_QUERY: Final = 100
_QUICKLY_READ: Final = 16_000
_NOT_FOUND: Final = 404
_log = get_logger(__name__)


class HttpSource(SearchSource):
    """A source that sends the requests of `definition` through `transport`.

    After `deadline_s` seconds the search ends with the papers received until then; None sets no deadline. Large answers
    are read in the threads of `reader`: one shared thread leaves the event loop the most time.
    """

    def __init__(
        self,
        definition: SourceDefinition,
        transport: Transport,
        *,
        deadline_s: float | None = 60.0,
        reader: Executor | None = None,
    ) -> None:
        self._definition = definition
        self._transport = transport
        self._deadline_s = deadline_s
        self._reader = reader

    @property
    def source_name(self) -> str:
        return self._definition.name

    async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
        progress = await self._run_search(strategy)
        if progress.errors and not progress.papers:
            raise progress.errors[-1]
        return progress.papers

    async def search_with_report(self, strategy: SearchStrategy) -> SourceResult:
        """Return the papers and a report, which contains every failure. Never raises."""
        progress = await self._run_search(strategy)
        return SourceResult(progress.papers, progress.build_report(self.source_name))

    async def aclose(self) -> None:
        """Close the transport, which may be shared; the next request opens it again."""
        await self._transport.aclose()

    async def _run_search(self, strategy: SearchStrategy) -> "_SearchProgress":
        return await _Search(self._definition, self._transport, strategy, self._deadline_s, self._reader).run_queries()


@dataclass(slots=True)
class _SearchProgress:
    """The papers, errors, calls and seconds of one search so far."""

    limit: int
    papers: list[RawPaper] = field(default_factory=list[RawPaper])
    removed: Counter[str] = field(default_factory=Counter[str])
    found: int | None = None
    sent: int = 0
    calls: int = 0
    seconds: float = 0.0
    errors: list[SearchSourceError] = field(default_factory=list[SearchSourceError])
    requests: list[str] = field(default_factory=list[str])
    cannot_look_up: bool = False
    _seen: set[str] = field(default_factory=set[str])

    @property
    def remaining(self) -> int:
        return self.limit - len(self.papers)

    @property
    def received(self) -> int:
        return len(self.papers) + self.removed.total()

    def add_cost(self, calls: int, seconds: float) -> None:
        """Add the calls and seconds of a request."""
        self.calls += calls
        self.seconds = round(self.seconds + seconds, 3)

    def add_papers(self, papers: list[RawPaper], limit: int) -> int:
        """Add up to `limit` papers that are new, count the others as removed, and return how many were added."""
        before = len(self.papers)
        for paper in papers:
            # Records without an identifier may share an id and yet be two papers: the deduplicator decides that.
            identified = bool(paper.identifiers or paper.doi)
            if identified and paper.id in self._seen:
                self.removed[ExclusionReason.DUPLICATE.value] += 1
            elif len(self.papers) - before >= limit:
                self.removed[ExclusionReason.OVER_SOURCE_LIMIT.value] += 1
            else:
                self._seen.add(paper.id)
                self.papers.append(paper)
        return len(self.papers) - before

    def build_report(self, name: str) -> SourceReport:
        """Return the report on the search."""
        return SourceReport(
            name=name,
            status=self._get_status(),
            returned=len(self.papers),
            removed=dict(sorted(self.removed.items())),
            found=self.found,
            calls=self.calls,
            seconds=self.seconds,
            reason=self._describe_outcome(),
            retry_at=next((error.retry_at for error in self.errors if error.retry_at), None),
            requests=self.requests,
            partial=bool(self.papers and self.errors),
        )

    def _get_status(self) -> SourceStatus:
        if self.papers:
            return SourceStatus.OK
        if any(error.rate_limited for error in self.errors):
            return SourceStatus.RATE_LIMITED
        if self.errors:
            refused_unasked = self.calls == 0 and isinstance(self.errors[0], MissingKeyError | CallLimitError)
            return SourceStatus.SKIPPED if refused_unasked else SourceStatus.FAILED
        return SourceStatus.EMPTY if self.sent else SourceStatus.SKIPPED

    def _describe_outcome(self) -> str | None:
        if self.errors:
            return " ".join(f"{message}." for message in dict.fromkeys(e.message.rstrip(".") for e in self.errors))
        if self.papers:
            return None
        if self.cannot_look_up and not self.sent:
            return "This source cannot look up these identifiers."
        if not self.sent:
            return "The strategy has no query that this source can search."
        return f"Received {plural(self.received, 'paper')}; none meets the filters." if self.received else None


class _Search:
    """The search of one source for one strategy."""

    def __init__(
        self,
        definition: SourceDefinition,
        transport: Transport,
        strategy: SearchStrategy,
        deadline_s: float | None,
        reader: Executor | None,
    ) -> None:
        self._definition = definition
        self._transport = transport
        self._queries = strategy.queries
        self._filters = strategy.filters
        self._deadline_s = deadline_s
        self._ends_at = None if deadline_s is None else asyncio.get_running_loop().time() + deadline_s
        self._reader = reader
        self._progress = _SearchProgress(limit=min(strategy.filters.max_results, MAX_RESULTS_CAP))

    async def run_queries(self) -> _SearchProgress:
        """Run the queries one after another until the limit is reached or an error is final."""
        progress = self._progress
        queries = self._list_distinct_queries()
        share = compute_query_limit(progress.limit, len(queries))
        for query in queries:
            if progress.remaining <= 0:
                break
            try:
                await self._fetch_pages_into_progress(query, min(share, progress.remaining))
            except SearchSourceError as error:
                progress.errors.append(error)
                if _is_final_for_source(error):
                    break
            except Exception as error:
                _log.exception("a source failed unexpectedly", source=self._definition.name)
                progress.errors.append(
                    NonRetryableError(f"Unexpected {type(error).__name__}; the log has the details.")
                )
        return progress

    def _list_distinct_queries(self) -> list[SearchQuery]:
        """Return the queries that differ for this source: without operators several may be the same words."""
        distinct: dict[object, SearchQuery] = {}
        for query in self._queries:
            try:
                first: object = tuple(self._build_requests(query, 1))
            except Exception:
                first = query.boolean_query  # the failure is reported when the query is run
            distinct.setdefault(first, query)
        return list(distinct.values())

    def _build_requests(self, query: SearchQuery, limit: int) -> list[Request]:
        """Return the first requests of a query; a query of identifiers gives lookups."""
        identifiers = read_identifiers(query.boolean_query)
        if not identifiers:
            return self._definition.build_requests(query, self._filters, limit)
        if isinstance(self._definition, LookupDefinition):
            return self._definition.build_lookup_requests(identifiers)
        return []

    async def _fetch_pages_into_progress(self, query: SearchQuery, limit: int) -> None:
        """Send the requests of one query and those that follow from the answers, until `limit` papers are added."""
        is_lookup = bool(read_identifiers(query.boolean_query))
        waiting = deque(self._build_requests(query, limit))
        self._progress.cannot_look_up |= is_lookup and not waiting
        known = set(waiting)
        self._progress.requests += [request.address for request in waiting]
        for _ in range(MOST_REQUESTS_PER_QUERY):
            if not waiting or limit <= 0:
                return
            page = await self._fetch_page_with_retry(waiting.popleft(), limit, missing_ok=is_lookup)
            papers, removed = filter_papers(
                page.papers, self._filters, [query.boolean_query], self._definition.capabilities
            )
            self._progress.removed += removed
            limit -= self._progress.add_papers(papers, limit)
            self._progress.found = _get_larger_count(self._progress.found, page.found)
            # Following a page that leads back to an earlier one would never end.
            waiting.extend(further for further in page.follow if further not in known)
            known.update(page.follow)
        if waiting and limit > 0:
            raise NonRetryableError(f"Stopped after {MOST_REQUESTS_PER_QUERY} requests for one query.")

    async def _fetch_page_with_retry(self, request: Request, limit: int, *, missing_ok: bool) -> Page:
        try:
            response = await self._send_request_until_deadline(request)
        except NonRetryableError as error:
            if missing_ok and error.ids.get("status") == _NOT_FOUND:
                return Page([])
            raise
        try:
            return await self._read_page_or_forget_answer(request, response, limit)
        except RetryableError as error:
            if error.rate_limited:
                raise
        return await self._read_page_or_forget_answer(request, await self._send_request_until_deadline(request), limit)

    async def _send_request_until_deadline(self, request: Request) -> Response:
        """Send a request until the deadline, which never ends the reading of an answer: a replay must end the same."""
        self._progress.sent += 1
        try:
            async with asyncio.timeout_at(self._ends_at):
                response = await self._transport.send(request)
        except SearchSourceError as error:
            self._progress.add_cost(error.ids.get("calls", 1), error.ids.get("seconds", 0.0))
            raise
        except TimeoutError as error:
            self._progress.add_cost(1, max(0.0, (self._deadline_s or 0.0) - self._progress.seconds))
            raise DeadlineError(f"Did not finish within {self._deadline_s or 0.0:g} s.") from error
        self._progress.add_cost(response.calls, response.seconds)
        return response

    async def _read_page_or_forget_answer(self, request: Request, response: Response, limit: int) -> Page:
        read = self._definition.read_response
        try:
            if len(response.body) < _QUICKLY_READ:
                return read(request, response, limit)
            return await asyncio.get_running_loop().run_in_executor(self._reader, read, request, response, limit)
        except Exception as error:
            await forget_answer(self._transport, request)
            if isinstance(error, SearchSourceError):
                raise
            _log.exception("an answer could not be read", source=request.source)
            raise NonRetryableError(f"Malformed answer ({type(error).__name__}).") from error


def _is_final_for_source(error: SearchSourceError) -> bool:
    """Return True if the source's other queries would fail in the same way."""
    return isinstance(error, MissingKeyError | CallLimitError | DeadlineError) or error.rate_limited


def _get_larger_count(first: int | None, second: int | None) -> int | None:
    return second if first is None else max(first, second or 0)
