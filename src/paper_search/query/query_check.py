"""Checks of a boolean query while a person types it: problems with their position, and the query as it is read."""

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from paper_search.query.boolean_query import OPERATORS, parse_query
from paper_search.query.rendering import normalise_query

MAX_QUERY_CHARS: Final = 8_000
_TOKEN: Final = re.compile(r'"[^"]*"|[()]|[^\s()"]+|"')
_QUOTES: Final = dict.fromkeys(map(ord, "“”„‟«»＂″"), '"')
_LOWER_OPERATORS: Final = {"and", "or", "not"}
_FIELD: Final = re.compile(r"[A-Za-z_.]{2,20}:\S")
_PROXIMITY: Final = re.compile(r"(?:NEAR|ADJ|WITHIN|W|PRE)/?\d*", re.IGNORECASE)
_BINARY: Final = {"AND", "OR"}


@dataclass(frozen=True, slots=True)
class QueryProblem:
    """A problem of a query. An error stops the search; a warning names a part that is read otherwise than written."""

    severity: Literal["error", "warning"]
    start: int
    end: int
    message: str
    hint: str

    def to_fields(self) -> dict[str, Any]:
        """Return the fields of the problem."""
        return {
            "severity": self.severity,
            "start": self.start,
            "end": self.end,
            "message": self.message,
            "hint": self.hint,
        }


def check_boolean_query(query: str) -> tuple[str, list[QueryProblem]]:
    """Return the query as it is read, and its problems in the order of their positions."""
    if len(query) > MAX_QUERY_CHARS:
        message = f"The query has {len(query):,} characters; at most {MAX_QUERY_CHARS:,} are allowed."
        return "", [QueryProblem("error", MAX_QUERY_CHARS, len(query), message, "Divide it into several queries.")]
    problems = [*_check_brackets_and_quotes(query), *_check_operators(query), *_check_words(query)]
    if not any(character.isalnum() for character in query):
        problems.append(
            QueryProblem("error", 0, len(query), "The query is empty.", 'For example: "exomoon" AND stability.')
        )
    elif parse_query(query) is None:
        message, hint = "The query only excludes: no source can answer it.", "Add at least one word that is wanted."
        problems.append(QueryProblem("error", 0, len(query), message, hint))
    return normalise_query(query), sorted(problems, key=lambda problem: (problem.start, problem.severity))


def _check_brackets_and_quotes(query: str) -> list[QueryProblem]:
    problems: list[QueryProblem] = []
    opened: list[int] = []
    for match in _TOKEN.finditer(query.translate(_QUOTES)):
        start, end = match.span()
        if match[0] == '"':
            message, hint = "This quotation mark is not closed.", 'Close the phrase with a second ".'
            problems.append(QueryProblem("error", start, end, message, hint))
        elif match[0] == "(":
            opened.append(start)
        elif match[0] == ")" and opened:
            if not query[opened[-1] + 1 : start].strip():
                message, hint = "These brackets are empty.", "Remove them, or write words between them."
                problems.append(QueryProblem("warning", opened[-1], end, message, hint))
            opened.pop()
        elif match[0] == ")":
            message, hint = "This bracket closes nothing.", "Remove it, or open a bracket before it."
            problems.append(QueryProblem("error", start, end, message, hint))
        elif match[0] == '""':
            problems.append(QueryProblem("warning", start, end, "This phrase is empty.", "Remove the quotation marks."))
    for start in opened:
        message, hint = "This bracket is not closed.", "Close it with )."
        problems.append(QueryProblem("error", start, start + 1, message, hint))
    return problems


def _check_operators(query: str) -> list[QueryProblem]:
    problems: list[QueryProblem] = []
    tokens = [(match[0], *match.span()) for match in _TOKEN.finditer(query.translate(_QUOTES))]
    for index, (token, start, end) in enumerate(tokens):
        before = tokens[index - 1][0] if index else "("
        after = tokens[index + 1][0] if index + 1 < len(tokens) else ")"
        if token in OPERATORS:
            if token in _BINARY and (before == "(" or before in OPERATORS):
                message, hint = f"{token} has nothing before it.", f"Write a word before {token}, or remove it."
                problems.append(QueryProblem("error", start, end, message, hint))
            if after == ")" or (after in _BINARY and token != after):
                message, hint = f"{token} has nothing after it.", f"Write a word after {token}, or remove it."
                problems.append(QueryProblem("error", start, end, message, hint))
        elif token.lower() in _LOWER_OPERATORS:
            message = f"“{token}” is read as a word, not as an operator."
            problems.append(QueryProblem("warning", start, end, message, f"Write {token.upper()} for the operator."))
    return problems


def _check_words(query: str) -> list[QueryProblem]:
    problems: list[QueryProblem] = []
    for match in _TOKEN.finditer(query.translate(_QUOTES)):
        token, (start, end) = match[0], match.span()
        if token.startswith('"'):
            continue
        if _FIELD.match(token) and not re.match(r"(?:doi|arxiv|pmid|pmcid|https?):", token, re.IGNORECASE):
            message = f"Fields are not supported: “{token[:40]}” is read as words."
            problems.append(QueryProblem("warning", start, end, message, "Write the words without a field name."))
        elif _PROXIMITY.fullmatch(token) and "/" in token:
            message = f"“{token}” is read as a word: distances are not supported."
            problems.append(QueryProblem("warning", start, end, message, 'Use AND, or a phrase in "…".'))
        elif "*" in token[:-1]:
            message = "A * counts only at the end of a word."
            problems.append(QueryProblem("warning", start, end, message, "Write the beginning of the word, then *."))
        elif token.endswith("*") and len(token) < 4:
            message = "This * is dropped: at least three letters must stand before it."
            problems.append(QueryProblem("warning", start, end, message, "Write more of the word."))
    return problems
