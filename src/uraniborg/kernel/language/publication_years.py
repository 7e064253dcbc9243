"""Read from a text the years of publication that it asks for, in several languages.

A number is read as a year only with a reason: a word of time before it, a range, parentheses, or papers named by it.
"ImageNet 2012", "1000 ppm" and "2001: A Space Odyssey" give no reason, and years that cannot be publication years stay
in the text. The strict mode, for search boxes, reads explicit bounds only: every other number is a search word.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import cache, lru_cache
from typing import Final

from uraniborg.kernel.language.phrase_files import (
    PLACEHOLDER,
    cut_span,
    get_number_pattern,
    parse_number,
    read_function_words,
    read_phrase_file,
    read_values,
    split_entries,
    translate_names,
    translate_pattern,
)
from uraniborg.kernel.language.words import STOP_WORDS

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
class YearRule:
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

    rules: tuple[YearRule, ...]
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
        for name in read_phrase_file("uraniborg.kernel.language", "phrases.txt"):
            if (cues := _compile_cues(name)) and cues.search(text):
                yield _compile_language(name)


def find_unit(word: str) -> tuple[str, bool]:
    """Return the unit of time that a word names, and True if the word means a single one."""
    units = dict(split_entries(read_phrase_file("uraniborg.kernel.language", "phrases.txt")["units"], " = "))
    single = word in units.pop("single").split()
    return next(unit for unit, words in units.items() if re.fullmatch(translate_pattern(words), word)), single


@cache
def get_decades() -> dict[str, int]:
    """Return the first year of each decade that has a name, such as "nineties"."""
    return read_values(read_phrase_file("uraniborg.kernel.language", "phrases.txt")["decades"])


@lru_cache(maxsize=1024)
def _translate_places(kind: str) -> dict[str, str]:
    lists = read_phrase_file("uraniborg.kernel.language", "phrases.txt")
    units = (words for name, words in split_entries(lists["units"], " = ") if name != "single")
    numbers = {"amount": get_number_pattern(), "units": "|".join(map(translate_pattern, units))}
    return numbers | translate_names(lists[kind], numbers)


@cache
def _load_context() -> dict[str, re.Pattern[str]]:
    lists = read_phrase_file("uraniborg.kernel.language", "phrases.txt")
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
    heads = dict(split_entries(read_phrase_file("uraniborg.kernel.language", "phrases.txt")[name], ": "))
    return re.compile(translate_pattern(heads["cues"]), re.IGNORECASE) if "cues" in heads else None


@lru_cache(maxsize=1024)
def _compile_language(name: str) -> Language:
    lists = read_phrase_file("uraniborg.kernel.language", "phrases.txt")
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


def _compile_rule(meaning: str, text: str, places: dict[str, str]) -> YearRule:
    ending = next(filter(text.endswith, _ENDINGS), "")
    pattern = translate_pattern(text.removesuffix(ending), places)
    mode = meaning[-1] if meaning[-1] in "*!" else ""
    return YearRule(meaning.removesuffix(mode), pattern, ending, mode)


@lru_cache(maxsize=1024)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


EARLIEST_YEAR: Final = 1600
RECENT_YEARS: Final = 5
_MODERN: Final = 1950
"""Earlier years without a word of publication are a subject: "influenza in 1918"."""

_FULL_DATE: Final = re.compile("[0-9]-[0-9]")

Bounds = tuple[int | None, int | None]
NO_BOUNDS: Final[Bounds] = (None, None)


@dataclass(frozen=True, slots=True)
class YearLimit:
    """One limit: the phrase as typed, and its years."""

    typed: str
    first: int | None
    last: int | None

    def __str__(self) -> str:
        return f"{self.first or ''}..{self.last or ''}"


@dataclass(slots=True)
class YearReading:
    """The bounds that a text asks for, the rest of the text, the limits, and a note on each phrase."""

    rest: str
    year_from: int | None = None
    year_to: int | None = None
    notes: list[str] = field(default_factory=list)
    limits: list[YearLimit] = field(default_factory=list[YearLimit])


def read_years(text: str, today: date, *, strict: bool = False) -> YearReading:
    """Read the years a text asks for; several limits narrow one another, and negated limits are inverted."""
    reading = YearReading(rest=text)
    modes = ("*", "!") if strict else ("*", "")
    for language in find_languages(text):
        for rule in language.rules:
            position = 0
            while rule.mode in modes and (match := rule.find_limit(reading.rest, position)):
                position = match.end()
                if strict and _FULL_DATE.search(match[0]):
                    continue  # a search box searches dates as words
                phrase = language.find_phrase(match, "" if strict else rule.ending)
                if strict and phrase and phrase.negated and rule.meaning == "since" and not match[0][0].isdigit():
                    continue  # "not since 2015" is no explicit bound, "not 2015 or later" is one
                bounds = _compute_bounds(rule.meaning, phrase, today) if phrase else NO_BOUNDS
                if phrase and bounds != NO_BOUNDS and _is_publishable(bounds, today):
                    _apply_phrase(reading, phrase, bounds)
                    if phrase.exclusion:
                        reading.rest = cut_span(reading.rest, *phrase.exclusion.span())
                    reading.rest = cut_span(reading.rest, phrase.start, phrase.end)
                    position = phrase.start + 1
    reading.year_from, reading.year_to, swapped = sort_years(reading.year_from, reading.year_to)
    reading.notes += swapped
    return reading


def is_publication_year(year: int, today: date) -> bool:
    """Return True for a year from 1600 to next year."""
    return EARLIEST_YEAR <= year <= today.year + 1


def sort_years(year_from: int | None, year_to: int | None) -> tuple[int | None, int | None, list[str]]:
    """Return the bounds with the earlier year first, and a note if they were swapped."""
    if year_from is not None and year_to is not None and year_from > year_to:
        return year_to, year_from, [f"The years {year_from} and {year_to} were put in order."]
    return year_from, year_to, []


def describe_years(year_from: int | None, year_to: int | None) -> str:
    """Return the bounds in words; at least one is set. `read_years` reads these words."""
    if year_from is None:
        return f"published in {year_to} or earlier"
    if year_to is None:
        return f"published in {year_from} or later"
    return f"published in {year_to}" if year_from == year_to else f"published from {year_from} to {year_to}"


def _apply_phrase(reading: YearReading, phrase: Phrase, bounds: Bounds) -> None:
    """Narrow the bounds of the reading by a phrase, and add a note on how the phrase was read."""
    low, high = bounds
    if phrase.denied:
        reading.notes.append(f"“{phrase.text}” sets no limit.")
        return
    if phrase.negated and low is not None and high is not None:
        reading.notes.append(f"“{phrase.text}” was ignored: sources accept one range of years without a gap.")
        return
    if phrase.negated:
        low, high = (None if high is None else high + 1), (None if low is None else low - 1)
    if low is not None:
        reading.year_from = max(low, reading.year_from or low)
    if high is not None:
        reading.year_to = min(high, reading.year_to or high)
    reading.limits.append(YearLimit(phrase.text, low, high))
    reading.notes.append(f"“{phrase.text}” was read as {describe_years(low, high)}.")


def _is_publishable(bounds: Bounds, today: date) -> bool:
    return all(year is None or is_publication_year(year, today) for year in bounds)


def _compute_bounds(meaning: str, phrase: Phrase, today: date) -> Bounds:
    """Return the years of a phrase; NO_BOUNDS if the condition behind the meaning does not hold."""
    kind, _, condition = meaning.partition(" ")
    if condition == "unwanted" and not phrase.negated:
        return NO_BOUNDS
    first, last = _compute_span(kind, phrase, today)
    if condition == "lately" and max(first or 0, last or 0) < _MODERN:
        return NO_BOUNDS
    if condition == "the end" and not _can_end_sentence(phrase, today):
        return NO_BOUNDS
    return first, last


def _compute_span(kind: str, phrase: Phrase, today: date) -> Bounds:
    match kind:
        case "recent":
            return today.year - RECENT_YEARS, None
        case "old":
            return None, today.year - RECENT_YEARS - 1
        case "range":
            first = phrase.match["first"]
            years = int(first), int(phrase.get_group("second") or f"{first[:2]}{phrase.get_group('short')}")
            return min(years), max(years)
        case "within" | "older" | "aged" | "this":
            start = _find_start_of_age(phrase, today, is_current=kind == "this")
            return {"older": (None, start - 1), "aged": (None, start)}.get(kind, (start, None))
        case _:
            first, last = _find_year_or_decade_span(phrase, today)
            after = None if last is None else last + 1
            spans = {"since": (first, None), "after": (after, None), "until": (None, last), "before": (None, first - 1)}
            return spans.get(kind, (first, last))


def _find_year_or_decade_span(phrase: Phrase, today: date) -> tuple[int, int | None]:
    """Return the first and the last year of a named year or decade; None for an end in the future."""
    if decade := phrase.get_group("decade", "spelled"):
        named = get_decades().get(decade.casefold())
        first = named or (int(decade[-4:]) if len(decade) >= 4 else 1900 + int(decade[-2:]))
        return first, first + 9 if first + 9 < today.year else None
    if phrase.get_group("ago"):
        start = _find_start_of_age(phrase, today)
        return start, start
    year = int(phrase.match["year"])
    return year, year


def _find_start_of_age(phrase: Phrase, today: date, *, is_current: bool = False) -> int:
    """Return the year that lies as far back as an age such as "five years", or starts the current unit of time."""
    unit, single = find_unit(phrase.match["unit"].casefold())
    years = {"decade": 10, "century": 100}.get(unit, 1)
    if is_current or unit == "century":
        return today.year // years * years
    written = phrase.get_group("number", "number2")
    amount = parse_number(written) if written else 1 if single else {"decade": 2}.get(unit, RECENT_YEARS)
    if unit == "month":
        return (today.year * 12 + today.month - 1 - amount) // 12
    return today.year - amount * years


def _can_end_sentence(phrase: Phrase, today: date) -> bool:
    """Return True for a recent year behind a word that is neither a name nor a function word."""
    before = phrase.match.string[: phrase.start].split()
    is_recent = _MODERN <= int(phrase.match["year"]) <= today.year
    return is_recent and bool(before) and before[-1][0].islower() and before[-1] not in STOP_WORDS
