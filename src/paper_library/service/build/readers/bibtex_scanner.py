"""Split BibTeX files into entries, each with its fields and the exact text that its owner wrote.

The scanner is our own because bibtexparser keeps the whole file and all its entries in memory, drops an entry with a
repeated field, and silently loses the text after an extra brace. This scanner reads piece by piece and restarts at
every line that begins an entry, so that a damaged entry affects only itself. It holds at most a few entries of the
allowed length at a time, however large the file is.
"""

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

_NAME = re.compile(r'[\s,]*([^\s,={}"#]+(?:[ \t]+[^\s,={}"#]+)*)\s*=\s*')
_NUMBER_OR_MACRO = re.compile(r'[^,#"{}\n]*')
_JOIN = re.compile(r"\s*#\s*")
_QUOTED_MARK = re.compile(r'[{}"]')
_MAX_VALUE_CHARS = 10_000_000


def parse_fields(body: str, position: int, macros: dict[str, str], braces: re.Pattern[str]) -> dict[str, str]:
    """Return the fields from a position on, names in lower case. Of a repeated field the first non-empty one counts."""
    fields: dict[str, str] = {}
    while position < len(body):
        name = _NAME.match(body, position)
        if name is None:
            comma = body.find(",", position)
            if comma < 0:
                break
            position = comma + 1
            continue
        value, position = _parse_value(body, name.end(), macros, braces)
        key = name[1].lower()
        if not fields.get(key):
            fields[key] = value
    return fields


def _parse_value(body: str, position: int, macros: dict[str, str], braces: re.Pattern[str]) -> tuple[str, int]:
    pieces: list[str] = []
    size = 0
    while True:
        piece, position = _parse_piece(body, position, macros, braces)
        size += len(piece)
        if size <= _MAX_VALUE_CHARS:
            pieces.append(piece)
        join = _JOIN.match(body, position)
        if join is None:
            return "".join(pieces), position
        position = join.end()


def _parse_piece(body: str, position: int, macros: dict[str, str], braces: re.Pattern[str]) -> tuple[str, int]:
    opening = body[position : position + 1]
    if opening == "{":
        end = _find_closing_brace(body, position, braces)
        return body[position + 1 : end], end + 1
    if opening == '"':
        end = _find_closing_quote(body, position)
        return body[position + 1 : end], end + 1
    bare = _NUMBER_OR_MACRO.match(body, position)
    assert bare is not None
    word = bare[0].strip()
    return macros.get(word.lower(), word), bare.end()


def _find_closing_brace(body: str, position: int, braces: re.Pattern[str]) -> int:
    depth = 0
    for brace in braces.finditer(body, position):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return len(body)


def _find_closing_quote(body: str, position: int) -> int:
    depth = 0
    for mark in _QUOTED_MARK.finditer(body, position + 1):
        if mark[0] == '"':
            if depth <= 0:
                return mark.start()
        else:
            depth += 1 if mark[0] == "{" else -1
    return len(body)


MAX_ENTRY_CHARS = 4 << 20
"""A longer entry is refused: it does not describe a paper."""
MAX_MACROS_CHARS = 16 << 20
"""The length of all @string macros of a file together; further macros are refused."""
_NEW_BLOCK_LINE = re.compile(r"\s*@\s*[a-zA-Z]\w*\s*(?:[{(]|$)")
_START = re.compile(r"(?<![\w.])@\s*([a-zA-Z]\w*)\s*([{(])")
_COMMENT_LINE = re.compile(r"\s*@\s*comment\b", re.IGNORECASE)
_KEY = re.compile(r'([^,={}"]*)(?:,|$)')
_STRAY_FIELD = re.compile(r'\s*(?:,\s*)?[a-zA-Z][\w-]*\s*=\s*[{"\w]')
_ALL_BRACES = re.compile(r"[{}]")
_BARE_BRACES = re.compile(r"(?<!\\)[{}]")
_PARENTHESES = re.compile(r'[{})"]')
_LOOKAHEAD = 4_096
"""How much text after an entry decides whether a brace ends it too early."""
_MAX_COMMENT_LINES = 10_000
_MAX_MACRO_CHARS = 10_000

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(slots=True)
class BibtexBlock:
    """An entry: its type in lower case, its key, its fields with macros expanded, its own text."""

    kind: str
    key: str
    fields: dict[str, str]
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Damage:
    """The fault of the entry that starts on this line."""

    line: int
    reason: str


