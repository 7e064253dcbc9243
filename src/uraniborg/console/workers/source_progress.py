"""Follow the progress of sources in searches that other processes run."""

from typing import Final

from paper_search.models import SourceReport
from paper_search.search_replies import SourceProgress
from paper_search.sessions.source_reports import build_report
from paper_search.sessions.state import SessionState
from uraniborg.kernel.change_feed import Change

_MAX_SESSIONS: Final = 500
_NEW_ROUND: Final = ("query_building", "searching")


class SourceProgressLog:
    """The sources that have answered since a session began to search, by session."""

    def __init__(self) -> None:
        self._reports: dict[str, dict[str, SourceReport]] = {}

    async def record_change(self, change: Change) -> None:
        """Record an announced report; a new round starts an empty list."""
        if change.kind == "session" and change.facts.get("phase") in _NEW_ROUND:
            self._reports.pop(change.subject, None)
        elif change.kind == "source":
            report = SourceReport.model_validate(change.facts)
            self._reports.setdefault(change.subject, {})[report.name] = report
            for oldest in list(self._reports)[:-_MAX_SESSIONS]:
                del self._reports[oldest]

    def add_announced_reports(self, state: SessionState) -> SourceProgress:
        """Return the progress of a session: its own reports, or while it searches those that were announced."""
        reports = {report.name: report for report in state.sources}
        if state.pending is None and state.ended is None:
            announced = self._reports.get(state.session_id, {})
            reports = {**announced, **(reports if state.sources_asked else {})}
        return {
            "session_id": state.session_id,
            "phase": state.phase,
            "round": state.round,
            "sources_asked": state.sources_asked,
            "sources": [build_report(report) for report in reports.values()],
        }
