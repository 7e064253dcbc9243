"""What requests say about the papers they want: in which journal or conference, by whom and for what purpose.

Names are recognised by their capitals. In a request written In Title Case only plain cues count, such as "papers by".
"""

import re
from datetime import date
from typing import Final

from paper_search.intent.reading import Reading
from paper_search.models import IntentType
from paper_search.text import STOP_WORDS
from uraniborg.kernel.phrase_files import BREAK, PhraseFile
from uraniborg.kernel.years.numbers import get_number_pattern
from uraniborg.kernel.years.reading import describe_years, is_publication_year

WISHES: Final = PhraseFile("paper_search.intent", "data/wishes.txt", lambda: {"number": get_number_pattern(exact=True)})
_PURPOSES: Final = {
    IntentType.SURVEY: "surveys and reviews",
    IntentType.DATASET: "datasets and benchmarks",
    IntentType.BASELINE: "baselines and comparisons",
}


def read_venues(reading: Reading, today: date) -> Reading:
    """Read the journals, conferences and preprint servers a text names.

    The year of a conference limits the years of a text without limits.
    """
    found = reading.take_all(_list_patterns("venue", reading.rest), reading.venues)
    found += reading.take_all(WISHES.compile_each("venue also"), reading.venues) if found else []
    year = next((int(year) for match in found if (year := match.groupdict().get("year"))), 0)
    if is_publication_year(year, today) and not {"year_from", "year_to"} & reading.limits.keys():
        reading.limits |= {"year_from": year, "year_to": year}
        reading.notes.append(f"“{year}” was read as {describe_years(year, year)}.")
    return reading


def read_purpose(reading: Reading) -> Reading:
    """Read whether a text asks for an overview, a dataset or a baseline to compare with."""
    frame = rf"(?<![\w-]){WISHES.names['not_subject']}{{}}(?![\w-])"
    for purpose, meaning in _PURPOSES.items():
        pattern = WISHES.compile(purpose.value, frame)
        if match := pattern.search(reading.rest):
            reading.purpose = purpose
            reading.rest = pattern.sub(BREAK, reading.rest)
            reading.notes.append(f"“{' '.join(match[0].split())}” was read as a wish for {meaning}.")
            break
    return reading


def read_authors(reading: Reading) -> Reading:
    """Read the authors a text names."""
    for pattern in _list_patterns("author", reading.rest):
        while match := pattern.search(reading.rest):
            named = match.groupdict()
            names = [named["name"]] if named.get("name") else WISHES.patterns["author"].findall(named["names"])
            reading.take(names, reading.authors, *match.span("cue"))
    return reading


def is_title_case(text: str) -> bool:
    """Return True if most words have a capital, so that capitals do not mark names."""
    long_words = [word for word in re.findall(r"[^\W\d_]{4,}", text) if word.casefold() not in STOP_WORDS]
    return len(long_words) > 3 and sum(word[0].isupper() for word in long_words) > 0.6 * len(long_words)


def _list_patterns(kind: str, text: str) -> list[re.Pattern[str]]:
    """Return the patterns of a kind of names; in a text In Title Case capitals do not mark names."""
    titles = (kind,) if is_title_case(text) else (kind, f"{kind} by capitals")
    return [pattern for title in titles for pattern in WISHES.compile_each(title)]
