"""`paper-search`: search, review at the terminal, export, list sources, translate queries, and replay screenings."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paper_search.cli import search_command, session_commands, simulate_command
from paper_search.cli.session_commands import Format, JsonOrReport, Session, choose_format, export_session, open_manager
from paper_search.errors import InvalidQuery
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.terminal.command_runner import read_text_input, run_typer_app
from uraniborg.kernel.terminal.output_streams import print_json, write_text
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.typer_app import CommandLine, JsonOption, OutputFile

if TYPE_CHECKING:
    from paper_search.domain.strategies.platform_translation import Translation
    from paper_search.models import SearchStrategy
    from paper_search.service.search_replies import TranslatedPlan


File = Annotated[
    Path | None, typer.Argument(metavar="FILE", help="A file with the strategy or the question; - reads stdin.")
]
To = Annotated[str, typer.Option("--to", metavar="NAME", help="pubmed, ovid, wos, scopus, embase or cochrane.")]
FromSession = Annotated[str | None, typer.Option("--session", metavar="ID", help="Translate the plan of this session.")]


def translate(file: File = None, to: To = "pubmed", session: FromSession = None, json: JsonOption = False) -> None:
    """Write a search strategy in the syntax of another database.

    The strategy goes to stdout; what was changed or lost, and the problems of the text, go to stderr. A question in
    plain words becomes a plan first.

    Examples:
    - `paper-search translate strategy.txt --to ovid`
    - `cat strategy.txt | paper-search translate - --to embase --json`
    - `paper-search translate --session 4f1c2a --to cochrane`
    """
    from paper_search.domain.strategies.platform_translation import PLATFORMS

    if to not in PLATFORMS:
        allowed = ", ".join(PLATFORMS)
        raise InvalidInput(f"There is no platform “{to[:40]}”.", hint=f"Use one of: {allowed}.", allowed=[*PLATFORMS])
    if (file is None) == (session is None):
        raise InvalidInput("Name either a file or a session.", hint="paper-search translate FILE --to ovid")
    found = asyncio.run(_translate_plan(session, to)) if session else _translate_text(read_text_input(file or "-"), to)
    if json:
        print_json(found)
        return
    write_text(sys.stdout, f"{found['text']}\n")  # as it is: it is to be pasted
    remarks = Page(sys.stderr)
    for change in found["changes"]:
        remarks.write_message("Changed: ", change, hanging=4)
    for finding in found["findings"]:
        first, last = finding["start"] + 1, finding["end"]
        position = f"Characters {first} to {last}" if first < last else f"Character {first}"
        remarks.write_message(f"{position}: ", f"{finding['message']} {finding['hint']}", hanging=4)


def _translate_text(text: str, platform: str) -> "TranslatedPlan":
    from paper_search.domain.strategies.lint import check_query_text, correct_query_text
    from paper_search.sources.query_translation import copy_plan
    from paper_search.workflow.input_checks import check_query

    query = check_query(text)
    strategy, is_typed = asyncio.run(_plan(query))
    translation = copy_plan(strategy, platform)
    if not translation.text:
        raise InvalidQuery(f"Nothing of the query can be written for {translation.label}.", hint="Add search terms.")
    findings = [problem.to_fields() for problem in check_query_text(query)] if is_typed else []
    corrected = correct_query_text(query) if findings else query
    return {**_dump(translation), "findings": findings, "corrected": corrected}


def _dump(translation: "Translation") -> "TranslatedPlan":
    return {
        "platform": translation.platform,
        "label": translation.label,
        "text": translation.text,
        "changes": translation.changes,
        "findings": [],
    }


async def _plan(query: str) -> "tuple[SearchStrategy, bool]":
    """Return the plan of a query as rules make it, and whether the query was typed as one."""
    from paper_search.models import QueryBuilderInput
    from paper_search.skills.intent_parser import IntentParser
    from paper_search.skills.query_builder import QueryBuilder

    intent = await IntentParser().parse(query)
    return await QueryBuilder().build(QueryBuilderInput(intent=intent)), bool(intent.typed_query)


async def _translate_plan(session: str, platform: str) -> "TranslatedPlan":
    from paper_search.service.strategy_view import read_strategy
    from paper_search.sources.query_translation import copy_plan

    async with open_manager() as manager:
        state = await manager.peek_state(await manager.resolve_id_prefix(session))
        found = await asyncio.to_thread(read_strategy, manager.store, state)
    if found is None:
        raise InvalidInput("The session has no plan yet.", hint="Wait until its first question is there.")
    return _dump(copy_plan(found[0], platform))


app = CommandLine(
    """Search for papers, review them at the terminal, and export them.

    Examples:
    - `paper-search run perovskite solar cells since 2020`
    - `paper-search sessions list`
    """
)
app.command()(search_command.run)


@app.command()
def export(
    session: Session,
    format_name: Format = None,
    json: JsonOrReport = False,
    output: OutputFile = None,
) -> None:
    """Export the papers or the search log of a complete session.

    Examples:
    - `paper-search export 4f1c2a --format bibtex -o papers.bib`
    - `paper-search export 4f1c2a --format prisma-svg -o flow.svg`
    """
    chosen = choose_format(format_name, output, as_json=json)

    async def export_found() -> None:
        async with open_manager() as manager:
            await export_session(manager, await manager.resolve_id_prefix(session), chosen, output, as_json=json)

    asyncio.run(export_found())


@app.command()
def sources(json: JsonOption = False) -> None:
    """List the sources, and mark those that every search uses.

    Examples:
    - `paper-search sources --json`
    """
    from paper_search.config import load_config
    from paper_search.sources.offline_source import describe_offline_sources
    from paper_search.sources.registry import describe_sources

    config = load_config()
    listed = describe_offline_sources(config) if config.offline else describe_sources(config)
    if json:
        print_json(listed)
        return
    page = Page()
    rows = [(f"{'*' if entry['used'] else ' '} {entry['name']}", entry["remark"]) for entry in listed]
    page.write_table(rows, indent=0, last_cell="wrapped")
    page.write_line()
    page.write_line("* used by every search that names no sources.")


app.command()(translate)
app.command()(simulate_command.simulate)
app.add_typer(session_commands.app, name="sessions")


def main() -> None:
    """Run the command."""
    run_typer_app(app, sys.argv[1:], name="paper-search")


if __name__ == "__main__":
    main()
