"""Read numbers that people write as figures or as words."""

from collections.abc import Iterable
from functools import cache
from typing import Final

from uraniborg.kernel.phrase_files import read_phrase_file, split_entries

_FIGURE: Final = r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9}"


def read_values(entries: Iterable[str]) -> dict[str, int]:
    """Return the value of each word of the entries, such as `12 twelve, dozen`."""
    return {word: int(value) for value, words in split_entries(entries, " ") for word in words.split(", ")}


@cache
def get_number_pattern(*, exact: bool = False) -> str:
    """Return a pattern for the numbers of all languages, or for English numbers without "a few" and the like."""
    values = (
        read_values(read_phrase_file("uraniborg.kernel.years", "numbers.txt")["exact"]) if exact else _read_all_values()
    )
    words = sorted(values, key=len, reverse=True)
    return rf"(?:{_FIGURE}|{'|'.join(words)})".replace(" ", r"\s+")


def parse_number(text: str) -> int:
    """Return the value of a text that the pattern of numbers matched without regard to case."""
    plain = " ".join(text.casefold().split())
    values = _read_all_values()
    return values[plain] if plain in values else int(plain.replace(",", ""))


@cache
def _read_all_values() -> dict[str, int]:
    lists = read_phrase_file("uraniborg.kernel.years", "numbers.txt")
    return read_values(entry for entries in lists.values() for entry in entries)
