"""`python -m paper_search`, and the search that it shares with `paper-search run`."""

import asyncio
import json as json_text
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from paper_search.command_options import (
    Domain,
    Format,
    JsonOrReport,
    MaxResults,
    Offline,
    OptionalQuery,
    Record,
    Replay,
    Source,
)
from paper_search.config import AppConfig, load_config
from paper_search.input_checks import check_query
from paper_search.models import NO_SOURCE_ANSWERED, PaperCollection, SourceReport, SourceStatus, any_source_answered
from paper_search.query_input import join_query_words
from paper_search.source_labels import get_source_label
from paper_search.source_outcomes import describe_fetched, describe_incomplete_search, describe_shortfall
from paper_search.workflow import SearchWorkflow
from uraniborg.kernel.cli import fit_to_terminal, run_typer_app
from uraniborg.kernel.command_line import HELP_OPTIONS, CommandLine, OutputFile, Quiet
from uraniborg.kernel.errors import InvalidInput, Unavailable
from uraniborg.kernel.files import check_output, write_output
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.text import plural

app = CommandLine()


@app.command("paper_search", context_settings=HELP_OPTIONS)
def search_command(
    query: OptionalQuery = None,
    format_name: Format = None,
    json: JsonOrReport = False,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="The same as --format bibtex.")] = False,
    ris: Annotated[bool, typer.Option("--ris", help="The same as --format ris.")] = False,
    csl: Annotated[bool, typer.Option("--csl-json", help="The same as --format csl-json.")] = False,
    log: Annotated[
        bool, typer.Option("--search-log", help="The same as --format prisma: the number of papers in each stage.")
    ] = False,
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

    Everything is approved; no question is asked. Progress and source reports go to stderr, the result to stdout.

    Examples:
    - `python -m paper_search --bibtex perovskite solar cells since 2020`
    """
    flags = [("bibtex", bibtex), ("ris", ris), ("csl-json", csl), ("prisma", log), ("json", json and output is None)]
    chosen = [name for name, is_chosen in [(format_name or "", format_name is not None), *flags] if is_chosen]
    if len(chosen) > 1:
        raise InvalidInput(f"Choose one output format, not {' and '.join(chosen)}.", hint="Markdown is the default.")
    wanted = choose_format(chosen[0] if chosen else None, output, as_json=json)
    check_output(output)
    config = build_config(max_results, domain, record, replay, offline=offline)
    text = check_query(join_query_words(query or []) or _read_recorded_query(replay))
    search_and_print(text, config, source, wanted, output, quiet=quiet, as_json=json)


def run_command(arguments: Sequence[str]) -> NoReturn:
    """Run the command with these arguments and exit."""
    run_typer_app(app, arguments, name="python -m paper_search")


def build_config(
    max_results: int | None, domain: str | None, record: Path | None, replay: Path | None, *, offline: bool = False
) -> AppConfig:
    """Return the configuration, with the options that were given in place of its settings.

    `offline` also replaces the settings for recording and replaying, and `record` and `replay` replace `offline`.
    """
    given = {"default_max_results": max_results, "domain": domain, "record_dir": record, "replay_dir": replay}
    update: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if offline:
        update |= {"offline": True, "record_dir": record, "replay_dir": replay}
    elif record or replay:
        update["offline"] = False
    return load_config().model_copy(update=update)


def search_and_print(
    query: str,
    config: AppConfig,
    sources: list[str] | None,
    format_name: str,
    output: Path | None = None,
    *,
    quiet: bool = False,
    as_json: bool = False,
) -> None:
    """Search once, approving everything, and write the result to stdout or to `output`.

    Progress and notes go to stderr unless `quiet`. Exit with the code of Unavailable if no source answered.
    """
    result = asyncio.run(_search(query, config, sources, quiet=quiet))
    if not quiet:
        _print_notes(result)
    write_text(render_result(result, format_name), output, format_name, as_json=as_json)
    if not any_source_answered(result.metadata.sources):
        _print_message(f"{NO_SOURCE_ANSWERED} Is there a network?")
        raise typer.Exit(Unavailable.exit_code)


def render_result(result: PaperCollection, format_name: str) -> str:
    """Return the result in this format, ending with a line break. Raise InvalidInput for an unknown format."""
    from paper_search.export import export  # formats load their libraries late

    text = export(result, format_name)
    return text if not text or text.endswith("\n") else text + "\n"


def choose_format(format_name: str | None, output: Path | None, *, as_json: bool) -> str:
    """Return the format to write. Raise InvalidInput for an unknown format, or one that --json contradicts."""
    from paper_search.export import check_format

    if format_name is None:
        return "json" if as_json else "markdown"
    check_format(format_name)
    if as_json and output is None and "json" not in format_name:
        raise InvalidInput(f"--json prints JSON, but --format {format_name} does not.", hint="Leave one of them out.")
    return format_name


def write_text(text: str, output: Path | None, format_name: str, *, as_json: bool) -> None:
    """Write the text to stdout, or to the file and a report of it to stderr, or to stdout as JSON."""
    if output is None:
        sys.stdout.write(text)
        return
    write_output(output, text)
    if as_json:
        sys.stdout.write(json_text.dumps({"path": str(output), "format": format_name}) + "\n")
    else:
        _print_message(f"Wrote {output}.")


def _read_recorded_query(replay: Path | None) -> str:
    """Return the query of a recording, or "" if there is none."""
    if replay is None:
        return ""
    from paper_search.sources.recording import Recording  # only a replay without a query needs it

    return Recording.open(replay).query


async def _search(query: str, config: AppConfig, sources: list[str] | None, *, quiet: bool) -> PaperCollection:
    progress = None if quiet else _print_progress
    workflow = await asyncio.to_thread(
        SearchWorkflow.from_config, config, progress_reporter=progress, only=sources, query=query
    )
    return await workflow.run(query)


def _print_progress(phase: str, facts: dict[str, Any]) -> None:
    if phase == "searching":
        _print_message(f"Searching {', '.join(map(get_source_label, facts['sources']))} ...")
    elif phase == "source_finished":
        _print_message(f"  {_describe_report(SourceReport.model_validate(facts['report']))}")
    elif phase == "deduplicating":
        _print_message(f"Merging and ranking {plural(facts['raw_count'], 'record')} ...")


def _describe_report(report: SourceReport) -> str:
    status = report.status.value.replace("_", " ")
    facts = [plural(report.calls, "call"), f"{report.seconds:.1f} s"]
    if report.status in (SourceStatus.OK, SourceStatus.EMPTY):
        facts.append(describe_shortfall(report) or f"fetched {describe_fetched(report)}")
    reason = f": {report.reason}" if report.reason else ""
    papers = plural(report.returned, "paper")
    return f"{get_source_label(report.name):<24} {status:<12} {papers:>10}, {', '.join(facts)}{reason}"


def _print_notes(result: PaperCollection) -> None:
    """Write the notes of a result to stderr, and whether it is partial or empty."""
    for note in result.metadata.notes:
        _print_message(f"Note: {note}")
    if result.metadata.partial:
        logged = [report for log in result.metadata.round_logs for report in log.sources]
        _print_message(f"Partial result: {describe_incomplete_search(logged or result.metadata.sources)}.")
    elif not result.papers:
        _print_message("No papers found.")


def _print_message(line: str) -> None:
    sys.stderr.write(fit_to_terminal(make_printable(line), sys.stderr, hanging="    ") + "\n")
