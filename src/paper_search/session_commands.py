"""`paper-search sessions`, and what other commands do with a session: open, review, export."""

import asyncio
import json as json_text
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from paper_search.command_options import Format, JsonOrReport, Reviewer, Session
from uraniborg.kernel.actors import describe_actor, get_terminal_actor, read_actor
from uraniborg.kernel.cli import fit_to_terminal
from uraniborg.kernel.command_line import CommandLine, JsonOption, Limit, OutputFile, Yes
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.files import check_output
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.text import plural

if TYPE_CHECKING:
    from paper_search.config import AppConfig
    from paper_search.session_replies import SessionEntries, SessionReply
    from paper_search.sessions import SessionManager
    from paper_search.terminal.review import TerminalReview

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
    for line in found["sessions"]:
        papers = plural(line["paper_count"], "paper") if "paper_count" in line else ""
        print_line(
            f"{line['session_id'][:8]}  {line['phase']:<18} {line.get('checkpoint_kind') or line.get('error', papers)}"
        )
        trial = " (offline trial)" if line.get("offline") else ""
        print_line(f"          {' '.join(line.get('query', '').split())}{trial}", hanging=" " * 10)
        print_line(f"          started by {describe_actor(read_actor(line.get('actor')))}")
    rest = found["total"] - len(found["sessions"])
    print_line(f"\n{rest} more; use --limit." if rest else "" if found["sessions"] else "There are no sessions.")


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
    from paper_search.sessions.checkpoint_inbox import format_payload

    phase = state["phase"] if state["is_complete"] else f"{state['phase']}, round {state['round'] + 1}"
    starter = f"started by {describe_actor(read_actor(state.get('actor')))}"
    for line in (state["session_id"], state["query"], starter, f"{phase}: {state['summary']}"):
        print_line(line)
    for line in format_payload(state["checkpoint"]["payload"]) if "checkpoint" in state else []:
        print_line(f"  {line}".rstrip())


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
    from paper_search.cli import choose_format

    chosen = choose_format(format_name, output, as_json=json)
    check_output(output)

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

    async def confirm_and_delete() -> str | None:
        async with open_manager() as manager:
            session_id = await manager.resolve_id_prefix(session)
            query = (await manager.get_state(session_id))["query"]
            question = f"Delete session {session_id[:8]} ({make_printable(query[:60])})?"
            if not (yes or (sys.stdin.isatty() and await asyncio.to_thread(typer.confirm, question, err=True))):
                return None
            await asyncio.to_thread(lambda: manager.cleanup(session_id, actor=get_terminal_actor()))
            return session_id

    deleted = asyncio.run(confirm_and_delete())
    if deleted is None:
        raise InvalidInput("The session was not deleted.", hint="Confirm the question, or use --yes.")
    if json:
        print_json({"deleted": deleted})
    else:
        print_line(f"Deleted session {deleted}.")


@asynccontextmanager
async def open_manager() -> "AsyncGenerator[SessionManager]":
    """Open the sessions of the data folder, and close them at the end."""
    from paper_search.config import load_config
    from paper_search.sessions import SessionManager

    manager = SessionManager(settings=load_config().sessions)
    try:
        yield manager
    finally:
        await manager.aclose()


def create_terminal_review(manager: "SessionManager", reviewer: str | None) -> "TerminalReview":
    """Return a review at this terminal. Raise InvalidInput if there is no terminal."""
    from paper_search.terminal.keys_and_output import TerminalScreen
    from paper_search.terminal.review import TerminalReview

    return TerminalReview(manager, TerminalScreen.require_terminal(), reviewer)


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
    from paper_search.cli import render_result, write_text

    text = await asyncio.to_thread(render_result, await manager.get_result(session_id), format_name)
    write_text(text, output, format_name, as_json=as_json)


def print_line(line: str, *, hanging: str = "    ") -> None:
    """Print a line without control characters, wrapped on a terminal that is too narrow."""
    sys.stdout.write(fit_to_terminal(make_printable(line), sys.stdout, hanging=hanging) + "\n")


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    sys.stdout.write(json_text.dumps(value, ensure_ascii=False) + "\n")
