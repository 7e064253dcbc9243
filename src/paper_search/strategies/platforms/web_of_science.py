"""Write strategies for Web of Science."""

from typing import Final

from paper_search.strategies.fields import Field
from paper_search.strategies.platforms.shared import note_lost_field, note_years, quote_words
from paper_search.strategies.rendering import LEFT_OUT, Changes, Piece, Platform
from paper_search.strategies.terms import FieldTerm

_FIELDS: Final = {
    Field.ALL: "ALL",
    Field.TITLE: "TI",
    Field.ABSTRACT: "AB",
    Field.TITLE_ABSTRACT: "TS",
    Field.TEXT_WORDS: "TS",
    Field.MESH: "TS",
    Field.MAJOR_TOPIC: "TS",
    Field.SUBHEADING: "TS",
    Field.SUBSTANCE: "TS",
    Field.ACTION: "TS",
    Field.PUBLICATION_TYPE: "TS",
    Field.KEYWORD: "AK",
    Field.AUTHOR: "AU",
    Field.AFFILIATION: "AD",
    Field.JOURNAL: "SO",
    Field.LANGUAGE: "LA",
    Field.IDENTIFIER: "PMID",
}
_TYPES: Final = {"review": "Review", "letter": "Letter", "editorial": "Editorial Material", "news": "News Item"}
_OWN: Final = frozenset({Field.AUTHOR, Field.JOURNAL, Field.IDENTIFIER})


def _render_term(term: FieldTerm, changes: Changes) -> Piece | None:
    if years := term.years:
        note_years(term, changes)
        return Piece(f"{years[0] or 1900}-{years[1] or 2100}", "PY=({})")
    if term.field is Field.PUBLICATION_TYPE and (kind := _TYPES.get(term.bare.casefold())):
        return Piece(kind, "DT=({})")
    name = _FIELDS.get(term.field)
    if name is None:
        changes.add(LEFT_OUT, term)
        return None
    note_lost_field(term, changes, _OWN)
    if term.distance is not None:
        return Piece(f" NEAR/{term.distance} ".join(term.words), f"{name}=({{}})", is_group=True)
    return Piece(quote_words(term), f"{name}=({{}})")


WEB_OF_SCIENCE: Final = Platform("wos", "Web of Science", _render_term)
