"""Venues that a query names: journals, conferences and preprint servers."""

import re
from dataclasses import dataclass, field

from paper_search.intent.authors import is_title_case
from paper_search.intent.text_cleanup import PLACEHOLDER, cut_span
from paper_search.intent.word_lists import CONFERENCES, JOURNALS
from paper_search.text import STOP_WORDS

_JOINERS = r"(?:of|on|in|for|and|the|&)"
_CAPITAL = r"(?-i:[A-Z])[\w&.'’-]*"
_TITLE = rf"{_CAPITAL}(?:\s+(?:{_JOINERS}\s+)*{_CAPITAL})*"
_HEADED = (
    rf"(?:{_CAPITAL}\s+){{0,4}}(?-i:Journal|Transactions|Letters|Proceedings|Annals|Reviews?|Bulletin|Reports|Communications"
    rf"|Archives|Acta)\b(?:\s+(?:{_JOINERS}\s+)*{_CAPITAL})*"
)
_KNOWN = "|".join(re.escape(name) for name in sorted((*JOURNALS, *CONFERENCES), key=len, reverse=True))
_FAMILY = rf"(?-i:Nature|Cell|Science|PLOS|npj|ACS|IEEE)(?:\s+{_CAPITAL})+"
_TITLED = rf"(?P<venue>{_HEADED}|{_FAMILY})"
_NAMED = rf"(?P<venue>(?-i:{_KNOWN}))"
_LOWER = rf"(?P<venue>{'|'.join(name for name in sorted(CONFERENCES) if len(name) > 3)})"
_EDITION = r"(?:\s+(?P<year>(?:19|20)[0-9]{2})\b)?"
_AND = r"\s*(?:,\s*(?:and\s+|or\s+)?|\s(?:and|or|&)\s+)(?:in\s+|at\s+)?"
_STOPS = (
    rf"(?=\s*(?:$|[\n,;:.!?)\]]|{PLACEHOLDER}|(?:papers?|articles?|publications?|{'|'.join(sorted(STOP_WORDS))})\b))"
)


@dataclass(slots=True)
class VenueReading:
    """The venues that a text names, the year of a conference, and the rest of the text."""

    rest: str
    venues: list[str] = field(default_factory=list)
    year: int | None = None
    """The year of a conference named with its year."""

    def add_venue(self, match: re.Match[str]) -> None:
        venue = match["venue"].strip(" .")
        if venue not in self.venues:
            self.venues.append(venue)
        if (year := match.groupdict().get("year")) and self.year is None:
            self.year = int(year)
        self.rest = cut_span(self.rest, match.start(), match.end())


_FIELD = re.compile(rf"\b(?:venue|journal|conference):\s*(?P<venue>{PLACEHOLDER}|{_TITLE}|[\w.-]+)", re.IGNORECASE)
_STATED = re.compile(
    rf"\b(?:published|appear(?:ed|ing)|presented)\s+(?:in|at)\s+(?:the\s+)?(?:journal\s+)?(?P<venue>{PLACEHOLDER}|{_TITLE})",
    re.IGNORECASE,
)
_IN = r"\b(?:in|at|from)\s+(?:the\s+(?:journal\s+)?)?"
_IN_JOURNAL = re.compile(rf"{_IN}{_TITLED}{_STOPS}", re.IGNORECASE)
_IN_KNOWN = re.compile(rf"{_IN}{_NAMED}{_EDITION}{_STOPS}", re.IGNORECASE)
_AT_CONFERENCE = re.compile(rf"{_IN}{_LOWER}{_EDITION}{_STOPS}", re.IGNORECASE)
_POSSESSED = re.compile(
    rf"\b{_NAMED}{_EDITION}(?=(?:{_AND}(?-i:{_KNOWN}))*\s+(?:papers?|articles?|publications?)\b)", re.IGNORECASE
)
_ALSO = re.compile(rf"{_AND}(?:the\s+)?{_NAMED}{_EDITION}{_STOPS}", re.IGNORECASE)
_IN_BRACKETS = re.compile(
    rf"\(\s*(?P<venue>(?-i:{'|'.join(map(re.escape, sorted(JOURNALS, key=len, reverse=True)))}))\s*\)\s*$"
)


def read_venues(text: str) -> VenueReading:
    """Read the venues a text names. Quoted names stay placeholders; In Title Case only plain cues count."""
    reading = VenueReading(rest=text)
    by_capitals = () if is_title_case(text) else (_IN_KNOWN, _POSSESSED, _IN_BRACKETS)
    for pattern in (_FIELD, _STATED, _IN_JOURNAL, _AT_CONFERENCE, *by_capitals):
        while match := pattern.search(reading.rest):
            reading.add_venue(match)
            while also := _ALSO.match(reading.rest, match.start() + 1):
                reading.add_venue(also)
    return reading
