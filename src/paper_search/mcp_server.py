"""Serve paper search to agents over MCP; the tools can also be called as functions.

A tool that is called as a function returns its reply or its error as text, the text that a client of the server gets.
Importing this module loads neither the SDK nor the engine: they are loaded when they are first used.
"""

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, Final, ParamSpec

from pydantic import Field, WithJsonSchema

from paper_search.service.checkpoint_replies import PapersPage
from paper_search.service.search_arguments import DEFAULT_DOMAIN, DEFAULT_MAX_RESULTS, apply_given_arguments
from paper_search.service.session_replies import ExportPage, QueryPage, RemovedPage, SessionEntries, SessionReply
from uraniborg.kernel.errors import MissingExtra, UraniborgError
from uraniborg.kernel.json_values import JsonObject, encode_text
from uraniborg.kernel.processes.reserved_stdio import load_server_modules, require_client
from uraniborg.kernel.terminal.command_runner import (
    UsageError,
    is_version_request,
    print_error,
    print_version,
    run_command,
)
from uraniborg.kernel.version import version

if TYPE_CHECKING:
    from paper_search.service.sessions import MCPCheckpointHandler, SessionManager, WorkflowSession
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
a person twice: whether the strategy is right, and whether the papers are.

The loop:
1. search_papers opens a session and stops at the first checkpoint.
2. Show the person `summary`, which is the question, and the parts of `checkpoint.payload` that they need. \
Do not decide for them unless they asked you to. Pass their answer on with decide: approve, edit or reject, and the \
checkpoint_id.
3. decide returns the next checkpoint. Repeat until is_complete is true, then call export_results.

A reply with neither a checkpoint nor is_complete means that the search still runs: call get_session. Sessions \
survive restarts; a decide that got no answer can be sent again with the same checkpoint_id. The resource \
paper-search://sessions lists all sessions.

A paper with a shelf_id is on the shelf named in `shelf`, which a paper-library server reads.\
"""

USAGE: Final = """\
Usage: paper-search-mcp [OPTIONS]

  Serve paper search to an agent, over stdin and stdout (the Model Context
  Protocol). To search by hand, use `paper-search run WORDS`.

Options:
  -V, --version  Print the version and exit.
  -h, --help     Show this message and exit.

Examples:
  claude mcp add paper-search -- paper-search-mcp
