"""Reads what a person would like most. A preference ranks papers and never leaves one out."""

import re
from dataclasses import dataclass, field
from datetime import date

from paper_search.intent.cleaning import BREAK, cut, without_politeness
from paper_search.intent.concepts import concepts_in
from paper_search.intent.languages import read_language
from paper_search.intent.preference_rules import DISLIKED, FOLLOWED, PRECEDED, RECENT
from paper_search.intent.vocabulary import Vocabulary
from paper_search.intent.wordlists import FOREIGN_FUNCTION_WORDS
from paper_search.intent.years import RECENT_YEARS, described, read_years
from paper_search.sources.languages import english_name

MAX_PREFERENCES = 10
_CLAUSE = r"(?:^|(?<=[,;:.!?()\n、。])|(?<=\s-)|\b(?:but|and)(?=\s))\s*"
_CLAUSE_END = r"(?=\s*(?:$|[,;.!?)\n、。]))"
# A full stop ends a clause only before a space: "3.5" and "E. coli" go on.
_ENDS = re.compile(r"[;!?()\n。]|,|、|(?<!\b[A-Z])\.(?=\s|$)|\s-\s|\s(?:but|however|aber|mais|pero|mas)\s")
_LIST_GOES_ON = re.compile(
    r"(?:\s*,\s*(?!(?:and|or|no|not|but|since|after|before|from|in|on|skip|exclude|excluding|without|i|we)\b)"
    r"[\w-]+(?:\s+[\w-]+){0,2}){0,5}\s*,?\s+(?:and|or)\s+[\w-]+(?:\s+[\w-]+){0,2}(?=\s*(?:$|[;.!?)\n]))",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\s+(?:over|rather\s+than|(?<!er\s)(?<!more\s)(?<!less\s)(?<!recent\s)than|instead\s+of)\s+(?P<less>.+)$",
    re.IGNORECASE,
)
_PAPERS_ABOUT = re.compile(
    r"\b(?:papers?|articles?|publications?|stud(?:y|ies)|works?|research|preprints?|literature)\s+"
    r"(?:on|about|regarding|concerning|related\s+to|of|in)\s+(?=\S)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\s*(?:not|no|without|nicht|keine?|pas|sans|no|sin|não|sem)\s+(?:any\s+|about\s+|on\s+|de\s+)?", re.IGNORECASE
)
_PREPOSITION = re.compile(rf"^(?:(?:{'|'.join(sorted({w for words in FOREIGN_FUNCTION_WORDS for w in words}))})\s+)+")
_PAPERS_BEHIND = re.compile(
    r"(?<=\w)\s+(?:papers?|articles?|stud(?:y|ies)|works?|research|publications?)$", re.IGNORECASE
)
_FOLLOWED = tuple(
    (re.compile(cue.replace("{clause}", _CLAUSE), re.IGNORECASE), sign)
    for cues, sign in ((DISLIKED, "not "), (FOLLOWED, ""))
    for cue in cues
)
_PRECEDED = tuple(re.compile(cue.replace("{end}", _CLAUSE_END), re.IGNORECASE) for cue in PRECEDED)
_RECENT = tuple(re.compile(cue, re.IGNORECASE) for cue in RECENT)


@dataclass(slots=True)
class PreferenceReading:
    """What is left of the text, the wishes as texts, and the preferences read from them."""

    rest: str
    wishes: list[str] = field(default_factory=list)
    preferences: list[str] = field(default_factory=list)


def read_preferences(text: str, vocabulary: Vocabulary, today: date) -> PreferenceReading:
    """Return what a text says it would like most: "preferably …", "I care most about …", "… would be nice".

    A wish about years or a language is written out ("published in 2020 or later", "written in English"), and one that
    denies something starts with "not". Quoted phrases stay stand-ins.
    """
    reading = PreferenceReading(rest=text)
    for pattern in _RECENT:
        if match := pattern.search(reading.rest):
            reading.rest = cut(reading.rest, match.start(), match.end())
            reading.preferences.append(described(today.year - RECENT_YEARS, None))
    for pattern, sign in _FOLLOWED:
        while len(reading.wishes) < MAX_PREFERENCES and (match := pattern.search(reading.rest)):
            end = _end_of_clause(reading.rest, match.end())
            _take(reading, sign + reading.rest[match.end() : end], match.start(), end)
    for pattern in _PRECEDED:
        while len(reading.wishes) < MAX_PREFERENCES and (match := pattern.search(reading.rest)):
            start = max((found.end() for found in _ENDS.finditer(reading.rest, 0, match.start())), default=0)
            _take(reading, reading.rest[start : match.start()], start, match.end())
    for wish in reading.wishes:
        # A wish that names no concept is kept as it was written, so that nothing vanishes unsaid.
        reading.preferences += _preferences_in(wish, vocabulary, today) or [wish]
    reading.preferences = list(dict.fromkeys(reading.preferences))[:MAX_PREFERENCES]
    return reading


def _take(reading: PreferenceReading, wish: str, start: int, end: int) -> None:
    """Cut a wish out of the text; papers it asks for on a topic leave the topic in the text."""
    if about := _PAPERS_ABOUT.search(wish):
        end -= len(wish) - about.end()
        wish = wish[: about.start()]
    if wish.strip():
        reading.wishes.append(wish.strip())
    reading.rest = cut(reading.rest, start, end)


def _end_of_clause(text: str, start: int) -> int:
    end = _ENDS.search(text, start)
    if end and (listed := _LIST_GOES_ON.match(text, end.start())):
        return listed.end()
    return end.start() if end else len(text)


def _preferences_in(wish: str, vocabulary: Vocabulary, today: date) -> list[str]:
    wish = _OVER.sub("", wish)
    years = read_years(wish, today)
    if denied := _NOT.match(years.rest):
        return [f"not {concept}" for concept in concepts_in(years.rest[denied.end() :], vocabulary)]
    language = read_language(years.rest)
    found: list[str] = []
    if years.year_from is not None or years.year_to is not None:
        found.append(described(years.year_from, years.year_to))
    if language.language:
        found.append(f"written in {english_name(language.language).title()}")
    rest = without_politeness(language.rest)
    if not found and not rest.strip(f"{BREAK} "):
        rest = language.rest  # "preferably review articles" names nothing but papers, and that is the wish
    bare = (_PAPERS_BEHIND.sub("", _PREPOSITION.sub("", raw)) for raw in concepts_in(rest, vocabulary))
    return found + [concept for concept in bare if concept]
