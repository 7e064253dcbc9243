"""The `paper-search` command: search, review at the terminal, sessions, exports and sources."""

import asyncio
import json as json_text
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from uraniborg.kernel.commands import run_app
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.files import check_output
from uraniborg.kernel.logging import printable

if TYPE_CHECKING:
    from paper_search.config import AppConfig
    from paper_search.sessions import SessionManager

T = TypeVar("T")

app = typer.Typer(
    help="Search for papers, review them at the terminal, and export them.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
sessions_app = typer.Typer(no_args_is_help=True, help="List, show, resume and delete search sessions.")
app.add_typer(sessions_app, name="sessions")

_NAMES = "markdown, bibtex, json, ris, csl-json, prisma, prisma-json, prisma-svg"
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Format = Annotated[
    str,
    typer.Option("--format", "-f", help=f"One of: {_NAMES}."),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file, not to stdout.")]
SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="A session id, or the beginning of one.")]
Reviewer = Annotated[str | None, typer.Option(help="Your name, stored with each mark.", show_default="terminal")]


@app.command()
def run(
    query: Annotated[list[str], typer.Argument(metavar="WORDS…", help="What to look for, in your own words.")],
    review: Annotated[bool, typer.Option("--review", help="Ask about the strategy and the papers.")] = False,
    reviewer: Reviewer = None,
    format_name: Format = "markdown",
    json: Json = False,
    output: Output = None,
    source: Annotated[
        list[str] | None, typer.Option("--source", help="Search only this source; may be given several times.")
    ] = None,
    max_results: Annotated[
        int | None, typer.Option(help="How many papers to return at most.", show_default="100, or the setting")
    ] = None,
    domain: Annotated[
        str | None, typer.Option(help="general or materials_science.", show_default="general, or the setting")
    ] = None,
    record: Annotated[Path | None, typer.Option(metavar="DIR", help="Store every answer in this folder.")] = None,
    replay: Annotated[Path | None, typer.Option(metavar="DIR", help="Use the answers stored in this folder.")] = None,
    quiet: Quiet = False,
) -> None:
    """Search for papers and print them, the most relevant first.

    Without --review everything is approved. With --review you confirm the strategy and mark the papers with single
    keys; you can leave at any time and resume later.

    Examples:

    - paper-search run atmospheres of the TRAPPIST-1 planets since 2017

    - paper-search run --review --format bibtex -o papers.bib perovskite solar cells
    """
    from paper_search import cli
    from paper_search.api import with_arguments
    from paper_search.defaults import DEFAULT_DOMAIN, DEFAULT_MAX_RESULTS
    from paper_search.limits import checked_query

    chosen = _format(format_name, as_json=json)
    check_output(output)
    if review and record:
        raise InvalidInput("--record cannot be used with --review.", hint="The session itself stores every answer.")
    config = with_arguments(
        cli.configure(record, replay),
        DEFAULT_MAX_RESULTS if max_results is None else max_results,
        DEFAULT_DOMAIN if domain is None else domain,
    )
    words = checked_query(" ".join(query))
    if review:
        _run_async(lambda: _review_new(words, _only_sources(config, source), reviewer, chosen, output))
        return
    result = asyncio.run(cli.run_search(words, config, source, quiet=quiet))
    if not quiet:
        cli.report_outcome(result)
    _write(cli.render(result, chosen), output)
    cli.exit_if_unanswered(result)


@app.command()
def export(
    session: SessionArgument,
    format_name: Format = "markdown",
    json: Json = False,
    output: Output = None,
) -> None:
    """Export the papers or the search log of a complete session.

    Examples:

    - paper-search export 4f1c2a --format bibtex -o papers.bib

    - paper-search export 4f1c2a --format prisma-svg -o flow.svg
    """
    chosen = _format(format_name, as_json=json)
    check_output(output)

    async def work() -> None:
        async with _manager() as manager:
            await _export(manager, manager.resolve(session), chosen, output)

    _run_async(work)


@app.command()
def sources(json: Json = False) -> None:
    """List the sources, and say which of them a search uses.

    Example: paper-search sources --json
    """
    from paper_search.config import load_config
    from paper_search.sources.registry import describe_sources

    listed = describe_sources(load_config())
    if json:
        _print_json(listed)
        return
    for entry in listed:
        mark = "*" if entry["used"] else " "
        _print(f"{mark} {entry['name']:<18} {entry['remark']}")
    _print("\n* used by every search that names no sources.")


@sessions_app.command("list")
def list_sessions(
    limit: Annotated[int, typer.Option(min=1, help="How many sessions to list.")] = 20, json: Json = False
) -> None:
    """List the sessions, the one used last first.

    Example: paper-search sessions list
    """

    async def work() -> dict[str, Any]:
        async with _manager() as manager:
            return await manager.sessions(limit)

    found = _run_async(work)
    if json:
        _print_json(found)
        return
    for line in found["sessions"]:
        outcome = line.get("checkpoint_kind") or line.get("error") or _papers(line.get("paper_count"))
        _print(f"{line['session_id'][:8]}  {line['phase']:<18} {outcome}")
        _print(f"          {line.get('query', '')}")
    rest = found["total"] - len(found["sessions"])
    _print(f"\n{rest} more; use --limit." if rest else "" if found["sessions"] else "There are no sessions.")


