"""What a parsed query holds: words, phrases, exclusions, filters and notes.

Papers match any of the words; papers with all of them come first. More syntax:

    "exact phrase"    -without    word*    this OR that    this AND that    NOT that
    title:  author:  venue:  keyword:  tag:  institution:  doi:  arxiv:     (with a word or a "phrase")
    year:2021   year:2019..2023   year:2019..   year:>2019   since 2015   before 2010   is:retracted
    sort:year_desc

`parser.parse_query` parses a query. `Query.ignored` has a note for each part that was not used as written.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

from uraniborg.kernel.language.words import split_words

if TYPE_CHECKING:
    from paper_library.domain.replies import InterpretedQuery

FIELDS: Final = ("title", "author", "venue", "keyword", "tag", "institution", "doi", "arxiv", "year", "is")

Kind = Literal["word", "phrase", "name", "prefix", "field", "years"]
Sort = Literal["relevance", "year_desc", "year_asc", "title_asc", "title_desc"]
_LEFT_OUT_IF_EMPTY: Final = ("phrases", "prefixes", "required", "excluded", "sort", "dropped")
SORTS: Final[tuple[Sort, ...]] = ("relevance", "year_desc", "year_asc", "title_asc", "title_desc")


@dataclass(frozen=True, slots=True)
class QueryUnit:
    """A word, phrase or filter of a query; a name is a hyphenated word with a number, such as `TRAPPIST-1`."""

    kind: Kind
    text: str
    field: str = ""
    quoted: bool = False
    years: tuple[int | None, int | None] = (None, None)
    spellings: tuple[str, ...] = ()
    """Other spellings of the whole text: `mueller` for `muller` typed as `müller`."""
    typed: str = ""
    """For years from running text: that text. Such years can be relaxed."""

    def __str__(self) -> str:
        match self.kind:
            case "phrase" | "name":
                return f'"{self.text}"'
            case "prefix":
                return f"{self.text}*"
            case _:
                return f"{self.field}:{self.text}" if self.field else self.text


@dataclass(slots=True)
class ParsedQuery:
    """A parsed query. A group of units matches if one of them does."""

    wanted: list[list[QueryUnit]] = field(default_factory=list[list[QueryUnit]])
    """Groups of which a paper must match at least one."""
    required: list[list[QueryUnit]] = field(default_factory=list[list[QueryUnit]])
    """Groups of which a paper must match all."""
    boosting: list[QueryUnit] = field(default_factory=list[QueryUnit])
    """Phrases that improve the rank of papers."""
    excluded: list[QueryUnit] = field(default_factory=list[QueryUnit])
    sort: Sort | None = None
    ignored: list[str] = field(default_factory=list[str])
    """One note for each part of the text that was not used as written."""
    is_blank: bool = False
    """True for an empty text, which matches every paper."""

    def make_relaxed_query(self) -> "ParsedQuery | None":
        """Return the query without its optional requirements, or None if it has none.

        Required phrases become words and phrases that improve the rank. Years from running text become words.
        """
        loose = [group for group in self.required if any(unit.kind == "phrase" or unit.typed for unit in group)]
        if not loose:
            return None
        units = [unit for group in loose for unit in group]
        labels = "; ".join(unit.typed or f'"{unit.text}"' for unit in units if unit.kind == "phrase" or unit.typed)
        return replace(
            self,
            wanted=[*self.wanted, *([word] for unit in units for word in _split_into_words(unit))],
            required=[group for group in self.required if group not in loose],
            boosting=[*self.boosting, *(unit for unit in units if unit.kind == "phrase")],
            ignored=[
                *self.ignored,
                f"No paper matches with {labels}; the words were searched instead.",
            ],
        )

    def as_dict(self, *, dropped: Sequence[str] = (), notes: Sequence[str] = ()) -> "InterpretedQuery":
        """Return the query as JSON values for replies; `dropped` are words that the results lack."""
        filters: dict[str, list[str]] = {}
        for unit in (unit for group in self.required for unit in group if unit.field):
            filters.setdefault(unit.field, []).append(unit.text)
        units = list(self._list_searched_units())
        reading: InterpretedQuery = {
            "terms": [
                word
                for group in self.wanted
                for unit in group
                if unit.kind in ("word", "name")
                for word in unit.text.split()
            ],
            "filters": filters,
            "phrases": [unit.text for unit in units if unit.kind in ("phrase", "name")],
            "prefixes": [f"{unit.text}*" for unit in units if unit.kind == "prefix"],
            "required": [
                " OR ".join(map(str, group))
                for group in self.required
                if len(group) > 1 or group[0].kind in ("word", "prefix")
            ],
            "excluded": [str(unit).strip('"') for unit in self.excluded],
            "sort": self.sort or "",
            "dropped": [*dropped],
            "ignored": [*self.ignored, *notes],
        }
        for name in _LEFT_OUT_IF_EMPTY:
            if not reading.get(name):
                del reading[name]
        return reading

    def _list_searched_units(self) -> Iterator[QueryUnit]:
        for group in (*self.wanted, *self.required):
            yield from group
        yield from self.boosting


def find_distinctive_parts(name: str) -> list[str]:
    """Return the parts of a name that are distinctive by themselves: `trappist` of `trappist 1`."""
    return [part for part in name.split() if len(part) > 1 and not part.replace(".", "").isdecimal()]


def _split_into_words(unit: QueryUnit) -> list[QueryUnit]:
    if unit.kind == "phrase":
        return [QueryUnit("word", word) for word in unit.text.split()]
    return [QueryUnit("word", word) for word in split_words(unit.typed)] if unit.typed else [unit]
