"""Share a text among readers, each cutting out what it has read: years, numbers, languages, journals, authors.

Names are recognised by their capitals. In a request written In Title Case only plain cues count, such as "papers by".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Final, TypedDict, cast

from paper_search.domain.intent.vocabulary import make_term_key
from paper_search.domain.query.filters import parse_language, to_english_name
from paper_search.models import MAX_RESULTS_CAP, IntentType, SearchConstraints
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.language.phrase_files import (
    BREAK,
    PhraseFile,
    cut_span,
    get_number_pattern,
    parse_number,
    split_entries,
)
from uraniborg.kernel.language.publication_years import describe_years, is_publication_year, read_years, sort_years
from uraniborg.kernel.language.words import STOP_WORDS

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


class StatedLimits(TypedDict, total=False):
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
    limits: StatedLimits = field(default_factory=StatedLimits)
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

    def add_limits(self, limits: StatedLimits) -> None:
        self.limits |= cast("StatedLimits", {name: value for name, value in limits.items() if value is not None})

    def merge_later(self, later: "Reading") -> None:
        """Merge the reading of later feedback, which wins where the two disagree."""
        self.wanted = _update_terms(self.wanted, later.wanted, without=later.unwanted)
        self.unwanted = _update_terms(self.unwanted, later.unwanted, without=later.wanted)
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


def apply_limit_changes(limits: SearchConstraints, changes: StatedLimits) -> SearchConstraints:
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


def _update_terms(earlier: Iterable[str], later: Iterable[str], *, without: Iterable[str]) -> list[str]:
    """Return the terms of both, each once, and of the earlier ones only those that are not left out."""
    left_out = set(map(make_term_key, without))
    kept = [text for text in earlier if make_term_key(text) not in left_out]
    return list({make_term_key(text): text for text in (*kept, *later)}.values())


def _tidy_name(name: str) -> str:
    """Return "Doe, J." as "Doe J.", and a name without the full stop of its sentence."""
    plain = name.replace(",", "").strip()
    return plain if re.search(r"(?:^|[\s.-])\w\.$", plain) else plain.rstrip(".")


_WISHES: Final = PhraseFile(
    "paper_search.domain.intent", "data/wishes.txt", lambda: {"number": get_number_pattern(exact=True)}
)
_EXCLUSIONS: Final = PhraseFile("paper_search.domain.intent", "data/exclusions.txt")


def read_wishes(reading: Reading, today: date) -> Reading:
    """Read all that a text wants or refuses, preferences apart."""
    read_amount(reading)
    reading.read_years(today)
    read_language(reading)
    read_venues(reading, today)
    read_exclusions(reading)
    read_authors(reading)
    return read_purpose(reading)


def read_amount(reading: Reading) -> Reading:
    """Read the number of papers a text asks for; "top 5 error" and "a meta-analysis of 40 studies" ask for none."""
    for pattern in _WISHES.compile_each("amount"):
        match = pattern.search(reading.rest)
        if match and (wanted := parse_number(match["amount"])) > 0:
            reading.limits["max_results"], notes = clamp_amount(wanted)
            reading.notes += notes or [f"At most {plural(wanted, 'paper')}, as the query asks."]
            reading.cut(*match.span())
            break
    return reading


def read_language(reading: Reading) -> Reading:
    """Read the language a text asks for; the first one counts."""
    patterns = _WISHES.patterns
    if match := patterns["language_refused"].search(reading.rest):
        reading.cut(*match.span())
        reading.notes.append(f"“{match[0].strip()}” was ignored: sources cannot exclude a language.")
    if match := patterns["language_others"].search(reading.rest):
        reading.cut(match.start(), match.start("language"))
        others, language = " ".join(match["others"].split()), match["language"].title()
        reading.notes.append(f"“{others}” was ignored: a search has one language, here {language}.")
    for pattern in _WISHES.compile_each("language"):
        match = pattern.search(reading.rest)
        if not match or not (code := parse_language(match["language"])):
            continue
        typed = " ".join(match[0].split())
        if match.groupdict().get("bare") and patterns["about_language"].search(reading.rest):
            reading.notes.append(f"“{typed}” is part of the topic. To ask for a language, write “papers in …”.")
        else:
            reading.limits["language"] = code
            reading.cut(*match.span())
            reading.notes.append(f"“{typed}” was read as papers written in {to_english_name(code).title()}.")
        break
    return reading


def read_venues(reading: Reading, today: date) -> Reading:
    """Read the journals and conferences a text names; the year of a conference limits years without another limit."""
    found = reading.take_all(_list_patterns("venue", reading.rest), reading.venues)
    found += reading.take_all(_WISHES.compile_each("venue also"), reading.venues) if found else []
    year = next((int(year) for match in found if (year := match.groupdict().get("year"))), 0)
    if is_publication_year(year, today) and not {"year_from", "year_to"} & reading.limits.keys():
        reading.limits |= {"year_from": year, "year_to": year}
        reading.notes.append(f"“{year}” was read as {describe_years(year, year)}.")
    return reading


def read_purpose(reading: Reading) -> Reading:
    """Read whether a text asks for an overview, a dataset or a baseline to compare with."""
    frame = rf"(?<![\w-]){_WISHES.names['not_subject']}{{}}(?![\w-])"
    for purpose, meaning in split_entries(_WISHES.lists["purposes"], " = "):
        pattern = _WISHES.compile(purpose, frame)
        if match := pattern.search(reading.rest):
            reading.purpose = IntentType(purpose)
            reading.rest = pattern.sub(BREAK, reading.rest)
            reading.notes.append(f"“{' '.join(match[0].split())}” was read as a wish for {meaning}.")
            break
    return reading


def read_authors(reading: Reading) -> Reading:
    """Read the authors a text names."""
    for pattern in _list_patterns("author", reading.rest):
        while match := pattern.search(reading.rest):
            named = match.groupdict()
            names = [named["name"]] if named.get("name") else _WISHES.patterns["author"].findall(named["names"])
            reading.take(names, reading.authors, *match.span("cue"))
    return reading


def read_exclusions(reading: Reading) -> Reading:
    """Read the exclusions of a text; "X and Y", "X or Y" and "(X, Y)" are two terms."""
    reading.take_all(_EXCLUSIONS.compile_each("whole"), reading.unwanted)
    patterns = _EXCLUSIONS.patterns
    position = 0
    while match := patterns["refusal"].search(reading.rest, position):
        if match["bare"] and patterns["fact"].search(reading.rest, 0, match.start("bare")):
            position = match.end("bare")
            continue
        names = patterns["separator"].split(match["listed"] or match["terms"] or match["word"])
        reading.take((patterns["papers"].sub("", name) for name in names), reading.unwanted, *match.span())
        position = match.start() + 1
    return reading


def is_title_case(text: str) -> bool:
    """Return True if most words have a capital, so that capitals do not mark names."""
    long_words = [word for word in re.findall(r"[^\W\d_]{4,}", text) if word.casefold() not in STOP_WORDS]
    return len(long_words) > 3 and sum(word[0].isupper() for word in long_words) > 0.6 * len(long_words)


def _list_patterns(kind: str, text: str) -> list[re.Pattern[str]]:
    """Return the patterns of a kind of names; in a text In Title Case capitals do not mark names."""
    titles = (kind,) if is_title_case(text) else (kind, f"{kind} by capitals")
    return [pattern for title in titles for pattern in _WISHES.compile_each(title)]
