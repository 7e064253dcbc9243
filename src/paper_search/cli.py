"""The paper search command and its options."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from paper_search.config import AppConfig, load_config
from paper_search.limits import checked_query
from paper_search.models import NO_SOURCE_ANSWERED, PaperCollection, SourceReport, any_source_answered
from paper_search.options import Domain, MaxResults, Quiet, Record, Replay, Source
from paper_search.workflow import SearchWorkflow
from uraniborg.kernel.cli import run_typer_app
from uraniborg.kernel.errors import InvalidInput, Unavailable
from uraniborg.kernel.logging import printable

app = typer.Typer(add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False)


@app.command(name="paper_search", no_args_is_help=False)
def search_command(
    query: Annotated[list[str] | None, typer.Argument(help="What to look for, in your own words.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="Print BibTeX.")] = False,
    ris: Annotated[bool, typer.Option("--ris", help="Print RIS.")] = False,
    csl: Annotated[bool, typer.Option("--csl-json", help="Print CSL-JSON.")] = False,
    log: Annotated[bool, typer.Option("--search-log", help="Print the counts in and out of every stage.")] = False,
    source: Source = None,
    max_results: MaxResults = None,
    domain: Domain = None,
    record: Record = None,
    replay: Replay = None,
    quiet: Quiet = False,
) -> None:
    """Search for papers and print them, best first. Everything is approved; nothing is asked.

    Progress and source reports go to stderr, the result to stdout: Markdown unless another format is chosen.
    """
    chosen = [name for name, wanted in _choices(json, bibtex, ris, csl, log) if wanted]
    if len(chosen) > 1:
        raise InvalidInput(f"Choose one output format, not {' and '.join(chosen)}.", hint="Markdown is the default.")
    config = configure(max_results, domain, record, replay)
    words = checked_query(" ".join(query or []) or _recorded_query(replay))
    result = asyncio.run(run_search(words, config, source, quiet=quiet))
    if not quiet:
        report_outcome(result)
    sys.stdout.write(render(result, chosen[0] if chosen else "markdown"))
    exit_if_unanswered(result)


def run(arguments: Sequence[str]) -> NoReturn:
    run_typer_app(app, arguments, name="python -m paper_search")


def _choices(json: bool, bibtex: bool, ris: bool, csl: bool, log: bool) -> list[tuple[str, bool]]:
    return [("json", json), ("bibtex", bibtex), ("ris", ris), ("csl-json", csl), ("prisma", log)]


def configure(max_results: int | None, domain: str | None, record: Path | None, replay: Path | None) -> AppConfig:
    """Return the configuration with the options that were given in place of its settings."""
    given = {"default_max_results": max_results, "domain": domain, "record_dir": record, "replay_dir": replay}
    return load_config().model_copy(update={name: value for name, value in given.items() if value is not None})


def _recorded_query(replay: Path | None) -> str:
    if replay is None:
        return ""
    from paper_search.sources.recording import Recording  # only a replay without a query needs it

    return Recording.open(replay).query


async def run_search(query: str, config: AppConfig, only: list[str] | None, *, quiet: bool) -> PaperCollection:
    """Search once, approving everything, with progress on stderr unless `quiet`."""
    progress = None if quiet else _tell
    workflow = await asyncio.to_thread(
        SearchWorkflow.from_config, config, progress_reporter=progress, only=only, query=query
    )
    return await workflow.run(query)


def _tell(phase: str, facts: dict[str, Any]) -> None:
    if phase == "searching":
        _say(f"Searching {', '.join(facts['sources'])} ...")
    elif phase == "source_finished":
        _say(f"  {_described(SourceReport.model_validate(facts['report']))}")
    elif phase == "deduplicating":
        _say(f"Merging and ranking {facts['raw_count']:,} records ...")


def _described(report: SourceReport) -> str:
    """One line about what a source did."""
    count = f"{report.returned} papers" if report.returned != 1 else "1 paper"
    status = report.status.value.replace("_", " ") + (", partial" if report.partial else "")
    calls = f"{report.calls} calls" if report.calls != 1 else "1 call"
    why = f": {report.reason}" if report.reason else ""
    return f"{report.name:<17} {status:<12} {count:>10}, {calls}, {report.seconds:.1f} s{why}"


def report_outcome(result: PaperCollection) -> None:
    """Write notes and shortcomings of a result to stderr."""
    for note in result.metadata.notes:
        _say(f"Note: {note}")
    if result.metadata.partial:
        _say("Partial result: at least one source could not answer in full.")
    elif not result.papers:
        _say("No papers found.")


def exit_if_unanswered(result: PaperCollection) -> None:
    """Exit with the code for an unavailable service if no source answered."""
    if not any_source_answered(result.metadata.sources):
        _say(f"{NO_SOURCE_ANSWERED} Is there a network?")
        raise typer.Exit(Unavailable.exit_code)


def _say(line: str) -> None:
    sys.stderr.write(printable(line) + "\n")


def render(result: PaperCollection, format_name: str) -> str:
    """Return the result in the format named, ending with a line break. Raises InvalidInput for an unknown format."""
    from paper_search.export import export  # formats load their libraries late

    text = export(result, format_name)
    return text if not text or text.endswith("\n") else text + "\n"