"""

_SessionId = Annotated[str, Field(description="The session_id that search_papers returned.")]
_DOMAINS: Final[JsonObject] = {"enum": ["general", "materials_science"]}
_ACTIONS: Final[JsonObject] = {"enum": ["approve", "edit", "reject"]}
_FORMATS: Final[JsonObject] = {
    "enum": ["markdown", "bibtex", "json", "ris", "csl-json", "prisma", "prisma-json", "prisma-svg"]
}

_IDS: Final[JsonObject] = {"type": "array", "items": {"type": "string"}}
_DATA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "queries": {"type": "array", "items": {"type": "object"}},
        "sources": _IDS,
        "filters": {"type": "object"},
        "decisions": {"type": "object"},
        "marked_relevant": _IDS,
        "marked_irrelevant": _IDS,
        "add_terms": _IDS,
        "exclude_terms": _IDS,
        "drop_limits": _IDS,
        "set_years": {"type": "object"},
        "use_suggestions": {"type": "boolean"},
        "free_text_feedback": {"type": "string"},
        "merge": {"type": "array", "items": _IDS},
        "split": {"type": "array", "items": {}},
    },
}
"""The schema of the data of a decision, with its properties for clients that do not accept free-form objects."""
_HINTS: Final = {
    "session": "The resource paper-search://sessions lists all sessions.",
    "year|(^|_)date|since": 'search_papers reads years from query, such as "icy moons since 2015".',
    "author|exclude|language|venue|journal": "search_papers reads it from query, such as "
    '"icy moons by Nimmo, no reviews".',
    "source|database|filter": "Sources and filters are part of the strategy: call decide at the first checkpoint with "
    'the action edit and data such as {"sources": ["arxiv"]}.',
    "^data$": 'data is an object, such as {"sources": ["arxiv"]} for the strategy, or {"decisions": {"p_...": '
    '{"status": "exclude"}}} for the papers; words of the person belong in note.',
    "^checkpoint_id$": "checkpoint_id is the text that the latest reply gives; omit it to decide the pending "
    "checkpoint.",
    "^(offset|page|cursor|start)$": "The resource paper-search://sessions/SESSION_ID/papers/OFFSET pages through "
    "papers.",
}
"""Hints for names that agents try but the server does not have, by patterns."""

_session_manager: "SessionManager | None" = None
P = ParamSpec("P")


def _return_text(tool: Callable[P, Awaitable[object]]) -> Callable[P, Awaitable[str]]:
    """Return the tool as a function that returns replies and errors as text; `inspect.unwrap` gives the tool."""

    @wraps(tool)
    async def call_tool(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return encode_text(await tool(*args, **kwargs))
        except UraniborgError as error:
            return encode_text(error.body())

    vars(call_tool)["__signature__"] = inspect.signature(tool).replace(return_annotation=str)
    call_tool.__annotations__ = {**inspect.get_annotations(tool), "return": str}
    return call_tool


@_return_text
async def search_papers(
    query: Annotated[str, Field(description="What to look for, in natural language, or a strategy for PubMed.")],
    domain: Annotated[
        str, Field(description="The field whose vocabulary is used.", json_schema_extra=_DOMAINS)
    ] = DEFAULT_DOMAIN,
    max_results: Annotated[
        int,
        Field(description="The maximum number of papers.", json_schema_extra={"minimum": 1, "maximum": 20_000}),
    ] = DEFAULT_MAX_RESULTS,
) -> SessionReply:
    """Search scholarly literature for papers, with a person's approval. Opens a session.

    Returns the session_id and the first checkpoint: the proposed strategy (concepts, queries, sources, filters).
    Nothing is searched yet. Show it to the person, then call decide. A query may name years, authors, quoted phrases,
    preferences and words to exclude: "perovskite solar cells since 2020, no reviews". A query of DOIs, arXiv ids or
    PMIDs fetches exactly these works.
    """
    manager = await _get_or_create_manager()
    from paper_search.config import load_config
    from paper_search.workflow.input_checks import check_max_results
    from uraniborg.kernel.mcp import get_actor

    check_max_results(max_results)
    config = apply_given_arguments(await asyncio.to_thread(load_config), max_results, domain)
    return await _reply_and_ask(manager, manager.start(query, config, on_progress=_report_progress, actor=get_actor()))


@_return_text
async def decide(
    session_id: _SessionId,
    action: Annotated[str, Field(description="The person's decision.", json_schema_extra=_ACTIONS)],
    data: Annotated[
        Annotated[JsonObject, WithJsonSchema(_DATA)] | None,
        Field(
            description="With edit at strategy_confirmation: the fields to change, such as "
            '{"queries": [{"boolean_query": "a AND b"}], "sources": ["arxiv"], '
            '"filters": {"year_from": 2018}}; an empty list of sources means all. '
            "With reject, or edit at result_review: feedback, such as "
            '{"decisions": {"p_...": {"status": "exclude", "reason": "no data"}}, "set_years": {"year_from": 2018}}; '
            "statuses: include, exclude, maybe, undecided; merge lists ids of one paper, split ids merged wrongly. "
            "With approve: nothing, or at result_review decisions, merge and split."
        ),
    ] = None,
    note: Annotated[str | None, Field(description="The person's own words; with reject they are feedback.")] = None,
    checkpoint_id: Annotated[
        str | None,
        Field(description="The checkpoint_id of the reply you answer; a repeated call is then reported, not applied."),
    ] = None,
) -> SessionReply:
    """Send the person's decision about the pending checkpoint of a search session.

    At strategy_confirmation approve and edit start the search, reject proposes another strategy. At result_review
    approve ends it with all papers that are not excluded; edit and reject start another round, and no paper is lost.
    Returns the next checkpoint or the result.
    """
    manager = await _get_or_create_manager()
    from paper_search.service.sessions.inbox_decisions import parse_action
    from paper_search.workflow.checkpoints import Decision
    from uraniborg.kernel.mcp import get_actor

    decision = Decision(action=parse_action(action), revised_data=data, note=note)
    call = manager.decide(
        session_id, decision, checkpoint_id=checkpoint_id, actor=get_actor(), on_progress=_report_progress
    )
    return await _reply_and_ask(manager, call)


@_return_text
async def export_results(
    session_id: _SessionId,
    format: Annotated[str, Field(description="The format of the text.", json_schema_extra=_FORMATS)] = "markdown",  # noqa: A002 - the name is the contract
) -> str:
    """Return all papers of a complete paper search session as text that can be saved to a file.

    markdown is a table, json has everything (over 50 papers: in pages); bibtex, ris and csl-json are for reference
    managers. prisma is the search log (PRISMA 2020) as Markdown, prisma-json as JSON, prisma-svg its flow diagram.
    """
    manager = await _get_or_create_manager()
    from paper_search.export import check_format, export

    check_format(format)  # before the session is looked up
    if format == "json" and (summary := await manager.get_export_summary(session_id)):
        return encode_text(summary)
    return await asyncio.to_thread(export, await manager.get_result(session_id), format)


@_return_text
async def get_session(session_id: _SessionId) -> SessionReply:
    """Return the state of a paper search session: working, waiting for a decision, complete or failed.

    Use it when a call returned before a checkpoint, after a restart, or when the person may have decided elsewhere.
    """
    manager = await _get_or_create_manager()
    return await _reply_and_ask(manager, manager.get_state(session_id))


async def list_sessions() -> SessionEntries:
    """List the sessions, the one used last first: id, query, phase and pending checkpoint."""
    return await (await _get_or_create_manager()).list_sessions()


async def list_papers(session_id: str) -> PapersPage:
    """List the papers under review, so far, or of the result, best first, with abstracts; then those excluded.

    `next` is the address of the next page.
    """
    return await (await _get_or_create_manager()).get_papers(session_id)


async def list_papers_from(session_id: str, offset: int) -> PapersPage:
    """List the papers of a session from the one at `offset` on."""
    return await (await _get_or_create_manager()).get_papers(session_id, max(0, offset))


async def read_export(session_id: str) -> ExportPage:
    """Read the JSON export of a complete session in pages; `next` is the address of the next page."""
    return await read_export_from(session_id, 0)


async def read_export_from(session_id: str, offset: int) -> ExportPage:
    """Read the JSON export of a session from the part at `offset` on."""
    return await (await _get_or_create_manager()).get_export_page(session_id, max(0, offset))


async def list_removed_papers(session_id: str) -> RemovedPage:
    """List the screened papers that are not in the result: removed by automation, or excluded, with the reasons."""
    return await list_removed_papers_from(session_id, 0)


async def list_removed_papers_from(session_id: str, offset: int) -> RemovedPage:
    """List the removed papers of a session from the one at `offset` on."""
    return await (await _get_or_create_manager()).get_removed_papers(session_id, max(0, offset))


async def list_queries(session_id: str) -> QueryPage:
    """List the complete queries of the pending strategy, or of the last one searched, the strictest first."""
    return await list_queries_from(session_id, 0)


async def list_queries_from(session_id: str, offset: int) -> QueryPage:
    """List the queries of a session's strategy from the one at `offset` on."""
    return await (await _get_or_create_manager()).get_queries(session_id, max(0, offset))


