"""How the commands tell people what they found: tables and sentences on stdout, progress on stderr."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from rich.console import Console
from rich.markup import escape as escape_markup
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from paper_library.build.entry import Problem
from paper_library.build.report import Progress as Tell
from paper_library.build.report import Report
from paper_library.retraction import describe_notices
from paper_library.store.difference import Change, Difference
from paper_library.store.verification import Verdict
from paper_library.text.markdown import unescape_markdown
from uraniborg.kernel.logging import printable
from uraniborg.kernel.text import plural

_PHASES: Final = {
    "read": "Reading entries",
    "write": "Shelving papers",
    "index": "Finishing the index",
    "verify": "Reading files",
}
_LISTED: Final = 20


@contextmanager
def progress_bar(*, quiet: bool) -> Generator[Tell]:
    """Something to call with progress, which shows on a terminal's stderr."""
    if quiet or not sys.stderr.isatty():
        yield _ignore
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def tell(phase: str, done: int, total: int) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(_PHASES[phase], total=None)
            bars.update(tasks[phase], completed=done, total=total or None)

        yield tell


def tell_build(report: Report) -> None:
    out = _console()
    rate = f" in {report.seconds:.1f} s" if report.seconds >= 1 else ""
    out.print(
        f"[bold]{plural(report.papers, 'paper')}[/bold] on [bold]{escape(report.shelf)}[/bold]{rate}: "
        f"{report.with_abstract:,} with an abstract, {report.with_source:,} with their text."
    )
    entries = plural(report.entries, "entry", "entries")
    out.print(f"Read {entries} in {plural(report.files, 'file')}. Build {report.build_id}.", style="dim")
    if report.updated:
        _tell_update(out, report)
    if report.titled:
        out.print(f"[yellow]{report.titled:,} without a title[/yellow] got the first sentence of their text:")
        for one in report.derived_titles[:_LISTED]:
            out.print(f"  {escape(one['origin'])}: {escape(_short(one['title']))}")
        _tell_more(out, report.titled)
    if report.merged:
        out.print(f"[green]{report.merged:,} merged[/green]: they describe papers that other entries describe too.")
        for merge in report.merges[:_LISTED]:
            out.print(f"  {escape(_short(merge.title))} [dim]({escape(', '.join(merge.reasons))})[/dim]")
        _tell_more(out, len(report.merges))
    for kind, count, color in (("skipped", report.skipped, "yellow"), ("broken", report.broken, "red")):
        if count:
            out.print(f"[{color}]{count:,} {kind}[/{color}]")
            _tell_problems(out, [problem for problem in report.problems if problem.kind == kind])


def _tell_update(out: Console, report: Report) -> None:
    counts = {
        "added": report.added,
        "changed": report.changed,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "merged into others": report.merged_papers,
        "pruned": report.pruned,
    }
    counted = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "nothing"
    out.print(f"Update of {escape(report.updated)}: {counted}.")
    listed = [one for one in report.changes if one.change != "added"]
    for one in listed[:_LISTED]:
        fields = f" ({', '.join(one.fields)})" if one.fields else ""
        out.print(f"  {one.change}: {escape(_short(one.title))}[dim]{escape(fields)}[/dim]")
    _tell_more(out, len(listed))
    if report.missing_inputs:
        names = sorted(report.missing_inputs)
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
        out.print(
            f"Not in these inputs, and kept: {sum(report.missing_inputs.values()):,} "
            f"from {escape(', '.join(names[:3]))}{more}. --prune leaves them out.",
            style="yellow",
        )


def _tell_problems(out: Console, problems: list[Problem]) -> None:
    """Each reason once, with the inputs it holds for."""
    by_reason: dict[str, list[str]] = {}
    for problem in problems:
        by_reason.setdefault(problem.reason, []).append(problem.origin)
    for reason, origins in list(by_reason.items())[:_LISTED]:
        more = f" and {len(origins) - 3:,} more" if len(origins) > 3 else ""
        named = printable(", ".join(origins[:3]), keep="")  # a name with line breaks must not look like other lines
        out.print(f"  {escape(named)}{more}: {escape(reason)}")
    _tell_more(out, len(by_reason))


def tell_results(found: dict[str, Any]) -> None:
    out = _console()
    read = found["interpreted_query"]
    filters = [f"{name} {', '.join(map(str, values))}" for name, values in read["filters"].items()]
    if not found["results"]:
        out.print("No paper has these words." if read["terms"] else "No paper fits these filters.")
    for place, hit in enumerate(found["results"], found["offset"] + 1):
        year = f" ({hit['year']})" if hit["year"] else ""
        mark = " [red]retracted[/red]" if hit.get("retracted") else ""
        out.print(f"[bold]{place}. {escape(hit['title'])}[/bold]{year}{mark}")
        names = ", ".join(hit["authors"][:3]) + (" and others" if len(hit["authors"]) > 3 else "")
        if byline := " · ".join(part for part in (names, hit["venue"]) if part):
            out.print(f"   {escape(byline)}", style="dim")
        if hit["snippet_markdown"]:
            out.print(f"   {marked(hit['snippet_markdown'])}")
        out.print(f"   {hit['paper_id']}", style="dim")
    if meant := found.get("did_you_mean"):
        out.print(f"Did you mean: {escape(meant)}?")
    if filters:
        out.print(f"Filtered by {escape('; '.join(filters))}", style="dim")
    for note in read["ignored"]:
        out.print(f"Note: {escape(note)}", style="dim")
    if "more" in found:
        out.print(escape(found["more"]), style="dim")
    elif found["next_offset"] is not None:
        out.print(f"{found['total']:,} papers in all; go on with --offset {found['next_offset']}.", style="dim")


