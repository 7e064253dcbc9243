"""Check brackets and operators: unbalanced, empty, mixed or repeated ones, lost operands, lone exclusions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from paper_search.domain.strategies.findings import Correction, QueryProblem
from uraniborg.kernel.language.boolean_query import MAX_DEPTH, MAX_TURNS, OPERATORS


@dataclass(slots=True)
class _Reader:
    tokens: Sequence[str]
    position: int = 0
    found: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def read_alternatives(self) -> bool:
        """Read a group to its closing bracket, and return True if the group only excludes."""
        spans: list[tuple[int, int, bool]] = []
        while True:
            start = self.position
            only_excludes = self._read_conjunction()
            spans.append((start, self.position - 1, only_excludes))
            if self.position == len(self.tokens) or self.tokens[self.position] != "OR":
                break
            self.position += 1
        self.position += 1
        lone = [(start, end) for start, end, only_excludes in spans if only_excludes]
        if len(spans) > 1:
            self.found += lone
        return len(lone) == len(spans)

    def _read_conjunction(self) -> bool:
        negative, wants = False, False
        while self.position < len(self.tokens) and (piece := self.tokens[self.position]) not in {"OR", ")"}:
            self.position += 1
            if piece in OPERATORS:
                negative = not negative if piece == "NOT" else negative
                continue
            if piece == "-" or not (piece == "(" or any(map(str.isalnum, piece))):
                negative = piece == "-"
                continue
            minus = piece.startswith("-") and piece[1:2].isalnum()
            only_excludes = self.read_alternatives() if piece == "(" else False
            wants |= (negative or minus) == only_excludes
            negative = False
        return not wants


def find_lone_exclusions(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Return the first and the last index of the tokens of each alternative that only excludes.

    The tokens are words, phrases, operators and brackets of a query without syntax errors.
    """
    reader = _Reader(tokens)
    reader.read_alternatives()
    return sorted(reader.found)


_BINARY: Final = frozenset({"AND", "OR"})
_LONGEST: Final = 60


@dataclass(frozen=True, slots=True)
class QueryItem:
    """An operator, a bracket or a term of a query, with its position."""

    sign: str
    """The operator or the bracket, in capitals; "" for a term."""
    text: str
    start: int
    end: int
    key: object = None
    """Equal for terms that are searched alike; None for a term that is not compared."""


@dataclass(slots=True)
class _BracketGroup:
    """A pair of brackets, or the whole line: its items, a closed pair of brackets being one of them."""

    opened: QueryItem | None
    items: list[QueryItem] = field(default_factory=list[QueryItem])


def check_groups(items: Sequence[QueryItem], text: str, *, left_to_right: bool) -> Iterator[QueryProblem]:
    """Yield the problems of the brackets and operators of a line."""
    stack = [_BracketGroup(None)]
    closed: list[_BracketGroup] = []
    for item in items:
        if item.sign == "(":
            stack.append(_BracketGroup(item))
            if len(stack) == MAX_DEPTH + 2:
                message, hint = f"Brackets are nested deeper than {MAX_DEPTH}.", "Remove inner brackets."
                yield QueryProblem("error", item.start, item.end, message, hint)
        elif item.sign == ")" and len(stack) > 1:
            group = stack.pop()
            closed.append(group)
            start = group.opened.start if group.opened else 0
            stack[-1].items.append(QueryItem("", text[start : min(item.end, start + _LONGEST)], start, item.end))
            if not group.items:
                hint = "Remove them, or write words between them."
                yield QueryProblem("error", start, item.end, "These brackets are empty.", hint)
        elif item.sign == ")":
            remove = Correction(item.start, item.end, "")
            message, hint = "This bracket closes nothing.", "Remove it, or open a bracket before it."
            yield QueryProblem("error", item.start, item.end, message, hint, remove)
        else:
            stack[-1].items.append(item)
    end = items[-1].end if items else 0
    while len(stack) > 1:
        group = stack.pop()
        closed.append(group)
        start = group.opened.start if group.opened else 0
        stack[-1].items.append(QueryItem("", text[start : min(end, start + _LONGEST)], start, end))
        close = Correction(end, end, ")")
        yield QueryProblem("error", start, start + 1, "This bracket is not closed.", "Close it with ).", close)
    for group in [*stack, *closed]:
        yield from _check_operands(group)
        yield from _check_mixing(group, text, left_to_right=left_to_right)
        yield from _check_repetition(group)