def main() -> None:
    """Serve one client over stdin and stdout until it disconnects."""
    if arguments := sys.argv[1:]:
        run_command(lambda: _print_help_or_version(arguments), as_json="--json" in arguments)
    if find_spec("mcp") is None:
        sys.exit(print_error(MissingExtra("mcp", "The paper search server"), as_json=False))
    require_client()
    from uraniborg.kernel.logging import configure_logging

    configure_logging()
    if sys.stdin.isatty():
        sys.stderr.write(USAGE)
    with load_server_modules():
        server = _get_or_create_server()
    server.run(transport="stdio")


def _print_help_or_version(arguments: list[str]) -> None:
    if {"-h", "--help"} & set(arguments):
        sys.stdout.write(USAGE)
    elif is_version_request(arguments):
        print_version("paper-search-mcp", as_json="--json" in arguments)
    else:
        raise UsageError(
            f"paper-search-mcp takes no arguments, got '{arguments[0][:60]}'.", hint="See `paper-search-mcp --help`."
        )


def _get_or_create_server() -> "Server":
    """Return the server of this process; create it at the first call."""
    if "mcp" not in globals():
        globals()["mcp"] = _create_server()
    return globals()["mcp"]


def _create_server() -> "Server":
    from paper_search.api.mcp_dialogs import add_prompts
    from uraniborg.kernel.mcp import Origin, explain_mark, make_server, resource, tool

    foreign: tuple[Origin, ...] = ("papers",)
    server = make_server(
        "paper-search",
        version=version(),
        instructions=f"{INSTRUCTIONS} {explain_mark(foreign)}",
        cleanup=_close_manager,
        hints=_HINTS,
    )
    tool(server, title="Search for papers", read_only=False, open_world=True, foreign=foreign)(
        inspect.unwrap(search_papers)
    )
    tool(server, title="Decide at a checkpoint", read_only=False, open_world=True, foreign=foreign)(
        inspect.unwrap(decide)
    )
    tool(server, title="Export the papers", read_only=True, idempotent=True, structured=False, foreign=foreign)(
        inspect.unwrap(export_results)
    )
    tool(server, title="Look at a session", read_only=True, idempotent=True, foreign=foreign)(
        inspect.unwrap(get_session)
    )
    address, papers = "paper-search://sessions", "Papers of a session"

    def offer(uri: str, name: str, title: str, function: Callable[..., Awaitable[object]]) -> None:
        resource(server, uri, name=name, mime_type="application/json", title=title, foreign=foreign)(function)

    offer(address, "sessions", "All sessions", list_sessions)
    offer(f"{address}/{{session_id}}/papers", "session_papers", papers, list_papers)
    offer(f"{address}/{{session_id}}/papers/{{offset}}", "more_session_papers", papers, list_papers_from)
    offer(f"{address}/{{session_id}}/export", "session_export", "JSON export of a session", read_export)
    offer(f"{address}/{{session_id}}/export/{{offset}}", "more_session_export", "JSON export", read_export_from)
    removed = "Papers that are not in the result"
    offer(f"{address}/{{session_id}}/removed", "removed_papers", removed, list_removed_papers)
    offer(f"{address}/{{session_id}}/removed/{{offset}}", "more_removed_papers", removed, list_removed_papers_from)
    queries = "Queries of a strategy"
    offer(f"{address}/{{session_id}}/queries", "queries", queries, list_queries)
    offer(f"{address}/{{session_id}}/queries/{{offset}}", "more_queries", queries, list_queries_from)
    add_prompts(server, list_sessions)
    return server


