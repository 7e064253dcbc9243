"""Give the routes of the search worker the services that they use."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from fastapi import Depends, Request

from paper_search.sessions import SessionManager
from paper_search.sessions.session_list import SessionList
from paper_search.sessions.session_review import SessionReview
from uraniborg.console.workers.source_progress import SourceProgressLog
from uraniborg.kernel.inbox import Inbox
from uraniborg.search_shelves import ShelfBuilds


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
