"""Preferences: what a person would like most. A preference ranks papers and never excludes one.

A wish behind its cue runs to the end of its clause; a wish before its cue starts with its clause. A cue marked
`{clause}` counts at the start of a clause only, so that "a particularly dry summer" stays a topic.
"""

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from paper_search.intent.concepts import find_phrases
from paper_search.intent.courtesy_phrases import remove_courtesies
from paper_search.intent.languages import read_language
from paper_search.intent.text_cleanup import BREAK, cut_span
from paper_search.intent.vocabulary import Vocabulary
from paper_search.intent.years import RECENT_YEARS, describe_years, read_years
from paper_search.query.languages import to_english_name
from uraniborg.kernel.phrase_files import PhraseFile, read_function_words

MAX_PREFERENCES = 10
_PREFERENCES: Final = PhraseFile("paper_search.intent", "data/preferences.txt")


@dataclass(slots=True)
class PreferenceReading:
    """The rest of the text, the wishes as written, and the preferences read from them."""

    rest: str
    wishes: list[str] = field(default_factory=list)
    preferences: list[str] = field(default_factory=list)


def read_preferences(text: str, vocabulary: Vocabulary, today: date) -> PreferenceReading:
    """Read the preferences of a text: "preferably …", "I care most about …", "… would be nice".

    A wish about years or a language is normalised ("published in 2020 or later", "written in English"), and a dislike
    starts with "not". Quoted phrases stay placeholders.
    """
    reading = PreferenceReading(rest=text)
    if match := _PREFERENCES.compile("recent").search(reading.rest):
        reading.rest = cut_span(reading.rest, match.start(), match.end())
        reading.preferences.append(describe_years(today.year - RECENT_YEARS, None))
    for title, sign in (("disliked", "not "), ("followed", "")):
        for pattern in _PREFERENCES.compile_each(title):
            while len(reading.wishes) < MAX_PREFERENCES and (match := pattern.search(reading.rest)):
                end = _find_clause_end(reading.rest, match.end())
                _remove_wish(reading, sign + reading.rest[match.end() : end], match.start(), end)
    ends = _PREFERENCES.patterns["ends"]
    for pattern in _PREFERENCES.compile_each("preceded"):
        while len(reading.wishes) < MAX_PREFERENCES and (match := pattern.search(reading.rest)):
            start = max((found.end() for found in ends.finditer(reading.rest, 0, match.start())), default=0)
            _remove_wish(reading, reading.rest[start : match.start()], start, match.end())
    for wish in reading.wishes:
        # A wish without a concept stays as written, so that no wish is lost silently.
        reading.preferences += _parse_wish(wish, vocabulary, today) or [wish]
    reading.preferences = list(dict.fromkeys(reading.preferences))[:MAX_PREFERENCES]
    return reading


def _remove_wish(reading: PreferenceReading, wish: str, start: int, end: int) -> None:
    """Cut a wish out of the text of `reading`; a topic behind "papers on" stays in the text."""
    if about := _PREFERENCES.patterns["about"].search(wish):
        end -= len(wish) - about.end()
        wish = wish[: about.start()]
    if wish.strip():
        reading.wishes.append(wish.strip())
    reading.rest = cut_span(reading.rest, start, end)


def _find_clause_end(text: str, start: int) -> int:
    end = _PREFERENCES.patterns["ends"].search(text, start)
    if end and (listed := _PREFERENCES.patterns["list"].match(text, end.start())):
        return listed.end()
    return end.start() if end else len(text)


def _parse_wish(wish: str, vocabulary: Vocabulary, today: date) -> list[str]:
    patterns = _PREFERENCES.patterns
    wish = patterns["over"].sub("", wish)
    years = read_years(wish, today)
    if denied := patterns["denied"].match(years.rest):
        return [f"not {concept}" for concept in find_phrases(years.rest[denied.end() :], vocabulary)]
    language = read_language(years.rest)
    found: list[str] = []
    if years.year_from is not None or years.year_to is not None:
        found.append(describe_years(years.year_from, years.year_to))
    if language.language:
        found.append(f"written in {to_english_name(language.language).title()}")
    rest = remove_courtesies(language.rest)
    if not found and not rest.strip(f"{BREAK} "):
        rest = language.rest  # "preferably review articles": here the noun for papers is the wish
    prepositions = re.compile(rf"^(?:(?:{'|'.join(sorted(frozenset[str]().union(*read_function_words())))})\s+)+")
    bare = (patterns["behind"].sub("", prepositions.sub("", raw)) for raw in find_phrases(rest, vocabulary))
    return found + [concept for concept in bare if concept]
