"""Sessions: searches that wait for a person's decisions and survive the process that runs them."""

from paper_search.service.sessions.event_loops import MCPCheckpointHandler
from paper_search.service.sessions.manager import SessionManager
from paper_search.service.sessions.session import WorkflowSession

__all__ = ["MCPCheckpointHandler", "SessionManager", "WorkflowSession"]
