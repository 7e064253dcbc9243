"""Directions in feedback, such as "wider", "fewer results" or "newer papers", and the limits they change."""

import re
from collections.abc import Iterable
from datetime import date
from enum import StrEnum

from paper_search.intent.text_cleanup import cut_span
from paper_search.intent.years import RECENT_YEARS
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints


class Direction(StrEnum):
    """How the next round should differ from the last."""

    WIDER = "wider"
    NARROWER = "narrower"
    MORE = "more"
    FEWER = "fewer"
    NEWER = "newer"
    OLDER = "older"


_THING = (
    r"(?:papers?|articles?|publications?|results?|hits?|stud(?:y|ies)|works?|ones|search(?:es)?|quer(?:y|ies)|scope|net"
    r"|selection|list|terms|criteria|filters?|limits?|strategy|literature|references|material)"
)
_IT = rf"(?:\s+(?:it|this|that|things|(?:the\s+|your\s+|this\s+|my\s+)?{_THING}))?"
_ENDS = (
    r"(?=\s*(?:$|[\n,.;:!?)]|(?:and|but|or|please|too|then|overall|instead|as\s+well|this\s+time|next\s+time"
    r"|if\s+possible)\b))"
)
_ABOUT = r"(?=\s+(?:on|about|of|for|regarding|concerning)\b)"
_LEAD = (
    rf"(?:\b(?:go|make{_IT}|be|keep\s+it|cast\s+an?|with\s+an?|use\s+an?|a|an|some|any)\s+)?"
    r"(?:\b(?:a\s+(?:bit|little|lot)|much|even|slightly|somewhat|far|way|still|many)\s+)?"
)
_NOT_BEFORE = r"(?<!\bno )(?<!\bnothing )(?<!\bonce )(?<!\bany )"
_TABLE: list[tuple[Direction, str]] = [
    (Direction.NEWER, rf"(?:newer|more\s+recent|fresher)(?:{_ENDS}|\s+{_THING}(?:{_ENDS}|{_ABOUT}))"),
    (Direction.NEWER, rf"(?:too\s+old|outdated){_ENDS}"),
    (Direction.OLDER, rf"(?:older|less\s+recent)(?:{_ENDS}|\s+{_THING}(?:{_ENDS}|{_ABOUT}))"),
    (Direction.OLDER, rf"(?:earlier\s+{_THING}|too\s+(?:new|recent)){_ENDS}"),
    (
        Direction.WIDER,
        r"(?:wider|broader|larger)\s+(?:range|variety|spectrum|coverage|view|picture|sweep)(?:\s+(?:of|on))?\b",
    ),
    (
        Direction.WIDER,
        r"(?:wider|broader|looser|more\s+(?:general(?:ly)?|broad(?:ly)?|wide(?:ly)?|inclusive)"
        r"|(?:less|too)\s+(?:strict|specific|narrow|restrict(?:ive|ed)|focus(?:s)?ed|limited))"
        rf"(?:\s+{_THING})?{_ENDS}",
    ),
    (Direction.WIDER, rf"(?:widen|broaden|loosen|relax|expand|open\s+up){_IT}{_ENDS}"),
    (
        Direction.NARROWER,
        r"(?:narrower|tighter|stricter|more\s+(?:specific|focus(?:s)?ed|narrow(?:ly)?|restrictive|strict(?:ly)?|precise)"
        r"|(?:less|too)\s+(?:broad|general|generic|wide|unspecific|vague|loose|unfocused))"
        rf"(?:\s+{_THING})?{_ENDS}",
    ),
    (Direction.NARROWER, rf"(?:narrow|tighten|restrict){_IT}(?:\s+down)?{_ENDS}"),
    (
        Direction.MORE,
        rf"(?:{_NOT_BEFORE}more(?:\s+of\s+(?:these|those|them|it|this|the\s+same))?|additional|further(?=\s+{_THING}))"
        rf"(?:\s+{_THING})?{_ENDS}",
    ),
    (
        Direction.MORE,
        rf"(?:too\s+few|not\s+(?:nearly\s+)?enough|(?:not|hardly|barely)\s+(?:many|much))(?:\s+{_THING})?{_ENDS}",
    ),
    (Direction.MORE, rf"(?:bigger|larger|longer)\s+(?:set|list|selection|number(?:\s+of\s+{_THING})?){_ENDS}"),
    (Direction.FEWER, rf"(?:fewer|less|too\s+many|not\s+so\s+many)(?:\s+{_THING})?{_ENDS}"),
    (Direction.FEWER, rf"(?:smaller|shorter)\s+(?:set|list|selection|number(?:\s+of\s+{_THING})?){_ENDS}"),
]
_RULES = [(direction, re.compile(rf"{_LEAD}\b{pattern}", re.IGNORECASE)) for direction, pattern in _TABLE]
_NEGATION = re.compile(r"\b(?:not|never|no\s+need\s+to)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\b(?:no|without|exclud(?:e|ing)|skip|avoid|ignore|remove|drop)\s+(?:the\s+|any\s+)?$", re.IGNORECASE
)
_OPPOSITE = {Direction.NEWER: Direction.OLDER, Direction.OLDER: Direction.NEWER}


def read_directions(text: str) -> tuple[list[Direction], str]:
    """Return the directions that a text asks for, each once, and the text without them.

    "Not wider" asks for nothing, "no older papers" for newer ones. A word that qualifies a subject ("older adults",
    "wider binaries") is not a direction.
    """
    found: list[Direction] = []
    for direction, pattern in _RULES:
        while match := pattern.search(text):
            start, asked = match.start(), direction
            if negation := _NEGATION.search(text, 0, start):
                start, asked = negation.start(), None
            elif refusal := _REFUSAL.search(text, 0, start):
                start, asked = refusal.start(), _OPPOSITE.get(direction)
            if asked and asked not in found:
                found.append(asked)
            text = cut_span(text, start, match.end())
    return found, text


def compute_limit_changes(
    directions: Iterable[Direction], limits: SearchConstraints, today: date
) -> tuple[dict[str, int | str | None], list[str]]:
    """Return the limits that the directions change, and a note on each."""
    changes: dict[str, int | str | None] = {}
    notes: list[str] = []
    since, most = limits.year_from, limits.max_results
    for direction in directions:
        if direction is Direction.NEWER:
            changes["year_from"] = _compute_newer_first_year(since, today.year)
            notes.append(f"Only papers from {changes['year_from']} on, since newer ones were asked for.")
        elif direction is Direction.OLDER and since is None:
            notes.append("No first year is set, so older papers are already searched for.")
        elif direction is Direction.OLDER and since is not None:
            changes["year_from"] = since - max(RECENT_YEARS, today.year - since)
            notes.append(f"Papers from {changes['year_from']} on, since older ones were asked for.")
        elif direction in (Direction.MORE, Direction.FEWER):
            allowed = min(2 * most, MAX_RESULTS_CAP) if direction is Direction.MORE else max(1, most // 2)
            changes["max_results"] = allowed
            notes.append(
                f"A round adds at most {allowed:,} papers instead of {most:,}, since {direction} were asked for."
            )
    return changes, notes


def _compute_newer_first_year(year_from: int | None, this_year: int) -> int:
    """Return the year half way to the present, or the first year of recent papers if no year is set."""
    if year_from is None:
        return this_year - RECENT_YEARS
    return min(this_year, year_from + max(1, (this_year - year_from + 1) // 2))
