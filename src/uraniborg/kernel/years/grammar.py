"""Compile the rules of each language that recognise limits of years, from data files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from uraniborg.kernel.phrase_files import (
    PLACEHOLDER,
    read_function_words,
    read_phrase_file,
    split_entries,
    translate_names,
    translate_pattern,
)
from uraniborg.kernel.years.numbers import get_number_pattern, read_values

_WINDOW: Final = 160
"""The number of characters before a limit that are searched for a negation."""
_ENDINGS: Final = ("{stop}", "{lead}")
_HEADS: Final = ("places", "family", "cues", "unwanted", "excluded")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A limit in the text, with its negations."""

    match: re.Match[str]
    start: int
    end: int
    negated: bool
    denied: bool
    """The negation is itself denied: "do not skip papers before 2017"."""
    exclusion: re.Match[str] | None = None
    """An exclusion behind the subject: "pre-2017 exoplanet papers excluded"."""

    @property
    def text(self) -> str:
        return " ".join(self.match.string[self.start : self.end].split()).strip(" ,;:-")

    def get_group(self, *names: str) -> str | None:
        """Return the first of the named groups that matched, or None."""
        groups = self.match.groupdict()
        return next((groups[name] for name in names if groups.get(name)), None)


@dataclass(frozen=True, slots=True)
class Rule:
    """A limit of years: its meaning, its pattern and how its phrase ends."""

    meaning: str
    pattern: str
    ending: str
    mode: str
    """"*" if the strict mode has the rule, too, "!" if only the strict mode has it, else ""."""

    def find_limit(self, text: str, position: int) -> re.Match[str] | None:
        """Return the next limit in the text from `position` on."""
        return _compile_pattern(self.pattern).search(text, position)


@dataclass(frozen=True, slots=True)
class Language:
    """The compiled rules of one language."""

    rules: tuple[Rule, ...]
    unwanted: re.Pattern[str]
    excluded: re.Pattern[str]
    has_measures: bool

    def find_phrase(self, match: re.Match[str], ending: str) -> Phrase | None:
        """Return the phrase around a matched limit, or None if the match is a measure or the age of people."""
        context, text, start, end = _load_context(), match.string, match.start(), match.end()
        groups = match.groupdict()
        if self.has_measures and not all(
            context["year end"].match(text, match.end(name)) for name in ("year", "second") if groups.get(name)
        ):
            return None
        excluded = self.excluded.match(text, end)
        unwanted = self.unwanted.search(text, max(0, start - _WINDOW), start)
        start = unwanted.start() if unwanted else start
        if ending and not excluded and not context["stop"].match(text, end):
            leads = ending == "{lead}" and context["clause start"].search(text, max(0, start - _WINDOW), start)
            if not leads or context["event"].match(text, end):
                return None
        subject = None if excluded else context["subject"].match(text, end)
        exclusion = self.excluded.match(text, subject.end()) if subject else None
        denied = context["denial"].search(text, max(0, start - _WINDOW), start) if unwanted else None
        start = denied.start() if denied else start
        if groups.get("unit") and context["population"].search(text, max(0, start - _WINDOW), start):
            return None
        if ahead := context["ahead"].search(text, max(0, start - _WINDOW), start):
            start = ahead.start()
        end = excluded.end() if excluded else end
        if behind := context["behind"].match(text, end):
            end = behind.end()
        negated = (unwanted is None) != ((excluded or exclusion) is None)
        return Phrase(match, start, end, negated=negated, denied=denied is not None, exclusion=exclusion)


def find_languages(text: str) -> Iterator[Language]:
    """Yield the languages whose words of time the text contains, those with the loosest rules last."""
    if _load_context()["time"].search(text):
        for name in read_phrase_file("uraniborg.kernel.years", "phrases.txt"):
            if (cues := _compile_cues(name)) and cues.search(text):
                yield _compile_language(name)


def find_unit(word: str) -> tuple[str, bool]:
    """Return the unit of time that a word names, and True if the word means a single one."""
    units = dict(split_entries(read_phrase_file("uraniborg.kernel.years", "phrases.txt")["units"], " = "))
    single = word in units.pop("single").split()
    return next(unit for unit, words in units.items() if re.fullmatch(translate_pattern(words), word)), single


@cache
def get_decades() -> dict[str, int]:
    """Return the first year of each decade that has a name, such as "nineties"."""
    return read_values(read_phrase_file("uraniborg.kernel.years", "phrases.txt")["decades"])


@lru_cache(maxsize=1024)
def _translate_places(kind: str) -> dict[str, str]:
    lists = read_phrase_file("uraniborg.kernel.years", "phrases.txt")
    units = (words for name, words in split_entries(lists["units"], " = ") if name != "single")
    numbers = {"amount": get_number_pattern(), "units": "|".join(map(translate_pattern, units))}
    return numbers | translate_names(lists[kind], numbers)


@cache
def _load_context() -> dict[str, re.Pattern[str]]:
    lists = read_phrase_file("uraniborg.kernel.years", "phrases.txt")
    places = _translate_places("places")
    stops, populations = (" ".join(lists[name]).split() for name in ("stop words", "populations"))
    stops += [word for words in read_function_words() for word in words if len(word) > 1]
    texts = translate_names(lists["context"], places)
    ends = "|".join([places["papers"], *sorted(stops), r"up\s+to"])
    texts["stop"] = rf"\s*(?:$|[\n,;:.!?)\]]|-\s|{PLACEHOLDER}|(?:{ends})(?![\w-]))"
    texts["population"] = rf"(?:^|\s)(?:{'|'.join(populations)})(?:\s+\S+)?\s*\Z"
    return {name: re.compile(text, re.IGNORECASE) for name, text in texts.items()}


@lru_cache(maxsize=1024)
def _compile_cues(name: str) -> re.Pattern[str] | None:
    heads = dict(split_entries(read_phrase_file("uraniborg.kernel.years", "phrases.txt")[name], ": "))
    return re.compile(translate_pattern(heads["cues"]), re.IGNORECASE) if "cues" in heads else None


@lru_cache(maxsize=1024)
def _compile_language(name: str) -> Language:
    lists = read_phrase_file("uraniborg.kernel.years", "phrases.txt")
    entries = split_entries(lists[name], ": ")
    heads = dict(entries)
    places = _translate_places(heads.get("places", "places"))
    # Languages of a family share words, so a rule of one may meet the negation of another.
    family = f"family: {heads['family']}" if "family" in heads else None
    relatives = [dict(split_entries(one, ": ")) for one in lists.values() if family in one] or [heads]

    def join_relatives(head: str) -> str:
        return "|".join(translate_pattern(one[head], places) for one in relatives)

    rules = [_compile_rule(meaning, text, places) for meaning, text in entries if meaning not in _HEADS]
    return Language(
        rules=tuple(rules),
        unwanted=re.compile(rf"(?:{join_relatives('unwanted')})\Z", re.IGNORECASE),
        excluded=re.compile(f"(?:{join_relatives('excluded')})", re.IGNORECASE),
        has_measures="places" not in heads,
    )


def _compile_rule(meaning: str, text: str, places: dict[str, str]) -> Rule:
    ending = next(filter(text.endswith, _ENDINGS), "")
    pattern = translate_pattern(text.removesuffix(ending), places)
    mode = meaning[-1] if meaning[-1] in "*!" else ""
    return Rule(meaning.removesuffix(mode), pattern, ending, mode)


@lru_cache(maxsize=1024)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
