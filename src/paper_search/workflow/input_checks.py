"""Check queries, result counts and decisions against their limits before any work is done."""

from typing import Any, Final, cast

from paper_search.domain.intent.typed_queries import MAX_QUERY_CHARS, read_typed_query
from paper_search.domain.query.identifier_queries import find_citation_request, read_identifiers
from paper_search.domain.strategies.lint import describe_query_errors, list_query_errors
from paper_search.domain.strategies.other_syntax import find_other_syntax
from paper_search.domain.strategies.tokens import MAX_STRATEGY_CHARS
from paper_search.errors import InvalidDecision, InvalidQuery, UnsupportedQuery
from paper_search.models import MAX_RESULTS_CAP
from uraniborg.kernel.boundary import is_encodable
from uraniborg.kernel.clock import SystemClock
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.logging import make_printable

MAX_NOTE_CHARS: Final = 4_000
MAX_DATA_CHARS: Final = 1_000_000
"""Enough for decisions with reasons about the papers of all rounds."""
MAX_DATA_DEPTH: Final = 16


def check_query(query: object, *, accept_broken_syntax: bool = False) -> str:
    """Return the query, trimmed.

    Raise InvalidQuery if it is empty, too long or not text, or a typed query with an error in its syntax, and
    UnsupportedQuery if it asks for the citations or references of a work, or for similar works.
    """
    if not isinstance(query, str):
        raise InvalidQuery(
            f"The query must be text, not {type(query).__name__}.",
            hint="Describe in words what you are looking for.",
        )
    text = query.replace("\x00", "").strip()
    if not is_encodable(text):
        raise InvalidQuery("The query contains incomplete characters.", hint="Send it as valid UTF-8.")
    if not any(character.isalnum() for character in text):
        raise InvalidQuery(
            "The query is empty.",
            hint='Describe in words what you are looking for, for example "perovskite solar cells".',
        )
    if len(text) > MAX_QUERY_CHARS:
        _refuse_long_text(text)
    if request := find_citation_request(text):
        raise UnsupportedQuery(
            f"Searches by citation or similarity are not supported: “{make_printable(request[:120])}”.",
            hint="Send the identifier alone to fetch that work, or describe its topic in words to find similar works.",
        )
    if not accept_broken_syntax:
        _refuse_broken_syntax(text)
    return text


def _refuse_long_text(text: str) -> None:
    """Raise InvalidQuery if a text is longer than a question may be and no typed query, or longer than that may be."""
    is_too_long = len(text) > MAX_STRATEGY_CHARS
    if is_too_long or (read_typed_query(text, SystemClock().now().date()) is None and not read_identifiers(text)):
        raise InvalidQuery(
            f"The query has {len(text):,} characters; at most {MAX_QUERY_CHARS:,} are allowed in plain words, and "
            f"{MAX_STRATEGY_CHARS:,} for a query with operators or field tags.",
            hint="Name only the topic and the main concepts, or divide the strategy into several searches.",
            length=len(text),
            allowed=MAX_STRATEGY_CHARS if is_too_long else MAX_QUERY_CHARS,
        )


def _refuse_broken_syntax(text: str) -> None:
    """Raise InvalidQuery if a text is a typed query with an error, at its position in the text."""
    if read_identifiers(text):
        return
    typed = read_typed_query(text, SystemClock().now().date())
    if typed is None:
        return
    other = find_other_syntax(text)  # also in limits that are read beside a query: PY=(2010-2020)
    if errors := [other] if other else list_query_errors(typed.kept):
        message, hint, fields = describe_query_errors(text if other else typed.kept, errors)
        raise InvalidQuery(message, hint=hint, **fields)


def check_max_results(wanted: object) -> tuple[int, list[str]]:
    """Return the maximum number of papers, and a note if it was capped.

    Raise InvalidInput if it is not a whole number or below 1.
    """
    if not isinstance(wanted, int) or isinstance(wanted, bool):
        raise InvalidInput(
            f"max_results must be a whole number, not {type(wanted).__name__}.",
            hint=f"Ask for 1 to {MAX_RESULTS_CAP:,} papers.",
            argument="max_results",
        )
    if wanted < 1:
        raise InvalidInput(
            f"max_results must be at least 1, got {wanted}.",
            hint=f"Ask for 1 to {MAX_RESULTS_CAP:,} papers.",
            argument="max_results",
            allowed=f"1..{MAX_RESULTS_CAP}",
        )
    if wanted > MAX_RESULTS_CAP:
        note = f"max_results was {wanted:,}; no search returns more than {MAX_RESULTS_CAP:,} papers."
        return MAX_RESULTS_CAP, [note]
    return wanted, []


def check_decision_size(data: Any, note: str | None) -> None:
    """Raise InvalidDecision if the data or the note of a decision is too large or too deeply nested."""
    if note is not None and len(note) > MAX_NOTE_CHARS:
        raise InvalidDecision(
            f"The note has {len(note):,} characters; at most {MAX_NOTE_CHARS:,} are allowed.",
            hint="Shorten the note.",
            argument="note",
        )
    size, rest = 0, [(data, 0), (note, 0)]
    while rest:
        value, depth = rest.pop()
        if isinstance(value, str) and not is_encodable(value):
            raise InvalidDecision("The decision contains incomplete characters.", hint="Send it as valid UTF-8.")
        size += len(value) if isinstance(value, str) else 8
        if size > MAX_DATA_CHARS or depth > MAX_DATA_DEPTH:
            raise InvalidDecision(
                f"The data is too large: the limit is {MAX_DATA_CHARS:,} characters and {MAX_DATA_DEPTH} levels.",
                hint="Send only the fields of the strategy or the feedback that change.",
                argument="data",
            )
        if isinstance(value, dict):
            rest += [(part, depth + 1) for pair in cast("dict[str, object]", value).items() for part in pair]
        elif isinstance(value, list):
            rest += [(item, depth + 1) for item in cast("list[Any]", value)]
