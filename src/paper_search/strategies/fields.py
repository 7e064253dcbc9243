"""Know the fields of PubMed and the names of their tags, short and long."""

from enum import StrEnum
from typing import Final

from uraniborg.kernel.field_tags import BRACKETED_FIELDS, fold_field_name
from uraniborg.kernel.suggestions import find_nearest_name


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
