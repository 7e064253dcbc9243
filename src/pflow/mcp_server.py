"""Serve workflows to agents over MCP, with five tools; `pflow mcp serve` starts it.

Importing this module loads neither the SDK nor the engine.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO, TypeVar

from pydantic import Field

from pflow.config import Settings, load_settings
from pflow.errors import ApprovalRequired, RunCancelled
from pflow.service.run_replies import EndedRun, FailedCall
from pflow.service.workflow_replies import ComponentList, SavedDraft, SavedWorkflow, WorkflowDescription
from uraniborg.kernel.errors import MissingExtra, UraniborgError
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.processes.reserved_stdio import load_server_modules, require_client
from uraniborg.kernel.terminal.command_runner import print_error
from uraniborg.kernel.version import version

if TYPE_CHECKING:
    from pflow.api.prompts_and_progress import ProgressNotifier
    from pflow.service.engine.cancellation import Cancellation
    from pflow.service.operations import Service
    from uraniborg.kernel.actors import Actor
    from uraniborg.kernel.mcp import Server

Value = TypeVar("Value")

INSTRUCTIONS: Final = """\
Runs workflows: small JSON files of nodes (shell, http, python, files, git, GitHub, LLM, any MCP tool, paper search, \
paper library, universes) joined by edges, with values passed as ${node.output}.

