"""Share a text among its readers: each cuts out what it has read and leaves the rest to the next."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import TypedDict, cast

from paper_search.intent.vocabulary import make_term_key
from paper_search.models import MAX_RESULTS_CAP, IntentType, SearchConstraints
from paper_search.query.languages import parse_language
from uraniborg.kernel.phrase_files import cut_span
from uraniborg.kernel.years.reading import is_publication_year, read_years, sort_years

describe_author = "“{}” was read as an author.".format
describe_venue = "“{}” was read as a journal or conference.".format
describe_exclusion = "Papers about “{}” are excluded.".format
describe_preference = (
    "“{}” was read as a preference: papers that meet it rank higher; the others stay in the result.".format
)


class Direction(StrEnum):
    """How the next round should differ from the last."""

    WIDER = "wider"
    NARROWER = "narrower"
    MORE = "more"
    FEWER = "fewer"


class Limits(TypedDict, total=False):
    """The limits that a text states; None drops a limit of the plan."""

    year_from: int | None
    year_to: int | None
    language: str | None
    max_results: int
    min_relevance: float | None


@dataclass(slots=True)
class Reading:
    """The rest of a text, and what was read of it."""

    rest: str = ""
    limits: Limits = field(default_factory=Limits)
    purpose: IntentType = IntentType.METHOD
    authors: list[str] = field(default_factory=list[str])
    venues: list[str] = field(default_factory=list[str])
    wanted: list[str] = field(default_factory=list[str])
    unwanted: list[str] = field(default_factory=list[str])
    wishes: list[str] = field(default_factory=list[str])  # the preferences as written
    preferences: list[str] = field(default_factory=list[str])
    directions: list[Direction] = field(default_factory=list[Direction])
    suggestions: bool | list[str] = False
    unused: list[str] = field(default_factory=list[str])  # the clauses of feedback that were not understood
    notes: list[str] = field(default_factory=list[str])

    @property
    def has_content(self) -> bool:
        """True if feedback asks for any change."""
        return any((self.wanted, self.unwanted, self.authors, self.limits, self.directions, self.suggestions))

    def cut(self, start: int, end: int) -> None:
        self.rest = cut_span(self.rest, start, end)

    def take(self, names: Iterable[str], into: list[str], start: int, end: int) -> None:
        """Add names to one of the lists, each once, and cut out the words that name them."""
        for name in map(_tidy_name, names):
            if name and name not in into:
                into.append(name)
        self.cut(start, end)

    def take_all(self, patterns: Iterable[re.Pattern[str]], into: list[str]) -> list[re.Match[str]]:
        """Move each `name` that the patterns find from the text to one of the lists, and return the matches."""
        found: list[re.Match[str]] = []
        for pattern in patterns:
            while match := pattern.search(self.rest):
                self.take([match["name"]], into, *match.span())
                found.append(match)
        return found

    def read_years(self, today: date) -> None:
        """Read the years of publication that the text asks for."""
        years = read_years(self.rest, today)
        self.add_limits({"year_from": years.year_from, "year_to": years.year_to})
        self.rest = years.rest
        self.notes += years.notes

    def add_limits(self, limits: Limits) -> None:
        self.limits |= cast("Limits", {name: value for name, value in limits.items() if value is not None})

    def merge_later(self, later: "Reading") -> None:
        """Merge the reading of later feedback, which wins where the two disagree."""
        self.wanted = _merge_terms(self.wanted, later.wanted, without=later.unwanted)
        self.unwanted = _merge_terms(self.unwanted, later.unwanted, without=later.wanted)
        self.authors = list(dict.fromkeys([*self.authors, *later.authors]))
        self.limits |= later.limits
        self.directions = list(dict.fromkeys([*self.directions, *later.directions]))
        self.suggestions = later.suggestions or self.suggestions
        self.unused += later.unused
        self.notes += later.notes


def correct_limits(limits: SearchConstraints, today: date) -> tuple[SearchConstraints, list[str]]:
    """Return limits that a search can work with, and a note for each limit that changed."""
    years = (limits.year_from, limits.year_to)
    wrong = [year for year in years if year is not None and not is_publication_year(year, today)]
    notes = [f"{year} is not a possible year of publication and was ignored." for year in wrong]
    year_from, year_to, swapped = sort_years(*(None if year in wrong else year for year in years))
    language = parse_language(limits.language)
    if limits.language and language is None:
        notes.append(f"The language “{limits.language[:40]}” is unknown and was ignored.")
    max_results, capped = clamp_amount(limits.max_results)
    corrected = {"year_from": year_from, "year_to": year_to, "language": language, "max_results": max_results}
    return limits.model_copy(update=corrected), [*notes, *swapped, *capped]


def apply_limit_changes(limits: SearchConstraints, changes: Limits) -> SearchConstraints:
    """Return the limits with the changes applied; an older year that contradicts a changed one is dropped."""
    changed = limits.model_copy(update=changes)
    if changes and changed.year_from and changed.year_to and changed.year_from > changed.year_to:
        return changed.model_copy(update=dict.fromkeys({"year_from", "year_to"} - changes.keys()))
    return changed


def clamp_amount(wanted: int) -> tuple[int, list[str]]:
    """Return the nearest number of papers that a search can return, and a note if it is not the wanted number."""
    allowed = min(max(wanted, 1), MAX_RESULTS_CAP)
    note = f"{wanted:,} papers were asked for, but a search returns 1 to {MAX_RESULTS_CAP:,}; the limit is {allowed:,}."
    return allowed, [] if allowed == wanted else [note]


def _merge_terms(earlier: Iterable[str], later: Iterable[str], *, without: Iterable[str]) -> list[str]:
    """Return the terms of both, each once, and of the earlier ones only those that are not left out."""
    left_out = set(map(make_term_key, without))
    kept = [text for text in earlier if make_term_key(text) not in left_out]
    return list({make_term_key(text): text for text in (*kept, *later)}.values())


def _tidy_name(name: str) -> str:
    """Return "Doe, J." as "Doe J.", and a name without the full stop of its sentence."""
    plain = name.replace(",", "").strip()
    return plain if re.search(r"(?:^|[\s.-])\w\.$", plain) else plain.rstrip(".")