def tell_paper(said: dict[str, Any]) -> None:
    out = _console()
    out.print(f"[bold]{escape(said['title'])}[/bold]")
    out.print(escape(", ".join(said["authors"])))
    facts = (
        said["venue"],
        *(f"{name} {said[name]}" for name in ("volume", "issue", "pages") if said.get(name)),
        said.get("publisher", ""),
        str(said["year"] or ""),
        *(f"{name} {value}" for name, value in said["identifiers"].items()),
    )
    out.print(escape(" · ".join(fact for fact in facts if fact)), style="dim")
    if notice := describe_notices(said.get("notices", [])):
        out.print(f"[red]{escape(notice)}[/red]")
    if said["abstract"]:
        out.print(f"\n{escape(said['abstract'])}\n")
    for name, values in (("Keywords", said["keywords"]), ("Tags", said["tags"]), ("Languages", said["translations"])):
        if values:
            out.print(f"{name}: {escape(', '.join(values))}")
    out.print(f"Summaries: {', '.join(said['available_summary_templates'])}")
    out.print(f"Text: {said['source_chars']:,} characters" if said["has_source"] else "Text: not on this shelf")
    for heading in said["outline"][:30]:
        out.print(f"  {'  ' * (heading['level'] - 1)}{escape(heading['title'])}", style="dim")
    out.print(said["paper_id"], style="dim")


def tell_stats(said: dict[str, Any]) -> None:
    out = _console()
    years = said["years"]
    span = f" from {years['first']} to {years['last']}" if years["first"] else ""
    out.print(f"[bold]{said['papers']:,} papers[/bold]{span}, {said['with_source']:,} with their text.")
    out.print(f"Build {said['build_id']}, made {said['built_at'][:19].replace('T', ' ')} UTC.", style="dim")
    table = Table("Missing", "Papers", "Share", box=None, pad_edge=False)
    for name, count in said["missing"].items():
        table.add_row(name, f"{count:,}", f"{100 * count / max(said['papers'], 1):.0f} %")
    out.print(table)
    for name, numbers in (("Summaries", said["summaries"]), ("Translations", said["translations"])):
        if numbers:
            out.print(f"{name}: " + ", ".join(f"{escape(key)} {count:,}" for key, count in numbers.items()))
    out.print("Different: " + ", ".join(f"{count:,} {kind}s" for kind, count in said["values"].items()))


def tell_verdict(verdict: Verdict) -> None:
    out = _console()
    if verdict.is_whole:
        out.print(f"[green]Whole[/green]: {verdict.papers:,} papers, {verdict.files:,} files as they were built.")
    else:
        out.print(f"[red]Damaged[/red]: {len(verdict.problems):,} of {verdict.files:,} files.")
        for problem in verdict.problems[:_LISTED]:
            out.print(f"  {escape(problem)}")
        _tell_more(out, len(verdict.problems))


def tell_difference(difference: Difference) -> None:
    out = _console()
    for name, changes, color in (
        ("added", difference.added, "green"),
        ("removed", difference.removed, "red"),
        ("changed", difference.changed, "yellow"),
    ):
        out.print(f"[{color}]{len(changes):,} {name}[/{color}]")
        for change in changes[:_LISTED]:
            out.print(f"  {escape(_short(change.title))}{_fields(change)}")
        _tell_more(out, len(changes))
    out.print(f"{difference.unchanged:,} unchanged", style="dim")


def _fields(change: Change) -> str:
    return f" [dim]({', '.join(change.fields)})[/dim]" if change.fields else ""


def _tell_more(out: Console, count: int) -> None:
    if count > _LISTED:
        out.print(f"  and {count - _LISTED:,} more; --json lists them", style="dim")


def _short(title: str) -> str:
    return title if len(title) <= 80 else title[:79] + "…"


def marked(markdown: str) -> str:
    """A snippet's markdown for a terminal."""
    parts = markdown.split("**")
    shown = (escape(unescape_markdown(part)) for part in parts)
    return "".join(f"[yellow]{part}[/yellow]" if place % 2 else part for place, part in enumerate(shown))


def escape(text: str) -> str:
    """`text` for a console: neither markup nor control characters in it act."""
    return escape_markup(printable(text))


def _console() -> Console:
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def _ignore(_phase: str, _done: int, _total: int) -> None: ...
