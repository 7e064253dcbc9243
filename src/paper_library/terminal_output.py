"""Print the results of commands for people: results on stdout, progress on stderr."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.markup import escape as escape_markup
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from paper_library.build.entry import Problem
from paper_library.build.report import BuildReport
from paper_library.editorial_notices import describe_serious_notices
from paper_library.store.difference import Change, Difference
from paper_library.store.verification import Verdict
from paper_library.text.markdown import unescape_markdown
from uraniborg.kernel.actors import describe_actor, read_actor
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.paragraphs import print_paragraph
from uraniborg.kernel.progress import ReportPhase
from uraniborg.kernel.text import format_first_authors, plural

if TYPE_CHECKING:
    from paper_library.replies import SearchPage, ShelfCounts, StoredMetadata

_PHASES: Final = {
    "read": "Reading entries",
    "write": "Writing papers",
    "index": "Finishing the index",
    "verify": "Reading files",
}
_PLACE: Final = ("volume", "issue", "pages")
_LINES_LISTED: Final = 20


@contextmanager
def show_progress(*, quiet: bool) -> Generator[ReportPhase]:
    """Yield a progress callback that shows a progress bar if stderr is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield _ignore_progress
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def update_bar(phase: str, done: int, total: int) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(_PHASES[phase], total=None)
            bars.update(tasks[phase], completed=done, total=total or None)

        yield update_bar


def print_build_report(report: BuildReport) -> None:
    out = _make_console()
    rate = f" in {report.seconds:.1f} s" if report.seconds >= 1 else ""
    out.print(
        f"[bold]{plural(report.papers, 'paper')}[/bold] on [bold]{escape_text(report.shelf)}[/bold]{rate}: "
        f"{report.with_abstract:,} with an abstract, {report.with_source:,} with their text."
    )
    entries = plural(report.entries, "entry", "entries")
    by = escape_text(describe_actor(report.actor))
    out.print(f"Read {entries} in {plural(report.files, 'file')}. Build {report.build_id} by {by}.", style="dim")
    if report.updated:
        _print_update(out, report)
    if report.titled:
        out.print(f"[yellow]{report.titled:,} without a title[/yellow], titled by the first sentence of the text:")
        for one in report.derived_titles[:_LINES_LISTED]:
            _print_hanging(out, "  ", f"{escape_text(one['origin'])}: {escape_text(_shorten_title(one['title']))}")
        _print_remainder(out, report.titled)
    if report.merged:
        out.print(f"[green]{report.merged:,} merged[/green] with other entries of the same paper:")
        for merge in report.merges[:_LINES_LISTED]:
            reasons = escape_text(", ".join(merge.reasons))
            _print_hanging(out, "  ", f"{escape_text(_shorten_title(merge.title))} [dim]({reasons})[/dim]")
        _print_remainder(out, len(report.merges))
    for kind, count, color in (("skipped", report.skipped, "yellow"), ("broken", report.broken, "red")):
        if count:
            out.print(f"[{color}]{count:,} {kind}[/{color}]")
            _print_problems(out, [problem for problem in report.problems if problem.kind == kind])


def _print_update(out: Console, report: BuildReport) -> None:
    counts = {
        "added": report.added,
        "changed": report.changed,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "merged into others": report.merged_papers,
        "pruned": report.pruned,
    }
    changes = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "nothing"
    out.print(f"Update of {escape_text(report.updated)}: {changes}.")
    listed = [one for one in report.changes if one.change != "added"]
    for one in listed[:_LINES_LISTED]:
        fields = f" ({', '.join(one.fields)})" if one.fields else ""
        title = escape_text(_shorten_title(one.title))
        _print_hanging(out, "  ", f"{one.change}: {title}[dim]{escape_text(fields)}[/dim]")
    _print_remainder(out, len(listed))
    if report.missing_inputs:
        names = sorted(report.missing_inputs)
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
        out.print(
            f"Retained, but not in these inputs: {sum(report.missing_inputs.values()):,} "
            f"from {escape_text(', '.join(names[:3]))}{more}. --prune removes them.",
            style="yellow",
        )


def _print_problems(out: Console, problems: list[Problem]) -> None:
    """Print each reason once, with its inputs."""
    by_reason: dict[str, list[str]] = {}
    for problem in problems:
        by_reason.setdefault(problem.reason, []).append(problem.origin)
    for reason, origins in list(by_reason.items())[:_LINES_LISTED]:
        more = f" and {len(origins) - 3:,} more" if len(origins) > 3 else ""
        named = make_printable(
            ", ".join(origins[:3]), keep=""
        )  # a name with line breaks must not look like other output
        _print_hanging(out, "  ", f"{escape_text(named)}{more}: {escape_text(reason)}")
    _print_remainder(out, len(by_reason))


def print_results(found: "SearchPage") -> None:
    out = _make_console()
    read = found["interpreted_query"]
    filters = [f"{name} {', '.join(map(str, values))}" for name, values in read["filters"].items()]
    if not found["results"]:
        out.print("No paper has these words." if read["terms"] else "No paper matches these filters.")
    for number, hit in enumerate(found["results"], found["offset"] + 1):
        year = f" ({hit['year']})" if hit["year"] else ""
        mark = " [red]retracted[/red]" if hit.get("retracted") else ""
        _print_hanging(out, f"[bold]{number}.[/bold] ", f"[bold]{escape_text(hit['title'])}[/bold]{year}{mark}")
        names = format_first_authors(hit["authors"])
        if byline := " · ".join(part for part in (names, hit["venue"]) if part):
            _print_hanging(out, "   ", f"[dim]{escape_text(byline)}[/dim]")
        if hit["snippet_markdown"]:
            _print_hanging(out, "   ", format_snippet_for_terminal(hit["snippet_markdown"]))
        out.print(f"   {hit['paper_id']}", style="dim")
    if meant := found.get("did_you_mean"):
        out.print(f"Did you mean: {escape_text(meant)}?")
    if filters:
        out.print(f"Filtered by {escape_text('; '.join(filters))}", style="dim")
    for note in read["ignored"]:
        out.print(f"Note: {escape_text(note)}", style="dim")
    if "more" in found:
        out.print(escape_text(found["more"]), style="dim")
    elif found["next_offset"] is not None:
        out.print(f"{found['total']:,} papers in total; continue with --offset {found['next_offset']}.", style="dim")


