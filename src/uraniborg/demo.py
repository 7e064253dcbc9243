"""The demo: a replayed paper search, an agent's session, a shelf, a universe and a workflow. No network, no key."""

import asyncio
import shlex
import sys
from pathlib import Path
from typing import Any, Final

from rich.console import Console, Group
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from paper_search import export_bibtex, export_json, export_markdown, export_prisma
from paper_search.config import AppConfig
from paper_search.models import Paper, PaperCollection, SourceReport, SourceStatus
from paper_search.workflow import (
    Checkpoint,
    Decision,
    DecisionAction,
    SearchWorkflow,
    StrategyPayload,
)
from uraniborg.connect.servers import format_program
from uraniborg.kernel.bibliography.names import split_name
from uraniborg.kernel.errors import InvalidInput, MissingExtra
from uraniborg.kernel.files import make_folder, write_atomic
from uraniborg.recordings import QUERY, RECORDING

_SHOWN: Final = 10
_COLORS: Final = {
    SourceStatus.OK: "green",
    SourceStatus.EMPTY: "dim",
    SourceStatus.FAILED: "red",
    SourceStatus.RATE_LIMITED: "yellow",
    SourceStatus.SKIPPED: "dim",
}


def run_demo(output: Path, *, as_json: bool, console: Console | None = None) -> None:
    """Replay the search, display it on stdout and write the exports to `output`.

    Raise InvalidInput when `output` cannot be written to, and MissingExtra without the extra `mcp`.
    """
    try:
        from uraniborg.demo_session import run_and_show_session
        from uraniborg.demo_shelf import build_and_show_shelf
        from uraniborg.demo_universe import run_and_show_universe
        from uraniborg.demo_workflow import run_and_show_workflow
    except ModuleNotFoundError:
        raise MissingExtra("mcp", "The demo") from None
    _make_output_folder(output)
    console = console or Console(quiet=as_json, highlight=False)
    console.print(_render_title())
    result = asyncio.run(_run_search(console))
    files = _write_exports(result, output)
    if as_json:
        sys.stdout.write(export_json(result) + "\n")
        return
    console.print(_render_stage_counts(result))
    asyncio.run(run_and_show_session(console))
    build_and_show_shelf(console, output / "papers.json", output / "shelf")
    asyncio.run(run_and_show_universe(console, output))
    asyncio.run(run_and_show_workflow(console))
    more = {
        output / "recording": "the answers of the sources, for --replay",
        output / "shelf": "the shelf, for paper-library serve",
        output / "trappist-1.png": "the system, seen from above",
        output / "trappist-1.bib": "the sources of its values",
    }
    console.print(_render_files({**files, **more}))
    _print_next_commands(console, output)


async def _run_search(console: Console) -> PaperCollection:
    narrator = _ApprovingNarrator(console)
    config = AppConfig(replay_dir=RECORDING)
    workflow = await asyncio.to_thread(
        SearchWorkflow.from_config, config, narrator, progress_reporter=narrator.progress
    )
    return await workflow.run(QUERY)


