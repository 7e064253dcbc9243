"""Reads when the papers wanted were published.

A number is a year only with a reason: a word of time before it, a range, parentheses, or papers named by it. "ImageNet
2012", "1000 ppm" and "2001: A Space Odyssey" give none, and years that cannot be publication years are left alone.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

from paper_search.intent.amounts import number
from paper_search.intent.cleaning import cut
from paper_search.intent.year_phrases import Phrase, rules_for
from paper_search.intent.year_rules.language import DECADES, NUMBERS, SINGULAR, UNITS
from paper_search.text import STOP_WORDS

EARLIEST_YEAR = 1600
RECENT_YEARS = 5
_MODERN = 1950
"""Earlier years without a word of publication are what papers are about: "influenza in 1918"."""

Bounds = tuple[int | None, int | None]
NO_BOUNDS: Bounds = (None, None)


@dataclass(slots=True)
class YearReading:
    """The bounds read, what is left of the text, and how each was read."""

    rest: str
    year_from: int | None = None
    year_to: int | None = None
    notes: list[str] = field(default_factory=list)


def read_years(text: str, today: date) -> YearReading:
    """Return the years a text asks for; several wishes narrow one another, and negated ones are turned round."""
    reading = YearReading(rest=text)
    for rules in rules_for(text):
        for meaning, pattern, ending in rules.limits:
            position = 0
            while match := pattern.search(reading.rest, position):
                position = match.end()
                phrase = rules.phrase_around(match, ending)
                bounds = _MEANINGS[meaning](phrase, today) if phrase else NO_BOUNDS
                if phrase and bounds != NO_BOUNDS and _can_be_published(bounds, today):
                    _narrow(reading, phrase, bounds)
                    if phrase.exclusion:
                        reading.rest = cut(reading.rest, *phrase.exclusion.span())
                    reading.rest = cut(reading.rest, phrase.start, phrase.end)
                    position = phrase.start + 1
    reading.year_from, reading.year_to, swapped = in_order(reading.year_from, reading.year_to)
    reading.notes += swapped
    return reading


def is_publication_year(year: int, today: date) -> bool:
    return EARLIEST_YEAR <= year <= today.year + 1


def in_order(year_from: int | None, year_to: int | None) -> tuple[int | None, int | None, list[str]]:
    """Return the bounds with the earlier year first, and a note when they had to be swapped."""
    if year_from is not None and year_to is not None and year_from > year_to:
        return year_to, year_from, [f"The years {year_from} and {year_to} were put in order."]
    return year_from, year_to, []


def described(year_from: int | None, year_to: int | None) -> str:
    """Return the bounds in words; at least one is set. `read_years` reads these words."""
    if year_from is None:
        return f"published in {year_to} or earlier"
    if year_to is None:
        return f"published in {year_from} or later"
    return f"published in {year_to}" if year_from == year_to else f"published from {year_from} to {year_to}"


def _narrow(reading: YearReading, phrase: Phrase, bounds: Bounds) -> None:
    """Narrow the reading by a phrase, and say how it was read."""
    low, high = bounds
    if phrase.denied:
        reading.notes.append(f"“{phrase.text}” sets no limit.")
        return
    if phrase.negated and low is not None and high is not None:
        reading.notes.append(f"“{phrase.text}” was left out: sources limit years to one range without a gap.")
        return
    if phrase.negated:
        low, high = (None if high is None else high + 1), (None if low is None else low - 1)
    if low is not None:
        reading.year_from = max(low, reading.year_from or low)
    if high is not None:
        reading.year_to = min(high, reading.year_to or high)
    reading.notes.append(f"“{phrase.text}” was read as {described(low, high)}.")


def _can_be_published(bounds: Bounds, today: date) -> bool:
    return all(year is None or is_publication_year(year, today) for year in bounds)


def _span(phrase: Phrase, today: date) -> Bounds:
    """Return the first and the last year of the year or decade that was named; None for an end yet to come."""
    if decade := phrase.found("decade", "spelled"):
        decade = DECADES.get(decade.casefold(), decade)
        first = int(decade[-4:]) if len(decade) >= 4 else 1900 + int(decade[-2:])
        return first, first + 9 if first + 9 < today.year else None
    if phrase.found("ago"):
        start = _age(phrase, today)[0]
        return start, start
    year = int(phrase.match["year"])
    return year, year


def _age(phrase: Phrase, today: date) -> Bounds:
    """Return the year that lies as long ago as an age says."""
    unit = phrase.match["unit"].casefold()
    kind = next(name for name, pattern in UNITS.items() if re.fullmatch(pattern, unit))
    if kind == "century":
        return today.year // 100 * 100, None
    written = phrase.found("number", "number2")
    amount = _value(written) if written else 1 if unit in SINGULAR else {"decade": 2}.get(kind, RECENT_YEARS)
    if kind == "month":
        return (today.year * 12 + today.month - 1 - amount) // 12, None
    return today.year - amount * (10 if kind == "decade" else 1), None


def _value(written: str) -> int:
    return NUMBERS[written.casefold()] if written.casefold() in NUMBERS else number(written)


def _older(phrase: Phrase, today: date) -> Bounds:
    start = _age(phrase, today)[0]
    return None, None if start is None else start - 1


def _range(phrase: Phrase, today: date) -> Bounds:
    first, second = (
        phrase.match["first"],
        phrase.found("second") or f"{phrase.match['first'][:2]}{phrase.found('short')}",
    )
    years = int(first), int(second)
    return min(years), max(years)


def _if_modern(bounds: Bounds) -> Bounds:
    return NO_BOUNDS if max(year or 0 for year in bounds) < _MODERN else bounds


def _after(phrase: Phrase, today: date) -> Bounds:
    last = _span(phrase, today)[1]
    return None if last is None else last + 1, None


def _before(phrase: Phrase, today: date) -> Bounds:
    first = _span(phrase, today)[0]
    return None, None if first is None else first - 1


def _at_the_end(phrase: Phrase, today: date) -> Bounds:
    year, before = int(phrase.match["year"]), phrase.match.string[: phrase.start].split()
    if not before or not before[-1][0].islower() or before[-1] in STOP_WORDS or not _MODERN <= year <= today.year:
        return NO_BOUNDS
    return year, year


_MEANINGS: dict[str, Callable[[Phrase, date], Bounds]] = {
    "since": lambda phrase, today: (_span(phrase, today)[0], None),
    "after": _after,
    "until": lambda phrase, today: (None, _span(phrase, today)[1]),
    "before": _before,
    "in": _span,
    "in lately": lambda phrase, today: _if_modern(_span(phrase, today)),
    "in unwanted": lambda phrase, today: _span(phrase, today) if phrase.negated else NO_BOUNDS,
    "after unwanted": lambda phrase, today: _after(phrase, today) if phrase.negated else NO_BOUNDS,
    "before unwanted": lambda phrase, today: _before(phrase, today) if phrase.negated else NO_BOUNDS,
    "range": _range,
    "bare range": lambda phrase, today: _if_modern(_range(phrase, today)),
    "within": _age,
    "older": _older,
    "aged": lambda phrase, today: (None, _age(phrase, today)[0]),
    "recent": lambda phrase, today: (today.year - RECENT_YEARS, None),
    "old": lambda phrase, today: (None, today.year - RECENT_YEARS - 1) if phrase.negated else NO_BOUNDS,
    "this year": lambda phrase, today: (today.year, None),
    "this decade": lambda phrase, today: (today.year // 10 * 10, None),
    "at the end": _at_the_end,
}
