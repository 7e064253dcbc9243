"""Search a source over HTTP: send a definition's requests, follow pages, apply limits, report failures."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import Executor
from typing import Final

from paper_search.domain.query.identifier_queries import read_identifiers
from paper_search.errors import DeadlineError, NonRetryableError, RetryableError, SearchSourceError
from paper_search.models import MAX_RESULTS_CAP, RawPaper, SearchConstraints, SearchQuery, SearchStrategy, SourceKind
from paper_search.sources.in_process_sources import SCHEME
from paper_search.sources.interfaces import (
    LookupDefinition,
    Request,
    Response,
    SearchSource,
    SourceDefinition,
    SourcePage,
    SourceResult,
    Transport,
    forget_answer,
)
from paper_search.sources.ladder_run import FetchedPage, LadderRun, PreparedQuery, RunCost, build_run_report
from uraniborg.kernel.logging import get_logger

MOST_REQUESTS_PER_QUERY: Final = 250
"""As many requests as 20,000 papers take at 100 a page, and some more."""
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
        run, _ = await self._climb_ladder(strategy, frozenset())
        if run.errors and not run.papers:
            raise run.errors[-1]
        return run.papers

    async def search_with_report(self, strategy: SearchStrategy, known: frozenset[str] = frozenset()) -> SourceResult:
        """Return the papers and a report, which contains every failure. Never raises."""
        run, cost = await self._climb_ladder(strategy, known)
        return SourceResult(run.papers, build_run_report(self.source_name, run, cost))

    async def aclose(self) -> None:
        """Close the transport, which may be shared; the next request opens it again."""
        await self._transport.aclose()

    async def _climb_ladder(self, strategy: SearchStrategy, known: frozenset[str]) -> tuple[LadderRun, RunCost]:
        limit = max(0, min(strategy.filters.max_results, MAX_RESULTS_CAP))
        pages = _HttpPages(self._definition, self._transport, strategy.filters, limit, self._deadline_s, self._reader)
        run = LadderRun(pages, strategy, limit, known)
        await run.climb()
        return run, pages.cost


class _HttpPages:
    """A definition and its transport as the ladder sees them."""

    def __init__(
        self,
        definition: SourceDefinition,
        transport: Transport,
        filters: SearchConstraints,
        limit: int,
        deadline_s: float | None,
        reader: Executor | None,
    ) -> None:
        self._definition = definition
        self._transport = transport
        self._filters = filters
        self._limit = limit
        self._deadline_s = deadline_s
        self._ends_at = None if deadline_s is None else asyncio.get_running_loop().time() + deadline_s
        self._reader = reader
        self.cost = RunCost()

    @property
    def name(self) -> str:
        return self._definition.name

    @property
    def kind(self) -> SourceKind | None:
        return self._definition.kind

    @property
    def capabilities(self) -> frozenset[str]:
        return self._definition.capabilities

    def prepare_query(self, query: SearchQuery) -> PreparedQuery:
        """Return the query as its requests: without operators several queries may be the same words."""
        is_lookup = bool(read_identifiers(query.boolean_query))
        requests = build_first_requests(self._definition, query, self._filters, self._limit)
        if not requests:
            problem = explain_missing_requests(query)
            return PreparedQuery(query, query.boolean_query, query.boolean_query, problem, is_lookup)
        return PreparedQuery(query, find_query_text(query, requests), tuple(requests), is_lookup=is_lookup)

    async def fetch_pages(self, prepared: PreparedQuery) -> AsyncGenerator[FetchedPage, None]:
        """Yield the answers to the requests of a query, and to those that follow from the answers."""
        waiting = deque(build_first_requests(self._definition, prepared.query, self._filters, self._limit))
        known = set(waiting)
        self.cost.requests += [request.address for request in waiting]
        for _ in range(MOST_REQUESTS_PER_QUERY):
            if not waiting:
                return
            page = await self._fetch_page_with_retry(waiting.popleft(), missing_ok=prepared.is_lookup)
            # Following a page that leads back to an earlier one would never end.
            waiting.extend(further for further in page.follow if further not in known)
            known.update(page.follow)
            yield FetchedPage(page, has_next=bool(waiting))
        if waiting:
            raise NonRetryableError(f"Stopped after {MOST_REQUESTS_PER_QUERY} requests for one query.")

    async def _fetch_page_with_retry(self, request: Request, *, missing_ok: bool) -> SourcePage:
        try:
            response = await self._send_request_until_deadline(request)
        except NonRetryableError as error:
            if missing_ok and error.ids.get("status") == _NOT_FOUND:
                return SourcePage([])
            raise
        try:
            return await self._read_page_or_forget_answer(request, response)
        except RetryableError as error:
            if error.rate_limited:
                raise
        return await self._read_page_or_forget_answer(request, await self._send_request_until_deadline(request))

    async def _send_request_until_deadline(self, request: Request) -> Response:
        """Send a request until the deadline, which never ends the reading of an answer: a replay must end the same."""
        try:
            async with asyncio.timeout_at(self._ends_at):
                response = await self._transport.send(request)
        except SearchSourceError as error:
            self.cost.add_request(error.ids.get("calls", 1), error.ids.get("seconds", 0.0))
            raise
        except TimeoutError as error:
            self.cost.add_request(1, max(0.0, (self._deadline_s or 0.0) - self.cost.seconds))
            raise DeadlineError(f"Did not finish within {self._deadline_s or 0.0:g} s.") from error
        self.cost.add_request(response.calls, response.seconds)
        return response

    async def _read_page_or_forget_answer(self, request: Request, response: Response) -> SourcePage:
        read = self._definition.read_response
        try:
            if len(response.body) < _QUICKLY_READ:
                return read(request, response)
            return await asyncio.get_running_loop().run_in_executor(self._reader, read, request, response)
        except Exception as error:
            await forget_answer(self._transport, request)
            if isinstance(error, SearchSourceError):
                raise
            _log.exception("an answer could not be read", source=request.source)
            raise NonRetryableError(f"Malformed answer ({type(error).__name__}).") from error


_QUERY_PARAMETERS: Final = (
    *("search_query", "query.bibliographic", "search", "query", "term", "q", "id_list", "filter", "id", "strategy"),
)
"""The parameters in which sources receive the query, in the order of preference."""


def build_first_requests(
    definition: SourceDefinition, query: SearchQuery, filters: SearchConstraints, limit: int
) -> list[Request]:
    """Return the first requests of a query; a query of identifiers gives lookups."""
    identifiers = read_identifiers(query.boolean_query)
    if not identifiers:
        return definition.build_requests(query, filters, limit)
    if isinstance(definition, LookupDefinition):
        return definition.build_lookup_requests(identifiers)
    return []


def explain_missing_requests(query: SearchQuery) -> str:
    """Return why a query gives no request."""
    if read_identifiers(query.boolean_query):
        return "This source cannot look up these identifiers."
    return "This source finds nothing to search for in this query."


def find_query_text(query: SearchQuery, requests: Sequence[Request]) -> str:
    """Return the exact text that the source receives in the requests of a query."""
    return "\n".join(map(_find_request_text, requests)) or query.boolean_query


def _find_request_text(request: Request) -> str:
    fields = dict([*request.params, *request.form])
    if request.url.startswith(SCHEME):
        return SearchStrategy.model_validate_json(fields["strategy"]).queries[0].boolean_query
    return next((fields[name] for name in _QUERY_PARAMETERS if name in fields), request.address)
