"""MCP servers and clients. No other package imports the SDK.

    server = make_server("shelf", version="1.0", instructions="A shelf of papers.")

    @tool(server, title="Find papers", read_only=True)
    async def find(query: str) -> dict[str, object]:
        '''Find papers on the shelf. Use it when …'''
        return {"papers": []}

    server.run()                                  # stdio
    app = make_stateless_app(server, origins=[])  # or HTTP, for any ASGI server

Needs the extra `mcp`; importing it without raises MissingExtra. Test clients are in `uraniborg.kernel.mcp.testing`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from uraniborg.kernel.errors import MissingExtra

try:
    from uraniborg.kernel.mcp.call_context import (
        get_actor,
        get_client_name,
        get_dialog_actor,
        is_cancelled,
        report_progress,
    )
    from uraniborg.kernel.mcp.decorators import prompt, resource, tool
    from uraniborg.kernel.mcp.prompts_and_resources import Listed
    from uraniborg.kernel.mcp.replies import EncodedReply, ErrorReply, Origin, explain_mark
    from uraniborg.kernel.mcp.server import Server, make_server
except ModuleNotFoundError as missing:
    if (missing.name or "").split(".")[0] not in {"mcp", "starlette"}:
        raise
    raise MissingExtra("mcp", "An MCP server") from missing

if TYPE_CHECKING:
    from uraniborg.kernel.http.config import LOOPBACK
    from uraniborg.kernel.mcp.dialogs import Dialog, Form, can_ask_person, find_dialog, open_dialog
    from uraniborg.kernel.mcp.http_apps import make_stateful_app, make_stateless_app
    from uraniborg.kernel.mcp.subscriptions import Subscriptions, add_subscriptions

__all__ = [
    "LOOPBACK",
    "Dialog",
    "EncodedReply",
    "ErrorReply",
    "Form",
    "Listed",
    "Origin",
    "Server",
    "Subscriptions",
    "add_subscriptions",
    "can_ask_person",
    "explain_mark",
    "find_dialog",
    "get_actor",
    "get_client_name",
    "get_dialog_actor",
    "is_cancelled",
    "make_server",
    "make_stateful_app",
    "make_stateless_app",
    "open_dialog",
    "prompt",
    "report_progress",
    "resource",
    "tool",
]

_LOADED_WHEN_USED: Final = {
    "Dialog": "uraniborg.kernel.mcp.dialogs",
    "Form": "uraniborg.kernel.mcp.dialogs",
    "LOOPBACK": "uraniborg.kernel.http.config",
    "Subscriptions": "uraniborg.kernel.mcp.subscriptions",
    "can_ask_person": "uraniborg.kernel.mcp.dialogs",
    "find_dialog": "uraniborg.kernel.mcp.dialogs",
    "make_stateful_app": "uraniborg.kernel.mcp.http_apps",
    "make_stateless_app": "uraniborg.kernel.mcp.http_apps",
    "add_subscriptions": "uraniborg.kernel.mcp.subscriptions",
    "open_dialog": "uraniborg.kernel.mcp.dialogs",
}
"""Names that a server over stdio does without when it starts, so that it starts sooner, and their modules."""


def __getattr__(name: str) -> Any:
    if name not in _LOADED_WHEN_USED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LOADED_WHEN_USED[name]), name)
