"""Makes limits sane: years that can be, in order; a language sources know; a number of papers within bounds."""

from collections.abc import Mapping
from datetime import date

from paper_search.intent.amounts import clamped
from paper_search.intent.years import in_order, is_publication_year
from paper_search.models import SearchConstraints
from paper_search.sources.languages import language_of


def sane_limits(limits: SearchConstraints, today: date) -> tuple[SearchConstraints, list[str]]:
    """The limits a search can work with, and a note for each that had to change."""
    notes: list[str] = []
    years = [limits.year_from, limits.year_to]
    for index, year in enumerate(years):
        if year is not None and not is_publication_year(year, today):
            notes.append(f"{year} is no year of publication and was left out.")
            years[index] = None
    year_from, year_to, swapped = in_order(years[0], years[1])
    language = language_of(limits.language) if limits.language else None
    if limits.language and language is None:
        notes.append(f"The language “{limits.language[:40]}” is not known and was left out.")
    max_results, capped = clamped(limits.max_results)
    changed = {"year_from": year_from, "year_to": year_to, "language": language, "max_results": max_results}
    kept = {name: value for name, value in changed.items() if value != getattr(limits, name)}
    return limits.model_copy(update=kept), [*notes, *swapped, *capped]


def with_changes(limits: SearchConstraints, changes: Mapping[str, int | str | None]) -> SearchConstraints:
    """The limits with newer wishes in place of older ones; an older bound that contradicts a newer one goes."""
    changed = limits.model_copy(update=dict(changes))
    if (
        changes
        and changed.year_from is not None
        and changed.year_to is not None
        and changed.year_from > changed.year_to
    ):
        return changed.model_copy(update=dict.fromkeys({"year_from", "year_to"} - changes.keys()))
    return changed
