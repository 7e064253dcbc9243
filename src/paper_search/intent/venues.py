"""Venues that a query names: journals, conferences and preprint servers."""

import re
from dataclasses import dataclass, field

from paper_search.intent.authors import is_title_case
from paper_search.intent.text_cleanup import cut_span
from paper_search.intent.wishes import WISHES


@dataclass(slots=True)
class VenueReading:
    """The venues that a text names, the year of a conference named with its year, and the rest of the text."""

    rest: str
    venues: list[str] = field(default_factory=list)
    year: int | None = None

    def add_venue(self, match: re.Match[str]) -> None:
        venue = match["venue"].strip(" .")
        if venue not in self.venues:
            self.venues.append(venue)
        if (year := match.groupdict().get("year")) and self.year is None:
            self.year = int(year)
        self.rest = cut_span(self.rest, match.start(), match.end())


def read_venues(text: str) -> VenueReading:
    """Read the venues a text names. Quoted names stay placeholders; In Title Case only plain cues count."""
    reading = VenueReading(rest=text)
    by_capitals = () if is_title_case(text) else WISHES.compile_each("venue by capitals")
    for pattern in (*WISHES.compile_each("venue"), *by_capitals):
        while match := pattern.search(reading.rest):
            reading.add_venue(match)
            while also := WISHES.patterns["venue_also"].match(reading.rest, match.start() + 1):
                reading.add_venue(also)
    return reading
