"""The plain words beside a typed query: limits of years, preferences and requests, cut out of the text.

A cut puts a break in place of each character, so that the text stays equally long and errors in the query have their
positions in it.
"""

import re
from datetime import date
from typing import Final

from paper_search.intent.courtesy_phrases import remove_courtesies, remove_openings_and_closings
from paper_search.intent.preferences import read_preferences
from paper_search.intent.result_limits import AmountReading, read_amount
from paper_search.intent.text_cleanup import BREAK
from paper_search.intent.vocabulary import Vocabulary
from paper_search.intent.years import YearReading, read_years

MASK: Final = "\ue000"
"""Stands for each character of a quoted phrase or a field tag, so that no rule reads inside it."""
OPERATOR: Final = re.compile(
    r"(?<!\S)(?!(?<=,\s)OR\s*$)\(*(?:AND|OR|NOT)\b(?=[\s()\"\ue000]|$)|(?<=[)\"\ue000])(?:AND|OR|NOT)(?!\w)"
    r"|(?<!\S)(?:NEAR|ADJ|WITHIN|PRE)/?\d+(?=[\s(\"\ue000]|$)"
)
"""An operator in capitals, also one of distance; OR after a comma at the end of a text is the state of Oregon."""
_NEGATED_LIMIT: Final = re.compile(r"\bNOT(?=\s+(?:published|before|after|since|older|newer|earlier|later|in)\b)")
_TAIL: Final = re.compile(r"[,;.]\s+(?P<tail>[^(),;]*)$")
_DETERMINERS: Final = re.compile(r"(?:\b(?:all|an?|any|more|some|the)\s+)+$", re.IGNORECASE)
_NO_REQUEST: Final = frozenset(
    {"a", "about", "all", "an", "any", "few", "for", "in", "more", "of", "on", "some", "the"}
)
_SEPARATORS: Final = r"[\s,;:.]"
_EMPTY_BRACKETS: Final = re.compile(r"\(\s*\n\s*\)")
_LAST_OPERATOR: Final = re.compile(
    rf"\b(?:AND\s+NOT|AND|OR|NOT)\b{_SEPARATORS}*(?=\n+{_SEPARATORS}*(?:(?:AND|OR|NOT)\b|\)|$))"
)
_FIRST_OPERATOR: Final = re.compile(rf"(?:^|(?<=\()){_SEPARATORS}*\n{_SEPARATORS}*(?:AND|OR)\b")
_CUT: Final = re.compile(rf"{_SEPARATORS}*\n{_SEPARATORS}*")


def blank_cuts(text: str, kept: str) -> str:
    """Return the text, equally long, with spaces in place of the breaks."""
    return "".join(" " if cut == BREAK else own for own, cut in zip(text, kept, strict=True))


def read_and_cut_years(masked: str, today: date) -> tuple[YearReading, str]:
    """Return the limits of years, and the text, equally long, with breaks in place of the words that state them."""
    text = _NEGATED_LIMIT.sub("not", masked)
    years = read_years(text, today)
    *pieces, last = years.rest.split(BREAK)
    kept, position = "", 0
    for piece in pieces:
        start = text.index(piece, position)
        kept += BREAK * (start - position) + masked[start : start + len(piece)]
        position = start + len(piece)
    return years, kept + BREAK * (len(text) - position - len(last)) + masked[len(text) - len(last) :]


def cut_preferences(marked: str, kept: str, today: date, vocabulary: Vocabulary) -> tuple[str, list[str]]:
    """Return the text without a preference in plain words at its end, and the preference."""
    tail = _TAIL.search(kept.rstrip())
    if tail is None or OPERATOR.search(tail["tail"]):
        return kept, []
    words = blank_cuts(marked, kept)[tail.start("tail") :].replace('"', " ")
    reading = read_preferences(" ".join(words.split()), vocabulary, today)
    if not reading.preferences or reading.rest.strip(" \n,;."):
        return kept, []
    return kept[: tail.start("tail")] + BREAK * (len(kept) - tail.start("tail")), reading.preferences


def cut_amount(kept: str) -> tuple[str, AmountReading]:
    """Return the text without a number of papers at its end (", 20 papers"), and the number."""
    tail = _TAIL.search(kept.rstrip())
    reading = read_amount(tail["tail"].strip()) if tail else AmountReading(rest="")
    if tail is None or reading.max_results is None or remove_courtesies(reading.rest).strip(" \n,;."):
        return kept, AmountReading(rest="")
    return kept[: tail.start("tail")] + BREAK * (len(kept) - tail.start("tail")), reading


def cut_requests(kept: str) -> tuple[str, list[str]]:
    """Return the text without a request before the query ("find") or after it ("please"), and the requests."""
    bare = remove_openings_and_closings(kept).strip()
    start = kept.rfind(bare) if bare else -1
    if start < 0:
        return kept, []
    end = start + len(bare)
    opening = _DETERMINERS.sub("", kept[:start])
    closing = kept[end:]
    cuts: list[str] = []
    if _is_request(opening) and not re.match(r"(?:AND|OR|NOT)\b", bare):
        kept = BREAK * len(opening) + kept[len(opening) :]
        cuts.append(opening)
    if _is_request(closing) and not re.search(r"\b(?:AND|OR|NOT)$", bare):
        kept = kept[:end] + BREAK * len(closing)
        cuts.append(closing)
    return kept, [" ".join(cut.split()).strip(" ,;:.") for cut in cuts]


def _is_request(words: str) -> bool:
    """Return True for removed words that can be a request: with more than prepositions, and no syntax."""
    names = {name.casefold() for name in re.findall(r"\w+", words)}
    return not names <= _NO_REQUEST and not re.search(rf"[()\"{MASK}]|\b(?:AND|OR|NOT)\b", words)


def tidy_cuts(kept: str) -> str:
    """Return the text, equally long, with breaks also for the signs that joined a cut to the query."""
    if BREAK not in kept:
        return kept
    for pattern in (_EMPTY_BRACKETS, _LAST_OPERATOR, _FIRST_OPERATOR, _CUT):
        kept = pattern.sub(lambda found: BREAK * len(found[0]), kept)
    return kept