def print_paper(metadata: "StoredMetadata") -> None:
    out = _make_console()
    out.print(f"[bold]{escape_text(metadata['title'])}[/bold]")
    out.print(escape_text(", ".join(metadata["authors"])))
    facts = (
        metadata["venue"],
        *(f"{name} {value}" for name in _PLACE if (value := metadata.get(name))),
        metadata.get("publisher", ""),
        str(metadata["year"] or ""),
        *(f"{name} {value}" for name, value in metadata["identifiers"].items()),
    )
    out.print(escape_text(" · ".join(fact for fact in facts if fact)), style="dim")
    if notice := describe_serious_notices(metadata.get("notices", [])):
        out.print(f"[red]{escape_text(notice)}[/red]")
    if metadata["abstract"]:
        out.print(f"\n{escape_text(metadata['abstract'])}\n")
    for name, values in (
        ("Keywords", metadata["keywords"]),
        ("Tags", metadata["tags"]),
        ("Languages", metadata["translations"]),
    ):
        if values:
            out.print(f"{name}: {escape_text(', '.join(values))}")
    out.print(f"Summaries: {', '.join(metadata['available_summary_templates'])}")
    out.print(f"Text: {metadata['source_chars']:,} characters" if metadata["has_source"] else "Text: not available")
    for heading in metadata["outline"][:30]:
        out.print(f"  {'  ' * (heading['level'] - 1)}{escape_text(heading['title'])}", style="dim")
    out.print(metadata["paper_id"], style="dim")


def print_stats(counts: "ShelfCounts") -> None:
    out = _make_console()
    years = counts["years"]
    span = f" from {years['first']} to {years['last']}" if years["first"] else ""
    out.print(f"[bold]{plural(counts['papers'], 'paper')}[/bold]{span}, {counts['with_source']:,} with their text.")
    by = escape_text(describe_actor(read_actor(counts["built_by"])))
    built_at = counts["built_at"][:19].replace("T", " ")
    out.print(f"Build {counts['build_id']}, built {built_at} UTC by {by}.", style="dim")
    table = Table("Missing", "Papers", "Share", box=None, pad_edge=False)
    for name, count in counts["missing"].items():
        table.add_row(name, f"{count:,}", f"{100 * count / max(counts['papers'], 1):.0f} %")
    out.print(table)
    for name, numbers in (("Summaries", counts["summaries"]), ("Translations", counts["translations"])):
        if numbers:
            out.print(f"{name}: " + ", ".join(f"{escape_text(key)} {count:,}" for key, count in numbers.items()))
    out.print("Different values: " + ", ".join(f"{count:,} {kind}s" for kind, count in counts["values"].items()))


def print_verdict(verdict: Verdict) -> None:
    """Print the result of a verification."""
    out = _make_console()
    if verdict.is_intact:
        out.print(
            f"[green]Intact[/green]: {plural(verdict.papers, 'paper')}, {plural(verdict.files, 'file')} verified."
        )
    else:
        out.print(f"[red]Damaged[/red]: {len(verdict.problems):,} of {plural(verdict.files, 'file')}.")
        for problem in verdict.problems[:_LINES_LISTED]:
            _print_hanging(out, "  ", escape_text(problem))
        _print_remainder(out, len(verdict.problems))


def print_difference(difference: Difference) -> None:
    """Print the difference between two shelves."""
    out = _make_console()
    for name, changes, color in (
        ("added", difference.added, "green"),
        ("removed", difference.removed, "red"),
        ("changed", difference.changed, "yellow"),
    ):
        out.print(f"[{color}]{len(changes):,} {name}[/{color}]")
        for change in changes[:_LINES_LISTED]:
            _print_hanging(out, "  ", f"{escape_text(_shorten_title(change.title))}{_format_fields(change)}")
        _print_remainder(out, len(changes))
    out.print(f"{difference.unchanged:,} unchanged", style="dim")


def _format_fields(change: Change) -> str:
    return f" [dim]({', '.join(change.fields)})[/dim]" if change.fields else ""


def _print_remainder(out: Console, count: int) -> None:
    if count > _LINES_LISTED:
        out.print(f"  and {count - _LINES_LISTED:,} more; --json lists them", style="dim")


def _shorten_title(title: str) -> str:
    return title if len(title) <= 80 else title[:79] + "…"


def format_snippet_for_terminal(markdown: str) -> str:
    parts = markdown.split("**")
    shown = (escape_text(unescape_markdown(part)) for part in parts)
    return "".join(f"[yellow]{part}[/yellow]" if position % 2 else part for position, part in enumerate(shown))


def escape_text(text: str) -> str:
    """Return `text` without active markup and control characters."""
    return escape_markup(make_printable(text))


def _print_hanging(out: Console, label_markup: str, text_markup: str) -> None:
    """Print an entry of a list; further lines on a terminal are indented."""
    print_paragraph(out, label_markup, text_markup, piped_width=None)


def _make_console() -> Console:
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def _ignore_progress(_phase: str, _done: int, _total: int) -> None: ...
