"""A table of a JATS article as a markdown table."""

from collections.abc import Callable
from xml.etree.ElementTree import Element

from paper_library.build.readers import tidy
from paper_library.build.readers.jats_tree import descendants, name_of

_MAX_CELLS = 20_000


def table(grid: Element, inline: Callable[[Element], str]) -> str:
    """Rows between bars; a cell that spans several columns is followed by empty ones. Nothing for an empty table."""
    rows = [_cells(row, inline) for row in descendants(grid, "tr")]
    rows = [row for row in rows if any(row)]
    if not rows:
        return ""
    width = max(map(len, rows))
    rows = rows[: max(1, _MAX_CELLS // width)]
    lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def _cells(row: Element, inline: Callable[[Element], str]) -> list[str]:
    cells: list[str] = []
    for cell in (part for part in row if name_of(part) in ("td", "th")):
        cells.append(tidy.line_of_markdown(inline(cell)).replace("|", "\\|"))
        span = cell.get("colspan", "1")
        cells.extend([""] * (min(int(span), 100) - 1 if span.isascii() and span.isdigit() else 0))
    return cells