class _ApprovingNarrator:
    """Displays each checkpoint and approves it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._sources: list[str] = []
        self._reports: dict[str, SourceReport] = {}

    async def handle(self, checkpoint: Checkpoint) -> Decision:
        if isinstance(checkpoint.payload, StrategyPayload):
            self._console.print(_render_strategy(checkpoint.payload))
        else:
            self._console.print(_render_review(checkpoint.payload.collection))
        self._console.print("  [green]✔ approved[/] [dim](in a session of yours: approve, edit or reject)[/]\n")
        return Decision(action=DecisionAction.APPROVE)

    def progress(self, phase: str, facts: dict[str, Any]) -> None:
        if phase == "searching":
            self._sources = facts["sources"]
        elif phase == "source_finished":
            report = SourceReport.model_validate(facts["report"])
            self._reports[report.name] = report
        elif phase == "deduplicating":
            # In the strategy's order: a replay has them all at once, in an order that means nothing.
            self._console.print("[bold]Sources[/], asked side by side")
            for name in self._sources:
                self._console.print(_render_source(self._reports[name]))


def _render_title() -> Group:
    return Group(
        Text("\nUraniborg", style="bold"),
        Text("A search for papers, replayed: no network, no key.", style="dim"),
        Text("The papers are real. The sources' answers, and the summaries that stand for", style="dim"),
        Text("abstracts, were written for this demo.\n", style="dim"),
        Text.assemble(("You ask   ", "dim"), (QUERY, "bold")),
        Text(""),
    )


def _render_strategy(payload: StrategyPayload) -> Panel:
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column()
    facts.add_row("concepts", ", ".join(map(escape, payload.intent.concepts)))
    filters = payload.strategy.filters
    facts.add_row("years", f"{filters.year_from or '…'} to {filters.year_to or 'now'}")
    for number, query in enumerate(payload.strategy.queries, 1):
        facts.add_row(f"query {number}", escape(query.boolean_query))
    facts.add_row("sources", ", ".join(payload.strategy.sources))
    return Panel(facts, title="Checkpoint 1 of 2: the strategy", title_align="left", border_style="cyan")


def _render_source(report: SourceReport) -> Text:
    status = report.status.value.replace("_", " ")
    line = Text.assemble(
        "  ",
        (f"{report.name:<17}", ""),
        (f"{status:<13}", _COLORS[report.status]),
        (f"{report.returned:>3} papers  {report.calls} call{' ' if report.calls == 1 else 's'}", "dim"),
        (f"  {report.seconds:.1f} s", "dim"),
    )
    if report.retry_at:
        line.append(f"  again at {report.retry_at:%H:%M} UTC", "yellow")
    return line


def _render_review(collection: PaperCollection) -> Group:
    table = Table(box=None, padding=(0, 1), header_style="dim")
    table.add_column("#", justify="right", style="dim")
    table.add_column("Title", ratio=1)
    table.add_column("Authors", no_wrap=True, max_width=24)
    table.add_column("Year")
    table.add_column("Score", justify="right")
    table.add_column("From", style="dim", justify="right")
    for number, paper in enumerate(collection.papers[:_SHOWN], 1):
        title = Text(paper.title)
        if number <= 3:
            title.append(f"\n{paper.relevance_reason}", "dim italic")
        count = len(paper.sources)
        table.add_row(
            str(number),
            title,
            escape(_format_first_author(paper)),
            str(paper.year or "-"),
            f"{paper.relevance_score:.2f}",
            f"{count} source{'s' if count != 1 else ''}",
        )
    more = len(collection.papers) - _SHOWN
    footer = [Text(f"  … and {more} more", "dim")] if more > 0 else []
    panel = Panel(
        Group(table, *footer), title="Checkpoint 2 of 2: the results", title_align="left", border_style="cyan"
    )
    return Group(Text(""), panel)


def _format_first_author(paper: Paper) -> str:
    if not paper.authors:
        return "-"
    first = split_name(paper.authors[0].name)
    family = f"{first.particle} {first.family}".strip()
    return f"{family} et al." if len(paper.authors) > 1 else family


def _render_stage_counts(result: PaperCollection) -> Group:
    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column("stage")
    table.add_column("in", justify="right")
    table.add_column("out", justify="right")
    for count in result.metadata.stage_counts:
        table.add_row(count.stage, str(count.count_in), str(count.count_out))
    return Group(Text("Counts in and out of each stage", "bold"), Padding(table, (0, 0, 1, 0)))


def _make_output_folder(output: Path) -> None:
    try:
        make_folder(output)
    except OSError as error:
        raise InvalidInput(
            f"'{output}' cannot be a folder to write to: {error.strerror}.", hint="Name another one with --output."
        ) from error


def _write_exports(result: PaperCollection, output: Path) -> dict[Path, str]:
    files = {
        output / "papers.bib": (export_bibtex(result), "BibTeX"),
        output / "papers.json": (export_json(result), "everything, with provenance"),
        output / "papers.md": (export_markdown(result), "the table"),
        output / "search-log.md": (export_prisma(result), "queries, counts and exclusions"),
    }
    for path, (text, _) in files.items():
        write_atomic(path, text)
    make_folder(output / "recording")
    for path in RECORDING.iterdir():
        write_atomic(output / "recording" / path.name, path.read_text(encoding="utf-8"))
    return {path: what for path, (_, what) in files.items()}


def _render_files(files: dict[Path, str]) -> Group:
    width = max(len(str(path)) for path in files)
    lines = [
        Text.assemble("  ", (str(path).ljust(width), "cyan"), ("  " + what, "dim")) for path, what in files.items()
    ]
    return Group(Text("Written", "bold"), *lines, Text(""))


def _print_next_commands(console: Console, output: Path) -> None:
    """Print commands that can be pasted: each on a line of its own, none of which needs a network."""
    folder = shlex.quote(output.as_posix())
    search, library, uraniborg = (format_program(name) for name in ("paper-search", "paper-library", "uraniborg"))
    commands = {
        "decide on the same search yourself": f"{search} run --review --replay {folder}/recording {QUERY}",
        "search the shelf": f"{library} search {folder}/shelf transmission spectrum year:2017..",
        "list the MCP clients that you can connect": f"{uraniborg} connect",
        "decide and search in the browser": f"URANIBORG_PAPER_SEARCH__OFFLINE=true {uraniborg} serve --open",
        "check this installation": f"{uraniborg} doctor",
    }
    console.print("[bold]Next, type one of these[/]: none needs a network")
    for purpose, command in commands.items():
        console.print(Text(f"  {purpose}", "dim"))
        console.print(Text(f"    {command}", "cyan"), soft_wrap=True)
    console.print()
