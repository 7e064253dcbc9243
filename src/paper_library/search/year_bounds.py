"""Explicit year bounds in a search box: `since 2015`, `not before 2017`, `vor 2010`, `between 2015 and 2020`.

Only phrases with a word of time and four-digit years are bounds. Relative phrases (`last five years`), decades and bare
years stay search words: `paper_search.intent.years` reads those in the sentences of a literature search.
"""

import re
from dataclasses import dataclass
from typing import Final

_YEAR: Final = r"(?:1[89]|20)\d\d(?![\w%]|[-./]\d)"
_UNITS: Final = "iterations?|steps?|epochs?|samples?|hours?|days?|years?|km|m|hz|words?|people|patients?|participants?"
_AMOUNT: Final = rf"(?!\s+(?:{_UNITS})\b)"
_ANY_YEAR: Final = re.compile(_YEAR)
# Years that these words introduce, and whether the year itself belongs to them.
_SINCE: Final = r"since|as\s+of|starting\s+(?:in|from)|seit|ab|depuis|à\s+partir\s+de|desde|a\s+partir\s+de"
_AFTER: Final = r"after|later\s+than|newer\s+than|post[\s-]|nach|après|después\s+de|depois\s+de"
_BEFORE: Final = r"before|prior\s+to|earlier\s+than|older\s+than|pre[\s-]|vor|avant|antes\s+de"
_UNTIL: Final = r"until|till|up\s+to|through|bis|jusqu['’]?\s?(?:à|en)|hasta|até"
_NOT: Final = (
    r"not|nothing|none|no|never|without|skip(?:ping)?|exclud(?:e|ing)|ignor(?:e|ing)|omit(?:ting)?|except(?:ing|\s+for)?"
    r"|drop|leave\s+out|nicht|nichts|keine?|ohne|außer|sauf|sans|aucun|rien|sin|nada|excepto|sem|exceto"
)
_BETWEEN: Final = (
    r"(?:\s+(?:any|anything|things?|the|those|that|which|are|were|ones|all|show|me|include|papers?|articles?|works?"
    r"|studies|publications?|results?|published|written|dated|from|artikel|arbeiten|articles|artículos|artigos)){0,4}"
)
"""The few words between a negation and its year, such as `those published`."""
_FROM_TO: Final = (
    r"(?:between|zwischen|entre)\s+(?P<first>YEAR)\s+(?:and|und|et|y|e)\s+(?P<last>YEAR)",
    r"(?:from|von|de|desde)\s+(?P<start>YEAR)\s+(?:to|until|till|through|bis|à|a|hasta|até)\s+(?P<end>YEAR)",
)
_PHRASE: Final = re.compile(
    r'"[^"]*"|(?<![\w-])(?:(?:published|appeared|dated)\s+)?(?:'
    + "|".join(_FROM_TO).replace("YEAR", _YEAR)
    + rf"|(?:from\s+)?(?P<onwards>{_YEAR})\s+(?:onwards?|on\b|(?:or|and)\s+(?:later|newer|after))"
    rf"|(?P<not_back>(?:{_NOT})\s+)?(?P<back>{_YEAR})\s+(?:or|and)\s+(?:earlier|older|before)"
    rf"|(?P<negated>(?:{_NOT}){_BETWEEN}\s+)?(?:(?P<since>{_SINCE})|(?P<after>{_AFTER})|(?P<before>{_BEFORE})|(?P<until>{_UNTIL}))"
    rf"\s*(?P<year>{_YEAR}){_AMOUNT}(?P<excluded>(?:\s+papers?)?\s+excluded)?)(?!\w)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class YearBounds:
    typed: str
    first: int | None
    last: int | None

    def __str__(self) -> str:
        return f"{self.first or ''}..{self.last or ''}"


def extract_year_bounds(text: str) -> tuple[str, list[YearBounds]]:
    """Return `text` without its year bounds, and the bounds. Quoted text stays as it is."""
    taken: list[YearBounds] = []

    def cut_bounds(found: re.Match[str]) -> str:
        years = _read_bounds(found)
        if years is None:
            return found[0]
        taken.append(YearBounds(" ".join(found[0].split()), *years))
        return " "

    return _PHRASE.sub(cut_bounds, text) if _ANY_YEAR.search(text) else text, taken


def _read_bounds(found: re.Match[str]) -> tuple[int | None, int | None] | None:
    pair = [found[name] for name in ("first", "last", "start", "end") if found[name]]
    if pair:
        return min(map(int, pair)), max(map(int, pair))
    if found["onwards"] or found["back"]:
        if found["not_back"]:
            return int(found["back"]) + 1, None
        return (int(found["onwards"]), None) if found["onwards"] else (None, int(found["back"]))
    return _read_bounds_beside_year(found) if found["year"] else None


def _read_bounds_beside_year(found: re.Match[str]) -> tuple[int | None, int | None] | None:
    year, negated = int(found["year"]), bool(found["negated"]) != bool(found["excluded"])
    if found["before"]:
        return (year, None) if negated else (None, year - 1)
    if found["after"]:
        return (None, year) if negated else (year + 1, None)
    if negated:
        return None
    return (year, None) if found["since"] else (None, year)
