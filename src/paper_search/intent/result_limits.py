"""Limits that a search can work with."""

from datetime import date

from paper_search.intent.reading import Limits
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints
from paper_search.query.languages import parse_language
from uraniborg.kernel.years.reading import is_publication_year, sort_years


def correct_limits(limits: SearchConstraints, today: date) -> tuple[SearchConstraints, list[str]]:
    """Return limits that a search can work with, and a note for each limit that changed."""
    years = (limits.year_from, limits.year_to)
    wrong = [year for year in years if year is not None and not is_publication_year(year, today)]
    notes = [f"{year} is not a possible year of publication and was ignored." for year in wrong]
    year_from, year_to, swapped = sort_years(*(None if year in wrong else year for year in years))
    language = parse_language(limits.language)
    if limits.language and language is None:
        notes.append(f"The language “{limits.language[:40]}” is unknown and was ignored.")
    max_results, capped = clamp_amount(limits.max_results)
    corrected = {"year_from": year_from, "year_to": year_to, "language": language, "max_results": max_results}
    return limits.model_copy(update=corrected), [*notes, *swapped, *capped]


def apply_limit_changes(limits: SearchConstraints, changes: Limits) -> SearchConstraints:
    """Return the limits with the changes applied; an older year that contradicts a changed one is dropped."""
    changed = limits.model_copy(update=changes)
    if changes and changed.year_from and changed.year_to and changed.year_from > changed.year_to:
        return changed.model_copy(update=dict.fromkeys({"year_from", "year_to"} - changes.keys()))
    return changed


def clamp_amount(wanted: int) -> tuple[int, list[str]]:
    """Return the nearest number of papers that a search can return, and a note if it is not the wanted number."""
    allowed = min(max(wanted, 1), MAX_RESULTS_CAP)
    note = f"{wanted:,} papers were asked for, but a search returns 1 to {MAX_RESULTS_CAP:,}; the limit is {allowed:,}."
    return allowed, [] if allowed == wanted else [note]
