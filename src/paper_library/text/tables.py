"""Find table rows in a paper's text, with header, caption and section."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from paper_library.text.markdown import find_headings, strip_inline_markup

_RULE: Final = re.compile(r"[ \t|:-]*-[ \t|:-]*")
_BAR: Final = re.compile(r"(?<!\\)\|")
_CAPTION: Final = re.compile(r"(?i)\W{0,4}tab(?:le|\.)\W")
_LABEL: Final = re.compile(r"(?i)table:\s+")
_MOST_CAPTION: Final = 500
_NEAR: Final = 3
"""The most lines between a table and its caption."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table, with the header, caption and section of the table."""

    section: str
    caption: str
    header: tuple[str, ...]
    cells: tuple[str, ...]
    offset: int
    """The offset of the row, in characters."""


def find_table_rows(markdown: str) -> Iterator[TableRow]:
    """Yield the rows of all markdown tables of a text, without headers and rules."""
    headings = find_headings(markdown)
    lines = markdown.splitlines(keepends=True)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    at = 0
    while at + 1 < len(lines):
        if not (_is_row(lines[at]) and _is_rule(lines[at + 1])):
            at += 1
            continue
        header, first = _split_cells(lines[at]), at + 2
        end = next((after for after in range(first, len(lines)) if not _is_row(lines[after])), len(lines))
        section = next((one.title for one in reversed(headings) if one.offset < offsets[at]), "")
        caption = _find_caption(lines, at, end)
        for number in range(first, end):
            yield TableRow(
                section, caption, header, _fit_to_width(_split_cells(lines[number]), len(header)), offsets[number]
            )
        at = end


def _is_row(line: str) -> bool:
    return bool(_BAR.search(line)) and not _is_rule(line)


def _is_rule(line: str) -> bool:
    return "|" in line and bool(_RULE.fullmatch(line.strip()))


def _split_cells(line: str) -> tuple[str, ...]:
    bare = line.strip().removeprefix("|")
    bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    return tuple(cell.strip().replace("\\|", "|") for cell in _BAR.split(bare))


def _fit_to_width(cells: tuple[str, ...], width: int) -> tuple[str, ...]:
    """Return the cells padded or cut to the width of the header, as markdown renderers do."""
    return (*cells[:width], *[""] * (width - len(cells)))


def _find_caption(lines: list[str], start: int, end: int) -> str:
    """Return the nearest line that starts with "Table", above the table or else below it."""
    near = [*lines[max(0, start - _NEAR) : start][::-1], *lines[end : end + _NEAR]]
    found = next((line for line in near if _CAPTION.match(line)), "")
    return _LABEL.sub("", " ".join(strip_inline_markup(found.strip()).split()))[:_MOST_CAPTION]
