"""The check of a query that a person wrote: every problem with its position, and the query as it is read."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from paper_search.query.boolean_query import (
    MAX_DEPTH,
    OPERATORS,
    QUERY_SIGNS,
    parse_query,
    split_query_words,
)
from paper_search.query.exclusion_check import find_lone_exclusions
from paper_search.query.rendering import normalise_query
from uraniborg.kernel.field_tags import blank_known_tags, find_field_tags
from uraniborg.kernel.logging import make_printable

MAX_QUERY_CHARS: Final = 8_000
_TOKEN: Final = re.compile(r'"[^"]*"|[()]|[^\s()"]+|"')
_SQUARE: Final = re.compile(r'"[^"]*"?|\[[^\[\]"]*\]|[\[\]]')
_LOWER_OPERATORS: Final = {"and", "or", "not"}
_PROXIMITY: Final = re.compile(r"(?:NEAR|ADJ|WITHIN|W|N|PRE)/\d+|(?:NEAR|ADJ)\d+", re.IGNORECASE)
_BINARY: Final = {"AND", "OR"}
_EXCERPT_CHARS: Final = 24
_LONGEST_EXCERPT: Final = 80


@dataclass(frozen=True, slots=True)
class QueryProblem:
    """A problem of a query. An error stops the search; a warning names a part that is read otherwise than written."""

    severity: Literal["error", "warning"]
    start: int
    end: int
    message: str
    hint: str
    is_field: bool = False
    """Whether the problem is a field name that is dropped."""

    def to_fields(self) -> dict[str, Any]:
        """Return the fields of the problem."""
        return {
            "severity": self.severity,
            "start": self.start,
            "end": self.end,
            "message": self.message,
            "hint": self.hint,
        }


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int


def check_boolean_query(query: str) -> tuple[str, list[QueryProblem]]:
    """Return the query as it is read, and its problems in the order of their positions."""
    if len(query) > MAX_QUERY_CHARS:
        message = f"The query has {len(query):,} characters; at most {MAX_QUERY_CHARS:,} are allowed."
        return "", [QueryProblem("error", MAX_QUERY_CHARS, len(query), message, "Divide it into several queries.")]
    text = query.translate(QUERY_SIGNS)
    tokens = [_Token(match[0], *match.span()) for match in _TOKEN.finditer(blank_known_tags(text))]
    problems = [
        *_check_quotes_and_brackets(tokens),
        *_check_operators(tokens),
        *_check_fields(text),
        *_check_words(tokens),
    ]
    if not any(character.isalnum() for character in query):
        problems.append(
            QueryProblem("error", 0, len(query), "The query is empty.", 'For example: "exomoon" AND stability.')
        )
    elif not any(problem.severity == "error" for problem in problems):
        problems += _check_exclusions(query, tokens)
    return normalise_query(query), sorted(problems, key=lambda problem: (problem.start, problem.severity))


def list_query_errors(query: str) -> list[QueryProblem]:
    """Return the problems that stop a search, in the order of their positions."""
    return [problem for problem in check_boolean_query(query)[1] if problem.severity == "error"]


def describe_query_errors(query: str, errors: list[QueryProblem]) -> tuple[str, str, dict[str, Any]]:
    """Return the message, the hint and the fields of the error that refuses a query. Positions count from 1 in text."""
    first = errors[0]
    end = max(first.end, first.start + _EXCERPT_CHARS)
    spot = make_printable(" ".join(query[first.start : end].split())[:_LONGEST_EXCERPT])
    rest = "…" if end < len(query) else ""
    others = f" Errors after it: {len(errors) - 1}." if len(errors) > 1 else ""
    message = f"The query has an error at character {first.start + 1}, “{spot}{rest}”: {first.message}{others}"
    fields = {"start": first.start, "end": first.end, "problems": [error.to_fields() for error in errors[:20]]}
    return message, first.hint, fields


def _check_quotes_and_brackets(tokens: list[_Token]) -> Iterator[QueryProblem]:
    opened: list[tuple[int, int]] = []
    for index, token in enumerate(tokens):
        if token.text == '"':
            yield _make_error(token, "This quotation mark is not closed.", 'Close the phrase with a second ".')
        elif token.text.startswith('"') and not any(map(str.isalnum, token.text)):
            yield _make_error(
                token, "This phrase is empty.", "Remove the quotation marks, or write words between them."
            )
        elif token.text == "(":
            opened.append((index, token.start))
            if len(opened) == MAX_DEPTH + 1:
                yield _make_error(token, f"Brackets are nested deeper than {MAX_DEPTH}.", "Remove inner brackets.")
        elif token.text == ")" and opened:
            first, start = opened.pop()
            if not any(
                character.isalnum() or character == '"' for one in tokens[first:index] for character in one.text
            ):
                hint = "Remove them, or write words between them."
                yield QueryProblem("error", start, token.end, "These brackets are empty.", hint)
        elif token.text == ")":
            yield _make_error(token, "This bracket closes nothing.", "Remove it, or open a bracket before it.")
    for _, start in opened:
        yield QueryProblem("error", start, start + 1, "This bracket is not closed.", "Close it with ).")


def _check_operators(tokens: list[_Token]) -> Iterator[QueryProblem]:
    signs = [one for one in tokens if one.text in OPERATORS | {"(", ")", '"'} or any(map(str.isalnum, one.text))]
    for index, token in enumerate(signs):
        before = signs[index - 1].text if index else "("
        after = signs[index + 1].text if index + 1 < len(signs) else ")"
        word = f'or write "{token.text}" in quotation marks if it is a word'
        if token.text in OPERATORS:
            if token.text in _BINARY and (before == "(" or before in OPERATORS):
                hint = f"Write a word before {token.text}, remove it, {word}."
                yield _make_error(token, f"{token.text} has nothing before it.", hint)
            if after == ")" or (after in _BINARY and token.text != after):
                hint = f"Write a word after {token.text}, remove it, {word}."
                yield _make_error(token, f"{token.text} has nothing after it.", hint)
        elif token.text == "ANDNOT":
            yield _make_error(token, "ANDNOT is not an operator.", "Write AND NOT.")
        elif token.text in _LOWER_OPERATORS:
            message = f"“{token.text}” is read as a word, not as an operator."
            yield _make_warning(token, message, f"Write {token.text.upper()} for the operator.")


def _check_fields(text: str) -> Iterator[QueryProblem]:
    for tag in find_field_tags(text):
        if not tag.is_known:
            hint = f"Remove “{tag.text}”, or put the words in quotation marks if it is part of them."
            yield QueryProblem("error", tag.start, tag.end, f"“{tag.text}” is not a known field.", hint)
        elif tag.is_dropped:
            message = (
                f"Single fields are not searched: “{tag.text}” is dropped, and its words are searched in all fields."
            )
            hint = f"Remove “{tag.text}” if you want all fields."
            yield QueryProblem("warning", tag.start, tag.end, message, hint, is_field=True)
    for match in _SQUARE.finditer(text):
        if match[0] in "[]":
            message, hint = (
                "This square bracket has no partner and is dropped.",
                "Remove it, or complete the field name.",
            )
            yield QueryProblem("warning", *match.span(), message, hint)


def _check_words(tokens: list[_Token]) -> Iterator[QueryProblem]:
    for token in tokens:
        if token.text.startswith('"'):
            if "*" in token.text:
                message = "A * inside quotation marks is dropped."
                yield _make_warning(token, message, "Write the words without quotation marks, joined by AND.")
        elif token.text.strip("&|!+") == "":
            message = f"“{token.text}” is dropped: it is not an operator."
            yield _make_warning(token, message, "Write AND, OR or NOT.")
        elif _PROXIMITY.fullmatch(token.text):
            message = f"“{token.text}” is read as a word: distances are not supported."
            yield _make_warning(token, message, 'Use AND, or a phrase in "…".')
        elif "*" in token.text[:-1]:
            yield _make_warning(
                token, "A * counts only at the end of a word.", "Write the beginning of the word, then *."
            )
        elif token.text.endswith("*") and len(token.text) < 4:
            message = "This * is dropped: at least three letters must stand before it."
            yield _make_warning(token, message, "Write more of the word.")
        elif len(words := split_query_words(token.text)) > 1:
            message = f"“{token.text[:40]}” is read as the phrase “{' '.join(words)[:40]}”."
            yield _make_warning(token, message, "Write spaces between words that need not follow one another.")


def _check_exclusions(query: str, tokens: list[_Token]) -> Iterator[QueryProblem]:
    if parse_query(query) is None:
        message, hint = "The query only excludes: no source can answer it.", "Add at least one word that is wanted."
        yield QueryProblem("error", 0, len(query), message, hint)
        return
    for first, last in find_lone_exclusions([token.text for token in tokens]):
        start, end = tokens[first].start, tokens[last].end
        message = "This alternative only excludes: no source can answer it."
        yield QueryProblem("error", start, end, message, "Write AND NOT after the words from which it is excluded.")


def _make_error(token: _Token, message: str, hint: str) -> QueryProblem:
    return QueryProblem("error", token.start, token.end, message, hint)


def _make_warning(token: _Token, message: str, hint: str) -> QueryProblem:
    return QueryProblem("warning", token.start, token.end, message, hint)
