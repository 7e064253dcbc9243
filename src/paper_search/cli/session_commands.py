"""`paper-search sessions`, and what other commands do with sessions and results: open, review, export, write."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from uraniborg.kernel.actors import describe_actor, get_terminal_actor, read_actor
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.terminal.output_streams import print_json, write_text
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.typer_app import CommandLine, JsonOption, Limit, OutputFile, Yes

if TYPE_CHECKING:
    from paper_search.cli.terminal_review import TerminalReview
    from paper_search.config import AppConfig
    from paper_search.models import PaperCollection
    from paper_search.service.session_replies import SessionEntries, SessionReply
    from paper_search.service.sessions import SessionManager


Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="markdown, bibtex, json, ris, csl-json, prisma, prisma-json or prisma-svg.",
        show_default="markdown",
    ),
]
JsonOrReport = Annotated[
    bool, typer.Option("--json", help="The same as --format json; with --output, also print a JSON report.")
]


def choose_format(format_name: str | None, output: Path | None, *, as_json: bool) -> str:
    """Return the format to write. Raise InvalidInput for an unknown format, or one that --json contradicts.

    Raise OutputUnwritable if the file cannot be written.
    """
    from paper_search.export import check_format
    from uraniborg.kernel.store.files import check_output

    check_output(output)
    if format_name is None:
        return "json" if as_json else "markdown"
    check_format(format_name)
    if as_json and output is None and "json" not in format_name:
        raise InvalidInput(f"--json prints JSON, but --format {format_name} does not.", hint="Leave one of them out.")
    return format_name


def write_result(result: "PaperCollection", format_name: str, output: Path | None, *, as_json: bool) -> None:
    """Write the result to stdout, or to the file and a report of it to stderr, or to stdout as JSON."""
    from paper_search.export import export  # formats load their libraries late
    from uraniborg.kernel.store.files import write_output

    text = export(result, format_name)
    text = text if not text or text.endswith("\n") else f"{text}\n"
    if output is None:
        write_text(sys.stdout, text)
        return
    write_output(output, text)
    if as_json:
        print_json({"path": str(output), "format": format_name})
    else:
        Page(sys.stderr).write_message(f"Wrote {output}.")


Session = Annotated[str, typer.Argument(metavar="SESSION", help="A session id, or its first characters.")]
Reviewer = Annotated[
    str | None, typer.Option(metavar="NAME", help="Your name, stored with each mark.", show_default="terminal")
]
_INDENT: Final = " " * 10

app = CommandLine(
    """List, show, resume and delete search sessions.

    Examples:
    - `paper-search sessions list`
    - `paper-search sessions resume 4f1c2a`
    """
)


@app.command("list")
def list_sessions(limit: Limit = 20, json: JsonOption = False) -> None:
    """List the sessions, the one used last first.

    Examples:
    - `paper-search sessions list`
    """

    async def read_sessions() -> "SessionEntries":
        async with open_manager() as manager:
            return await manager.list_sessions(limit)

    found = asyncio.run(read_sessions())
    if json:
        print_json(found)
        return
    page = Page()
    for line in found["sessions"]:
        papers = plural(line["paper_count"], "paper") if "paper_count" in line else ""
        outcome = line.get("checkpoint_kind") or line.get("error", papers)
        page.write_message(f"{line['session_id'][:8]}  ", f"{line['phase']:<18} {outcome}")
        trial = " (offline trial)" if line.get("offline") else ""
        page.write_message(_INDENT, f"{' '.join(line.get('query', '').split())}{trial}")
        page.write_message(_INDENT, f"started by {describe_actor(read_actor(line.get('actor')))}")
    rest = found["total"] - len(found["sessions"])
    page.write_line("" if found["sessions"] else "There are no sessions.")
    if rest:
        page.write_line(f"{rest} more; use --limit.")


@app.command()
def show(session: Session, json: JsonOption = False) -> None:
    """Show the state of a session and its pending checkpoint.

    Examples:
    - `paper-search sessions show 4f1c2a`
    """

    async def read_state() -> "SessionReply":
        async with open_manager() as manager:
            return await manager.get_state(await manager.resolve_id_prefix(session))

    state = asyncio.run(read_state())
    if json:
        print_json(state)
        return
    from paper_search.service.sessions.checkpoint_payloads import format_payload

    phase = state["phase"] if state["is_complete"] else f"{state['phase']}, round {state['round'] + 1}"
    starter = f"started by {describe_actor(read_actor(state.get('actor')))}"
    page = Page()
    for line in (state["session_id"], state["query"], starter, f"{phase}: {state['summary']}"):
        page.write_message(line, hanging=4, keeps_lines=True)
    for line in format_payload(state["checkpoint"]["payload"]) if "checkpoint" in state else []:
        page.write_message("  ", line, hanging=4, keeps_lines=True)


@app.command()
def resume(
    session: Session,
    reviewer: Reviewer = None,
    format_name: Format = None,
    json: JsonOrReport = False,
    output: OutputFile = None,
) -> None:
    """Continue the review of a session at the terminal, and print the papers when it is complete.

    Examples:
    - `paper-search sessions resume 4f1c2a --format bibtex -o papers.bib`
    """
    chosen = choose_format(format_name, output, as_json=json)

    async def review_and_export() -> None:
        async with open_manager() as manager:
            session_id = await manager.resolve_id_prefix(session)
            is_complete = (await manager.get_state(session_id))["is_complete"]
            if is_complete or await create_terminal_review(manager, reviewer).review_session(session_id):
                await export_session(manager, session_id, chosen, output, as_json=json)

    asyncio.run(review_and_export())


@app.command()
def delete(
    session: Session,
    yes: Yes = False,
    json: JsonOption = False,
) -> None:
    """Delete a session with its papers and decisions, permanently.

    Examples:
    - `paper-search sessions delete 4f1c2a --yes`
    """
    from uraniborg.kernel.terminal.questions import confirm

    async def confirm_and_delete() -> str | None:
        async with open_manager() as manager:
            session_id = await manager.resolve_id_prefix(session)
            query = (await manager.get_state(session_id))["query"]
            question = f"Delete session {session_id[:8]} ({query[:60]})?"
            if not (yes or (sys.stdin.isatty() and await asyncio.to_thread(confirm, question))):
                return None
            await asyncio.to_thread(lambda: manager.cleanup(session_id, actor=get_terminal_actor()))
            return session_id

    deleted = asyncio.run(confirm_and_delete())
    if deleted is None:
        raise InvalidInput("The session was not deleted.", hint="Confirm the question, or use --yes.")
    if json:
        print_json({"deleted": deleted})
    else:
        Page().write_line(f"Deleted session {deleted}.")


@asynccontextmanager
async def open_manager() -> "AsyncGenerator[SessionManager]":
    """Open the sessions of the data folder, and close them at the end."""
    from paper_search.config import load_config
    from paper_search.service.sessions import SessionManager

    manager = SessionManager(settings=load_config().sessions)
    try:
        yield manager
    finally:
        await manager.aclose()


def create_terminal_review(manager: "SessionManager", reviewer: str | None) -> "TerminalReview":
    """Return a review at this terminal. Raise InvalidInput if there is no terminal."""
    from paper_search.cli.terminal_review import TerminalReview
    from uraniborg.kernel.terminal.questions import TerminalScreen

    if not TerminalScreen.is_usable():
        raise InvalidInput(
            "A review needs a terminal: stdin and stderr must not be redirected.",
            hint="Run it in a terminal, or answer with `uraniborg inbox` and `uraniborg decide`.",
        )
    return TerminalReview(manager, TerminalScreen("strategy.json"), reviewer)


async def review_new_session(
    query: str, config: "AppConfig", reviewer: str | None, format_name: str, output: Path | None, *, as_json: bool
) -> None:
    """Open a session, review it at the terminal, and write its papers when it is complete."""
    async with open_manager() as manager:
        review = create_terminal_review(manager, reviewer)
        session_id = await review.open_session(query, config)
        if await review.review_session(session_id):
            await export_session(manager, session_id, format_name, output, as_json=as_json)


async def export_session(
    manager: "SessionManager", session_id: str, format_name: str, output: Path | None, *, as_json: bool
) -> None:
    """Write the papers of a complete session. Raise SessionNotComplete or SessionFailed."""
    result = await manager.get_result(session_id)
    await asyncio.to_thread(write_result, result, format_name, output, as_json=as_json)
