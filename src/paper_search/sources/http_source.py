"""A source definition put to work: its requests sent, its pages followed, its limits kept, its failures told."""

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
from paper_search.lookups import read_identifiers
from paper_search.models import MAX_RESULTS_CAP, RawPaper, SearchQuery, SearchStrategy, SourceReport, SourceStatus
from paper_search.query.filters import filter_papers, share_limit
from paper_search.review import ExclusionReason
from paper_search.sources.interfaces import (
    LookupDefinition,
    Page,
    Request,
    Response,
    SearchSource,
    SourceDefinition,
    SourceResult,
    Transport,
    forget,
)
from uraniborg.kernel.logging import get_logger

MOST_REQUESTS_PER_QUERY: Final = 100
_QUICKLY_READ: Final = 16_000
_NOT_FOUND: Final = 404
_log = get_logger(__name__)


class HttpSource(SearchSource):
    """Searches what `definition` describes through `transport`.

    When `deadline_s` pass before the source has finished, what came until then is kept; None sets no deadline.
    Answers are read in the threads of `reader`: sources that share one thread leave the event loop the most time.
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
        haul = await self._search(strategy)
        if haul.errors and not haul.papers:
            raise haul.errors[-1]
        return haul.papers

    async def search_reported(self, strategy: SearchStrategy) -> SourceResult:
        """The papers and how it went. Raises nothing: what fails is in the report."""
        haul = await self._search(strategy)
        return SourceResult(haul.papers, haul.report(self.source_name))

    async def aclose(self) -> None:
        """Closes the transport, which may be shared; it opens again when it is used again."""
        await self._transport.aclose()

    async def _search(self, strategy: SearchStrategy) -> "_Haul":
        return await _Search(self._definition, self._transport, strategy, self._deadline_s, self._reader).run()


@dataclass(slots=True)
class _Haul:
    """What one search has brought so far, and at what cost."""

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
    def room(self) -> int:
        return self.limit - len(self.papers)

    @property
    def received(self) -> int:
        return len(self.papers) + self.removed.total()

    def charge(self, calls: int, seconds: float) -> None:
        self.calls += calls
        self.seconds = round(self.seconds + seconds, 3)

    def take(self, papers: list[RawPaper], most: int) -> int:
        """Add up to `most` papers that are new, count the others as removed, and return how many were added."""
        before = len(self.papers)
        for paper in papers:
            # Records without an identifier may share an id and yet be two papers: the deduplicator decides that.
            identified = bool(paper.identifiers or paper.doi)
            if identified and paper.id in self._seen:
                self.removed[ExclusionReason.DUPLICATE.value] += 1
            elif len(self.papers) - before >= most:
                self.removed[ExclusionReason.OVER_SOURCE_LIMIT.value] += 1
            else:
                self._seen.add(paper.id)
                self.papers.append(paper)
        return len(self.papers) - before

    def report(self, name: str) -> SourceReport:
        return SourceReport(
            name=name,
            status=self._status(),
            returned=len(self.papers),
            removed=dict(sorted(self.removed.items())),
            found=self.found,
            calls=self.calls,
            seconds=self.seconds,
            reason=self._reason(),
            retry_at=next((error.retry_at for error in self.errors if error.retry_at), None),
            requests=self.requests,
            partial=bool(self.papers and self.errors),
        )

    def _status(self) -> SourceStatus:
        if self.papers:
            return SourceStatus.OK
        if any(error.rate_limited for error in self.errors):
            return SourceStatus.RATE_LIMITED
        if self.errors:
            refused_unasked = self.calls == 0 and isinstance(self.errors[0], MissingKeyError | CallLimitError)
            return SourceStatus.SKIPPED if refused_unasked else SourceStatus.FAILED
        return SourceStatus.EMPTY if self.sent else SourceStatus.SKIPPED

    def _reason(self) -> str | None:
        if self.errors:
            return " ".join(f"{message}." for message in dict.fromkeys(e.message.rstrip(".") for e in self.errors))
        if self.papers:
            return None
        if self.cannot_look_up and not self.sent:
            return "This source cannot look up these identifiers."
        if not self.sent:
            return "The strategy asks for nothing that can be searched for here."
        return f"None of the {self.received} papers that came meets the filters." if self.received else None


class _Search:
    """One strategy on its way through one source."""

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
        self._haul = _Haul(limit=min(strategy.filters.max_results, MAX_RESULTS_CAP))

    async def run(self) -> _Haul:
        haul = self._haul
        queries = self._distinct()
        share = share_limit(haul.limit, len(queries))
        for query in queries:
            if haul.room <= 0:
                break
            try:
                await self._follow(query, min(share, haul.room))
            except SearchSourceError as error:
                haul.errors.append(error)
                if _is_final(error):
                    break
            except Exception as error:
                _log.exception("a source failed in an unexpected way", source=self._definition.name)
                haul.errors.append(NonRetryableError(f"Unexpected {type(error).__name__}; the log has the details."))
        return haul

    def _distinct(self) -> list[SearchQuery]:
        """The queries that ask this source for different things: without operators several may be the same words."""
        asked: dict[object, SearchQuery] = {}
        for query in self._queries:
            try:
                first: object = tuple(self._requests(query, 1))
            except Exception:
                first = query.boolean_query  # it fails again, and is told, when it is asked in earnest
            asked.setdefault(first, query)
        return list(asked.values())

    def _requests(self, query: SearchQuery, limit: int) -> list[Request]:
        """Return the first requests of a query; one that consists of identifiers looks those up."""
        identifiers = read_identifiers(query.boolean_query)
        if not identifiers:
            return self._definition.requests(query, self._filters, limit)
        if isinstance(self._definition, LookupDefinition):
            return self._definition.lookups(identifiers)
        return []

    async def _follow(self, query: SearchQuery, limit: int) -> None:
        """Sends the requests of one query and those their answers lead to, until `limit` papers are kept."""
        by_identifier = bool(read_identifiers(query.boolean_query))
        waiting = deque(self._requests(query, limit))
        self._haul.cannot_look_up |= by_identifier and not waiting
        known = set(waiting)
        self._haul.requests += [request.address for request in waiting]
        for _ in range(MOST_REQUESTS_PER_QUERY):
            if not waiting or limit <= 0:
                return
            page = await self._page(waiting.popleft(), limit, missing_ok=by_identifier)
            papers, removed = filter_papers(
                page.papers, self._filters, [query.boolean_query], self._definition.capabilities
            )
            self._haul.removed += removed
            limit -= self._haul.take(papers, limit)
            self._haul.found = _larger(self._haul.found, page.found)
            # A page that leads back to one already seen would never end.
            waiting.extend(further for further in page.follow if further not in known)
            known.update(page.follow)
        if waiting and limit > 0:
            raise NonRetryableError(f"Stopped after {MOST_REQUESTS_PER_QUERY} requests for one query.")

    async def _page(self, request: Request, limit: int, *, missing_ok: bool) -> Page:
        try:
            response = await self._send(request)
        except NonRetryableError as error:
            if missing_ok and error.ids.get("status") == _NOT_FOUND:
                return Page([])
            raise
        try:
            return await self._read(request, response, limit)
        except RetryableError as error:
            if error.rate_limited:
                raise
        return await self._read(request, await self._send(request), limit)

    async def _send(self, request: Request) -> Response:
        """The deadline can end a request only, never the reading of an answer: so a replay sees the same end."""
        self._haul.sent += 1
        try:
            async with asyncio.timeout_at(self._ends_at):
                response = await self._transport.send(request)
        except SearchSourceError as error:
            self._haul.charge(error.ids.get("calls", 1), error.ids.get("seconds", 0.0))
            raise
        except TimeoutError as error:
            self._haul.charge(1, max(0.0, (self._deadline_s or 0.0) - self._haul.seconds))
            raise DeadlineError(f"Did not finish within {self._deadline_s or 0.0:g} s.") from error
        self._haul.charge(response.calls, response.seconds)
        return response

    async def _read(self, request: Request, response: Response, limit: int) -> Page:
        read = self._definition.read
        try:
            if len(response.body) < _QUICKLY_READ:
                return read(request, response, limit)
            return await asyncio.get_running_loop().run_in_executor(self._reader, read, request, response, limit)
        except Exception as error:
            await forget(self._transport, request)
            if isinstance(error, SearchSourceError):
                raise
            _log.exception("an answer could not be read", source=request.source)
            raise NonRetryableError(f"Malformed answer ({type(error).__name__}).") from error


def _is_final(error: SearchSourceError) -> bool:
    """Whether the source's other queries would meet the same end."""
    return isinstance(error, MissingKeyError | CallLimitError | DeadlineError) or error.rate_limited


def _larger(first: int | None, second: int | None) -> int | None:
    return second if first is None else max(first, second or 0)
