"""Reads when the papers wanted were published.

A number is a year only with a reason: a word of time before it, a range, parentheses, or papers named by it. "ImageNet
2012", "1000 ppm" and "2001: A Space Odyssey" give none, and years that cannot be publication years are left alone.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

from paper_search.intent.amounts import NUMBER, number
from paper_search.intent.cleaning import STAND_IN, cut
from paper_search.text import STOP_WORDS

EARLIEST_YEAR = 1600
RECENT_YEARS = 5

Bounds = tuple[int | None, int | None]


@dataclass(slots=True)
class YearReading:
    """The bounds read, what is left of the text, and how each was read."""

    rest: str
    year_from: int | None = None
    year_to: int | None = None
    notes: list[str] = field(default_factory=list)


def read_years(text: str, today: date) -> YearReading:
    """The years a text asks for; several wishes narrow one another."""
    reading = YearReading(rest=text)
    for pattern, bounds_of in _RULES:
        position = 0
        while match := pattern.search(reading.rest, position):
            bounds = bounds_of(match, today)
            position = match.end()
            if bounds != (None, None) and all(year is None or is_publication_year(year, today) for year in bounds):
                _narrow(reading, bounds, match[0])
                reading.rest = cut(reading.rest, match.start(), match.end())
                position = match.start() + 1
    reading.year_from, reading.year_to, swapped = in_order(reading.year_from, reading.year_to)
    reading.notes += swapped
    return reading


def is_publication_year(year: int, today: date) -> bool:
    return EARLIEST_YEAR <= year <= today.year + 1


def in_order(year_from: int | None, year_to: int | None) -> tuple[int | None, int | None, list[str]]:
    """The bounds with the earlier year first, and a note when they had to be swapped."""
    if year_from is not None and year_to is not None and year_from > year_to:
        return year_to, year_from, [f"The years {year_from} and {year_to} were put in order."]
    return year_from, year_to, []


def described(year_from: int | None, year_to: int | None) -> str:
    """The bounds in words; at least one is set."""
    if year_from is None:
        return f"published in {year_to} or earlier"
    if year_to is None:
        return f"published in {year_from} or later"
    return f"published in {year_to}" if year_from == year_to else f"published from {year_from} to {year_to}"


def _narrow(reading: YearReading, bounds: Bounds, said: str) -> None:
    low, high = bounds
    if low is not None:
        reading.year_from = max(low, reading.year_from or low)
    if high is not None:
        reading.year_to = min(high, reading.year_to or high)
    reading.notes.append(f"“{' '.join(said.split())}” was read as {described(low, high)}.")


def _range(match: re.Match[str], today: date) -> Bounds:
    first, second = match["first"], match["second"]
    years = int(first), int(second if len(second) == 4 else first[:2] + second)
    if match[0][0].isdigit() and max(years) < 1900:
        return None, None  # a time that papers are about
    return min(years), max(years)


def _ago(match: re.Match[str], today: date) -> Bounds:
    unit = match["unit"].lower()
    vague = RECENT_YEARS if unit.endswith("s") else 1
    amount = number(match["amount"]) if match["amount"] else vague
    if unit.startswith("month"):
        return (today.year * 12 + today.month - 1 - amount) // 12, None
    return today.year - amount * (10 if unit.startswith("decade") else 1), None


def _decade(match: re.Match[str], today: date) -> Bounds:
    first = int(match["decade"])
    last = first + 9 if first + 9 < today.year else None
    match (match["cue"] or "in").lower().split()[0]:
        case "since" | "from":
            return first, None
        case "before" | "prior":
            return None, first - 1
        case "after":
            return first + 10, None
        case "until" | "till" | "up" | "through":
            return None, last
        case _:
            return first, last


def _at_the_end(match: re.Match[str], today: date) -> Bounds:
    year, before = int(match["year"]), match.string[: match.start()].split()
    if not before or not before[-1][0].islower() or before[-1] in STOP_WORDS or not 1950 <= year <= today.year:
        return None, None
    return year, year


def _years_ago(years: int) -> Callable[[re.Match[str], date], Bounds]:
    return lambda match, today: (today.year - years, None)


def _bound(low: int | None, high: int | None) -> Callable[[re.Match[str], date], Bounds]:
    def bounds(match: re.Match[str], today: date) -> Bounds:
        year = int(match["year"])
        return None if low is None else year + low, None if high is None else year + high

    return bounds


_DASH = "[-‐‑‒–—―−~〜]"
_PAPERS = r"(?:papers?|articles?|publications?|preprints?|surveys?|reviews?|stud(?:y|ies)|works?|literature)"
_UNIT = (
    r"\s*(?:pp[mb]|kelvin|[kmg]?hz|[nuµμmck]m|[kmµμ]?g|ml|k?w|m?v|[kmg]?ev|[kmg]?pa|bar|mol|ms|rpm|[%°]|degrees?|percent"
    r"|hours?|days?|weeks?|months?|years?|cycles?|times|steps|epochs?|iterations|tokens?|words?|atoms?|nodes?|samples?"
    r"|images?|patients?|participants?|subjects?|people|children|adults|cases|dollars|usd|eur|bce?"
    r"|(?-i:K|V|W|A|J|N|L|m|s|h))(?![\w-])"
)
_FOUR = r"(?:1[6-9]|2[01])[0-9]{2}"
_ENDS = rf"(?![\w%°]|[.,/-]\w|:\s*(?-i:[A-Z])|{_UNIT})"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\.?,?\s+(?:[0-9]{1,2},?\s+)?"
_SOFT = rf"(?:(?:early|mid|late)[\s-])?(?:{_MONTH})?(?:the\s+year\s+)?"
_LONE = rf"(?<![\w.$€£#/-]){_FOUR}"
_YEAR = rf"{_SOFT}(?<![\w.$€£#/])(?P<year>{_FOUR}){_ENDS}"
_FIRST = rf"{_SOFT}(?P<first>{_LONE})"
_SECOND = rf"{_SOFT}(?P<second>{_FOUR}){_ENDS}"
_STOPS = (
    rf"(?=\s*(?:$|[\n,;.!?)\]]|{STAND_IN}|(?:{_PAPERS}|on|about|for|and|or|but|using|with|of|by|in|at|that|which|from|not"
    r"|only|please|research|regarding|concerning|related|without|excluding|except|where|as|is|are|was|were|via|until"
    r"|till|up\s+to|through|before|after|since|to)\b))"
)
_NOW = r"(?:the\s+)?(?:present|now|today|date|current)"
_TO = rf"\s*(?:{_DASH}\s*|\b(?:to|through|thru|until|till|up\s+to)\s+)"

_TABLE: list[tuple[str, Callable[[re.Match[str], date], Bounds]]] = [
    (rf"\byears?:\s*(?P<first>{_FOUR})\s*(?:{_DASH}|\.\.)\s*(?P<second>{_FOUR})\b", _range),
    (rf"\byears?:\s*{_YEAR}", _bound(0, 0)),
    (rf"(?:\b(?:published|dated)\s+)?(?:\b(?:from|since|between|in|during|years?)\s+)?{_FIRST}{_TO}{_SECOND}", _range),
    (rf"(?:\bpublished\s+)?\bbetween\s+{_FIRST}\s+and\s+{_SECOND}", _range),
    (rf"(?:\b(?:from|in)\s+)?(?P<first>{_LONE})[-–—](?P<second>1[3-9]|[2-9][0-9])(?![\w%°]|[-./]\w)", _range),
    (rf"(?:\b(?:from|since)\s+)?(?P<year>{_LONE}){_TO}{_NOW}\b", _bound(0, None)),
    (
        r"(?:\b(?:in|over|during|within|from|for|of)\s+)?(?:\bthe\s+)?\b(?:last|past|previous|recent)\s+"
        rf"(?:(?P<amount>{NUMBER})\s+)?(?P<unit>years?|decades?|months?)\b",
        _ago,
    ),
    (r"(?:\b(?:in|from|during)\s+)?\bthis\s+year\b(?!['’])", _years_ago(0)),
    (
        r"(?:\b(?P<cue>in|during|from|since|before|prior\s+to|after|until|till|up\s+to|through)\s+)?\bthe\s+"
        r"(?:(?:early|mid|late)[\s-]+)?(?P<decade>(?:1[6-9]|20)[0-9]0)['’]?s\b",
        _decade,
    ),
    (
        r"\b(?:(?:not?|never)\s+(?:earlier|older)\s+than|not\s+before|starting\s+(?:in|from|with)|as\s+of|only\s+since"
        rf"|(?:published\s+)?since)\s+{_YEAR}",
        _bound(0, None),
    ),
    (rf"(?:\b(?:from|in)\s+)?{_YEAR}\s+(?:onwards?|(?:or|and)\s+(?:later|newer|after|onwards?))\b", _bound(0, None)),
    (rf"\bfrom\s+{_YEAR}\s+on\b(?=\s*(?:$|[\n,;.!?)]))", _bound(0, None)),
    (rf"(?P<year>{_LONE})\+(?=$|[\s,;.!?)])", _bound(0, None)),
    (rf"(?:>=|≥|=>)\s*{_YEAR}", _bound(0, None)),
    (rf"(?:<=|≤|=<)\s*{_YEAR}", _bound(None, 0)),
    (rf">\s*{_YEAR}", _bound(1, None)),
    (rf"<\s*{_YEAR}", _bound(None, -1)),
    (rf"\b(?:not?\s+(?:later|newer)\s+than|not\s+after)\s+{_YEAR}", _bound(None, 0)),
    (rf"{_YEAR}\s+(?:or|and)\s+(?:earlier|older|before)\b", _bound(None, 0)),
    (rf"^\s*(?:until|till|up\s+to)\s+{_YEAR}", _bound(None, 0)),
    (rf"\b(?:until|till|up\s+to|through)\s+(?:and\s+including\s+)?{_YEAR}{_STOPS}", _bound(None, 0)),
    (rf"\b(?:published\s+)?after\s+(?=(?:(?:early|mid|late)[\s-])?{_MONTH}){_YEAR}{_STOPS}", _bound(0, None)),
    (rf"\b(?:published\s+)?before\s+(?=(?:(?:early|mid|late)[\s-])?{_MONTH}){_YEAR}{_STOPS}", _bound(None, 0)),
    (rf"\b(?:(?:published\s+)?after|(?:later|newer|more\s+recent)\s+than)\s+{_YEAR}{_STOPS}", _bound(1, None)),
    (rf"\b(?:(?:published\s+)?before|prior\s+to|(?:earlier|older)\s+than)\s+{_YEAR}{_STOPS}", _bound(None, -1)),
    (rf"\bpost-{_YEAR}", _bound(1, None)),
    (rf"\bpre-{_YEAR}", _bound(None, -1)),
    (rf"\b(?:published|appeared|presented|written)\s+in\s+{_YEAR}", _bound(0, 0)),
    (rf"\b(?:in|during)\s+{_YEAR}{_STOPS}", _bound(0, 0)),
    (
        rf"(?:(?<=papers)|(?<=articles)|(?<=publications)|(?<=surveys)|(?<=reviews))\s+(?:of|from)\s+{_YEAR}{_STOPS}",
        _bound(0, 0),
    ),
    (rf"(?<=\bet al)[.,]*\s+{_YEAR}", _bound(0, 0)),
    (rf"[(\[]\s*{_YEAR}\s*[)\]]", _bound(0, 0)),
    (rf"\bfrom\s+{_YEAR}{_STOPS}", _bound(0, None)),
    (rf"\b{_YEAR}(?=\s+{_PAPERS}\b)", _bound(0, 0)),
    (
        rf"\b(?:(?:the|most|more)\s+)*(?:recent|recently|latest|newest)\b(?!-)|\bnewer(?=\s+{_PAPERS}|\s*$)|\btoo\s+old\b",
        _years_ago(RECENT_YEARS),
    ),
    # After a lower-case word only: "Tokyo Olympics 2020" names an event.
    (rf"(?<=(?-i:[a-z)\n]))[,\s]\s*(?P<year>{_FOUR})[\s.?!]*$", _at_the_end),
]
_RULES = [(re.compile(pattern, re.IGNORECASE), bounds_of) for pattern, bounds_of in _TABLE]
