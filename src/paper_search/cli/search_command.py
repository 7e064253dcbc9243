"""`paper-search run` and `python -m paper_search`: search once and print the papers."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paper_search.cli.session_commands import (
    Format,
    JsonOrReport,
    Reviewer,
    choose_format,
    review_new_session,
    write_result,
)
from uraniborg.kernel.errors import InvalidInput, Unavailable
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.terminal.command_runner import read_text_input
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.typer_app import HELP_OPTIONS, CommandLine, OutputFile, Quiet

if TYPE_CHECKING:
    from paper_search.config import AppConfig
    from paper_search.models import PaperCollection, SourceReport
    from paper_search.workflow.skill_interfaces import ProgressFacts

Query = Annotated[
    list[str] | None,
    typer.Argument(metavar="WORDS", help="What to look for, in your own words; - reads a query from stdin."),
]
Source = Annotated[
    list[str] | None, typer.Option("--source", metavar="NAME", help="Search only this source; repeatable.")
]
MaxResults = Annotated[
    int | None,
    typer.Option(
        "--limit",
        "-n",
        "--max-results",
        metavar="N",
        help="Return at most this many papers.",
        show_default="100, or the setting",
    ),
]
Domain = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="general or materials_science.", show_default="general, or the setting"),
]
Record = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Store every answer in this folder.")]
Replay = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Use the answers stored in this folder, and no network.")
]
Offline = Annotated[bool, typer.Option("--offline", help="A trial: filter the shipped recording. No network, no key.")]
SearchLog = Annotated[
    bool, typer.Option("--search-log", help="The same as --format prisma: the number of papers in each stage.")
]


app = CommandLine()


@app.command("paper_search", context_settings=HELP_OPTIONS)
def run(
    query: Query = None,
    review: Annotated[bool, typer.Option("--review", help="Ask about the strategy and the papers.")] = False,
    reviewer: Reviewer = None,
    format_name: Format = None,
    json: JsonOrReport = False,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="The same as --format bibtex.")] = False,
    ris: Annotated[bool, typer.Option("--ris", help="The same as --format ris.")] = False,
    csl: Annotated[bool, typer.Option("--csl-json", help="The same as --format csl-json.")] = False,
    log: SearchLog = False,
    output: OutputFile = None,
    source: Source = None,
    max_results: MaxResults = None,
    domain: Domain = None,
    record: Record = None,
    replay: Replay = None,
    offline: Offline = False,
    quiet: Quiet = False,
) -> None:
    """Search for papers and print them, the most relevant first.

    Without --review everything is approved. With --review you confirm the strategy and mark the papers with single
    keys; you can quit at any time and resume later. Progress and source reports go to stderr, the result to stdout.

    Examples:
    - `paper-search run atmospheres of the TRAPPIST-1 planets since 2017`
    - `paper-search run --review --format bibtex -o papers.bib perovskite solar cells`
    - `paper-search run --review --offline atmospheres of the TRAPPIST-1 planets`
    - `paper-search run - < strategy.txt`
    - `python -m paper_search --bibtex perovskite solar cells since 2020`
    """
    from paper_search.config import load_config
    from paper_search.service.search_arguments import apply_given_arguments
    from paper_search.workflow.input_checks import check_query

    flags = {"bibtex": bibtex, "ris": ris, "csl-json": csl, "prisma": log}
    named = [*([format_name] if format_name else []), *(name for name, is_given in flags.items() if is_given)]
    if len(named) > 1:
        raise InvalidInput(f"Choose one output format, not {' and '.join(named)}.", hint="Markdown is the default.")
    chosen = choose_format(named[0] if named else None, output, as_json=json)
    if review and record:
        raise InvalidInput("--record cannot be used with --review.", hint="The session itself stores every answer.")
    config = apply_given_arguments(
        load_config(),
        max_results,
        domain,
        sources=source if review else None,
        offline=offline or None,
        record=record,
        replay=replay,
    )
    words = read_text_input("-") if query == ["-"] else " ".join(query or [])
    text = check_query(words or _read_recorded_query(replay))
    if review:
        asyncio.run(review_new_session(text, config, reviewer, chosen, output, as_json=json))
        return
    result = asyncio.run(_search(text, config, source, quiet=quiet))
    _print_notes_and_write(result, chosen, output, quiet=quiet, as_json=json)


def _read_recorded_query(replay: Path | None) -> str:
    """Return the query of a recording, or "" if there is none."""
    if replay is None:
        return ""
    from paper_search.sources.transport.recording import Recording  # only a replay without a query needs it

    return Recording.open(replay).query


async def _search(query: str, config: "AppConfig", sources: list[str] | None, *, quiet: bool) -> "PaperCollection":
    from paper_search.workflow import SearchWorkflow

    progress = None if quiet else _print_progress
    workflow = await asyncio.to_thread(
        SearchWorkflow.from_config, config, progress_reporter=progress, only=sources, query=query
    )
    return await workflow.run(query)


def _print_progress(phase: str, facts: "ProgressFacts") -> None:
    from paper_search.domain.source_descriptions import get_source_label
    from paper_search.models import SourceReport

    if phase == "searching" and "sources" in facts:
        _print_message(f"Searching {', '.join(map(get_source_label, facts['sources']))} ...")
    elif phase == "source_finished" and "report" in facts:
        _print_message("  ", _describe_report(SourceReport.model_validate(facts["report"])))
    elif phase == "deduplicating" and "raw_count" in facts:
        _print_message(f"Merging and ranking {plural(facts['raw_count'], 'record')} ...")


def _describe_report(report: "SourceReport") -> str:
    """Return the report of a source as one line."""
    from paper_search.domain.source_descriptions import describe_fetched, describe_shortfall, get_source_label
    from paper_search.models import SourceStatus

    status = report.status.value.replace("_", " ")
    facts = [plural(report.calls, "call"), f"{report.seconds:.1f} s"]
    if report.status in (SourceStatus.OK, SourceStatus.EMPTY):
        facts.append(describe_shortfall(report) or f"fetched {describe_fetched(report)}")
    reason = f": {report.reason}" if report.reason else ""
    papers = plural(report.returned, "paper")
    return f"{get_source_label(report.name):<24} {status:<12} {papers:>10}, {', '.join(facts)}{reason}"


def _print_notes_and_write(
    result: "PaperCollection", format_name: str, output: Path | None, *, quiet: bool, as_json: bool
) -> None:
    """Write the notes of a result to stderr, and then the result. Exit with 5 if no source answered."""
    from paper_search.domain.source_descriptions import describe_incomplete_search
    from paper_search.models import NO_SOURCE_ANSWERED, any_source_answered

    if not quiet:
        for note in result.metadata.notes:
            _print_message(f"Note: {note}")
        if result.metadata.partial:
            logged = [report for log in result.metadata.round_logs for report in log.sources]
            _print_message(f"Partial result: {describe_incomplete_search(logged or result.metadata.sources)}.")
        elif not result.papers:
            _print_message("No papers found.")
    write_result(result, format_name, output, as_json=as_json)
    if not any_source_answered(result.metadata.sources):
        _print_message(f"{NO_SOURCE_ANSWERED} Is there a network?")
        raise typer.Exit(Unavailable.exit_code)


def _print_message(*pieces: str) -> None:
    Page(sys.stderr).write_message(*pieces, hanging=4)
