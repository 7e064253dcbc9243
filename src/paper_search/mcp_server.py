"""The door for agents: the MCP server that `paper-search-mcp` starts.

Importing this module loads neither the SDK nor the engine; the names of other modules that it offers are loaded when
they are used.
"""

import asyncio
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from paper_search.defaults import DEFAULT_DOMAIN, DEFAULT_MAX_RESULTS
from uraniborg.kernel.cli import print_error
from uraniborg.kernel.errors import MissingExtra
from uraniborg.kernel.standard_streams import loading, require_client
from uraniborg.kernel.version import version

if TYPE_CHECKING:
    from paper_search.sessions import MCPCheckpointHandler, SessionManager, WorkflowSession
    from uraniborg.kernel.mcp import Server

    mcp: Server

__all__ = [
    "MCPCheckpointHandler",
    "SessionManager",
    "WorkflowSession",
    "decide",
    "export_results",
    "get_session",
    "main",
    "mcp",
    "search_papers",
]

INSTRUCTIONS: Final = """\
Searches scholarly sources (Crossref, arXiv, Semantic Scholar, Europe PMC, PubMed, DBLP and more) for papers, and asks \
a person twice on the way: whether the strategy is right, and whether the papers are.

The loop:
1. search_papers opens a session and stops at the first checkpoint.
2. Show the person `summary`, which is the question, and what they need of `checkpoint.payload`. Do not decide for \
them unless they asked you to. Pass their answer on with decide: approve, edit or reject, and the checkpoint_id.
3. decide returns the next checkpoint. Repeat until is_complete is true, then call export_results.

A reply with neither a checkpoint nor is_complete means that the search is still running: call get_session. Sessions \
survive restarts; a decide that got no answer can be sent again with the same checkpoint_id. The resource \
paper-search://sessions lists all sessions, so that a lost session_id is found again.\
"""

USAGE: Final = """\
paper-search-mcp serves an agent: it speaks the Model Context Protocol over stdin and stdout and takes no arguments.
Add it to your client, for example with: claude mcp add paper-search -- paper-search-mcp
To search by hand: python -m paper_search WORDS
"""

_SessionId = Annotated[str, Field(description="The session_id that search_papers answered with.")]
_DOMAINS: Final[dict[str, Any]] = {"enum": ["general", "materials_science"]}
_ACTIONS: Final[dict[str, Any]] = {"enum": ["approve", "edit", "reject"]}
_FORMATS: Final[dict[str, Any]] = {
    "enum": ["markdown", "bibtex", "json", "ris", "csl-json", "prisma", "prisma-json", "prisma-svg"]
}

_session_manager: "SessionManager | None" = None


async def search_papers(
    query: Annotated[str, Field(description="What to look for, in natural language.")],
    domain: Annotated[str, Field(description="Whose vocabulary to use.", json_schema_extra=_DOMAINS)] = DEFAULT_DOMAIN,
    max_results: Annotated[
        int, Field(description="How many papers to return at most.", json_schema_extra={"minimum": 1, "maximum": 1000})
    ] = DEFAULT_MAX_RESULTS,
) -> str:
    """Search scholarly literature for papers, with a person's approval. Opens a session.

    Answers with the session_id and the first checkpoint: the proposed strategy (boolean queries, sources, filters).
    Nothing is searched yet. Show it to the person, then call decide. Years, authors, phrases in quotes, preferences and
    words to leave out may be written into the query: "perovskite solar cells since 2020, no reviews". A query of DOIs,
    arXiv ids or PMIDs fetches exactly these works.
    """
    manager = await _manager()
    from paper_search.api import with_arguments
    from paper_search.config import load_config
    from paper_search.limits import checked_max_results

    checked_max_results(max_results)
    config = with_arguments(await asyncio.to_thread(load_config), max_results, domain)
    return _text(await manager.start(query, config, on_progress=_report))


async def decide(
    session_id: _SessionId,
    action: Annotated[str, Field(description="What the person decided.", json_schema_extra=_ACTIONS)],
    data: Annotated[
        dict[str, Any] | None,
        Field(
            description="With edit at strategy_confirmation: the fields of the strategy to change; others stay. "
            'Example: {"queries": [{"boolean_query": "perovskite AND stability"}], "sources": ["arxiv"], '
            '"filters": {"year_from": 2018}}; an empty list of sources means all. '
            "With edit or reject at result_review: feedback for the next round. Example: "
            '{"decisions": {"p_...": {"status": "exclude", "reason": "no data"}}, '
            '"free_text_feedback": "more on JWST"}; statuses are include, exclude, maybe and undecided; '
            "marked_relevant and marked_irrelevant are lists of ids to include and to exclude. "
            "With approve: nothing, or at result_review decisions only."
        ),
    ] = None,
    note: Annotated[
        str | None, Field(description="What the person said, in their words; with reject it guides the next round.")
    ] = None,
    checkpoint_id: Annotated[
        str | None,
        Field(
            description="The checkpoint_id of the reply that is being answered. With it a repeated call does no harm: "
            "a decision taken before is reported (already_decided) and not taken again."
        ),
    ] = None,
) -> str:
    """Pass on the person's decision about the pending checkpoint of a paper search session.

    At strategy_confirmation approve and edit start the search, reject proposes another strategy. At result_review
    approve ends it with all papers that are not excluded; edit and reject lead to another round. A paper found in any
    round stays in the session with its status. Returns the next checkpoint, or the result when it is complete.
    """
    manager = await _manager()
    from paper_search.sessions.decisions import parse_action
    from paper_search.workflow.checkpoints import Decision

    decision = Decision(action=parse_action(action), revised_data=data, note=note)
    return _text(await manager.decide(session_id, decision, checkpoint_id=checkpoint_id, on_progress=_report))


