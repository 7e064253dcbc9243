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
    titles = ("venue",) if is_title_case(reading.rest) else ("venue", "venue by capitals")
    found = [match for title in titles for match in reading.take_all(WISHES.compile_each(title), reading.venues)]
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
    for cue in ("author_cue", "works_by", "by"):
        position = 0
        while match := WISHES.patterns[cue].search(reading.rest, position):
            position = match.end()
            names, end = _read_names(reading.rest, position, is_field=cue == "author_cue")
            if names and (cue != "by" or _can_introduce_author(match, reading.rest)):
                position = match.start() + len(match.groupdict().get("before") or "")
                reading.take(names, reading.authors, position, end)
    reading.take_all(WISHES.compile_each("author alone"), reading.authors)
    return reading


def is_title_case(text: str) -> bool:
    """Return True if most words have a capital, so that capitals do not mark names."""
    long_words = [word for word in re.findall(r"[^\W\d_]{4,}", text) if word.casefold() not in STOP_WORDS]
    return len(long_words) > 3 and sum(word[0].isupper() for word in long_words) > 0.6 * len(long_words)


def _can_introduce_author(match: re.Match[str], text: str) -> bool:
    return not WISHES.patterns["no_author_after"].search(match["before"] or "") and not is_title_case(text)


def _read_names(text: str, start: int, *, is_field: bool) -> tuple[list[str], int]:
    """Return the names that begin at `start`, and their end; [] if no field names them and their phrase goes on."""
    patterns = WISHES.patterns
    names: list[str] = []
    end = start
    match = patterns["author"].match(text, start) or (
        patterns["single_author"].match(text, start) if is_field else None
    )
    while match:
        names.append(match[0])
        end = match.end()
        separator = patterns["and"].match(text, end)
        match = patterns["author"].match(text, separator.end()) if separator else None
    if after := patterns["et_al"].match(text, end):
        end = after.end()
    return (names, end) if is_field or patterns["name_end"].match(text, end) else ([], end)
