"""The query language: what a person typed, read without ever failing.

Words are looked for in any number; the more of them a paper has, and the rarer they are, the better. On top of that:

    "exact phrase"    -without    word*    this OR that    this AND that    NOT that
    title:  author:  venue:  keyword:  tag:  institution:  doi:  arxiv:     (with a word or a "phrase")
    year:2021   year:2019..2023   year:2019..   year:>2019   is:retracted

What looks like more but cannot be understood is searched as words, and `Query.ignored` says so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from uraniborg.kernel.text import fold, whole_text, words

FIELDS: Final = ("title", "author", "venue", "keyword", "tag", "institution", "doi", "arxiv", "year", "is")
_UNIT: Final = re.compile(
    rf"(?P<minus>-(?=[^\s-]))?(?:[(\[{{]*(?P<field>{'|'.join(FIELDS)}):(?P<value>\"[^\"]*\"|[^\s\"]+)|\"(?P<phrase>[^\"]*)\"|(?P<run>[^\s\"]+))"
    r"|(?P<stray>\")",
    re.IGNORECASE,
)
_QUOTES: Final = str.maketrans(dict.fromkeys("“”„‟«»＂", '"'))
_PREFIX: Final = re.compile(r"([^\W_]{2,})\*")
_YEARS: Final = re.compile(r"(?P<from>\d{4})?(?P<to_>\.\.|-|–)?(?P<to>\d{4})?")
_COMPARED: Final = re.compile(r"(?P<how>[<>]=?)(?P<year>\d{4})")
_GROUP: Final = re.compile(r"(?<!\w)[(\[{]")
_GROUP_OF: Final = re.compile(r"(?:(?<!\S)-|:)[(\[{]")
_ORDER_OF_GROWTH: Final = re.compile(r"\b[oO]\([^()\n]{1,30}\)")

Kind = Literal["word", "phrase", "prefix", "field", "years"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing asked for."""

    kind: Kind
    text: str
    field: str = ""
    quoted: bool = False
    years: tuple[int | None, int | None] = (None, None)


@dataclass(slots=True)
class Query:
    """How a query was read."""

    wanted: list[Unit] = field(default_factory=list[Unit])
    """Words of which any may be there."""
    required: list[list[Unit]] = field(default_factory=list[list[Unit]])
    """Each of these lists must be satisfied, by any of its members."""
    excluded: list[Unit] = field(default_factory=list[Unit])
    ignored: list[str] = field(default_factory=list[str])
    """What was typed and not used as it might have been meant, in sentences."""
    is_blank: bool = False
    """Nothing was typed, which asks for everything."""

    def relaxed(self) -> "Query | None":
        """The same with phrases wished for instead of required, word by word too; None if there are none."""
        kept = [group for group in self.required if not any(unit.kind == "phrase" for unit in group)]
        loose = [unit for group in self.required if group not in kept for unit in group]
        phrases = [unit for unit in loose if unit.kind == "phrase"]
        if not phrases:
            return None
        said = "; ".join(f'"{unit.text}"' for unit in phrases)
        return Query(
            [*self.wanted, *(Unit("word", word) for unit in phrases for word in unit.text.split()), *loose],
            kept,
            self.excluded,
            [*self.ignored, f"No paper has all that was asked for with {said}; the words were searched instead."],
        )

    def interpreted(self) -> dict[str, Any]:
        """The reading as replies show it."""
        filters: dict[str, list[str]] = {}
        for unit in (unit for group in self.required for unit in group if unit.field):
            filters.setdefault(unit.field, []).append(unit.text)
        said: dict[str, Any] = {"terms": [unit.text for unit in self.wanted if unit.kind == "word"], "filters": filters}
        extra = {
            "phrases": [u.text for u in self._asked() if u.kind == "phrase"],
            "prefixes": [f"{u.text}*" for u in self._asked() if u.kind == "prefix"],
            "required": [
                " OR ".join(map(_shown, group))
                for group in self.required
                if len(group) > 1 or group[0].kind in ("word", "prefix")
            ],
            "excluded": [_shown(unit).strip('"') for unit in self.excluded],
        }
        return {**said, **{name: values for name, values in extra.items() if values}, "ignored": self.ignored}

    def _asked(self) -> Iterator[Unit]:
        yield from self.wanted
        for group in self.required:
            yield from group


def _shown(unit: Unit) -> str:
    match unit.kind:
        case "phrase":
            return f'"{unit.text}"'
        case "prefix":
            return f"{unit.text}*"
        case _:
            return f"{unit.field}:{unit.text}" if unit.field else unit.text


