"""Read what a person would like most. A preference ranks papers and never excludes one."""

from datetime import date
from typing import Final

from paper_search.domain.intent.concepts import find_phrases
from paper_search.domain.intent.reading import Reading, read_language
from paper_search.domain.intent.text_cleanup import remove_courtesies
from paper_search.domain.intent.vocabulary import Vocabulary
from paper_search.domain.query.filters import to_english_name
from uraniborg.kernel.language.phrase_files import BREAK, PhraseFile
from uraniborg.kernel.language.publication_years import RECENT_YEARS, describe_years

_PREFERENCES: Final = PhraseFile("paper_search.domain.intent", "data/preferences.txt")


def read_preferences(reading: Reading, vocabulary: Vocabulary, today: date) -> Reading:
    """Read the preferences of a text: "preferably …", "I care most about …", "… would be nice".

    A wish about years or a language is normalised ("published in 2020 or later"), and a dislike starts with "not".
    """
    found: list[str] = []
    if match := _PREFERENCES.compile("recent").search(reading.rest):
        reading.cut(*match.span())
        found.append(describe_years(today.year - RECENT_YEARS, None))
    for title, sign in (("disliked", "not "), ("followed", "")):
        for pattern in _PREFERENCES.compile_each(title):
            while match := pattern.search(reading.rest):
                reading.wishes += filter(None, [f"{sign}{match['wish']}".strip()])
                reading.cut(*match.span())
    for pattern in _PREFERENCES.compile_each("preceded"):
        while match := pattern.search(reading.rest):
            ends = _PREFERENCES.patterns["ends"].finditer(reading.rest, 0, match.start())
            start = max((end.end() for end in ends), default=0)
            reading.wishes += filter(None, [reading.rest[start : match.start()].strip()])
            reading.cut(start, match.end())
    for wish in reading.wishes:
        # A wish without a concept stays as written, so that no wish is lost silently.
        found += _parse_wish(wish, vocabulary, today) or [wish]
    reading.preferences = list(dict.fromkeys(found))
    return reading


def _parse_wish(wish: str, vocabulary: Vocabulary, today: date) -> list[str]:
    patterns = _PREFERENCES.patterns
    reading = Reading(patterns["over"].sub("", wish))
    reading.read_years(today)
    if denied := patterns["denied"].match(reading.rest):
        return [f"not {concept}" for concept in find_phrases(reading.rest[denied.end() :], vocabulary)]
    read_language(reading)
    first, last, language = map(reading.limits.get, ("year_from", "year_to", "language"))
    found = [describe_years(first, last)] if first or last else []
    if language:
        found.append(f"written in {to_english_name(language).title()}")
    rest = remove_courtesies(reading.rest)
    if not found and not rest.strip(f"{BREAK} "):
        rest = reading.rest  # "preferably review articles": here the noun for papers is the wish
    bare = (patterns["behind"].sub("", patterns["before"].sub("", raw)) for raw in find_phrases(rest, vocabulary))
    return [*found, *filter(None, bare)]
