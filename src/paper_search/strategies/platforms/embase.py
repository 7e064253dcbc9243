"""Write strategies for Embase on embase.com."""

from typing import Final

from paper_search.strategies.fields import Field
from paper_search.strategies.platforms.shared import note_lost_field, note_years, quote_words
from paper_search.strategies.rendering import LEFT_OUT, Changes, Piece, Platform
from paper_search.strategies.terms import FieldTerm

_SUFFIXES: Final = {
    Field.ALL: "ti,ab,kw,de",
    Field.TITLE: "ti",
    Field.ABSTRACT: "ab",
    Field.TITLE_ABSTRACT: "ti,ab,kw",
    Field.TEXT_WORDS: "ti,ab,kw,de",
    Field.KEYWORD: "kw",
    Field.AUTHOR: "au",
    Field.AFFILIATION: "ff",
    Field.JOURNAL: "jt",
    Field.PUBLICATION_TYPE: "it",
    Field.SUBHEADING: "lnk",
    Field.SUBSTANCE: "tn,ti,ab,kw",
    Field.ACTION: "ti,ab,kw,de",
    Field.IDENTIFIER: "ui",
}
_TYPES: Final = frozenset(
    ["article", "book", "chapter", "editorial", "erratum", "letter", "note", "preprint", "review"]
)
"""The types of Embase that PubMed has, too; designs of studies are Emtree terms."""
_OWN: Final = frozenset(
    {Field.AUTHOR, Field.JOURNAL, Field.PUBLICATION_TYPE, Field.SUBHEADING, Field.MESH, Field.MAJOR_TOPIC}
)


def _render_term(term: FieldTerm, changes: Changes) -> Piece | None:
    if years := term.years:
        note_years(term, changes)
        return Piece(f"[{years[0] or 1900}-{years[1] or 2100}]/py")
    if term.field is Field.LANGUAGE:
        return Piece(f"[{term.bare.lower()}]/lim")
    note_lost_field(term, changes, _OWN)
    if term.is_heading:
        return _render_heading(term, changes)
    return _render_words(term, changes)


def _render_words(term: FieldTerm, changes: Changes) -> Piece | None:
    if term.field is Field.PUBLICATION_TYPE and term.bare.lower() not in _TYPES:
        changes.add("Publication types are written as Emtree terms; look each one up in Emtree", term)
        return Piece(f"'{term.bare.replace('-', ' ').lower()}'/exp")
    suffix = _SUFFIXES.get(term.field)
    if suffix is None:
        changes.add(LEFT_OUT, term)
        return None
    if term.distance is not None:
        return Piece(f" NEAR/{term.distance + 1} ".join(term.words), f"{{}}:{suffix}", is_group=True)
    return Piece(_quote(term), f"{{}}:{suffix}")


def _render_heading(term: FieldTerm, changes: Changes) -> Piece:
    changes.add("MeSH headings are written as Emtree terms; look each one up in Emtree", term)
    kind = "exp" if term.is_exploded else "de"
    focus = "/mj" if term.field is Field.MAJOR_TOPIC else ""
    name = term.natural_words.lower()
    sign = '"' if "'" in name else "'"
    return Piece(f"{sign}{name}{sign}/{kind}{focus}")


def _quote(term: FieldTerm) -> str:
    return quote_words(term, '"' if "'" in term.bare else "'")


EMBASE: Final = Platform("embase", "Embase (embase.com)", _render_term)