def read_query(text: str) -> Query:
    """How `text` is searched. Never raises."""
    return _Reading(text).query


class _Reading:
    """One pass over the text, with what the last operator said of the next unit."""

    def __init__(self, text: str) -> None:
        self.query = Query()
        self._groups: list[list[Unit]] = []
        self._must: set[int] = set()
        self._placed: list[int] = []
        self._operator = ""
        self._negated = False
        self._joins = False
        self.query.is_blank = not text.strip()
        plain = whole_text(text).replace("\0", " ").translate(_QUOTES)
        # Blanks inside are what makes it one thing for its reader and several for everyone else.
        plain = _ORDER_OF_GROWTH.sub(lambda found: "".join(found[0].split()), plain)
        for found in _UNIT.finditer(plain):
            self._take(found)
        if _GROUP.search(plain) and (self._joins or _GROUP_OF.search(plain)):
            self.query.ignored.append("Brackets do not group; they were left out.")
        if self._operator or self._negated:
            self.query.ignored.append(f"{self._operator or 'NOT'} at the end has nothing to join.")
        if not (self._groups or self.query.excluded or self.query.is_blank or self.query.ignored):
            self.query.ignored.append("There are no words in it to search for.")
        self._sort()

    def _take(self, found: re.Match[str]) -> None:
        if found["stray"]:
            self.query.ignored.append("A quotation mark without its partner was left out.")
            return
        if (run := found["run"]) in ("AND", "OR", "NOT") and not found["minus"]:
            self._operate(run)
            return
        units = list(self._units(found))
        negated = bool(found["minus"]) or self._negated
        self._negated = False
        if not units:
            return
        if len(units) > 1 and (negated or self._operator == "OR") and units[0].kind == "word":
            # What is joined by a hyphen stands and falls together.
            units = [Unit("phrase", " ".join(unit.text for unit in units))]
        if negated:
            self.query.excluded += units
            self._operator = ""
            return
        self._place(units)

    def _operate(self, operator: str) -> None:
        self._joins = True
        if operator == "NOT":
            self._negated = True
        elif self._groups:
            self._operator = operator
        else:
            self.query.ignored.append(f"{operator} at the beginning has nothing to join.")

    def _place(self, units: list[Unit]) -> None:
        if self._operator == "OR":
            self._groups[-1] += units
            placed = [len(self._groups) - 1]
        else:
            placed = list(range(len(self._groups), len(self._groups) + len(units)))
            self._groups += [[unit] for unit in units]
        if self._operator == "AND":
            self._must.update((*self._placed, *placed))
        self._placed, self._operator = placed, ""

    def _sort(self) -> None:
        for place, group in enumerate(self._groups):
            if place in self._must or any(unit.kind not in ("word", "prefix") for unit in group):
                self.query.required.append(group)
            else:
                self.query.wanted += group

    def _units(self, found: re.Match[str]) -> Iterator[Unit]:
        if found["field"]:
            yield from self._filter(found["field"].lower(), found["value"])
        elif found["phrase"] is not None:
            if said := words(found["phrase"]):
                yield Unit("phrase", " ".join(said))
        elif prefix := _PREFIX.fullmatch(found["run"].strip("()[]{},;")):
            yield Unit("prefix", fold(prefix[1]))
        else:
            yield from (Unit("word", word) for word in words(found["run"]))

    def _filter(self, name: str, value: str) -> Iterator[Unit]:
        quoted = value.startswith('"')
        bare = value.strip('"').strip()
        if name == "year":
            years = _years(bare)
            if years:
                yield Unit("years", bare, name, years=years)
                return
        elif name in ("doi", "arxiv"):
            if bare:
                yield Unit("field", bare, name)
                return
        elif said := words(bare):
            yield Unit("field", " ".join(said), name, quoted)
            return
        self.query.ignored.append(f"{name}:{bare} says no {name}; it was searched as words.")
        yield from (Unit("word", word) for word in words(f"{name} {bare}"))


def _years(text: str) -> tuple[int | None, int | None] | None:
    if compared := _COMPARED.fullmatch(text):
        year, how = int(compared["year"]), compared["how"]
        return (year + (how == ">"), None) if how[0] == ">" else (None, year - (how == "<"))
    found = _YEARS.fullmatch(text)
    if not found or not (found["from"] or found["to"]):
        return None
    start = int(found["from"]) if found["from"] else None
    end = int(found["to"]) if found["to"] else None
    if not found["to_"]:
        return (start, start) if end is None else None
    return (start, end) if start is None or end is None or start <= end else (end, start)
