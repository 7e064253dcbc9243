"""Word messages: plurals, names of authors, times, and suggestions of what an unknown name or id probably meant."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

_AUTHORS_LISTED: Final = 3


def plural(number: float, thing: str, many: str | None = None) -> str:
    """Return 1 node, 2 nodes, 0.5 seconds, 12,000 papers; `many` is a plural that does not end in s alone."""
    digits = f"{int(number):,}" if float(number).is_integer() else f"{number:g}"
    return f"{digits} {thing if number == 1 else many or thing + 's'}"


def format_first_authors(authors: Sequence[str]) -> str:
    """Return up to three names as they are written; of more, the first three and `et al.` behind them."""
    separator = "; " if any("," in name for name in authors) else ", "
    return separator.join(authors[:_AUTHORS_LISTED]) + (" et al." if len(authors) > _AUTHORS_LISTED else "")


def format_to_minute(timestamp: str | None) -> str:
    """Return an ISO timestamp as date and time of day, or "" for None."""
    return (timestamp or "")[:16].replace("T", " ")


def format_duration(milliseconds: float) -> str:
    """Return a duration for people: 12 ms, 1.2 s, 3 min 05 s."""
    if milliseconds < 999.5:
        return "<1 ms" if milliseconds < 1 else f"{milliseconds:.0f} ms"
    if milliseconds < 59_950:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {seconds:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


_COMPARED: Final = 20_000
"""The maximum number of names that are compared, which takes about 10 ms."""
_COMPARED_OFTEN: Final = 1_000
_LONGEST: Final = 100
_MOST: Final = 3
_LEAST: Final = 60.0
_SURE: Final = 75.0
"""Similarity, of 100, of names that are compared at all, and of names that match without further checks."""
_LEAST_OF_IDS: Final = 85.0
"""Two random ids of 32 digits have about 50, and an id with one wrong digit has 97."""


def find_nearest_names(word: str, known: Iterable[str]) -> list[str]:
    """Return up to three of the known names that were probably meant, the most similar first; case does not count."""
    return [name for name, _ in score_nearest_names(word, {name: name for name in islice(known, _COMPARED)})]


def find_nearest_name(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant, or None, also if there are more than a thousand names.

    A document may have a wrong name at each of thousands of places.
    """
    names = list(known)
    return next(iter(find_nearest_names(word, names)), None) if len(names) <= _COMPARED_OFTEN else None


def score_nearest_names(word: str, names: Mapping[str, str]) -> list[tuple[str, float]]:
    """Return the keys of up to three names that were probably meant, and their similarity of 100, the highest first."""
    from rapidfuzz import fuzz, process  # most runs have nothing misspelt

    wanted = word[:_LONGEST].casefold()
    folded = {key: name[:_LONGEST].casefold() for key, name in islice(names.items(), _COMPARED)}
    found = process.extract(wanted, folded, scorer=fuzz.ratio, score_cutoff=_LEAST, limit=2 * _MOST)
    meant = [
        (key, score) for name, score, key in found if score >= _SURE or _is_misspelling_or_abbreviation(wanted, name)
    ]
    return meant[:_MOST]


def resembles(word: str, name: str, least: float) -> bool:
    """Return whether the similarity of two names is at least `least`, of 1."""
    from difflib import SequenceMatcher  # this decides in runs without a mistake, too, and loads fast

    return SequenceMatcher(None, word, name).ratio() >= least


def find_nearest_ids(given: str, ids: Iterable[str], *, least: float = _LEAST_OF_IDS) -> list[str]:
    """Return up to three of the ids, the nearest first: those that begin with `given`, or else similar ones.

    Case, and spaces, quotes and dots around `given`, do not count.
    """
    from rapidfuzz import fuzz, process

    wanted = given[:200].strip(" \t\n\"'`.…<>").casefold()
    known = {one: one.casefold() for one in ids}
    if not wanted:
        return []
    if begun := [one for one, folded in known.items() if folded == wanted] or [
        one for one, folded in known.items() if folded.startswith(wanted)
    ]:
        return begun[:_MOST]
    found = process.extract(wanted, known, scorer=fuzz.ratio, score_cutoff=least, limit=_MOST)
    return [one for _, _, one in found]


def format_did_you_mean(names: Iterable[str], quote: str = "'") -> str:
    """Return the question `Did you mean 'a' or 'b'? ` with a space at its end; an empty text without names."""
    listed = " or ".join(f"{quote}{name[:_LONGEST]}{quote}" for name in names)
    return f"Did you mean {listed}? " if listed else ""


def _is_misspelling_or_abbreviation(word: str, other: str) -> bool:
    """Return whether one may stand for the other: with few wrong letters, or as an abbreviation like `cmd`."""
    from rapidfuzz.distance import OSA

    short, long = sorted((word, other), key=len)
    if short in long or (short[:1] == long[:1] and _is_subsequence(short, long)):
        return True
    most = max(1, len(long) // 4)
    return OSA.distance(short, long, score_cutoff=most) <= most


def _is_subsequence(short: str, long: str) -> bool:
    """Return whether `short` is `long` without some of its letters."""
    letters = iter(long)
    return all(letter in letters for letter in short)
