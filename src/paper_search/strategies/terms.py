"""A term of a strategy: its words, as written, with the tag of its field."""

import re
from dataclasses import dataclass
from typing import Final

from paper_search.strategies.fields import Field, find_field
from uraniborg.kernel.boolean_query import Term, split_query_words

_DISTANCE: Final = re.compile(r"~?\s*(\d{1,3})")
_RANGE: Final = re.compile(r'[\s"]*(?P<first>[\d/]+)[\s"]*(?:\[[^\]]*\])?\s*:[\s"]*(?P<last>[\d/]+)[\s"]*')
_INVERTED: Final = re.compile(r"([^,]+), ([^,]+)")
_TOPICS: Final = frozenset(
    {Field.ALL, Field.TITLE, Field.ABSTRACT, Field.TITLE_ABSTRACT, Field.TEXT_WORDS, Field.KEYWORD}
)
_FILTER_WORDS: Final = frozenset({"hasabstract", "hasstructuredabstract"})
"""Words that PubMed reads as filters, not as words of the text."""
_UNTAGGED: Final = frozenset({Field.ALL, Field.TEXT_WORDS})
_HEADINGS: Final = frozenset({Field.MESH, Field.MAJOR_TOPIC})
_LIMITS: Final = frozenset(
    {Field.PUBLISHED, Field.DATE_OF_RECORD, Field.LANGUAGE, Field.SUBSET, Field.OTHER, Field.AFFILIATION}
)


@dataclass(frozen=True, slots=True)
class FieldTerm(Term):
    """A term of a strategy. Two terms are equal only if they are written alike."""

    written: str
    """The term with straight quotation marks if it has any, without the tag; a range with the tag of its first date."""
    tag: str = ""
    """The tag as written, without its brackets; empty for a term without a tag."""

    @property
    def field(self) -> Field:
        found = (find_field(self.tag) if self.tag else None) or Field.ALL
        is_filter = found in _UNTAGGED and self.written.lower() in _FILTER_WORDS
        return Field.SUBSET if is_filter else found

    @property
    def modifier(self) -> str:
        """What follows the colon of the tag in lower case: "noexp", "~2" or ""."""
        return self.tag.partition(":")[2].strip().lower()

    @property
    def is_quoted(self) -> bool:
        return self.written.startswith('"')

    @property
    def source_text(self) -> str:
        """The term with its tag, as PubMed reads it."""
        return f"{self.written}[{self.tag}]" if self.tag else self.written

    @property
    def bare(self) -> str:
        """The term without quotation marks."""
        return self.written.strip('"')

    @property
    def is_exploded(self) -> bool:
        """Whether a heading is searched with its narrower headings."""
        return self.is_heading and self.modifier != "noexp"

    @property
    def is_heading(self) -> bool:
        return self.field in _HEADINGS

    @property
    def is_topic(self) -> bool:
        """Whether the term is searched as words of the text, not in a list of the database."""
        return self.field in _TOPICS

    @property
    def is_limit(self) -> bool:
        """Whether the term limits the records and names no topic: a date, a language, a subset."""
        return self.field in _LIMITS

    @property
    def heading(self) -> tuple[str, str]:
        """The heading and the subheading of a MeSH term: "Asthma/therapy" has the subheading "therapy"."""
        name, _, subheading = self.bare.strip("*/ ").partition("/")
        return name.strip(), subheading.strip()

    @property
    def natural_words(self) -> str:
        """The words in the order of a text: "Receptors, Muscarinic" gives "Muscarinic Receptors"."""
        name = self.heading[0] if self.is_heading else self.bare
        return " ".join(split_query_words(_INVERTED.sub(r"\2 \1", name) if _INVERTED.fullmatch(name) else name))

    @property
    def distance(self) -> int | None:
        """The most words that may stand between the words of the term, in any order; None for a phrase."""
        found = _DISTANCE.fullmatch(self.modifier)
        return int(found[1]) if found and len(self.words) > 1 else None

    @property
    def dates(self) -> tuple[str, str] | None:
        """The earlier and the later date, "" for an open end; a single date is both. None if the text has no date."""
        if self.field not in {Field.PUBLISHED, Field.DATE_OF_RECORD}:
            return None
        found = _RANGE.fullmatch(self.written)
        first, last = (found["first"], found["last"]) if found else (self.bare.strip(), self.bare.strip())
        if not (first[:4].isdigit() and last[:4].isdigit()):
            return None
        if first[:4] > last[:4]:
            first, last = last, first
        return ("" if first < "1001" else first), ("" if last >= "3000" else last)

    @property
    def years(self) -> tuple[int | None, int | None] | None:
        """The first and the last year of a date of publication, None for an open end."""
        found = self.dates if self.field is Field.PUBLISHED else None
        return found and tuple(int(date[:4]) if date else None for date in found)  # type: ignore[return-value]


def build_field_term(written: str, tag: str = "") -> FieldTerm | None:
    """Return the term for a text as written, or None if it has no letter and no digit."""
    text = " ".join(written.split())
    if text.startswith('"') and text.endswith('"') and text.count('"') == 2:
        text = f'"{text[1:-1].strip()}"'
    words = split_query_words(text.replace('"', " "))
    return FieldTerm(words, text, " ".join(tag.split())) if words else None