The loop:
1. browse_components with a few words: find node types and finished workflows.
2. Write a draft with your file tools to {drafts}/NAME.json (read pflow://guide first: it is short).
3. execute NAME. All errors are reported at once, before anything runs, with the corrected text.
4. A run that fails leaves a checkpoint: edit the draft and execute the same name again. Nodes whose type, parameters \
and values are unchanged are not run again; `reused_nodes` and `not_reused` list them with reasons.
5. save_to_library once it works. describe_workflow shows how to call a workflow and how its runs ended.

A node of the type `approval` ends the run with approval_required: let the person decide (`uraniborg decide`, as in \
the hint), then execute again. To change a saved workflow, edit {library}/NAME.json. To run a \
workflow every Monday, the person runs `pflow schedule NAME --at "mon 07:00" --install`.\
"""

_Name = Annotated[str, Field(description="Name of a workflow, without path or suffix.")]

_EXITING_S: Final = 3.0
"""Seconds for running workflows to end their processes and write checkpoints; a child gets two of them."""

_ending: Final = threading.Event()
_log: Final = get_logger(__name__)


async def browse_components(
    query: Annotated[str, Field(description="A few words for your task; empty for everything.")] = "",
    include_workflows: bool = True,
) -> ComponentList:
    """Find node types, with their parameters, outputs and an example, and finished workflows. Best first."""
    return await _call_service_in_thread(lambda service: service.browse_components(query, include_workflows))


async def list_library(
    pattern: Annotated[
        str | None, Field(description="Words of the name or description, or a glob such as report-*.")
    ] = None,
) -> list[SavedWorkflow]:
    """List the saved workflows, all or those that match the pattern."""
    return await _call_service_in_thread(lambda service: service.list_library(pattern))


async def describe_workflow(name: _Name) -> WorkflowDescription:
    """Describe a workflow, saved or draft: inputs, outputs, variables, graph, example call, statistics, problems."""
    return await _call_service_in_thread(lambda service: service.describe_workflow(name))


async def execute(
    name: _Name,
    inputs: Annotated[JsonObject | None, Field(description="Values for the workflow's inputs.")] = None,
) -> EndedRun:
    """Run a workflow: a saved one, or else a draft. After a failure, edit the draft and call again to resume."""
    from pflow.api.prompts_and_progress import ProgressNotifier
    from pflow.service.engine.cancellation import Cancellation
    from uraniborg.kernel.mcp import ErrorReply, get_actor, is_cancelled

    cancellation = Cancellation()
    reporter = ProgressNotifier(asyncio.get_running_loop())
    work = partial(_run_workflow_and_build_reply, name, inputs, reporter, cancellation, get_actor())
    try:
        reply = await _run_and_ask(work)
    except asyncio.CancelledError:
        # A cancelled call stops the run; after a lost connection the run continues.
        if is_cancelled():
            cancellation.cancel()
        raise
    await reporter.wait_until_sent()
    failed: Any = ErrorReply(reply)
    return reply if reply["success"] else failed


async def save_to_library(
    draft_name: _Name,
    final_name: Annotated[str, Field(description="Name in the library; must not exist yet.")],
    description: Annotated[str, Field(description="Description of the workflow, in a sentence.")],
) -> SavedDraft:
    """Move a tested draft to the library. An existing workflow is never overwritten."""
    from uraniborg.kernel.mcp import get_actor

    actor = get_actor()
    return await _call_service_in_thread(
        lambda service: service.texts.save_to_library(draft_name, final_name, description, actor)
    )


async def guide() -> str:
    """Return the guide to writing workflows: the JSON format, templates, branches, batches, retries, resuming."""
    from pflow.service.catalog import read_guide

    return await asyncio.to_thread(lambda: read_guide(_open_service().home))


def main() -> None:
    """Serve one agent over stdin and stdout, until it disconnects."""
    if find_spec("mcp") is None:
        sys.exit(print_error(MissingExtra("mcp", "The workflow server"), as_json=False))
    require_client()
    from uraniborg.kernel.logging import configure_logging

    if sys.stdin.isatty():
        sys.stderr.write("pflow serves the Model Context Protocol on stdin and stdout. Press Ctrl-C to stop.\n")
    with load_server_modules():
        server = build_server()
    with _discard_output_of_nodes() as stderr:
        configure_logging(stream=stderr)
        server.run(transport="stdio")


@contextmanager
def _discard_output_of_nodes() -> Generator[TextIO]:
    """Discard everything that nodes print. Yield a copy of stderr for the log."""
    with (
        os.fdopen(os.dup(2), "w", encoding="utf-8", errors="backslashreplace", buffering=1) as stderr,
        open(os.devnull, "w", encoding="utf-8") as null,
        redirect_stdout(null),
        redirect_stderr(null),
    ):
        os.dup2(null.fileno(), 2)
        try:
            yield stderr
        finally:
            os.dup2(stderr.fileno(), 2)


def build_server() -> "Server":
    """Return the server with its five tools, its guide and its prompt."""
    from pflow.api.prompts_and_progress import add_prompts
    from uraniborg.kernel.mcp import Origin, explain_mark, make_server, resource, tool

    described: tuple[Origin, ...] = ("tools",)
    computed: tuple[Origin, ...] = ("papers", "tables", "tools", "web")
    server = make_server(
        "pflow",
        version=version(),
        instructions=f"{_format_instructions()} {explain_mark(computed)}",
        interrupted=_cancel_runs_and_kill_children,
        failed=_make_error_reply,
        hints=_make_hints(),
    )
    read_only_tool = partial(tool, server, read_only=True, idempotent=True, failed=_make_error_reply, foreign=described)
    read_only_tool(title="Browse components")(browse_components)
    read_only_tool(title="List saved workflows")(list_library)
    read_only_tool(title="Describe a workflow")(describe_workflow)
    tool(
        server,
        title="Run a workflow",
        read_only=False,
        destructive=True,
        open_world=True,
        failed=_make_refusal_reply,
        foreign=computed,
    )(execute)
    tool(server, title="Save a draft", read_only=False, failed=_make_error_reply)(save_to_library)
    resource(server, "pflow://guide", title="How to write workflows", mime_type="text/markdown")(guide)
    add_prompts(server, _list_names)
    return server


async def _list_names() -> list[str]:
    return await _call_service_in_thread(
        lambda service: [
            *(workflow["name"] for workflow in service.list_library()),
            *(draft.name for draft in service.list_drafts()),
        ]
    )


def _make_hints() -> dict[str, str]:
    """Return hints for names that agents try but the server does not have, by patterns."""
    from pflow.domain.diagnostics import SCHEDULE_HINT, SCHEDULE_PATTERN

    draft = f"Write the workflow to {_locate_library() / 'drafts'}/NAME.json with your file tools, then execute NAME."
    return {
        SCHEDULE_PATTERN: SCHEDULE_HINT,
        "^(create|write|new|add|make|update|edit)_|^(workflow|ir|nodes|definition|draft)$": draft,
        "^(delete|remove)_": f"To remove a workflow, delete its file in {_locate_library()}.",
        "^inputs?$|^param": 'inputs is an object of names and values, such as {"city": "Oslo"}.',
    }


def _locate_library() -> Path:
    try:
        home = load_settings().home.expanduser().absolute()
    except UraniborgError:  # invalid settings: each call reports them
        home = Settings.home
    return home / "workflows"


def _format_instructions() -> str:
    library = _locate_library()
    return INSTRUCTIONS.replace("{drafts}", str(library / "drafts")).replace("{library}", str(library))


async def _cancel_runs_and_kill_children() -> None:
    """Cancel all runs and end their processes; the progress of each run is on disk."""
    from concurrent.futures import ThreadPoolExecutor

    from pflow.nodes.process_runner import kill_all_children
    from pflow.service.engine.cancellation import cancel_all_runs_and_wait

    _ending.set()
    # A separate thread, because the runs that are to end may occupy all of the pool.
    own = ThreadPoolExecutor(1)
    ended = asyncio.get_running_loop().run_in_executor(own, cancel_all_runs_and_wait, _EXITING_S)
    await asyncio.wait([ended], timeout=_EXITING_S)
    kill_all_children()


def _open_service() -> "Service":
    from pflow.service.operations import Service

    return Service(load_settings(), door="mcp")


async def _call_service_in_thread(operation: Callable[["Service"], Value]) -> Value:
    return await asyncio.to_thread(lambda: operation(_open_service()))


async def _run_and_ask(work: Callable[[], EndedRun]) -> EndedRun:
    """Run the workflow; ask the person in the client about approvals, and after each decision resume the run."""
    started = asyncio.get_running_loop().time()
    while True:
        reply = await asyncio.to_thread(work)
        if reply["error"] is None or reply["error"]["code"] != ApprovalRequired.code:
            return reply
        from pflow.api.approval_dialogs import ask_for_approval  # slow to import, and few workflows ask

        if not await ask_for_approval(reply, started):
            return reply


def _make_error_reply(error: UraniborgError, _: JsonObject) -> FailedCall:
    """Return the reply to an error, with `success` and the specified fields of the error."""
    from pflow.service.engine.results import build_error_body

    return {"success": False, "error": build_error_body(error)}


def _make_refusal_reply(error: UraniborgError, arguments: JsonObject) -> EndedRun:
    from pflow.service.engine.results import build_refusal_reply

    return build_refusal_reply(error, str(arguments.get("name") or ""))


def _run_workflow_and_build_reply(
    name: str, inputs: JsonObject | None, reporter: "ProgressNotifier", cancellation: "Cancellation", actor: "Actor"
) -> EndedRun:
    from pflow.service.engine.results import build_refusal_reply, build_reply_and_write_large_outputs

    if _ending.is_set():  # while this call waited for a thread
        return build_refusal_reply(
            RunCancelled("The server is stopping.", hint="Run the workflow again with the next server."), name
        )
    service = _open_service()
    result = service.execute(name, inputs, enable_repair=False, output=reporter, cancellation=cancellation, actor=actor)
    return build_reply_and_write_large_outputs(result, service.home)
