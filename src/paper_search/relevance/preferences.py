"""What a person would like most: papers that meet it rise, the others stay where they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from paper_search.intent.languages import read_language
from paper_search.intent.years import read_years
from paper_search.models import ParsedIntent, Work
from paper_search.relevance.calibrate import FAIR
from paper_search.relevance.pool import Candidate
from paper_search.relevance.priors import authors_found, venue_found
from paper_search.sources.constraints import within_years
from paper_search.sources.languages import language_of
from paper_search.text import extract_terms

STEP = 0.6
"""How much of its distance to 1, scaled by the score itself, a paper that meets every preference gains."""
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
        """Return True when the paper has what the wish names; what is not known of a paper is not met."""
        if self.year_from is not None or self.year_to is not None:
            return paper.year is not None and within_years(paper.year, self.year_from, self.year_to)
        if self.language is not None:
            return language_of(paper.language) == self.language
        held = bool(self.terms) and all(term in counts or term in candidate.venue for term in self.terms)
        if self.text.startswith(_DENIED):
            return not held
        return held or venue_found(paper, [self.text]) or bool(authors_found(paper, [self.text]))


def preferences_of(intent: ParsedIntent, this_year: int) -> list[Preference]:
    """Return the preferences of an intent, ready to be compared with papers."""
    return [_preference(text, this_year) for text in intent.preferences]


def met_by(
    paper: Work, candidate: Candidate, counts: Mapping[str, int], preferences: Sequence[Preference]
) -> list[str]:
    """Return the texts of the preferences that a paper meets."""
    return [wish.text for wish in preferences if wish.is_met_by(paper, candidate, counts)]


def raise_score(score: float, met: int, preferences: int) -> float:
    """Return the score after `met` of the preferences; it never falls, and what is off the topic stays below FAIR."""
    if not met:
        return score
    raised = score + STEP * (met / preferences) * score * (1 - score)
    return raised if score >= FAIR else min(raised, (score + FAIR) / 2)


def _preference(text: str, this_year: int) -> Preference:
    years = read_years(text, date(this_year, 12, 31))
    if years.year_from is not None or years.year_to is not None:
        return Preference(text, frozenset(), years.year_from, years.year_to)
    if language := read_language(text).language:
        return Preference(text, frozenset(), language=language)
    return Preference(text, frozenset(extract_terms(text.removeprefix(_DENIED))))