def scan_blocks(lines: Iterable[str], max_entry_chars: int = MAX_ENTRY_CHARS) -> Iterator[BibtexBlock | Damage]:
    """Yield the entries of a file in order; pass over comments and preambles, expand macros.

    `lines` may cut a line into several pieces, of which the last ends in a newline. The result is the same as for the
    whole lines.
    """
    scanner = _Scanner(max_entry_chars)
    starts_line = True
    for piece in _blank_comments(lines, max_entry_chars):
        yield from scanner.add_piece(piece, starts_line=starts_line)
        starts_line = piece.endswith("\n")
    yield from scanner.scan_held_text()


def _blank_comments(lines: Iterable[str], max_chars: int) -> Iterator[str]:
    """Yield the lines, blank inside comments of several lines, which can contain entries."""
    source = iter(lines)
    starts_line = True
    for line in source:
        depth = _count_brace_balance(line) if starts_line and _COMMENT_LINE.match(line) else 0
        starts_line = line.endswith("\n")
        if depth <= 0:
            yield line
            continue
        held: list[str] = []
        remaining = max_chars
        while (
            depth > 0 < remaining and len(held) < _MAX_COMMENT_LINES and (following := next(source, None)) is not None
        ):
            depth += _count_brace_balance(following)
            remaining -= len(following)
            held.append(following)
        yield _keep_only_newline(line)
        # A comment without an end would swallow the rest of the file: then its lines count after all.
        yield from held if depth > 0 else map(_keep_only_newline, held)
        starts_line = not held or held[-1].endswith("\n")


def _keep_only_newline(piece: str) -> str:
    return "\n" if piece.endswith("\n") else ""


def _count_brace_balance(line: str) -> int:
    return line.count("{") - line.count("}")


