"""Skill: search all sources of a strategy concurrently and report on each."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing

from paper_search.errors import SearchSourceError
from paper_search.models import SearchStrategy, SourceReport, SourceStatus
from paper_search.sources.in_process_sources import search_called_source
from paper_search.sources.interfaces import ReportingSource, SearchSource, SourceResult
from paper_search.workflow.skill_interfaces import ReportedPapers, SearchOutcome, select_supported_options
from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.logging import get_logger

_log = get_logger(__name__)


class Searcher:
    """Searches `sources` concurrently. Raises InvalidInput if two of them have the same name."""

    def __init__(self, sources: Sequence[SearchSource]) -> None:
        self._sources = {source.source_name: source for source in sources}
        if len(self._sources) < len(sources):
            raise InvalidInput("Two sources have the same name.", hint="Give each source a different name.")

    @property
    def available(self) -> list[str]:
        """The names of the sources that can be searched."""
        return list(self._sources)

    async def search(
        self,
        strategy: SearchStrategy,
        on_report: Callable[[SourceReport], None] | None = None,
        known: frozenset[str] = frozenset(),
    ) -> ReportedPapers:
        """Return the papers and the reports of all sources; call `on_report` as each source finishes.

        Each source is asked for as many papers as the strategy wants, besides those whose ids are in `known`. A failure
        of a source is reported, never raised. Cancelling, or an exception of `on_report`, stops all sources.
        """
        results: dict[str, SourceResult] = {}
        async with aclosing(self.stream_results(strategy, known)) as arriving:
            async for result in arriving:
                results[result.report.name] = result
                if on_report is not None:
                    on_report(result.report)
        # By name, not by arrival, so that the same answers give the same outcome.
        ordered = [results[name] for name in self._select_source_names(strategy)]
        papers = [paper for result in ordered for paper in result.papers]
        return ReportedPapers(papers, [result.report for result in ordered])

    async def stream_results(
        self, strategy: SearchStrategy, known: frozenset[str] = frozenset()
    ) -> AsyncGenerator[SourceResult, None]:
        """Yield the result of each source as it finishes. Closing the generator stops the other sources."""
        names = self._select_source_names(strategy)
        tasks = [asyncio.create_task(self._search_source(name, strategy, known), name=name) for name in names]
        pending = set(tasks)
        try:
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(done, key=tasks.index):
                    yield _make_result_of_task(task)
        finally:
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

    async def aclose(self) -> None:
        for source in self._sources.values():
            close: Callable[[], Awaitable[None]] | None = getattr(source, "aclose", None)
            if close:
                await close()

    def _select_source_names(self, strategy: SearchStrategy) -> list[str]:
        return list(dict.fromkeys(strategy.sources or self._sources))

    async def _search_source(self, name: str, strategy: SearchStrategy, known: frozenset[str]) -> SourceResult:
        source = self._sources.get(name)
        if source is None or not strategy.queries:
            missing = f"Not available here. Available: {', '.join(self._sources) or 'none'}."
            reason = missing if source is None else "The strategy has no query."
            return SourceResult([], SourceReport(name=name, status=SourceStatus.SKIPPED, reason=reason))
        # Each source gets a copy: a source that changes its strategy must not change another's.
        own = strategy.model_copy(deep=True)
        if isinstance(source, ReportingSource):
            search = source.search_with_report
            result = await search(own, **select_supported_options(search, known=known))
        else:
            result = await search_called_source(source, own, known)
        # The number that an installed source counted may differ from that of its papers.
        returned, removed = len(result.papers), sum(result.report.removed.values())
        counts = {"name": name, "returned": returned, "received": returned + removed}
        result = SourceResult(result.papers, result.report.model_copy(update=counts))
        # Validated here, where an error still counts against this source alone.
        SearchOutcome(papers=result.papers, reports=[result.report])
        return result


def _make_result_of_task(task: asyncio.Task[SourceResult]) -> SourceResult:
    """Return the result of the finished task with the name of a source, or a report of its failure."""
    error = asyncio.CancelledError() if task.cancelled() else task.exception()
    if error is None:
        return task.result()
    if isinstance(error, asyncio.CancelledError):
        reason = "It was cancelled."
    elif isinstance(error, UraniborgError):
        reason = error.message
    else:
        _log.exception("a source failed unexpectedly", error, source=task.get_name())
        reason = f"Unexpected {type(error).__name__}; the log has the details."
    own = error if isinstance(error, SearchSourceError) else None
    status = SourceStatus.RATE_LIMITED if own and own.rate_limited else SourceStatus.FAILED
    retry_at = own.retry_at if own else None
    return SourceResult([], SourceReport(name=task.get_name(), status=status, reason=reason, retry_at=retry_at))
