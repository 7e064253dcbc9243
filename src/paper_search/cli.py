"""The command `python -m paper_search`, and the search that it shares with `paper-search run`."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from paper_search.command_options import Domain, MaxResults, Offline, OptionalQuery, Quiet, Record, Replay, Source
from paper_search.config import AppConfig, load_config
from paper_search.input_checks import check_query
from paper_search.models import NO_SOURCE_ANSWERED, PaperCollection, SourceReport, any_source_answered
from paper_search.workflow import SearchWorkflow
from uraniborg.kernel.cli import run_typer_app
from uraniborg.kernel.errors import InvalidInput, Unavailable
from uraniborg.kernel.files import write_output
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.text import plural

app = typer.Typer(add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False)


@app.command(name="paper_search", no_args_is_help=False)
def search_command(
    query: OptionalQuery = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="Print BibTeX.")] = False,
    ris: Annotated[bool, typer.Option("--ris", help="Print RIS.")] = False,
    csl: Annotated[bool, typer.Option("--csl-json", help="Print CSL-JSON.")] = False,
    log: Annotated[bool, typer.Option("--search-log", help="Print the number of papers in each stage.")] = False,
    source: Source = None,
    max_results: MaxResults = None,
    domain: Domain = None,
    record: Record = None,
    replay: Replay = None,
    offline: Offline = False,
    quiet: Quiet = False,
) -> None:
    """Search for papers and print them, the most relevant first. Everything is approved; no question is asked.

    Progress and source reports go to stderr, the result to stdout: Markdown unless another format is chosen.

    Example: python -m paper_search --bibtex perovskite solar cells since 2020
    """
    formats = [("json", json), ("bibtex", bibtex), ("ris", ris), ("csl-json", csl), ("prisma", log)]
    chosen = [name for name, is_chosen in formats if is_chosen]
    if len(chosen) > 1:
        raise InvalidInput(f"Choose one output format, not {' and '.join(chosen)}.", hint="Markdown is the default.")
    config = build_config(max_results, domain, record, replay, offline=offline)
    text = check_query(" ".join(query or []) or _read_recorded_query(replay))
    search_and_print(text, config, source, chosen[0] if chosen else "markdown", quiet=quiet)


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
) -> None:
    """Search once, approving everything, and write the result to stdout or to `output`.

    Progress and notes go to stderr unless `quiet`. Exit with the code of Unavailable if no source answered.
    """
    result = asyncio.run(_search(query, config, sources, quiet=quiet))
    if not quiet:
        _print_notes(result)
    write_text(render_result(result, format_name), output)
    if not any_source_answered(result.metadata.sources):
        _print_message(f"{NO_SOURCE_ANSWERED} Is there a network?")
        raise typer.Exit(Unavailable.exit_code)


def render_result(result: PaperCollection, format_name: str) -> str:
    """Return the result in this format, ending with a line break. Raise InvalidInput for an unknown format."""
    from paper_search.export import export  # formats load their libraries late

    text = export(result, format_name)
    return text if not text or text.endswith("\n") else text + "\n"


def write_text(text: str, output: Path | None) -> None:
    """Write the text to the file, or to stdout if there is none."""
    if output is None:
        sys.stdout.write(text)
    else:
        write_output(output, text)
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
        _print_message(f"Searching {', '.join(facts['sources'])} ...")
    elif phase == "source_finished":
        _print_message(f"  {_describe_report(SourceReport.model_validate(facts['report']))}")
    elif phase == "deduplicating":
        _print_message(f"Merging and ranking {plural(facts['raw_count'], 'record')} ...")


def _describe_report(report: SourceReport) -> str:
    """Return the report of a source as one line."""
    status = report.status.value.replace("_", " ") + (", partial" if report.partial else "")
    reason = f": {report.reason}" if report.reason else ""
    papers, calls = plural(report.returned, "paper"), plural(report.calls, "call")
    return f"{report.name:<17} {status:<12} {papers:>10}, {calls}, {report.seconds:.1f} s{reason}"


def _print_notes(result: PaperCollection) -> None:
    """Write the notes of a result to stderr, and whether it is partial or empty."""
    for note in result.metadata.notes:
        _print_message(f"Note: {note}")
    if result.metadata.partial:
        _print_message("Partial result: at least one source could not answer in full.")
    elif not result.papers:
        _print_message("No papers found.")


def _print_message(line: str) -> None:
    sys.stderr.write(make_printable(line) + "\n")
