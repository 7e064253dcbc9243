"""Years of publication that a sentence asks for: bounds, relative ages, decades and negations in seven languages.

A number is read as a year only with a reason: a word of time before it, a range, parentheses, or papers named by it.
"ImageNet 2012", "1000 ppm" and "2001: A Space Odyssey" give no reason, and years that cannot be publication years stay
in the text. The library's search box reads explicit bounds only (`paper_library.search.year_bounds`): there every other
number is a search word.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

from paper_search.intent.number_words import parse_number
from paper_search.intent.text_cleanup import cut_span
from paper_search.intent.year_phrases import Phrase, select_rules
from paper_search.intent.year_rules.common import DECADES, SINGULAR, UNITS
from paper_search.text import STOP_WORDS

EARLIEST_YEAR = 1600
RECENT_YEARS = 5
_MODERN = 1950
"""Earlier years without a word of publication are a subject: "influenza in 1918"."""

Bounds = tuple[int | None, int | None]
NO_BOUNDS: Bounds = (None, None)


@dataclass(slots=True)
class YearReading:
    """The bounds that a text asks for, the rest of the text, and a note on each phrase."""

    rest: str
    year_from: int | None = None
    year_to: int | None = None
    notes: list[str] = field(default_factory=list)


def read_years(text: str, today: date) -> YearReading:
    """Read the years a text asks for; several limits narrow one another, and negated limits are inverted."""
    reading = YearReading(rest=text)
    for rules in select_rules(text):
        for meaning, pattern, ending in rules.limits:
            position = 0
            while match := pattern.search(reading.rest, position):
                position = match.end()
                phrase = rules.find_phrase(match, ending)
                bounds = _MEANINGS[meaning](phrase, today) if phrase else NO_BOUNDS
                if phrase and bounds != NO_BOUNDS and _is_publishable(bounds, today):
                    _apply_phrase(reading, phrase, bounds)
                    if phrase.exclusion:
                        reading.rest = cut_span(reading.rest, *phrase.exclusion.span())
                    reading.rest = cut_span(reading.rest, phrase.start, phrase.end)
                    position = phrase.start + 1
    reading.year_from, reading.year_to, swapped = sort_years(reading.year_from, reading.year_to)
    reading.notes += swapped
    return reading


def is_publication_year(year: int, today: date) -> bool:
    """Return True for a year from 1600 to next year."""
    return EARLIEST_YEAR <= year <= today.year + 1


def sort_years(year_from: int | None, year_to: int | None) -> tuple[int | None, int | None, list[str]]:
    """Return the bounds with the earlier year first, and a note if they were swapped."""
    if year_from is not None and year_to is not None and year_from > year_to:
        return year_to, year_from, [f"The years {year_from} and {year_to} were put in order."]
    return year_from, year_to, []


def describe_years(year_from: int | None, year_to: int | None) -> str:
    """Return the bounds in words; at least one is set. `read_years` reads these words."""
    if year_from is None:
        return f"published in {year_to} or earlier"
    if year_to is None:
        return f"published in {year_from} or later"
    return f"published in {year_to}" if year_from == year_to else f"published from {year_from} to {year_to}"


def _apply_phrase(reading: YearReading, phrase: Phrase, bounds: Bounds) -> None:
    """Narrow the bounds of the reading by a phrase, and add a note on how the phrase was read."""
    low, high = bounds
    if phrase.denied:
        reading.notes.append(f"“{phrase.text}” sets no limit.")
        return
    if phrase.negated and low is not None and high is not None:
        reading.notes.append(f"“{phrase.text}” was ignored: sources accept one range of years without a gap.")
        return
    if phrase.negated:
        low, high = (None if high is None else high + 1), (None if low is None else low - 1)
    if low is not None:
        reading.year_from = max(low, reading.year_from or low)
    if high is not None:
        reading.year_to = min(high, reading.year_to or high)
    reading.notes.append(f"“{phrase.text}” was read as {describe_years(low, high)}.")


def _is_publishable(bounds: Bounds, today: date) -> bool:
    return all(year is None or is_publication_year(year, today) for year in bounds)


def _get_named_span(phrase: Phrase, today: date) -> Bounds:
    """Return the first and the last year of a named year or decade; None for an end in the future."""
    if decade := phrase.get_group("decade", "spelled"):
        decade = DECADES.get(decade.casefold(), decade)
        first = int(decade[-4:]) if len(decade) >= 4 else 1900 + int(decade[-2:])
        return first, first + 9 if first + 9 < today.year else None
    if phrase.get_group("ago"):
        start = _get_age_bounds(phrase, today)[0]
        return start, start
    year = int(phrase.match["year"])
    return year, year


def _get_age_bounds(phrase: Phrase, today: date) -> Bounds:
    """Return bounds that start as long ago as an age such as "five years"."""
    unit = phrase.match["unit"].casefold()
    kind = next(name for name, pattern in UNITS.items() if re.fullmatch(pattern, unit))
    if kind == "century":
        return today.year // 100 * 100, None
    written = phrase.get_group("number", "number2")
    amount = parse_number(written) if written else 1 if unit in SINGULAR else {"decade": 2}.get(kind, RECENT_YEARS)
    if kind == "month":
        return (today.year * 12 + today.month - 1 - amount) // 12, None
    return today.year - amount * (10 if kind == "decade" else 1), None


def _get_older_bounds(phrase: Phrase, today: date) -> Bounds:
    start = _get_age_bounds(phrase, today)[0]
    return None, None if start is None else start - 1


def _get_range_bounds(phrase: Phrase, today: date) -> Bounds:
    first, second = (
        phrase.match["first"],
        phrase.get_group("second") or f"{phrase.match['first'][:2]}{phrase.get_group('short')}",
    )
    years = int(first), int(second)
    return min(years), max(years)


def _drop_historic_bounds(bounds: Bounds) -> Bounds:
    return NO_BOUNDS if max(year or 0 for year in bounds) < _MODERN else bounds


def _get_bounds_after(phrase: Phrase, today: date) -> Bounds:
    last = _get_named_span(phrase, today)[1]
    return None if last is None else last + 1, None


def _get_bounds_before(phrase: Phrase, today: date) -> Bounds:
    first = _get_named_span(phrase, today)[0]
    return None, None if first is None else first - 1


def _get_bounds_at_end(phrase: Phrase, today: date) -> Bounds:
    year, before = int(phrase.match["year"]), phrase.match.string[: phrase.start].split()
    if not before or not before[-1][0].islower() or before[-1] in STOP_WORDS or not _MODERN <= year <= today.year:
        return NO_BOUNDS
    return year, year


_MEANINGS: dict[str, Callable[[Phrase, date], Bounds]] = {
    "since": lambda phrase, today: (_get_named_span(phrase, today)[0], None),
    "after": _get_bounds_after,
    "until": lambda phrase, today: (None, _get_named_span(phrase, today)[1]),
    "before": _get_bounds_before,
    "in": _get_named_span,
    "in lately": lambda phrase, today: _drop_historic_bounds(_get_named_span(phrase, today)),
    "in unwanted": lambda phrase, today: _get_named_span(phrase, today) if phrase.negated else NO_BOUNDS,
    "after unwanted": lambda phrase, today: _get_bounds_after(phrase, today) if phrase.negated else NO_BOUNDS,
    "before unwanted": lambda phrase, today: _get_bounds_before(phrase, today) if phrase.negated else NO_BOUNDS,
    "range": _get_range_bounds,
    "bare range": lambda phrase, today: _drop_historic_bounds(_get_range_bounds(phrase, today)),
    "within": _get_age_bounds,
    "older": _get_older_bounds,
    "aged": lambda phrase, today: (None, _get_age_bounds(phrase, today)[0]),
    "recent": lambda phrase, today: (today.year - RECENT_YEARS, None),
    "old": lambda phrase, today: (None, today.year - RECENT_YEARS - 1) if phrase.negated else NO_BOUNDS,
    "this year": lambda phrase, today: (today.year, None),
    "this decade": lambda phrase, today: (today.year // 10 * 10, None),
    "at the end": _get_bounds_at_end,
}
