"""Reads numbers that people write as figures or as words, and how many papers they ask for."""

import re
from dataclasses import dataclass, field

from paper_search.intent.cleaning import cut
from paper_search.models import MAX_RESULTS_CAP

_UP_TO_TWENTY = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty
"""
_WORDS = {word: value for value, word in enumerate(_UP_TO_TWENTY.split(), start=1)} | {
    "dozen": 12,
    "a dozen": 12,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "hundred": 100,
    "a hundred": 100,
    "one hundred": 100,
}
_VAGUE = {"couple of": 2, "a couple of": 2, "few": 3, "a few": 3, "several": 5}
_VALUES = _WORDS | _VAGUE

FIGURE = r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9}"
NUMBER = rf"(?:{FIGURE}|{'|'.join(sorted(_VALUES, key=len, reverse=True))})".replace(" ", r"\s+")
"""A pattern for what `number` reads; to be compiled without regard to case."""
EXACT_NUMBER = rf"(?:{FIGURE}|{'|'.join(sorted(_WORDS, key=len, reverse=True))})".replace(" ", r"\s+")
"""The same without "a few" and its like."""

_PAPERS = (
    r"(?:papers?|articles?|publications?|results?|hits?|references|stud(?:y|ies)|works|preprints?|surveys?|reviews?"
    r"|datasets?|benchmarks?)"
)
_AHEAD = rf"(?=\s+(?:[\w-]+\s+){{0,4}}{_PAPERS}\b)"
_ASKED = re.compile(
    rf"\b(?:(?:the\s+)?(?:top|best|first)|at\s+most|up\s+to(?!\s+(?:19|20)[0-9]{{2}}\b)|no\s+more\s+than|max(?:imum)?(?:\s+of)?|limit(?:ed)?\s+to)\s+"
    rf"(?P<amount>{EXACT_NUMBER})\b{_AHEAD}",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    rf"(?:^|\b(?:find|give|show|list|get|need|want|fetch|return|retrieve|recommend|suggest|me|us|about|around|please)\s+)"
    rf"(?:me\s+|us\s+|the\s+|about\s+)?(?P<amount>(?!(?:1[6-9]|20)[0-9]{{2}}\b){EXACT_NUMBER})\b{_AHEAD}",
    re.IGNORECASE,
)


@dataclass(slots=True)
class AmountReading:
    rest: str
    max_results: int | None = None
    notes: list[str] = field(default_factory=list)


def number(text: str) -> int:
    """The value of what `NUMBER` matched."""
    plain = " ".join(text.lower().split())
    return _VALUES[plain] if plain in _VALUES else int(plain.replace(",", ""))


def clamped(wanted: int) -> tuple[int, list[str]]:
    """The nearest number of papers a search can return, and a note when it is not the one wanted."""
    allowed = min(max(wanted, 1), MAX_RESULTS_CAP)
    if allowed == wanted:
        return wanted, []
    return allowed, [
        f"{wanted:,} papers were asked for; a search returns 1 to {MAX_RESULTS_CAP:,}, so {allowed:,} are."
    ]


def read_amount(text: str) -> AmountReading:
    """The number of papers a text asks for; "top 5 error" and "a meta-analysis of 40 studies" ask for none."""
    reading = AmountReading(rest=text)
    if (match := _ASKED.search(text) or _PLAIN.search(text)) and (wanted := number(match["amount"])) > 0:
        reading.max_results, reading.notes = clamped(wanted)
        if not reading.notes:
            reading.notes = [f"At most {wanted} papers were asked for."]
        # The verb before a plain number belongs to the politeness that is cleaned away later.
        reading.rest = cut(text, match.start() if match.re is _ASKED else match.start("amount"), match.end())
    return reading
