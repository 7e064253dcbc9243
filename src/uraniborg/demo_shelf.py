"""The demo's shelf: the papers that the search found, beside the sample papers, and searches of them."""

from pathlib import Path
from typing import Any, Final

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from paper_library.build.builder import build_shelf
from paper_library.library import Library
from paper_library.sample_shelf_builder import SAMPLE_INPUTS, SAMPLE_PAPERS
from paper_library.terminal_output import format_snippet_for_terminal

_QUERIES: Final = ("planets around nearby stars year:2010..", "author:vaswani", "Wirkungsgrad")


def build_and_show_shelf(console: Console, papers_file: Path, target: Path) -> None:
    """Build the shelf `target` of the sample papers and the export `papers_file`, and search it."""
    report = build_shelf([*SAMPLE_INPUTS, papers_file], target, summaries=SAMPLE_PAPERS / "summaries")
    library = Library.open(target)
    try:
        facts = Text.assemble(
            (f"  {report.papers} papers", "bold"),
            f" from {report.entries} entries; {report.merged} merged, {report.with_source} with text to read",
        )
        note = Text("  The summaries and texts are ours, not the papers' own words.", "dim")
        console.print(Group(Text("A shelf of these papers and the sample papers", "bold"), facts, note, Text("")))
        for query in _QUERIES:
            console.print(_render_results(query, library.search(query, limit=2)))
    finally:
        library.close()


def _render_results(query: str, found: dict[str, Any]) -> Group:
    table = Table.grid(padding=(0, 1))
    for hit in found["results"]:
        table.add_row(Text.assemble(("• ", "dim"), hit["title"], (f" ({hit['year']})", "dim")))
        found_text = Text.from_markup(format_snippet_for_terminal(hit["snippet_markdown"]))
        if "Our summary" not in found_text.plain:
            found_text = Text.assemble("Our text: ", found_text)
        table.add_row(Padding(found_text, (0, 0, 0, 2)))
    asked = Text.assemble(("  paper-library search ", "dim"), (query, "cyan"), (f"   {found['total']} found", "dim"))
    return Group(asked, Padding(table, (0, 0, 1, 4)))
