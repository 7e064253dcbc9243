"""Write the addresses of the resources of a session."""


def build_papers_uri(session_id: str, offset: int = 0) -> str:
    """Return the address of the resource with the papers of a session from `offset` on."""
    return f"paper-search://sessions/{session_id}/papers" + (f"/{offset}" if offset else "")


def build_removed_uri(session_id: str, offset: int = 0) -> str:
    """Return the address of the resource with the papers that are not in the result, from `offset` on."""
    return f"paper-search://sessions/{session_id}/removed" + (f"/{offset}" if offset else "")


def build_queries_uri(session_id: str, offset: int = 0) -> str:
    """Return the address of the resource with the complete queries of a session's strategy, from `offset` on."""
    return f"paper-search://sessions/{session_id}/queries" + (f"/{offset}" if offset else "")


def build_export_uri(session_id: str, offset: int = 0) -> str:
    """Return the address of the resource with the parts of a session's JSON export from `offset` on."""
    return f"paper-search://sessions/{session_id}/export" + (f"/{offset}" if offset else "")
