"""Compare papers with the preferences of an intent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from paper_search.intent.reading import Reading
from paper_search.intent.wishes import read_language
from paper_search.models import ParsedIntent, Work
from paper_search.query.filters import can_be_within_years
from paper_search.query.languages import parse_language
from paper_search.relevance.candidate_terms import Candidate
from paper_search.relevance.secondary_evidence import find_wanted_authors, is_in_wanted_venue
from uraniborg.kernel.words import extract_terms

_DENIED = "not "


@dataclass(frozen=True, slots=True)
class Preference:
    """One wish: for words, for years, for a language, or for the absence of words."""

    text: str
    terms: frozenset[str]
    year_from: int | None = None
    year_to: int | None = None
    language: str | None = None

    def is_met_by(self, paper: Work, candidate: Candidate, counts: Mapping[str, int]) -> bool:
        """Return True if the paper meets the wish; an unknown year or language does not meet it."""
        if self.year_from is not None or self.year_to is not None:
            return paper.year is not None and can_be_within_years(paper.year, self.year_from, self.year_to)
        if self.language is not None:
            return parse_language(paper.language) == self.language
        held = bool(self.terms) and all(term in counts or term in candidate.venue for term in self.terms)
        if self.text.startswith(_DENIED):
            return not held
        return held or is_in_wanted_venue(paper, [self.text]) or bool(find_wanted_authors(paper, [self.text]))


def parse_preferences(intent: ParsedIntent, this_year: int) -> list[Preference]:
    """Return the preferences of an intent in a form that can be compared with papers."""
    return [_parse_preference(text, this_year) for text in intent.preferences]


def list_met_preferences(
    paper: Work, candidate: Candidate, counts: Mapping[str, int], preferences: Sequence[Preference]
) -> list[str]:
    """Return the texts of the preferences that a paper meets."""
    return [wish.text for wish in preferences if wish.is_met_by(paper, candidate, counts)]


def _parse_preference(text: str, this_year: int) -> Preference:
    reading = Reading(text)
    reading.read_years(date(this_year, 12, 31))
    if reading.limits:
        return Preference(text, frozenset(), reading.limits.get("year_from"), reading.limits.get("year_to"))
    if language := read_language(reading).limits.get("language"):
        return Preference(text, frozenset(), language=language)
    return Preference(text, frozenset(extract_terms(text.removeprefix(_DENIED))))
