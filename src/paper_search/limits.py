"""What a search accepts, checked before any work is done."""

from paper_search.errors import InvalidQuery
from paper_search.models import MAX_RESULTS_CAP
from uraniborg.kernel.errors import InvalidInput

MAX_QUERY_CHARS = 2_000


def checked_query(query: object) -> str:
    """The query, trimmed. Raises InvalidQuery when it is empty, too long or not text."""
    if not isinstance(query, str):
        raise InvalidQuery(
            f"The query must be text, not {type(query).__name__}.",
            hint="Say in words what you are looking for.",
        )
    text = query.replace("\x00", "").strip()
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
