"""Sessions: searches that wait for a person as long as it takes, whatever happens to the process that runs them."""

from paper_search.sessions.handler import MCPCheckpointHandler
from paper_search.sessions.manager import SessionManager
from paper_search.sessions.session import WorkflowSession

__all__ = ["MCPCheckpointHandler", "SessionManager", "WorkflowSession"]
