"""Asks all the sources of a strategy at once and tells how each of them did."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Protocol, runtime_checkable

from pydantic import BaseModel, Field

from paper_search.errors import SearchSourceError
from paper_search.models import RawPaper, SearchStrategy, SourceReport, SourceStatus
from paper_search.query.filters import filter_papers
from paper_search.review import ExclusionReason
from paper_search.sources.interfaces import ReportingSource, SearchSource, SourceResult
from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.logging import get_logger

_log = get_logger(__name__)


class SearchOutcome(BaseModel):
    """The papers of all sources, and one report for each, both in the order of the strategy's sources."""

    papers: list[RawPaper] = Field(default_factory=list[RawPaper])
    reports: list[SourceReport] = Field(default_factory=list[SourceReport])


@runtime_checkable
class _Closing(Protocol):
    async def aclose(self) -> None: ...


class Searcher:
    """Searches `sources` side by side. Raises InvalidInput when two of them share a name."""

    def __init__(self, sources: Sequence[SearchSource]) -> None:
        self._sources = {source.source_name: source for source in sources}
        if len(self._sources) < len(sources):
            raise InvalidInput("Two sources have the same name.", hint="Give each source a name of its own.")

    @property
    def available(self) -> list[str]:
        """The names of the sources that can be searched."""
        return list(self._sources)

    async def search(self, strategy: SearchStrategy) -> list[RawPaper]:
        """The papers of all sources. What failed is told by `run` only."""
        return (await self.run(strategy)).papers

    async def run(
        self, strategy: SearchStrategy, on_result: Callable[[SourceResult], None] | None = None
    ) -> SearchOutcome:
        """The papers and the reports of all sources; `on_result` is called as each finishes.

        A source that fails is reported and never raised. Cancelling ends all sources, and so does what `on_result`
        raises.
        """
        results: dict[str, SourceResult] = {}
        async with aclosing(self.stream(strategy)) as arriving:
            async for result in arriving:
                results[result.report.name] = result
                if on_result is not None:
                    on_result(result)
        # By name, not by arrival, so that the same answers give the same outcome.
        ordered = [results[name] for name in self._named(strategy)]
        return SearchOutcome(
            papers=[paper for result in ordered for paper in result.papers],
            reports=[result.report for result in ordered],
        )

    async def stream(self, strategy: SearchStrategy) -> AsyncGenerator[SourceResult, None]:
        """The result of each source as it finishes. Closing the generator ends the sources still at work."""
        reasons = {name: self._why_not(name, strategy) for name in self._named(strategy)}
        asked = {
            asyncio.create_task(_ask(self._sources[name], strategy), name=f"search {name}"): name
            for name, reason in reasons.items()
            if reason is None
        }
        waiting = set(asked)
        try:
            for name, reason in reasons.items():
                if reason is not None:
                    yield SourceResult([], SourceReport(name=name, status=SourceStatus.SKIPPED, reason=reason))
            while waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(done, key=list(asked).index):
                    yield _result(asked[task], task)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def aclose(self) -> None:
        """Closes the sources that can be closed."""
        for source in self._sources.values():
            if isinstance(source, _Closing):
                await source.aclose()

    def _named(self, strategy: SearchStrategy) -> list[str]:
        return list(dict.fromkeys(strategy.sources)) or self.available

    def _why_not(self, name: str, strategy: SearchStrategy) -> str | None:
        if name not in self._sources:
            return f"Not available here. Available: {', '.join(self.available) or 'none'}."
        return None if strategy.queries else "The strategy has no query."


async def _ask(source: SearchSource, strategy: SearchStrategy) -> SourceResult:
    # Each source gets a copy: one that changes its strategy must not change another's.
    own = strategy.model_copy(deep=True)
    if isinstance(source, ReportingSource):
        result = await source.search_reported(own)
        result = SourceResult(result.papers, _with_true_counts(result))
    else:
        result = _reported(source.source_name, await source.search_advanced(own), strategy)
    # Checked here, while it still counts against this source alone.
    SearchOutcome(papers=result.papers, reports=[result.report])
    return result


def _with_true_counts(result: SourceResult) -> SourceReport:
    """Return the report with the number of papers that came with it, whatever an installed source counted."""
    returned = len(result.papers)
    received = returned + sum(result.report.removed.values())
    return result.report.model_copy(update={"returned": returned, "received": received})


def _reported(name: str, received: list[RawPaper], strategy: SearchStrategy) -> SourceResult:
    """Apply the strategy's limits and NOT terms to the papers of a source that may not know them, and report on it."""
    filters = strategy.filters
    papers, removed = filter_papers(received, filters, [query.boolean_query for query in strategy.queries])
    if (over := len(papers) - max(0, filters.max_results)) > 0:
        papers = papers[:-over]
        removed[ExclusionReason.OVER_SOURCE_LIMIT.value] += over
    status = SourceStatus.OK if papers else SourceStatus.EMPTY
    report = SourceReport(name=name, status=status, returned=len(papers), removed=dict(removed), calls=1)
    return SourceResult(papers, report)


def _result(name: str, task: asyncio.Task[SourceResult]) -> SourceResult:
    if task.cancelled():
        return SourceResult([], SourceReport(name=name, status=SourceStatus.FAILED, reason="It was cancelled."))
    error = task.exception()
    if error is None:
        result = task.result()
        return SourceResult(result.papers, result.report.model_copy(update={"name": name}))
    limited = isinstance(error, SearchSourceError) and error.rate_limited
    if isinstance(error, UraniborgError):
        reason = error.message
    else:
        _log.exception("a source failed in an unexpected way", error, source=name)
        reason = f"Unexpected {type(error).__name__}; the log has the details."
    report = SourceReport(
        name=name,
        status=SourceStatus.RATE_LIMITED if limited else SourceStatus.FAILED,
        reason=reason,
        retry_at=error.retry_at if isinstance(error, SearchSourceError) else None,
    )
    return SourceResult([], report)
