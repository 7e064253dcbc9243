"""Terms of a strategy, as written, with the tags of the fields of PubMed."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from uraniborg.kernel.language.boolean_query import BRACKETED_FIELDS, Term, fold_field_name, split_query_words
from uraniborg.kernel.language.messages import find_nearest_name


class Field(StrEnum):
    """A field, or a group of fields that databases treat alike; the value is how sentences name it."""

    ALL = "all fields"
    TITLE = "title"
    ABSTRACT = "abstract"
    TITLE_ABSTRACT = "title and abstract"
    TEXT_WORDS = "text words"
    MESH = "MeSH"
    MAJOR_TOPIC = "MeSH major topic"
    SUBHEADING = "MeSH subheading"
    PUBLICATION_TYPE = "publication type"
    SUBSTANCE = "substance name"
    ACTION = "pharmacological action"
    KEYWORD = "keywords"
    AUTHOR = "author"
    AFFILIATION = "affiliation"
    JOURNAL = "journal"
    PUBLISHED = "date of publication"
    DATE_OF_RECORD = "date of the record"
    LANGUAGE = "language"
    SUBSET = "subset or filter"
    IDENTIFIER = "identifier"
    OTHER = "other field of the record"


_NAMES: Final = {
    Field.ALL: "all all-field all-fields",
    Field.TITLE: "ti title tt transliterated-title",
    Field.ABSTRACT: "ab abs abstract",
    Field.TITLE_ABSTRACT: "tiab ti-ab title-abs title-abstract",
    Field.TEXT_WORDS: "tw text text-word text-words textword",
    Field.MESH: "mh mesh mesh-heading mesh-headings mesh-term mesh-terms",
    Field.MAJOR_TOPIC: "majr mj major-topic mesh-major-topic mesh-major-topics",
    Field.SUBHEADING: "sh subheading subheadings mesh-subheading mesh-subheadings",
    Field.PUBLICATION_TYPE: "pt ptyp publication-type publication-types",
    Field.SUBSTANCE: "nm substance-name supplementary-concept supplementary-concepts",
    Field.ACTION: "pa pharmacological-action pharmacological-actions",
    Field.KEYWORD: "ot other-term other-terms kw keyword keywords",
    Field.AUTHOR: """
        au author authors author-name 1au author-first first-author lastau lastauthor last-author author-last fau
        author-full full-author-name cn author-corporate corporate-author auid author-identifier ir fir investigator
        investigator-full ed editor""",
    Field.AFFILIATION: "ad affiliation",
    Field.JOURNAL: "ta jour journal journal-title so source jid nlm-unique-id is issn",
    Field.PUBLISHED: """
        dp date date-publication publication-date date-of-publication pdat epdat ppdat electronic-publication-date
        print-publication-date publication-year year yr py""",
    Field.DATE_OF_RECORD: """
        edat entry-date date-entry entrez-date crdt create-date date-create date-created mhda mesh-date date-mesh dcom
        completion-date date-completion lr modification-date date-modification date-last-revised""",
    Field.LANGUAGE: "la lang language",
    Field.SUBSET: "sb subset filter stat status own owner",
    Field.IDENTIFIER: """
        pmid uid pmc pmcid aid article-identifier doi lid location-id pid publisher-id si secondary-source
        secondary-source-id rn registry-number ec-rn-number""",
}
_FIELDS: Final = {name: field for field, names in _NAMES.items() for name in names.split()}
_USUAL: Final = (
    *("tiab", "ti", "ab", "mh", "mesh", "majr", "tw", "pt", "sh", "dp", "la", "au", "nm", "ot", "sb", "ta", "ad"),
    *("title/abstract", "mesh terms", "mesh major topic", "publication type", "all fields", "text word", "filter"),
    *("supplementary concept", "date - publication", "pharmacological action", "subheading", "language", "journal"),
)


def find_field(tag: str) -> Field | None:
    """Return the field of a tag such as `tiab` or `MeSH Terms:noexp`, or None for an unknown tag."""
    name = fold_field_name(tag)
    return _FIELDS.get(name, Field.OTHER if name in BRACKETED_FIELDS else None)


def suggest_tag(tag: str) -> str:
    """Return the known tag that is most like an unknown one: "Tittle/Abstract" gives "title/abstract"."""
    name, _, modifier = tag.partition(":")
    written = name.strip().lower()
    if {"ti", "ab"} == set(written.replace(";", ",").replace(" ", "").split(",")):
        return "tiab"
    return (find_nearest_name(written, _USUAL) or "tiab") + (f":{modifier.strip()}" if modifier else "")


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
