"""What a search accepts, checked before any work is done."""

from typing import Any, Final, cast

from paper_search.errors import InvalidDecision, InvalidQuery, UnsupportedQuery
from paper_search.lookups import find_citation_request
from paper_search.models import MAX_RESULTS_CAP
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.logging import printable

MAX_QUERY_CHARS: Final = 2_000
MAX_NOTE_CHARS: Final = 4_000
MAX_DATA_CHARS: Final = 64_000
MAX_DATA_DEPTH: Final = 16


def checked_query(query: object) -> str:
    """Return the query, trimmed.

    Raises InvalidQuery when it is empty, too long or not text, and UnsupportedQuery when it asks for the citations or
    references of a work, or for works like it.
    """
    if not isinstance(query, str):
        raise InvalidQuery(
            f"The query must be text, not {type(query).__name__}.",
            hint="Say in words what you are looking for.",
        )
    text = query.replace("\x00", "").strip()
    if not is_whole(text):
        raise InvalidQuery("The query holds half characters.", hint="Send it as valid UTF-8.")
    if not any(character.isalnum() for character in text):
        raise InvalidQuery(
            "The query is empty.",
            hint='Say in words what you are looking for, e.g. "perovskite solar cells".',
        )
    if len(text) > MAX_QUERY_CHARS:
        raise InvalidQuery(
            f"The query has {len(text):,} characters; at most {MAX_QUERY_CHARS:,} are allowed.",
            hint="Name the topic and the main concepts only.",
            length=len(text),
            allowed=MAX_QUERY_CHARS,
        )
    if request := find_citation_request(text):
        raise UnsupportedQuery(
            f"Searches by citation or likeness are not supported: “{printable(request[:120])}”.",
            hint="Send the identifier alone to fetch that work, or describe its topic in words to find similar ones.",
        )
    return text


def checked_max_results(wanted: object) -> tuple[int, list[str]]:
    """How many papers to return at most, and a note when the wish had to be capped.

    Raises InvalidInput when it is not a whole number or below 1.
    """
    if not isinstance(wanted, int) or isinstance(wanted, bool):
        raise InvalidInput(
            f"max_results must be a whole number, not {type(wanted).__name__}.",
            hint=f"Ask for 1 to {MAX_RESULTS_CAP:,} papers.",
            argument="max_results",
        )
    if wanted < 1:
        raise InvalidInput(
            f"max_results must be at least 1, not {wanted}.",
            hint=f"Ask for 1 to {MAX_RESULTS_CAP:,} papers.",
            argument="max_results",
            allowed=f"1..{MAX_RESULTS_CAP}",
        )
    if wanted > MAX_RESULTS_CAP:
        note = f"max_results was {wanted:,}; no search returns more than {MAX_RESULTS_CAP:,} papers, so that many are."
        return MAX_RESULTS_CAP, [note]
    return wanted, []


def check_decision_size(data: Any, note: str | None) -> None:
    """Raises InvalidDecision when what comes with a decision is larger or deeper than any honest answer."""
    if note is not None and len(note) > MAX_NOTE_CHARS:
        raise InvalidDecision(
            f"The note has {len(note):,} characters; at most {MAX_NOTE_CHARS:,} are allowed.",
            hint="Say the essential only.",
            argument="note",
        )
    size, rest = 0, [(data, 0), (note, 0)]
    while rest:
        value, depth = rest.pop()
        if isinstance(value, str) and not is_whole(value):
            raise InvalidDecision("The decision holds half characters.", hint="Send it as valid UTF-8.")
        size += len(value) if isinstance(value, str) else 8
        if size > MAX_DATA_CHARS or depth > MAX_DATA_DEPTH:
            raise InvalidDecision(
                f"The data is too large: at most {MAX_DATA_CHARS:,} characters, {MAX_DATA_DEPTH} levels deep, can be.",
                hint="Send only the fields of the strategy or the feedback that are to change.",
                argument="data",
            )
        if isinstance(value, dict):
            rest += [(part, depth + 1) for pair in cast("dict[str, Any]", value).items() for part in pair]
        elif isinstance(value, list):
            rest += [(item, depth + 1) for item in cast("list[Any]", value)]


def is_whole(text: str) -> bool:
    """Whether the text can be written: one with lone surrogates, as a terminal may pass them on, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
