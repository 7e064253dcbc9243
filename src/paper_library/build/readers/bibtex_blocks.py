"""A BibTeX file taken apart into its entries, each with the very text its owner wrote.

A scanner of our own, because bibtexparser keeps the whole file and all its entries in memory, drops an entry with a
repeated field, and silently loses what follows a brace too many. This one reads line by line and starts afresh at every
line that begins an entry, so that a damaged entry costs itself alone.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from paper_library.build.readers.bibtex_values import fields_of

_NEW_BLOCK_LINE = re.compile(r"\s*@\s*[a-zA-Z]\w*\s*(?:[{(]|$)")
_START = re.compile(r"(?<![\w.])@\s*([a-zA-Z]\w*)\s*([{(])")
_COMMENT_LINE = re.compile(r"\s*@\s*comment\b", re.IGNORECASE)
_KEY = re.compile(r'([^,={}"]*)(?:,|$)')
_STRAY_FIELD = re.compile(r'\s*(?:,\s*)?[a-zA-Z][\w-]*\s*=\s*[{"\w]')
_ALL_BRACES = re.compile(r"[{}]")
_BARE_BRACES = re.compile(r"(?<!\\)[{}]")
_PARENTHESES = re.compile(r'[{})"]')
_MAX_COMMENT_LINES = 10_000
_MAX_MACRO_CHARS = 10_000

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(slots=True)
class Block:
    """One entry: its type in lower case, its key, its fields with macros expanded, its own text."""

    kind: str
    key: str
    fields: dict[str, str]
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong with the entry that begins on this line."""

    line: int
    reason: str


def blocks(lines: Iterable[str]) -> Iterator[Block | Damage]:
    """The entries of a file in order; comments and preambles are passed over, macros expanded."""
    # Every BibTeX style defines the months.
    macros = {month: month for month in _MONTHS}
    for number, text in _chunks(lines):
        yield from _blocks_of(text, number, macros)


def _chunks(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Pieces of the file that each begin with a line that begins an entry, and the numbers of these lines."""
    held: list[str] = []
    start = 1
    for number, line in enumerate(_without_comments(lines), 1):
        if held and _NEW_BLOCK_LINE.match(line):
            yield start, "".join(held)
            held, start = [], number
        held.append(line)
    yield start, "".join(held)


def _without_comments(lines: Iterable[str]) -> Iterator[str]:
    """The lines with those of longer comments blank; entries that somebody put away in one are part of it."""
    source = iter(lines)
    for line in source:
        depth = _depth(line) if _COMMENT_LINE.match(line) else 0
        if depth <= 0:
            yield line
            continue
        held: list[str] = []
        while depth > 0 and len(held) < _MAX_COMMENT_LINES and (following := next(source, None)) is not None:
            depth += _depth(following)
            held.append(following)
        yield "\n"
        # A comment without an end would swallow the rest of the file: then its lines count after all.
        yield from held if depth > 0 else ["\n"] * len(held)


def _depth(line: str) -> int:
    return line.count("{") - line.count("}")


def _blocks_of(text: str, number: int, macros: dict[str, str]) -> Iterator[Block | Damage]:
    position = 0
    while start := _START.search(text, position):
        line = number + text.count("\n", 0, start.start())
        kind = start[1].lower()
        braces, end = _braces_and_end(text, start.end() - 1)
        if end is None:
            if kind != "comment":
                yield Damage(line, "Its braces do not balance: a { has no }. Close it and build again.")
            return
        body = text[start.end() : end]
        position = end + 1
        if kind == "string":
            _define(macros, body, braces)
        elif kind not in ("comment", "preamble"):
            yield _block(kind, body, text[start.start() : position], line, macros, braces)
            if _STRAY_FIELD.match(text, position):
                stray = number + text.count("\n", 0, position)
                yield Damage(
                    stray, "A } too many ends the entry early, and the fields after it were not read. Remove it."
                )


def _block(kind: str, body: str, text: str, line: int, macros: dict[str, str], braces: re.Pattern[str]) -> Block:
    key = _KEY.match(body)
    fields = fields_of(body, key.end() if key else 0, macros, braces)
    return Block(kind, key[1].strip() if key else "", fields, text, line)


def _define(macros: dict[str, str], body: str, braces: re.Pattern[str]) -> None:
    for name, value in fields_of(body, 0, macros, braces).items():
        # A macro may be made of macros: without a limit twenty lines would fill the memory.
        macros[name] = value[:_MAX_MACRO_CHARS]


def _braces_and_end(text: str, opening: int) -> tuple[re.Pattern[str], int | None]:
    """Which braces count, and where the group ends: BibTeX counts escaped ones too, other programs do not."""
    end = _end_of_group(text, opening, _ALL_BRACES)
    if end is not None and not _STRAY_FIELD.match(text, end + 1):
        return _ALL_BRACES, end
    other = _end_of_group(text, opening, _BARE_BRACES)
    if other is not None and (end is None or not _STRAY_FIELD.match(text, other + 1)):
        return _BARE_BRACES, other
    return _ALL_BRACES, end


def _end_of_group(text: str, opening: int, braces: re.Pattern[str]) -> int | None:
    if text[opening] == "(":
        return _end_of_parentheses(text, opening)
    depth = 0
    for brace in braces.finditer(text, opening):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return None


def _end_of_parentheses(text: str, opening: int) -> int | None:
    depth, quoted = 0, False
    for mark in _PARENTHESES.finditer(text, opening + 1):
        if mark[0] == '"':
            quoted ^= depth == 0
        elif mark[0] != ")":
            depth += 1 if mark[0] == "{" else -1
        elif depth == 0 and not quoted:
            return mark.start()
    return None
