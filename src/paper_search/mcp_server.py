"""The door for agents: what `paper-search-mcp` starts."""

import sys
from importlib.util import find_spec

from uraniborg.kernel.errors import MissingExtra, Unavailable, UraniborgError
from uraniborg.kernel.terminal import fail


def main() -> None:
    """Ends with a clear message: this version has the library and the command line, and no server yet."""
    error: UraniborgError = Unavailable(
        "This version of paper_search has no MCP server yet.",
        hint="Use the library (`paper_search.search`) or the command `python -m paper_search`.",
    )
    if find_spec("mcp") is None:
        error = MissingExtra("mcp", "The paper search server")
    sys.exit(fail(error, as_json=False))
