"""Read strategies in the syntax of PubMed: field tags, phrases, ranges, and numbered lines that refer to others."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from paper_search.domain.strategies.findings import QueryProblem
from paper_search.domain.strategies.tokens import (
    MAX_STRATEGY_CHARS,
    QueryToken,
    TermBuilder,
    has_pubmed_tag,
    normalise_signs,
    split_strategy_tokens,
)
from uraniborg.kernel.language.boolean_query import MAX_DEPTH, AllOf, Node, Operator, Term, Token, parse_tokens

MAX_LINES: Final = 200
"""A strategy has fewer lines; a range of line numbers is cut there."""
_MOST_JOINED: Final = 20
_START: Final = re.compile(
    r"[ \t]*(?:#[ \t]?(?P<hash>\d{1,3})\b[.:)]?|(?P<plain>\d{1,3})(?:[.:)](?=[ \t\"(])|(?=[ \t])))"
    r"(?!\s*(?:and|or|not)\b(?!\s*/))[ \t]*(?=\S)",
    re.IGNORECASE,
)
_NUMBERS: Final = r"#?\d{1,3}(?:[ \t]*[-,][ \t]*#?\d{1,3}){0,19}"
_JOINED: Final = re.compile(
    rf"\b(?P<sign>and|or)[ \t]*/[ \t]*(?P<after>{_NUMBERS})(?![\d/])"
    rf"|(?<![\w#,-])(?P<before>{_NUMBERS})[ \t]*/[ \t]*(?P<last>and|or)\b",
    re.IGNORECASE,
)
_REFERENCES: Final = re.compile(r"(?:[\s()]|#?\d{1,3}\b|\b(?:and|or|not)\b)*", re.IGNORECASE)
REFERENCE: Final = re.compile(r"#(\d{1,3})")


@dataclass(frozen=True, slots=True)
class Line:
    """A numbered line of a strategy."""

    number: int
    text: str
    start: int
    """The position of its first character after the number."""


def split_numbered_lines(text: str) -> list[Line]:
    """Return the numbered lines of a strategy, [] for a text without line numbers.

    Lines without a number continue the line before them; a last line of references alone needs none.
    """
    if "#" not in text and "\n" not in text:
        return []
    found: list[tuple[int, bool, int, int]] = []
    position = 0
    for physical in text.splitlines(keepends=True):
        end = position + len(physical)
        if match := _START.match(physical):
            found.append((int(match["hash"] or match["plain"]), bool(match["hash"]), position + match.end(), end))
        elif found and any(map(str.isdigit, physical)) and _REFERENCES.fullmatch(expand_references(physical)):
            found.append((max(number for number, *_ in found) + 1, True, position, end))
        elif found:
            found[-1] = (*found[-1][:3], end)
        elif physical.strip():
            return []
        position = end
    numbers = [number for number, *_ in found]
    is_count = sorted(numbers) == list(range(1, len(numbers) + 1)) and len(numbers) > 1
    if not numbers or not (is_count or all(is_marked for _, is_marked, *_ in found)):
        return []
    return [Line(number, text[start:end].rstrip(), start) for number, _, start, end in found]


def expand_references(text: str) -> str:
    """Return a line with its references as `#1`: `or/1-3` becomes `(#1 OR #2 OR #3)`.

    Bare numbers are references in a line that has nothing else.
    """
    expanded = _JOINED.sub(_expand_joined, text, count=_MOST_JOINED)
    if _REFERENCES.fullmatch(expanded):
        return re.sub(r"(?<![#\d])(\d{1,3})\b", r"#\1", expanded).upper()
    return expanded


def _expand_joined(match: re.Match[str]) -> str:
    numbers: list[int] = []
    for piece in (match["after"] or match["before"]).split(","):
        ends = [int(number) for number in re.findall(r"\d+", piece)]
        numbers += range(min(ends), min(max(ends), min(ends) + MAX_LINES) + 1)
    sign = f" {(match['sign'] or match['last']).upper()} "
    return f"({sign.join(f'#{number}' for number in numbers)})"


MAX_TERMS: Final = 5_000
_MAX_TREE_DEPTH: Final = 200


@dataclass(slots=True)
class ParsedLine:
    """A numbered line, or the whole text without line numbers: its tokens and the terms that they make."""

    number: int
    tokens: list[QueryToken]
    builder: TermBuilder
    references: list[int]


@dataclass(slots=True)
class ReadStrategy:
    """A strategy that was read: its tree with `FieldTerm` leaves, its lines, and the problems of their numbers."""

    tree: Node | None
    lines: list[ParsedLine]
    problems: list[QueryProblem] = field(default_factory=list[QueryProblem])


def is_strategy(text: str) -> bool:
    """Return True if a text has the syntax of PubMed: field tags in square brackets, or numbered lines."""
    signs = normalise_signs(text[: MAX_STRATEGY_CHARS + 1])
    return has_pubmed_tag(signs) or any(_parse_line(line).references for line in split_numbered_lines(signs))


@lru_cache(maxsize=32)
def read_strategy(text: str) -> ReadStrategy:
    """Return the strategy of a text, in which AND, OR and NOT apply from left to right. Never raises.

    A text beyond 20,000 characters, and lines that cannot be resolved, give no tree.
    """
    if len(text) > MAX_STRATEGY_CHARS:
        return ReadStrategy(None, [])
    lines = _split_lines(normalise_signs(text))
    resolver = _LineResolver({line.number: line for line in lines})
    if problem := next(_iterate_line_errors(lines), None):
        return ReadStrategy(None, lines, [problem])
    used = {number for line in lines for number in line.references}
    roots = [line for line in lines if line.number not in used] or lines[-1:]
    tree = resolver.resolve(roots[-1].number)
    problems = [*resolver.problems, *map(_make_unused_warning, roots[:-1])]
    return ReadStrategy(None if resolver.problems else tree, lines, problems)


def _split_lines(signs: str) -> list[ParsedLine]:
    """Return the lines in the order of their numbers."""
    lines = sorted(split_numbered_lines(signs), key=lambda line: line.number)
    known = frozenset(line.number for line in lines)
    return [_parse_line(line, known) for line in lines] or [_parse_line(Line(0, signs, 0))]


def _parse_line(line: Line, known: frozenset[int] = frozenset()) -> ParsedLine:
    text = expand_references(line.text) if line.number else line.text
    tokens = split_strategy_tokens(text, line.start)
    if len(text) != len(line.text):  # the positions are those of the whole line
        end = line.start + len(line.text)
        tokens = [QueryToken(token.kind, token.text, line.start, end) for token in tokens]
    named = frozenset(token.text for token in tokens if line.number and REFERENCE.fullmatch(token.text))
    builder = TermBuilder(tokens, named, known - {line.number})
    builder.build()
    return ParsedLine(line.number, tokens, builder, [span.node for span in builder.spans if isinstance(span.node, int)])


def _iterate_line_errors(lines: list[ParsedLine]) -> Iterator[QueryProblem]:
    numbers: set[int] = set()
    known = {line.number for line in lines}
    for line in lines:
        if line.number in numbers:
            hint = "Give each line a number of its own."
            yield _make_line_error(line, f"The text has two lines with the number {line.number}.", hint)
        numbers.add(line.number)
        if missing := [number for number in line.references if number not in known]:
            hint = f"Paste this line, too, or remove “#{missing[0]}”."
            yield _make_line_error(line, f"The text has no line #{missing[0]}.", hint, f"#{missing[0]}")


def _make_line_error(line: ParsedLine, message: str, hint: str, name: str = "") -> QueryProblem:
    named = [token for token in line.tokens if name in {token.text, f"#{token.text}"}] or line.tokens
    start, end = (named[0].start, named[0].end if name else named[-1].end) if named else (0, 0)
    return QueryProblem("error", start, end, message, hint)


def _make_unused_warning(line: ParsedLine) -> QueryProblem:
    start, end = (line.tokens[0].start, line.tokens[-1].end) if line.tokens else (0, 0)
    message = f"Line {line.number} is not searched: the last line does not name it."
    hint = f"Join it in the last line, for example with AND #{line.number}."
    return QueryProblem("warning", start, end, message, hint)


@dataclass(slots=True)
class _LineResolver:
    """Puts the lines that a line names in place of their numbers."""

    lines: dict[int, ParsedLine]
    problems: list[QueryProblem] = field(default_factory=list[QueryProblem])
    trees: dict[int, Node | None] = field(default_factory=dict[int, Node | None])
    sizes: dict[int, int] = field(default_factory=dict[int, int])
    open_lines: list[int] = field(default_factory=list[int])

    def resolve(self, number: int) -> Node | None:
        """Return the tree of a line. Stop with a problem at lines that name one another in a circle, or too often."""
        line = self.lines[number]
        self.open_lines.append(number)
        for inner in line.references:
            if inner in self.trees or self.problems:
                continue
            if inner in self.open_lines or len(self.open_lines) > MAX_DEPTH:
                how = "in a circle" if inner in self.open_lines else f"more than {MAX_DEPTH} times"
                hint = "Write the terms of the line in place of its number."
                self.problems.append(_make_line_error(line, f"The lines name one another {how}.", hint, f"#{inner}"))
            else:
                self.resolve(inner)
        self.open_lines.pop()
        if not self.problems:
            self._build(line)
        return self.trees.get(number)

    def _build(self, line: ParsedLine) -> None:
        own = sum(isinstance(span.node, Term) for span in line.builder.spans)
        self.sizes[line.number] = own + sum(self.sizes[number] for number in line.references)
        if self.sizes[line.number] > MAX_TERMS:
            hint = "Name each line once."
            message = f"The lines hold {self.sizes[line.number]:,} terms in all; at most {MAX_TERMS:,} are allowed."
            self.problems.append(_make_line_error(line, message, hint))
            return
        tokens: list[Token] = []
        for span in line.builder.spans:
            if not isinstance(span.node, int):
                tokens += [span.node] if span.is_read else []
            elif (tree := self.trees[span.node]) is not None:
                tokens += [Operator("("), tree, Operator(")")]
        tree = self.trees[line.number] = parse_tokens(tokens, left_to_right=True)
        if tree is not None and _measure_depth(tree) > _MAX_TREE_DEPTH:
            hint = "Put brackets around terms that belong together."
            self.problems.append(_make_line_error(line, "The query changes between AND and OR too often.", hint))


def _measure_depth(tree: Node) -> int:
    deepest, rest = 0, [(tree, 1)]
    while rest:
        node, depth = rest.pop()
        deepest = max(deepest, depth)
        if not isinstance(node, Term):
            rest += [(part, depth + 1) for part in node.parts]
        if isinstance(node, AllOf):
            rest += [(part, depth + 1) for part in node.excluded]
    return deepest
