"""Read what requests say about the papers: how many, in which language and journal, by whom, on what not.

Names are recognised by their capitals. In a request written In Title Case only plain cues count, such as "papers by".
"""

import re
from datetime import date
from typing import Final

from paper_search.intent.reading import Reading, clamp_amount
from paper_search.models import IntentType
from paper_search.query.languages import parse_language, to_english_name
from uraniborg.kernel.phrase_files import BREAK, PhraseFile, split_entries
from uraniborg.kernel.text import plural
from uraniborg.kernel.words import STOP_WORDS
from uraniborg.kernel.years.numbers import get_number_pattern, parse_number
from uraniborg.kernel.years.reading import describe_years, is_publication_year

_WISHES: Final = PhraseFile(
    "paper_search.intent", "data/wishes.txt", lambda: {"number": get_number_pattern(exact=True)}
)
_EXCLUSIONS: Final = PhraseFile("paper_search.intent", "data/exclusions.txt")


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