async def _get_or_create_manager() -> "SessionManager":
    """Return the sessions of this process. The first call loads the engine in a thread."""
    global _session_manager  # noqa: PLW0603 - one process, one set of sessions
    if _session_manager is None:
        created = await asyncio.to_thread(_create_manager)
        _session_manager = _session_manager or created
    return _session_manager


async def get_session_manager() -> "SessionManager":
    """Return the sessions that the tools of this process use, for other interfaces of the same process."""
    return await _get_or_create_manager()


def _create_manager() -> "SessionManager":
    from paper_search.config import load_config
    from paper_search.service.sessions import SessionManager
    from uraniborg.kernel.deciders import load_decider_settings

    return SessionManager(settings=load_config().sessions, require_person=load_decider_settings().require_person)


async def _close_manager() -> None:
    if _session_manager is not None:
        await _session_manager.aclose()


async def _reply_and_ask(manager: "SessionManager", call: Awaitable[SessionReply]) -> SessionReply:
    """Return the reply of the call, after the person was asked in the client about the checkpoints that it reached."""
    from paper_search.api.mcp_dialogs import ask_at_checkpoints

    deadline = asyncio.get_running_loop().time() + manager.reply_within_s
    return await ask_at_checkpoints(manager, await call, deadline, _report_progress)


async def _report_progress(session: "WorkflowSession") -> None:
    from paper_search.service.sessions.checkpoint_questions import describe_progress
    from uraniborg.kernel.mcp import report_progress

    await report_progress(session.events, message=describe_progress(session.get_state()))


def __getattr__(name: str) -> Any:
    if name == "mcp":
        return _get_or_create_server()
    if name in ("MCPCheckpointHandler", "SessionManager", "WorkflowSession"):
        return getattr(import_module("paper_search.service.sessions"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if __name__ == "__main__":
    main()
