"""Describe sources to people: the names that they know, and what each source did with the queries."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from paper_search.models import QueryReport, SourceReport, SourceStatus, StopReason
from uraniborg.kernel.language.messages import plural

SOURCE_LABELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "openalex": "OpenAlex",
        "crossref": "Crossref",
        "arxiv": "arXiv",
        "semantic_scholar": "Semantic Scholar",
        "europepmc": "Europe PMC",
        "pubmed": "PubMed",
        "dblp": "DBLP",
        "serpapi_scholar": "Google Scholar (SerpAPI)",
        "library": "Your shelf",
    }
)


def format_source_labels(names: Sequence[str]) -> str:
    """Return the labels of sources in one line; no names stand for all sources."""
    return ", ".join(map(get_source_label, names)) or "all"


def get_source_label(name: str) -> str:
    """Return the label of a source, or its name if another package provides it."""
    return SOURCE_LABELS.get(name, name)


STOP_TEXTS: Final[Mapping[StopReason, str]] = MappingProxyType(
    {
        StopReason.COMPLETE: "all matches were fetched",
        StopReason.ENOUGH: "the search had enough papers",
        StopReason.SOURCE_LIMIT: "the source does not give out more",
        StopReason.TOO_BROAD: "refused as too broad",
        StopReason.DEADLINE: "the time was up",
        StopReason.FAILED: "failed",
        StopReason.NOT_RUN: "not run",
        StopReason.UNKNOWN: "the source does not state how many match",
    }
)
_BY_SERIOUSNESS: Final = (
    *(StopReason.FAILED, StopReason.DEADLINE, StopReason.TOO_BROAD, StopReason.SOURCE_LIMIT, StopReason.ENOUGH),
    *(StopReason.UNKNOWN, StopReason.COMPLETE),
)
_IS_ABOUT_LIMITS: Final = (StopReason.ENOUGH, StopReason.SOURCE_LIMIT, StopReason.TOO_BROAD)


def is_query_short(query: QueryReport) -> bool:
    """Return True if the query was run and fewer papers were fetched than match, or perhaps fewer."""
    if query.stopped is StopReason.NOT_RUN:
        return False
    return query.stopped in _IS_ABOUT_LIMITS if query.found is None else query.fetched < query.found


def list_run_queries(report: SourceReport) -> list[QueryReport]:
    return [query for query in report.queries if query.stopped is not StopReason.NOT_RUN]


def count_fetched(report: SourceReport) -> int:
    """Return the number of records that the source sent."""
    return sum(query.fetched for query in report.queries) if report.queries else report.received


def describe_stop(query: QueryReport) -> str:
    """Return why the source stopped fetching the matches of a query."""
    text = STOP_TEXTS[query.stopped]
    return f"{text}: {query.reason.rstrip('.')}" if query.reason else text


def describe_fetched(report: SourceReport) -> str:
    """Return how many papers were fetched, and of how many matches: `200 of 4,312 matches`."""
    fetched, ran = count_fetched(report), list_run_queries(report)
    if report.found is not None:
        return f"{fetched:,} of {plural(report.found, 'match', 'matches')}"
    queries = f" by {plural(len(ran), 'query', 'queries')}" if len(ran) > 1 else ""
    return f"{plural(fetched, 'record')}{queries}"


def has_failed(report: SourceReport) -> bool:
    """Return True if the source failed or was stopped before the end of its answer."""
    if report.status not in (SourceStatus.OK, SourceStatus.EMPTY):
        return True
    failed = any(query.stopped in (StopReason.FAILED, StopReason.DEADLINE) for query in report.queries)
    return report.partial and (failed or not any(is_query_short(query) for query in report.queries))


def describe_shortfall(report: SourceReport) -> str | None:
    """Return what is missing from the answer of a source that failed or sent fewer papers than match; else None."""
    if report.status not in (SourceStatus.OK, SourceStatus.EMPTY):
        return report.status.value.replace("_", " ")
    if has_failed(report):
        return "stopped before the end"
    short = [query for query in report.queries if is_query_short(query)]
    if not short:
        return None
    if report.found is not None:
        return f"fetched {describe_fetched(report)}"
    ran = len(list_run_queries(report))
    if ran == 1:
        return f"fetched {count_fetched(report):,}, perhaps not all matches"
    return f"fetched a part of the matches of {len(short)} of {plural(ran, 'query', 'queries')}"


def get_stop_reason(report: SourceReport) -> StopReason | None:
    """Return why the source stopped; of several queries the most serious reason, or None if no query was run."""
    stopped = {query.stopped for query in list_run_queries(report)}
    return next((reason for reason in _BY_SERIOUSNESS if reason in stopped), None)


def describe_incomplete_search(reports: Iterable[SourceReport]) -> str:
    """Return why a search is incomplete: sources that failed, or matches that were not fetched."""
    given = [report for report in reports if report.status is not SourceStatus.SKIPPED]
    failed = "at least one source could not answer in full" if any(map(has_failed, given)) else ""
    is_short = any(is_query_short(query) for report in given for query in report.queries)
    short = "fewer papers were fetched than match" if is_short else ""
    return ", and ".join(filter(None, (failed, short)))
