"""Know the tools of the other three servers, to answer calls that reach the wrong one."""

from typing import Final

TOOLS: Final = {
    "paper-search": ("search_papers", "decide", "export_results", "get_session"),
    "paper-library": (
        "search_papers",
        "search_papers_by_keyword",
        "list_top_facets",
        "get_paper_metadata",
        "get_paper_summary",
        "get_paper_source",
        "read_paper_section",
        "export_citations",
    ),
    "pflow": ("browse_components", "list_library", "describe_workflow", "execute", "save_to_library"),
    "universe": ("get_universe_state", "list_universe_commands", "send_universe_command"),
}
_SCHEMES: Final = {"paper-search": "paper-search", "paper": "paper-library", "universe": "universe"}
"""The server of the addresses that begin with a scheme."""


def find_tool_owner_hint(server: str, tool: str) -> str:
    """Return the sentence that names the other servers with this tool, and a space; an empty text without one."""
    owners = [name for name, tools in TOOLS.items() if tool in tools and name != server]
    if server not in TOOLS or not owners:
        return ""
    return f"{tool} is a tool of the {' and the '.join(owners)} server{'s' if len(owners) > 1 else ''}. "


def find_address_owner_hint(server: str, uri: str) -> str:
    """Return the sentence that names the other server with such addresses, and a space; an empty text without one."""
    scheme, _, rest = uri.partition("://")
    owner = _SCHEMES.get(scheme) if rest else None
    if server not in TOOLS or owner in (None, server):
        return ""
    return f"The {owner} server reads addresses that begin with {scheme}://. "
