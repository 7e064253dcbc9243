"""Check a query that a person wrote: list every problem with its position and a correction."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypedDict

from paper_search.domain.strategies.findings import Correction, ProblemFields, QueryProblem, correct_query
from paper_search.domain.strategies.lint_groups import QueryItem, check_exclusions, check_groups
from paper_search.domain.strategies.other_syntax import find_other_syntax
from paper_search.domain.strategies.quote_and_tag_checks import (
    check_curly_quotes,
    check_plain_tags,
    check_plain_words,
    check_quotes,
    check_strategy_tags,
    check_strategy_words,
)
from paper_search.domain.strategies.strategy_parser import ParsedLine, is_strategy, read_strategy
from paper_search.domain.strategies.tokens import (
    MAX_STRATEGY_CHARS,
    QueryToken,
    TermSpan,
    normalise_signs,
    split_plain_tokens,
)
from uraniborg.kernel.language.boolean_query import OPERATORS, Operator, parse_query
from uraniborg.kernel.logging import make_printable

_MOST_PASSES: Final = 5
_EXCERPT_CHARS: Final = 24
_LONGEST_EXCERPT: Final = 80


@lru_cache(maxsize=32)
def check_query_text(query: str) -> tuple[QueryProblem, ...]:
    """Return the problems of a query in the order of their positions."""
    if len(query) > MAX_STRATEGY_CHARS:
        message = f"The query has {len(query):,} characters; at most {MAX_STRATEGY_CHARS:,} are allowed."
        hint = "Divide it into several queries."
        return (QueryProblem("error", MAX_STRATEGY_CHARS, len(query), message, hint),)
    if not any(map(str.isalnum, query)):
        hint = 'For example: "exomoon" AND stability.'
        return (QueryProblem("error", 0, len(query), "The query is empty.", hint),)
    if other := find_other_syntax(normalise_signs(query)):
        return (other,)
    problems = [*(_check_strategy(query) if is_strategy(query) else _check_plain_query(query))]
    problems += check_curly_quotes(query)
    return tuple(sorted(dict.fromkeys(problems), key=lambda problem: (problem.start, problem.severity)))


def correct_query_text(query: str) -> str:
    """Return the query with its errors corrected, and then its warnings, as far as they have corrections."""
    for _ in range(_MOST_PASSES):
        corrected = correct_query(query, check_query_text(query))
        if corrected == query:
            break
        query = corrected
    return query


def list_query_errors(query: str) -> list[QueryProblem]:
    """Return the problems that stop a search, in the order of their positions."""
    return [problem for problem in check_query_text(query) if problem.severity == "error"]


class QueryErrorFields(TypedDict):
    start: int
    end: int
    problems: list[ProblemFields]


def describe_query_errors(query: str, errors: list[QueryProblem]) -> tuple[str, str, QueryErrorFields]:
    """Return the message, the hint and the fields of the error that refuses a query. Positions count from 1 in text."""
    first = errors[0]
    end = max(first.end, first.start + _EXCERPT_CHARS)
    spot = make_printable(" ".join(query[first.start : end].split())[:_LONGEST_EXCERPT])
    rest = "…" if end < len(query) else ""
    others = f" Errors after it: {len(errors) - 1}." if len(errors) > 1 else ""
    message = f"The query has an error at character {first.start + 1}, “{spot}{rest}”: {first.message}{others}"
    problems = [error.to_fields() for error in errors[:20]]
    fields: QueryErrorFields = {"start": first.start, "end": first.end, "problems": problems}
    return message, first.hint, fields


def _check_plain_query(query: str) -> Iterator[QueryProblem]:
    text = normalise_signs(query)
    tokens, tags = split_plain_tokens(text)
    items = [_make_item(token) for token in tokens if _is_item(token)]
    problems = [
        *check_quotes(tokens, is_strategy=False),
        *check_groups(items, query, left_to_right=False),
        *check_plain_tags(tags, text),
        *check_plain_words(tokens),
    ]
    yield from problems
    if not any(problem.severity == "error" for problem in problems):
        if parse_query(query) is None:
            yield _make_exclusion_error(0, len(query))
        else:
            yield from check_exclusions([_make_item(token) for token in tokens])


def _check_strategy(query: str) -> Iterator[QueryProblem]:
    strategy = read_strategy(query)
    problems = [problem for line in strategy.lines for problem in _check_line(line, query)]
    problems += strategy.problems
    yield from problems
    if strategy.tree is None and not any(problem.severity == "error" for problem in problems):
        yield _make_exclusion_error(0, len(query))


def _check_line(line: ParsedLine, query: str) -> Iterator[QueryProblem]:
    items = [_make_span_item(span) for span in line.builder.spans]
    problems = [
        *check_quotes(line.tokens, is_strategy=True),
        *check_groups(items, query, left_to_right=True),
        *check_strategy_tags(line.tokens),
        *check_strategy_words(line.tokens),
        *_check_tag_positions(line),
        *_check_missing_operators(items),
    ]
    yield from problems
    if not any(problem.severity == "error" for problem in problems):
        yield from check_exclusions(items)


def _check_tag_positions(line: ParsedLine) -> Iterator[QueryProblem]:
    for token in line.builder.tags_of_groups:
        message = f"PubMed reads {token.text} after one term only; it is read as the tag of each term in the brackets."
        yield QueryProblem("warning", token.start, token.end, message, "Write the tag after each term.")
    for token in line.builder.loose_tags:
        message = f"{token.text} has no term before it and is dropped."
        correction = Correction(token.start, token.end, "")
        yield QueryProblem("warning", token.start, token.end, message, "Write the tag after its term.", correction)


def _check_missing_operators(items: list[QueryItem]) -> Iterator[QueryProblem]:
    """Yield a warning where two terms or brackets stand side by side; PubMed reads AND."""
    sign = ""
    for before, after in pairwise(items):
        sign = before.sign if before.sign in {"AND", "OR"} else sign
        if before.sign in {"", ")"} and after.sign in {"", "("}:
            message = "An operator is missing here: PubMed reads AND."
            correction = Correction(before.end, after.start, f" {sign or 'AND'} ")
            yield QueryProblem("warning", before.end, after.start, message, "Write AND or OR.", correction)


def _make_item(token: QueryToken) -> QueryItem:
    sign = token.text if token.kind == "paren" or token.text in OPERATORS else ""
    key = token.text.casefold() if not sign and token.kind in {"word", "phrase"} and token.has_letters else None
    return QueryItem(sign, token.text, token.start, token.end, key)


def _is_item(token: QueryToken) -> bool:
    return token.kind in {"paren", "quote"} or token.text in OPERATORS or token.has_letters


def _make_span_item(span: TermSpan) -> QueryItem:
    start, end = span.first.start, span.last.end
    if isinstance(span.node, Operator):
        return QueryItem(span.node.sign, span.first.text, start, end)
    if isinstance(span.node, int):
        return QueryItem("", span.first.text, start, end)
    return QueryItem("", span.node.source_text, start, end, span.node.source_text.casefold())


def _make_exclusion_error(start: int, end: int) -> QueryProblem:
    message, hint = "The query only excludes: no source can answer it.", "Add at least one word that is wanted."
    return QueryProblem("error", start, end, message, hint)