@sessions_app.command()
def show(session: SessionArgument, json: Json = False) -> None:
    """Show the state of a session, and what it asks.

    Example: paper-search sessions show 4f1c2a
    """

    async def work() -> dict[str, Any]:
        async with _manager() as manager:
            return await manager.state(manager.resolve(session))

    state = _run_async(work)
    if json:
        _print_json(state)
        return
    from paper_search.sessions.door import told_in_full

    where = state["phase"] if state["is_complete"] else f"{state['phase']}, round {state['round'] + 1}"
    _print(f"{state['session_id']}\n{state['query']}\n{where}: {state['summary']}")
    for line in told_in_full(state["checkpoint"]["payload"]) if state["has_pending_checkpoint"] else []:
        _print(f"  {line}".rstrip())


@sessions_app.command()
def resume(
    session: SessionArgument,
    reviewer: Reviewer = None,
    format_name: Format = "markdown",
    json: Json = False,
    output: Output = None,
) -> None:
    """Continue the review of a session at the terminal, and print the papers when it is complete.

    Example: paper-search sessions resume 4f1c2a --format bibtex -o papers.bib
    """
    chosen = _format(format_name, as_json=json)
    check_output(output)

    async def work() -> None:
        async with _manager() as manager:
            session_id = manager.resolve(session)
            if not (await manager.state(session_id))["is_complete"]:
                await _review(manager, session_id, reviewer, chosen, output)
            else:
                await _export(manager, session_id, chosen, output)

    _run_async(work)


@sessions_app.command()
def delete(
    session: SessionArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Delete a session with its papers and decisions, for good.

    Example: paper-search sessions delete 4f1c2a --yes
    """

    async def work() -> str | None:
        async with _manager() as manager:
            session_id = manager.resolve(session)
            query = (await manager.state(session_id))["query"]
            question = f"Delete session {session_id[:8]} ({printable(query[:60])})?"
            if not (yes or (sys.stdin.isatty() and await asyncio.to_thread(typer.confirm, question, err=True))):
                return None
            await asyncio.to_thread(manager.cleanup, session_id)
            return session_id

    deleted = _run_async(work)
    if deleted is None:
        raise InvalidInput("The session was not deleted.", hint="Confirm, or use --yes.")
    if json:
        _print_json({"deleted": deleted})
    else:
        _print(f"Deleted session {deleted}.")


def main() -> None:
    """Run the command."""
    run_app(app, sys.argv[1:], name="paper-search")


@asynccontextmanager
async def _manager() -> "AsyncGenerator[SessionManager]":
    from paper_search.config import load_config
    from paper_search.sessions import SessionManager

    manager = SessionManager(settings=load_config().sessions)
    try:
        yield manager
    finally:
        await manager.aclose()


async def _review_new(
    query: str, config: "AppConfig", reviewer: str | None, format_name: str, output: Path | None
) -> None:
    from paper_search.terminal.review import TerminalReview
    from paper_search.terminal.screen import TerminalScreen

    screen = TerminalScreen.require()
    async with _manager() as manager:
        review = TerminalReview(manager, screen, reviewer)
        session_id = (await manager.start(query, config, tell=review.report))["session_id"]
        screen.write(f"Session {session_id[:8]}. Leave with q; nothing is lost.")
        await _finish(review, manager, session_id, format_name, output)


async def _review(
    manager: "SessionManager", session_id: str, reviewer: str | None, format_name: str, output: Path | None
) -> None:
    from paper_search.terminal.review import TerminalReview
    from paper_search.terminal.screen import TerminalScreen

    review = TerminalReview(manager, TerminalScreen.require(), reviewer)
    await _finish(review, manager, session_id, format_name, output)


async def _finish(
    review: Any, manager: "SessionManager", session_id: str, format_name: str, output: Path | None
) -> None:
    if await review.run(session_id):
        await _export(manager, session_id, format_name, output)


async def _export(manager: "SessionManager", session_id: str, format_name: str, output: Path | None) -> None:
    from paper_search.cli import render

    _write(await asyncio.to_thread(render, await manager.result(session_id), format_name), output)


def _format(format_name: str, *, as_json: bool) -> str:
    from paper_search.export import FORMATS

    if format_name not in FORMATS:
        raise InvalidInput(
            f"Unknown format '{printable(format_name[:40])}'.",
            hint=f"Use one of: {', '.join(FORMATS)}.",
            argument="format",
            allowed=list(FORMATS),
        )
    if as_json and "json" not in format_name and format_name != "markdown":
        raise InvalidInput(f"--json prints JSON, and --format {format_name} does not.", hint="Leave one of them out.")
    return "json" if as_json and format_name == "markdown" else format_name


def _only_sources(config: "AppConfig", only: list[str] | None) -> "AppConfig":
    """Return the config with all sources switched off but these."""
    if not only:
        return config
    from paper_search.config import SearchSourceConfig
    from paper_search.sources.registry import known_names, refuse_unknown

    refuse_unknown(only, known_names())
    settings = {name: config.sources.get(name, SearchSourceConfig(name=name)) for name in known_names()}
    chosen = {name: given.model_copy(update={"enabled": name in only}) for name, given in settings.items()}
    return config.model_copy(update={"sources": chosen})


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    from uraniborg.kernel.files import write_output

    write_output(output, text)
    sys.stderr.write(f"Wrote {printable(str(output))}.\n")


def _run_async(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    return asyncio.run(work())


def _papers(count: int | None) -> str:
    return "" if count is None else "1 paper" if count == 1 else f"{count:,} papers"


def _print(line: str) -> None:
    sys.stdout.write(printable(line) + "\n")


def _print_json(value: Any) -> None:
    sys.stdout.write(json_text.dumps(value, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
