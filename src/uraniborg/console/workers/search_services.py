"""Give the routes of the search worker the services that they use, and the progress of sources in all processes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final

from fastapi import Depends, Request

from paper_search.models import SourceReport
from paper_search.service.new_searches import build_report
from paper_search.service.review.session_review import SessionReview
from paper_search.service.search_replies import SourceProgress
from paper_search.service.sessions import SessionManager
from paper_search.service.sessions.session_list import SessionList
from paper_search.store.session_state import SessionState
from uraniborg.console.workers.shelf_builds import ShelfBuilds
from uraniborg.kernel.store.change_feed import Change
from uraniborg.kernel.store.inbox import Inbox

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


@dataclass
class SearchServices:
    """The services of one process."""

    inbox: Inbox
    manager: SessionManager
    progress: SourceProgressLog
    shelf_builds: ShelfBuilds

    @cached_property
    def review(self) -> SessionReview:
        """The papers and marks of the sessions."""
        return SessionReview(self.manager)

    @cached_property
    def sessions(self) -> SessionList:
        """The list of the sessions."""
        return SessionList(self.manager.store, self.manager.inbox)


async def get_search_services(request: Request) -> SearchServices:
    """Return the services of the worker that answers the request."""
    return request.app.state.services


Searches = Annotated[SearchServices, Depends(get_search_services)]