def check_exclusions(items: Sequence[QueryItem]) -> Iterator[QueryProblem]:
    """Yield the alternatives of a line without errors that only exclude."""
    for first, last in find_lone_exclusions([item.sign or item.text or "x" for item in items]):
        message = "This alternative only excludes: no source can answer it."
        hint = "Write AND NOT after the words from which it is excluded."
        yield QueryProblem("error", items[first].start, items[last].end, message, hint)


def _check_operands(group: _BracketGroup) -> Iterator[QueryProblem]:
    items = group.items
    for index, item in enumerate(items):
        if item.sign not in OPERATORS:
            continue
        before = items[index - 1].sign if index else "("
        after = items[index + 1].sign if index + 1 < len(items) else ")"
        word = f'or write "{item.text}" in quotation marks if it is a word'
        remove = Correction(item.start, item.end, "")
        if item.sign in _BINARY and (before == "(" or before in OPERATORS):
            hint = f"Write a word before {item.text}, remove it, {word}."
            yield QueryProblem("error", item.start, item.end, f"{item.text} has nothing before it.", hint, remove)
        if after == ")" or (after in _BINARY and item.sign != after):
            hint = f"Write a word after {item.text}, remove it, {word}."
            yield QueryProblem("error", item.start, item.end, f"{item.text} has nothing after it.", hint, remove)


def _check_mixing(group: _BracketGroup, text: str, *, left_to_right: bool) -> Iterator[QueryProblem]:
    """Yield one warning for a group in which AND and OR stand side by side, with brackets as it is read."""
    signs = [item for item in group.items if item.sign in _BINARY or (item.sign == "NOT")]
    kinds = ["OR" if item.sign == "OR" else "AND" for item in signs]
    turn = next((index for index in range(1, len(kinds)) if kinds[index] != kinds[index - 1]), None)
    if turn is None:
        return
    turns = sum(one != other for one, other in pairwise(kinds))
    how = "from left to right" if left_to_right else "AND before OR"
    start, end = group.items[0].start, group.items[-1].end
    if left_to_right and turns > MAX_TURNS:
        message = f"The query changes between AND and OR more than {MAX_TURNS} times without brackets."
        yield QueryProblem("error", start, end, message, "Put brackets around terms that belong together.")
        return
    bracketed = _bracket_left_to_right if left_to_right else _bracket_conjunctions
    message = f"AND and OR are mixed without brackets: they are read {how}."
    hint = "Put brackets around the terms that belong together."
    sign = signs[turn]
    yield QueryProblem(
        "warning", sign.start, sign.end, message, hint, Correction(start, end, bracketed(group.items, text))
    )


def _bracket_left_to_right(items: Sequence[QueryItem], text: str) -> str:
    written, last, kind = "", items[0].start, ""
    for item in items:
        own = "OR" if item.sign == "OR" else "AND" if item.sign in OPERATORS else ""
        if own and kind and own != kind:
            written, last = f"({written}{text[last : item.start].rstrip()}) ", item.start
        kind = own or kind
    return written + text[last : items[-1].end]


def _bracket_conjunctions(items: Sequence[QueryItem], text: str) -> str:
    runs: list[list[QueryItem]] = [[]]
    for item in items:
        if item.sign == "OR":
            runs.append([])
        else:
            runs[-1].append(item)
    pieces = [(text[run[0].start : run[-1].end], any(item.sign for item in run)) for run in runs if run]
    return " OR ".join(f"({piece})" if is_joined else piece for piece, is_joined in pieces)


def _check_repetition(group: _BracketGroup) -> Iterator[QueryProblem]:
    seen: set[object] = set()
    for index, item in enumerate(group.items):
        if item.key is None:
            continue
        if item.key in seen:
            before = group.items[index - 1]
            start = before.start if before.sign in _BINARY else item.start
            message, hint = f"“{item.text[:_LONGEST]}” stands here twice.", "Remove one of them."
            yield QueryProblem("warning", item.start, item.end, message, hint, Correction(start, item.end, ""))
        seen.add(item.key)
