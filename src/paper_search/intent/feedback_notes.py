"""Notes of a plan on what feedback changed: terms, limits, and clauses that were not used."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from paper_search.intent.reading import Reading
from paper_search.intent.vocabulary import make_term_key
from paper_search.models import SearchConstraints, TermSuggestion

_LIMIT_NAMES: Final = {
    "year_from": "first year",
    "year_to": "last year",
    "language": "language",
    "min_relevance": "least relevance",
    "max_results": "most papers of a round",
}
NOT_USED: Final = "Not used: "
"""The beginning of the note on clauses of feedback that were not understood."""


def select_accepted(suggestions: Iterable[TermSuggestion], accepted: bool | Sequence[str]) -> list[TermSuggestion]:
    """Return the suggestions that feedback accepts: all of them, those that it names, or none."""
    keys = set(map(make_term_key, [] if isinstance(accepted, bool) else accepted))
    return [entry for entry in suggestions if accepted is True or make_term_key(entry.term) in keys]


def describe_changes(
    latest: Reading, before: SearchConstraints, after: SearchConstraints, other_notes: Sequence[str]
) -> Iterator[str]:
    """Yield a note for each change that the feedback asks for and no other note describes."""
    for text in latest.wanted:
        if not any(note.startswith(f"Added: “{text}”") for note in other_notes):
            yield f"“{text}” is in the plan already."
    for text in latest.unwanted:
        if not any(note.startswith(f"“{text}” is part of") for note in other_notes):
            yield f"Excluded: “{text}” (asked for in the feedback)."
    is_any_set = any(value is None and getattr(before, name) is not None for name, value in latest.limits.items())
    for limit, value in latest.limits.items():
        old, new, name = getattr(before, limit), getattr(after, limit), _LIMIT_NAMES[limit]
        if old != new:
            yield f"Dropped: {name} {old}." if new is None else f"Changed: {name} is {new}, before {old or 'not set'}."
        elif old is None and (value is not None or not is_any_set):  # of two dropped years one may not have been set
            yield f"The plan had no limit “{name}”."
    if latest.unused:
        yield (
            f"{NOT_USED}{', '.join(f'“{clause}”' for clause in latest.unused)}. Write “add …”, “exclude …”, “remove "
            "the year limit” or “since 2020”, or send add_terms, exclude_terms, drop_limits, set_years or "
            "use_suggestions."
        )


def list_exact_changes(notes: Iterable[str]) -> list[str]:
    """Return the notes on changes of terms and limits: a language model reads the clauses that are not used."""
    return [note for note in notes if note.startswith(("Added: ", "Excluded: ", "Dropped: ", "Changed: "))]
