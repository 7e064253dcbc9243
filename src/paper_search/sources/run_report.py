"""Report on the run of one source: its status, what was asked and fetched, and what is missing."""

from dataclasses import dataclass, field

from paper_search.errors import CallLimitError, MissingKeyError
from paper_search.models import QueryReport, SourceReport, SourceStatus, StopReason
from paper_search.source_outcomes import is_query_short
from paper_search.sources.ladder_run import LadderRun
from uraniborg.kernel.text import plural


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
