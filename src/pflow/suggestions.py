"""Suggestions for misspelt words."""

import re
from collections.abc import Iterable
from typing import Any, Final

SCHEDULE_HINT: Final = (
    'A schedule belongs to the system: the person runs `pflow schedule NAME --at "mon 07:00" --install`.'
)
SCHEDULE_PATTERN: Final = r"schedul|cron|\bevery (?:\w*day|hour|week|month|morning|night)\b"
"""A regular expression for requests to run a workflow at fixed times; letters are compared without case."""
_SEARCHED: Final = 1_000
_LONGEST: Final = 100
_LEAST: Final = 60.0
_SURE: Final = 75.0
"""Similarity, of 100, of words that are compared at all, and of words that match without further checks."""
_COMPARED: Final = 5


def find_nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant, or None."""
    from rapidfuzz import fuzz, process  # most workflows have nothing misspelt

    words = known if isinstance(known, (list, tuple)) else list(known)
    if len(words) > _SEARCHED:  # comparing so many would take too long
        return None
    more: dict[str, Any] = {"scorer": fuzz.ratio, "processor": str.casefold, "score_cutoff": _LEAST}
    best = process.extractOne(word[:_LONGEST], words, **more)
    if best is None or best[1] >= _SURE:
        return best and best[0]
    found = process.extract(word[:_LONGEST], words, limit=_COMPARED, **more)
    return next((one for one, _, _ in found if _is_misspelling_or_abbreviation(word.casefold(), one.casefold())), None)


def mentions_schedule(text: str) -> bool:
    """Return True if a text asks to run something at fixed times."""
    return re.search(SCHEDULE_PATTERN, text, re.IGNORECASE) is not None


def _is_misspelling_or_abbreviation(word: str, other: str) -> bool:
    """Return whether one may stand for the other: with few wrong letters, or as an abbreviation like `cmd`."""
    from rapidfuzz.distance import OSA

    short, long = sorted((word[:_LONGEST], other), key=len)
    if short in long or (short[:1] == long[:1] and _is_subsequence(short, long)):
        return True
    most = max(1, len(long) // 4)
    return OSA.distance(short, long, score_cutoff=most) <= most


def _is_subsequence(short: str, long: str) -> bool:
    """Return whether `short` is `long` without some of its letters."""
    letters = iter(long)
    return all(letter in letters for letter in short)
