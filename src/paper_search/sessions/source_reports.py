"""Build the reports of sources in replies."""

from paper_search.models import SourceReport
from paper_search.search_replies import SourceReportReply
from paper_search.source_labels import get_source_label


def build_report(report: SourceReport) -> SourceReportReply:
    """Return the report on a source without its requests."""
    return {
        "name": report.name,
        "label": get_source_label(report.name),
        "status": report.status.value,
        "received": report.received,
        "returned": report.returned,
        "removed": report.removed,
        "found": report.found,
        "calls": report.calls,
        "seconds": report.seconds,
        "reason": report.reason,
        "retry_at": report.retry_at,
        "partial": report.partial,
        "queries": report.queries,
    }
