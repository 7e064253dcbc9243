"""Sessions: searches that wait for a person's decisions and survive the process that runs them."""

from paper_search.sessions.event_loops import MCPCheckpointHandler
from paper_search.sessions.manager import SessionManager
from paper_search.sessions.session import WorkflowSession

__all__ = ["MCPCheckpointHandler", "SessionManager", "WorkflowSession"]
