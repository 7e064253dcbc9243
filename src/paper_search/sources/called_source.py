"""Search objects of this process: called once for each query if they declare a kind, otherwise once."""

from collections.abc import AsyncGenerator
from typing import Final, Protocol, runtime_checkable

from pydantic import ValidationError

from paper_search.errors import NonRetryableError, SearchSourceError
from paper_search.large_work import call_in_thread_if_large
from paper_search.models import QueryReport, RawPaper, SearchQuery, SearchStrategy, SourceKind, StopReason
from paper_search.query.selection import select_queries
from paper_search.sources.interfaces import Page, SearchSource, SourceResult
from paper_search.sources.ladder_run import FetchedPage, LadderRun, PreparedQuery
from paper_search.sources.run_report import RunCost, build_run_report
from paper_search.sources.source_replies import SourceReply, read_source_reply
from paper_search.strategies.source_queries import render_plain_words, simplify_query
from uraniborg.kernel.errors import UraniborgError

_MOST_CALLS_PER_QUERY: Final = 8


@runtime_checkable
class KindSource(Protocol):
    """A source that declares its kind, and therefore gets one query in each call."""

    kind: SourceKind


async def search_called_source(source: SearchSource, strategy: SearchStrategy, known: frozenset[str]) -> SourceResult:
    """Return the papers of a source, and a report that contains every failure of a query.

    A source without a kind gets all Boolean queries in one call; a failure of this call is raised.
    """
    called, limit = _CalledSource(source, strategy), max(0, strategy.filters.max_results)
    run = LadderRun(called, strategy, limit, known)
    if called.kind is not None:
        await run.climb()
    else:
        run.keeps_repetitions = True
        queries = select_queries(None, strategy.queries)
        texts, report = [query.boolean_query for query in queries], QueryReport(text="", stopped=StopReason.UNKNOWN)
        received = await source.search_advanced(strategy.model_copy(update={"queries": queries}))
        called.cost.add_request()
        await call_in_thread_if_large(len(received), run.add_received, received, texts, report, limit)
    return SourceResult(run.papers, build_run_report(source.source_name, run, called.cost))


class _CalledSource:
    """A source as the ladder sees it. The next page is the rest of a reply to a call for twice as many papers."""

    capabilities = frozenset[str]()

    def __init__(self, source: SearchSource, strategy: SearchStrategy) -> None:
        self._source = source
        self._filters = strategy.filters
        self.name = source.source_name
        self.kind: SourceKind | None = source.kind if isinstance(source, KindSource) else None
        self.cost = RunCost()

    def prepare_query(self, query: SearchQuery) -> PreparedQuery:
        """Return the query with its text: words for a ranking source, Boolean text in plain terms for others."""
        query = simplify_query(query)
        text = render_plain_words(query) if self.kind == "ranked" else query.boolean_query
        return PreparedQuery(query, text, text or tuple(query.keywords))

    async def fetch_pages(self, prepared: PreparedQuery) -> AsyncGenerator[FetchedPage, None]:
        """Yield the replies of the source. Raise SearchSourceError if the source fails or its reply is invalid."""
        wanted, received = max(1, self._filters.max_results), 0
        for call in range(1, _MOST_CALLS_PER_QUERY + 1):
            reply = await self._call_source(prepared, wanted)
            has_next = reply.has_more(wanted) and call < _MOST_CALLS_PER_QUERY
            papers = _read_papers(self.name, reply.papers[received:])
            yield FetchedPage(Page(papers, found=reply.total, stopped=reply.stopped), has_next)
            if not has_next:
                return
            received, wanted = len(reply.papers), 2 * wanted

    async def _call_source(self, prepared: PreparedQuery, wanted: int) -> SourceReply:
        self.cost.add_request()
        filters = self._filters.model_copy(update={"max_results": wanted})
        query = prepared.query.model_copy(update={"boolean_query": prepared.text}, deep=True)
        strategy = SearchStrategy(queries=[query], sources=[self.name], filters=filters)
        try:
            return read_source_reply(self.name, await self._source.search_advanced(strategy))
        except SearchSourceError:
            raise
        except UraniborgError as error:
            raise NonRetryableError(error.message, hint=error.hint, source=self.name) from error


def _read_papers(name: str, papers: list[object]) -> list[RawPaper]:
    try:
        return [RawPaper.model_validate(paper) for paper in papers]
    except ValidationError as error:
        raise NonRetryableError(f"{name} returned something that is not a RawPaper.", source=name) from error