class _Scanner:
    """A scanner for text that arrives in pieces. It drops the text that it has read."""

    def __init__(self, max_entry_chars: int) -> None:
        self._max = max_entry_chars
        self._lookahead = min(_LOOKAHEAD, max_entry_chars)
        # Every BibTeX style defines the months.
        self._macros = {month: month for month in _MONTHS}
        self._macro_chars_left = MAX_MACROS_CHARS
        self._held: list[str] = []
        self._size = 0
        self._line = 1
        """The number of the line that the held text begins on."""
        self._is_skipping = False

    def add_piece(self, piece: str, *, starts_line: bool) -> Iterator[BibtexBlock | Damage]:
        """Add the next piece and yield the entries that are complete."""
        if starts_line and _NEW_BLOCK_LINE.match(piece):
            yield from self.scan_held_text()
        if self._is_skipping:
            self._line += piece.count("\n")
            return
        self._held.append(piece)
        self._size += len(piece)
        # Twice the allowed length: so much new text arrives between two scans that none is scanned again and again.
        if self._size > 2 * self._max + self._lookahead:
            yield from self._scan_complete_entries()

    def scan_held_text(self) -> Iterator[BibtexBlock | Damage]:
        """Yield the entries of the text that is held: another entry begins after it, or nothing follows."""
        text = self._take_held_text()
        yield from self._scan_text(text, is_whole=True)
        self._line += text.count("\n")
        self._is_skipping = False

    def _scan_complete_entries(self) -> Iterator[BibtexBlock | Damage]:
        """Yield the entries that are complete, and hold on to the beginning of the last one."""
        text = self._take_held_text()
        end = yield from self._scan_text(text, is_whole=False)
        self._line += text.count("\n", 0, end)
        rest = text[end:]
        if len(rest) <= self._max + self._lookahead:
            self._held, self._size = [rest], len(rest)
            return
        if not _COMMENT_LINE.match(rest):
            yield self._make_length_damage(self._line)
        self._line += rest.count("\n")
        self._is_skipping = True

    def _take_held_text(self) -> str:
        text = "".join(self._held)
        self._held, self._size = [], 0
        return text

    def _scan_text(self, text: str, *, is_whole: bool) -> Generator[BibtexBlock | Damage, None, int]:
        """Yield the entries of a text and return how much of it was read: all if it is whole."""
        position = counted = 0
        line = self._line
        while start := _START.search(text, position):
            line += text.count("\n", counted, start.start())
            counted = start.start()
            kind = start[1].lower()
            braces, end = _find_braces_and_end_of_entry(text, start.end() - 1)
            if not is_whole and (end is None or len(text) - end <= self._lookahead):
                return start.start()
            if end is None:
                if kind != "comment":
                    yield Damage(line, "The braces do not balance: a { has no matching }. Add it and build again.")
                break
            position = end + 1
            body = text[start.end() : end]
            if kind == "string":
                yield from self._define_macros(body, braces, line)
            elif kind in ("comment", "preamble"):
                continue
            elif position - start.start() > self._max:
                yield self._make_length_damage(line)
            else:
                yield _make_block(kind, body, text[start.start() : position], line, self._macros, braces)
                if _STRAY_FIELD.match(text, position):
                    stray = line + text.count("\n", counted, position)
                    yield Damage(
                        stray,
                        "An extra } ends the entry early, and the fields after it were not read. Remove the brace.",
                    )
        if is_whole:
            return len(text)
        end = len(text) - self._lookahead
        # An @ that begins an entry is found above; one inside a word must not look like the first character.
        return end + (text[end] == "@")

    def _define_macros(self, body: str, braces: re.Pattern[str], line: int) -> Iterator[Damage]:
        for name, value in parse_fields(body, 0, self._macros, braces).items():
            # A macro may be made of macros: without a limit twenty lines would fill the memory.
            cut = value[:_MAX_MACRO_CHARS]
            self._macro_chars_left -= len(name) + len(cut)
            if self._macro_chars_left < 0:
                yield Damage(line, f"The @string macros are longer than {MAX_MACROS_CHARS >> 20} MB. Split the file.")
                return
            self._macros[name] = cut

    def _make_length_damage(self, line: int) -> Damage:
        limit = f"{self._max >> 20} MB" if self._max >> 20 else f"{self._max} characters"
        return Damage(line, f"The entry is longer than {limit}. Close its braces or shorten it.")


def _make_block(
    kind: str, body: str, text: str, line: int, macros: dict[str, str], braces: re.Pattern[str]
) -> BibtexBlock:
    key = _KEY.match(body)
    fields = parse_fields(body, key.end() if key else 0, macros, braces)
    return BibtexBlock(kind, key[1].strip() if key else "", fields, text, line)


def _find_braces_and_end_of_entry(text: str, opening: int) -> tuple[re.Pattern[str], int | None]:
    """Return which braces count, and where the group ends: BibTeX counts escaped ones too, other programs do not."""
    end = _find_end_of_group(text, opening, _ALL_BRACES)
    if end is not None and not _STRAY_FIELD.match(text, end + 1):
        return _ALL_BRACES, end
    other = _find_end_of_group(text, opening, _BARE_BRACES)
    if other is not None and (end is None or not _STRAY_FIELD.match(text, other + 1)):
        return _BARE_BRACES, other
    return _ALL_BRACES, end


def _find_end_of_group(text: str, opening: int, braces: re.Pattern[str]) -> int | None:
    if text[opening] == "(":
        return _find_end_of_parentheses(text, opening)
    depth = 0
    for brace in braces.finditer(text, opening):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return None


def _find_end_of_parentheses(text: str, opening: int) -> int | None:
    depth, quoted = 0, False
    for mark in _PARENTHESES.finditer(text, opening + 1):
        if mark[0] == '"':
            quoted ^= depth == 0
        elif mark[0] != ")":
            depth += 1 if mark[0] == "{" else -1
        elif depth == 0 and not quoted:
            return mark.start()
    return None
