"""Year phrases in a text: the compiled rules of each language, and the negations around a limit.

`year_rules` holds the rules as data, `years` interprets them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from paper_search.intent.number_words import NUMBER
from paper_search.intent.text_cleanup import PLACEHOLDER
from paper_search.intent.word_lists import FOREIGN_FUNCTION_WORDS
from paper_search.intent.year_rules.asian import CHINESE, JAPANESE
from paper_search.intent.year_rules.common import CJK_PAPERS, PAPERS, POPULATIONS, THINGS, UNITS, Language
from paper_search.intent.year_rules.english import ENGLISH
from paper_search.intent.year_rules.european import EUROPEAN

_WINDOW = 160
"""The number of characters before a limit that are searched for a negation."""
_DENIAL = re.compile(r"\b(?:do\s+not|don['’]t|never|need\s+not)\s+\Z", re.IGNORECASE)
_BEHIND = re.compile(
    r"\s*,?\s+(?:inclusive|included|only|nur|seulement|solamente|erschienen(?:\s+sind)?|veröffentlicht(?:\s+wurden)?)\b",
    re.IGNORECASE,
)
_FOUR = r"(?:1[6-9]|2[01])[0-9]{2}"
_UNIT_OF_MEASURE = (
    r"\s*(?:pp[mb]|kelvin|[kmg]?hz|[nuµμmck]m|[kmµμ]?g|ml|k?w|m?v|[kmg]?ev|[kmg]?pa|bar|mol|ms|rpm|[%°]|degrees?|percent"
    r"|hours?|days?|weeks?|months?|years?|cycles?|times|steps|epochs?|iterations|tokens?|words?|atoms?|nodes?|samples?"
    r"|images?|patients?|participants?|subjects?|people|children|adults|cases|dollars|usd|eur|bce?"
    r"|(?-i:K|V|W|A|J|N|L|m|s|h))(?![\w-])"
)
_YEAR_END = re.compile(rf"(?![\w%°]|[.,/-]\w|:\s*(?-i:[A-Z])|{_UNIT_OF_MEASURE})", re.IGNORECASE)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\.?,?\s+(?:[0-9]{1,2},?\s+)?"
_PART = r"(?:early|mid|late)[\s-]+"
_SOFT = rf"(?:{_PART})?(?:{_MONTH})?(?:the\s+year\s+)?"
_LONE = rf"(?<![\w.$€£#/-]){_FOUR}"
_YEAR = rf"{_SOFT}(?<![\w.$€£#/])(?P<year>{_FOUR})"
_DECADE = (
    rf"(?:{_PART})?(?:(?P<decade>(?:1[6-9]|20)[0-9]0|['’]?[5-9]0)(?:['’]?s|er(?:\s+jahren?)?)"
    r"|(?P<spelled>(?:fif|six|seven|eigh|nine)ties))\b"
)
_ENGLISH_STOPS = """
on about for and or but using with of by in at that which from not only please research regarding concerning related
without excluding except where as is are was were via until till through before after since to onwards topic erschienen
veröffentlicht
"""
_STOP_WORDS = "|".join(
    sorted({*_ENGLISH_STOPS.split(), *(w for words in FOREIGN_FUNCTION_WORDS for w in words if len(w) > 1)})
)
_STOP = re.compile(
    rf"\s*(?:$|[\n,;:.!?)\]]|-\s|{PLACEHOLDER}|(?:{PAPERS}|{_STOP_WORDS}|up\s+to)(?![\w-]))", re.IGNORECASE
)
_CLAUSE_START = re.compile(r"(?:^|[,;:.!?(\n]|\s-)\s*\Z")
_EVENT = re.compile(
    r"(?:\s+[\w'’-]+){0,3}?\s+(?:elections?|cris[ie]s|earthquakes?|tsunamis?|hurricanes?|floods?|eruptions?|outbreaks?|epidemics?"
    r"|pandemics?|wars?|attacks?|coups?|revolutions?|uprisings?|protests?|referend(?:um|a)|reforms?|recessions?|olympics|games"
    r"|summits?|agreements?|accords?|acts?|laws?|agenda|goals|targets|frameworks?)\b",
    re.IGNORECASE,
)
"""Names of events and treaties: "after 2016 elections" is about the year."""
_SUBJECT = re.compile(rf"(?:\s+[\w-]+){{1,4}}?(?=\s+{PAPERS}\b)", re.IGNORECASE)
_ENDINGS = ("{stop}", "{lead}")
"""A limit needs a stop behind it; one marked `{lead}` may instead start a clause: "after 2016 exoplanet papers"."""
_UNIT = "|".join(UNITS.values())
_LATIN_PLACES = {
    "{when}": rf"(?:{_YEAR}|(?:(?:the|den|die|der)\s+)?{_DECADE})",
    "{year}": _YEAR,
    "{decade}": _DECADE,
    "{lone}": rf"(?P<year>{_LONE})",
    "{first}": rf"{_SOFT}(?P<first>{_LONE})",
    "{second}": rf"{_SOFT}(?P<second>{_FOUR})",
    "{to}": r"\s*(?:[-–—−~〜]\s*|\b(?:to|through|thru|until|till|up\s+to)\s+)",
    "{now}": r"(?:the\s+)?(?:present|now|today|date|current)",
    "{month}": rf"(?=(?:{_PART})?{_MONTH})",
    "{number}": rf"(?P<number>{NUMBER})",
    "{number2}": rf"(?P<number2>{NUMBER})",
    "{unit}": rf"(?P<unit>{_UNIT})",
    "{papers}": PAPERS,
    "{things}": THINGS,
}
_CJK_PLACES = {
    "{year}": rf"(?<![0-9])(?P<year>{_FOUR})(?![0-9])",
    "{first}": rf"(?<![0-9])(?P<first>{_FOUR})(?![0-9])",
    "{second}": rf"(?P<second>{_FOUR})(?![0-9])",
    "{number}": rf"(?P<number>{NUMBER})",
    "{unit}": rf"(?P<unit>{_UNIT})",
    "{papers}": CJK_PAPERS,
    "{de}": "(?:[发發]表|出版)?(?:的|の)?",
}
_ONLY = r"only|just|nur|ausschließlich|seulement|uniquement|sol[oa]mente|únicamente|solo|sólo|somente|apenas"
_AHEAD = re.compile(
    rf"(?:(?:^|(?<=[,;.:(\n] ))(?:(?:please\s+)?leav(?:e|ing)\s+)?(?:(?:{_ONLY})\s+)?(?:old(?:er)?\s+)?"
    rf"(?:{THINGS}|anything|everything|whatever|all|those|ones|stuff)(?:\s+from\s+|\s*\(\s*|\s+))?"
    r"(?:\b(?:that|which)\s+)?(?:\b(?:is|are|was|were|has\s+been|have\s+been|came|come)\s+(?:out\s+)?)?"
    r"(?:\bin\s+the\s+years?\s+)?(?:\b(?:(?:limit|restrict|confine)(?:ed|d)?(?:\s+(?:it|this|the\s+search|results))?\s+to"
    r"|(?:must|should|has\s+to|have\s+to|needs?\s+to)\s+be|(?:publication\s+)?(?:years?|dates?)\s*:"
    r"|(?:date|time|year)\s*(?:range|frame|span)\s*:?|period\s*:|published|written|released|issued|printed|dated|veröffentlicht(?:e[nr]?)?"
    rf"|erschienene?n?|publiée?s?|parue?s?|publicad[oa]s?|{_ONLY})\s+(?:{THINGS}\s+)?){{0,3}}\Z",
    re.IGNORECASE,
)
"""A noun for papers right before a limit, which belongs to the limit: ", papers before 2012 …"."""
_CHINESE_OR_JAPANESE = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_KANA = re.compile("[\u3040-\u30ff]")
# After a lower-case word only: "Tokyo Olympics 2020" names an event.
_LAST_WORD = rf"(?<=(?-i:[a-z)\n]))[,\s]\s*(?P<year>{_FOUR})[\s.?!]*$"
_TIME_WORD = re.compile(rf"[0-9]|{_UNIT}|recent|latest|newest|newer|\bold|ties\b|最近|最新|近", re.IGNORECASE)


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
class Rules:
    """The compiled rules of one language."""

    limits: tuple[tuple[str, re.Pattern[str], str], ...]
    unwanted: re.Pattern[str]
    excluded: re.Pattern[str]
    stop: re.Pattern[str]
    year_end: re.Pattern[str]

    def find_phrase(self, match: re.Match[str], ending: str) -> Phrase | None:
        """Return the phrase around a matched limit, or None if the match is a measure or the age of people."""
        text, start, end = match.string, match.start(), match.end()
        if not all(
            self.year_end.match(text, match.end(name)) for name in ("year", "second") if _has_group(match, name)
        ):
            return None
        excluded = self.excluded.match(text, end)
        unwanted = self.unwanted.search(text, max(0, start - _WINDOW), start)
        start = unwanted.start() if unwanted else start
        if ending and not excluded and not self.stop.match(text, end):
            leads = ending == "{lead}" and _CLAUSE_START.search(text, max(0, start - _WINDOW), start)
            if not leads or _EVENT.match(text, end):
                return None
        subject = None if excluded else _SUBJECT.match(text, end)
        exclusion = self.excluded.match(text, subject.end()) if subject else None
        denied = _DENIAL.search(text, max(0, start - _WINDOW), start) if unwanted else None
        start = denied.start() if denied else start
        before = text[max(0, start - _WINDOW) : start].split()
        if _has_group(match, "unit") and not POPULATIONS.isdisjoint(word.casefold() for word in before[-2:]):
            return None
        if ahead := _AHEAD.search(text, max(0, start - _WINDOW), start):
            start = ahead.start()
        end = excluded.end() if excluded else end
        if behind := _BEHIND.match(text, end):
            end = behind.end()
        negated = (unwanted is None) != ((excluded or exclusion) is None)
        return Phrase(match, start, end, negated=negated, denied=denied is not None, exclusion=exclusion)


def _has_group(match: re.Match[str], name: str) -> bool:
    return match.groupdict().get(name) is not None


def select_rules(text: str) -> Iterator[Rules]:
    """Yield the rules of the languages whose words of time the text contains."""
    if not _TIME_WORD.search(text):
        return
    if _CHINESE_OR_JAPANESE.search(text):
        yield _compile_rules(JAPANESE if _KANA.search(text) else CHINESE, cjk=True)
    for language in (*EUROPEAN, ENGLISH):  # the loosest rules last
        if re.search(language.cues, text, re.IGNORECASE):
            yield _compile_rules(language)
    yield _compile_rules(_LAST)


@lru_cache(maxsize=64)
def _compile_rules(language: Language, *, cjk: bool = False) -> Rules:
    places = _CJK_PLACES if cjk else _LATIN_PLACES
    # Spanish and Portuguese share phrases, so one of their rules may meet the other's negation.
    relatives = EUROPEAN if language in EUROPEAN else (language,)
    unwanted, excluded = (
        re.compile(ending.format(_fill_placeholders(pattern, places)), re.IGNORECASE)
        for pattern, ending in (
            ("|".join(relative.unwanted for relative in relatives), r"(?:{})\Z"),
            ("|".join(relative.excluded for relative in relatives), "(?:{})"),
        )
    )
    limits = tuple(
        (meaning, re.compile(_fill_placeholders(pattern.removesuffix(ending), places), re.IGNORECASE), ending)
        for meaning, pattern in language.rules
        for ending in (next(filter(pattern.endswith, _ENDINGS), ""),)
    )
    return Rules(limits, unwanted, excluded, _STOP, re.compile("") if cjk else _YEAR_END)


def _fill_placeholders(pattern: str, places: dict[str, str]) -> str:
    for place, meaning in places.items():
        pattern = pattern.replace(place, meaning)
    return pattern


_LAST = Language(rules=(("at the end", _LAST_WORD),), unwanted="(?!)", excluded="(?!)", cues="")