async def export_results(
    session_id: _SessionId,
    format: Annotated[str, Field(description="The format of the text.", json_schema_extra=_FORMATS)] = "markdown",  # noqa: A002 - the name is the contract
) -> str:
    """Return all papers of a complete paper search session as text, ready to be saved to a file.

    markdown is a table, json has everything with its provenance; bibtex, ris and csl-json are for reference managers.
    prisma is the search log of a systematic review (PRISMA 2020) as Markdown, prisma-json the same as JSON, and
    prisma-svg its flow diagram.
    """
    manager = await _manager()
    from paper_search.export import check_format, export

    check_format(format)  # before the session is looked up
    return await asyncio.to_thread(export, await manager.get_result(session_id), format)


async def get_session(session_id: _SessionId) -> str:
    """Tell where a paper search session stands: working, waiting for a decision, complete or failed.

    Use it when a call answered before the search had come to a checkpoint, after a restart, or when the person may
    have decided elsewhere.
    """
    manager = await _manager()
    return _text(await manager.get_state(session_id))


async def sessions() -> dict[str, Any]:
    """List the sessions, the one used last first: id, query, phase, and what each waits for."""
    return await (await _manager()).list_sessions()


async def session_papers(session_id: str) -> dict[str, Any]:
    """All papers under review, or of the result, best first, with abstracts. `next` is the address of the next page."""
    return await (await _manager()).get_papers(session_id)


async def more_session_papers(session_id: str, offset: int) -> dict[str, Any]:
    """The papers of a session from the one at `offset` on."""
    return await (await _manager()).get_papers(session_id, max(0, offset))


def main() -> None:
    """Serve one agent over stdin and stdout, until it leaves."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.stdout.write(USAGE)
        return
    if find_spec("mcp") is None:
        sys.exit(print_error(MissingExtra("mcp", "The paper search server"), as_json=False))
    require_client()
    from uraniborg.kernel.logging import configure_logging

    configure_logging()
    if sys.stdin.isatty():
        sys.stderr.write(USAGE)
    with loading():
        server = _server()
    server.run(transport="stdio")


def _server() -> "Server":
    """Return the server of this process; make it at the first call."""
    if "mcp" not in globals():
        globals()["mcp"] = _made()
    return globals()["mcp"]


def _made() -> "Server":
    from uraniborg.kernel.mcp import make_server, resource, tool

    server = make_server("paper-search", version=version(), instructions=INSTRUCTIONS, cleanup=_close)
    tool(server, title="Search for papers", read_only=False, open_world=True)(search_papers)
    tool(server, title="Decide at a checkpoint", read_only=False, open_world=True)(decide)
    tool(server, title="Export the papers", read_only=True, idempotent=True)(export_results)
    tool(server, title="Look at a session", read_only=True, idempotent=True)(get_session)
    pages = {"mime_type": "application/json", "title": "Papers of a session"}
    resource(server, "paper-search://sessions", mime_type="application/json", title="All sessions")(sessions)
    resource(server, "paper-search://sessions/{session_id}/papers", **pages)(session_papers)
    resource(server, "paper-search://sessions/{session_id}/papers/{offset}", **pages)(more_session_papers)
    return server


async def _manager() -> "SessionManager":
    """The sessions of this process. The engine is loaded with the first call, in a thread."""
    global _session_manager  # noqa: PLW0603 - one process, one set of sessions
    if _session_manager is None:
        made = await asyncio.to_thread(_made_manager)
        _session_manager = _session_manager or made
    return _session_manager


def _made_manager() -> "SessionManager":
    from paper_search.config import load_config
    from paper_search.sessions import SessionManager

    return SessionManager(settings=load_config().sessions)


async def _close() -> None:
    if _session_manager is not None:
        await _session_manager.aclose()


async def _report(session: "WorkflowSession") -> None:
    from paper_search.sessions.replies import describe_progress
    from uraniborg.kernel.mcp import report_progress

    await report_progress(session.events, message=describe_progress(session.get_state()))


def _text(reply: dict[str, Any]) -> str:
    from pydantic_core import to_json

    return to_json(reply).decode()


def __getattr__(name: str) -> Any:
    if name == "mcp":
        return _server()
    if name in ("MCPCheckpointHandler", "SessionManager", "WorkflowSession"):
        return getattr(import_module("paper_search.sessions"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if __name__ == "__main__":
    main()
