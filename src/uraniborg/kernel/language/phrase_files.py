"""Phrase files: what people write, as plain text beside the code that reads it.

A line that starts with `#` is a comment, `[name]` starts a list, every other line is an entry, and an indented line
continues the entry before. Entries are words or patterns. In a pattern a space stands for any white space, `(` opens a
group, `'` stands for both apostrophes and `{name}` for the pattern of this name; the rest is a regular expression.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Final

from uraniborg.kernel.language.words import STOP_WORDS

BREAK: Final = "\n"
"""What a reader leaves in place of the words that it cuts out, so that the words on either side form no phrase."""
PLACEHOLDER: Final = "[\ue000-\ue0ff]"
"""The characters that stand for a quoted phrase, so that no pattern reads inside it."""

_NAME: Final = re.compile(r"\{([a-z]\w*)\}")
_SIGN: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?!\?)| |'")
_MEANING: Final = {" ": r"\s+", "'": "['’]", "(": "(?:"}


@lru_cache(maxsize=256)
def read_phrase_file(package: str, name: str) -> Mapping[str, tuple[str, ...]]:
    """Return the entries of each list of the file `name` in a package."""
    lists: dict[str, list[str]] = {}
    entries: list[str] = []
    for line in files(package).joinpath(name).read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            entries[-1] += line.strip()
        elif line.startswith("[") and line.endswith("]"):
            entries = lists.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            entries.append(line)
    return {title: tuple(found) for title, found in lists.items()}


def split_entries(entries: Iterable[str], sign: str) -> list[tuple[str, str]]:
    """Return the two sides of each entry, such as the name and the pattern of `year = …`."""
    sides = (entry.partition(sign) for entry in entries)
    return [(left.strip(), right.strip()) for left, _, right in sides]


def translate_pattern(pattern: str, names: Mapping[str, str] | None = None) -> str:
    """Return a pattern as a regular expression; `names` are patterns that are translated already."""
    plain = _SIGN.sub(lambda sign: _MEANING.get(sign[0], sign[0]), pattern)
    return _NAME.sub(lambda found: (names or {})[found[1]], plain)


def translate_names(entries: Iterable[str], names: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return named patterns (`name = pattern`) as regular expressions; each may use `names` and those before it."""
    known = dict(names or {})
    found: dict[str, str] = {}
    for name, pattern in split_entries(entries, " = "):
        known[name] = found[name] = translate_pattern(pattern, known)
    return found


class PhraseFile:
    """The lists of a phrase file, compiled when they are first used.

    The list `names` names patterns for all lists. It may use {placeholder} for a quoted phrase, {function_words} for
    English words that carry no topic, {foreign_function_words} for those of other languages, and the names that
    `get_names` returns.
    """

    def __init__(self, package: str, name: str, get_names: Callable[[], Mapping[str, str]] = dict[str, str]) -> None:
        self._package, self._name, self._get_names = package, name, get_names

    @property
    def lists(self) -> Mapping[str, tuple[str, ...]]:
        return read_phrase_file(self._package, self._name)

    @cached_property
    def names(self) -> Mapping[str, str]:
        foreign = frozenset[str]().union(*read_function_words())
        known = {"placeholder": PLACEHOLDER, "function_words": "|".join(sorted(STOP_WORDS)), **self._get_names()}
        known["foreign_function_words"] = "|".join(sorted(foreign))
        return known | translate_names(self.lists.get("names", ()), known)

    def read_words(self, title: str) -> frozenset[str]:
        """Return the words of a list."""
        return frozenset(" ".join(self.lists[title]).split())

    def join(self, title: str) -> str:
        """Return a regular expression that matches any entry of a list."""
        return "|".join(translate_pattern(entry, self.names) for entry in self.lists[title])

    @lru_cache(maxsize=256)  # noqa: B019 - the few phrase files live as long as the program
    def compile(self, title: str, frame: str = "{}") -> re.Pattern[str]:
        """Return the pattern that matches any entry of a list, with `frame` around it."""
        return re.compile(frame.format(f"(?:{self.join(title)})"), re.IGNORECASE)

    @lru_cache(maxsize=256)  # noqa: B019
    def compile_each(self, title: str) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(translate_pattern(entry, self.names), re.IGNORECASE) for entry in self.lists[title])

    @cached_property
    def patterns(self) -> Mapping[str, re.Pattern[str]]:
        """The patterns of the list `patterns` by their names."""
        named = translate_names(self.lists["patterns"], self.names)
        return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in named.items()}


@cache
def read_function_words() -> tuple[frozenset[str], ...]:
    """Return the words that join concepts in each language but English."""
    lists = read_phrase_file("uraniborg.kernel.language", "function_words.txt")
    return tuple(frozenset(" ".join(entries).split()) for entries in lists.values())


def cut_span(text: str, start: int, end: int) -> str:
    """Return the text with a break in place of the span."""
    return f"{text[:start]}{BREAK}{text[end:]}"


_FIGURE: Final = r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9}"


def read_values(entries: Iterable[str]) -> dict[str, int]:
    """Return the value of each word of the entries, such as `12 twelve, dozen`."""
    return {word: int(value) for value, words in split_entries(entries, " ") for word in words.split(", ")}


@cache
def get_number_pattern(*, exact: bool = False) -> str:
    """Return a pattern for the numbers of all languages, or for English numbers without "a few" and the like."""
    values = (
        read_values(read_phrase_file("uraniborg.kernel.language", "numbers.txt")["exact"])
        if exact
        else _read_all_values()
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
    lists = read_phrase_file("uraniborg.kernel.language", "numbers.txt")
    return read_values(entry for entries in lists.values() for entry in entries)
