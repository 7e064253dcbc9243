"""Limits of a search: how many papers a text asks for, and limits that a search can work with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from paper_search.intent.text_cleanup import cut_span
from paper_search.intent.wishes import WISHES
from paper_search.intent.years import is_publication_year, sort_years
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints
from paper_search.query.languages import parse_language
from uraniborg.kernel.text import plural
from uraniborg.kernel.years.numbers import parse_number


@dataclass(slots=True)
class AmountReading:
    """The number of papers that a text asks for, the rest of the text, and notes."""

    rest: str
    max_results: int | None = None
    notes: list[str] = field(default_factory=list)


def read_amount(text: str) -> AmountReading:
    """Read the number of papers a text asks for; "top 5 error" and "a meta-analysis of 40 studies" ask for none."""
    reading = AmountReading(rest=text)
    asked = WISHES.compile("amount asked").search(text)
    match = asked or WISHES.compile("amount plain").search(text)
    if match and (wanted := parse_number(match["amount"])) > 0:
        reading.max_results, reading.notes = _clamp_amount(wanted)
        if not reading.notes:
            reading.notes = [f"At most {plural(wanted, 'paper')}, as the query asks."]
        # The verb before a plain number is a courtesy that is removed later.
        reading.rest = cut_span(text, match.start() if asked else match.start("amount"), match.end())
    return reading


def correct_limits(limits: SearchConstraints, today: date) -> tuple[SearchConstraints, list[str]]:
    """Return limits that a search can work with, and a note for each limit that changed."""
    notes: list[str] = []
    years = [limits.year_from, limits.year_to]
    for index, year in enumerate(years):
        if year is not None and not is_publication_year(year, today):
            notes.append(f"{year} is not a possible year of publication and was ignored.")
            years[index] = None
    year_from, year_to, swapped = sort_years(years[0], years[1])
    language = parse_language(limits.language) if limits.language else None
    if limits.language and language is None:
        notes.append(f"The language “{limits.language[:40]}” is unknown and was ignored.")
    max_results, capped = _clamp_amount(limits.max_results)
    corrected = {"year_from": year_from, "year_to": year_to, "language": language, "max_results": max_results}
    changes = {name: value for name, value in corrected.items() if value != getattr(limits, name)}
    return limits.model_copy(update=changes), [*notes, *swapped, *capped]


def apply_limit_changes(limits: SearchConstraints, changes: Mapping[str, int | str | None]) -> SearchConstraints:
    """Return the limits with the changes applied; an older year that contradicts a changed one is dropped."""
    changed = limits.model_copy(update=dict(changes))
    if (
        changes
        and changed.year_from is not None
        and changed.year_to is not None
        and changed.year_from > changed.year_to
    ):
        return changed.model_copy(update=dict.fromkeys({"year_from", "year_to"} - changes.keys()))
    return changed


def _clamp_amount(wanted: int) -> tuple[int, list[str]]:
    """Return the nearest number of papers that a search can return, and a note if it is not the wanted number."""
    allowed = min(max(wanted, 1), MAX_RESULTS_CAP)
    if allowed == wanted:
        return wanted, []
    return allowed, [
        f"{wanted:,} papers were asked for, but a search returns 1 to {MAX_RESULTS_CAP:,}; the limit is {allowed:,}."
    ]
