"""Write strategies for Scopus."""

from typing import Final

from paper_search.strategies.fields import Field
from paper_search.strategies.platforms.shared import note_lost_field, note_years, quote_words
from paper_search.strategies.rendering import LEFT_OUT, Changes, Piece, Platform
from paper_search.strategies.terms import FieldTerm

_FIELDS: Final = {
    Field.ALL: "ALL",
    Field.TITLE: "TITLE",
    Field.ABSTRACT: "ABS",
    Field.TITLE_ABSTRACT: "TITLE-ABS-KEY",
    Field.TEXT_WORDS: "TITLE-ABS-KEY",
    Field.MESH: "INDEXTERMS",
    Field.MAJOR_TOPIC: "INDEXTERMS",
    Field.SUBHEADING: "TITLE-ABS-KEY",
    Field.SUBSTANCE: "TITLE-ABS-KEY",
    Field.ACTION: "TITLE-ABS-KEY",
    Field.PUBLICATION_TYPE: "TITLE-ABS-KEY",
    Field.KEYWORD: "AUTHKEY",
    Field.AUTHOR: "AUTH",
    Field.AFFILIATION: "AFFIL",
    Field.JOURNAL: "SRCTITLE",
    Field.LANGUAGE: "LANGUAGE",
    Field.IDENTIFIER: "PMID",
}
_TYPES: Final = {"review": "re", "letter": "le", "editorial": "ed", "note": "no"}
_OWN: Final = frozenset({Field.AUTHOR, Field.JOURNAL, Field.IDENTIFIER, Field.MESH, Field.MAJOR_TOPIC})


def _render_term(term: FieldTerm, changes: Changes) -> Piece | None:
    if years := term.years:
        note_years(term, changes)
        bounds = [
            *([f"PUBYEAR > {years[0] - 1}"] if years[0] else []),
            *([f"PUBYEAR < {years[1] + 1}"] if years[1] else []),
        ]
        return Piece(" AND ".join(bounds), is_group=len(bounds) > 1) if bounds else None
    if term.field is Field.PUBLICATION_TYPE and (kind := _TYPES.get(term.bare.casefold())):
        return Piece(kind, "DOCTYPE({})")
    name = _FIELDS.get(term.field)
    if name is None:
        changes.add(LEFT_OUT, term)
        return None
    note_lost_field(term, changes, _OWN)
    if term.is_heading:
        changes.add("MeSH headings are searched as index terms, without narrower headings", term)
        return Piece(f'"{term.heading[0].replace(chr(34), " ")}"', f"{name}({{}})")
    if term.distance is not None:
        return Piece(f" W/{term.distance} ".join(term.words), f"{name}({{}})", is_group=True)
    return Piece(quote_words(term), f"{name}({{}})")


SCOPUS: Final = Platform("scopus", "Scopus", _render_term, not_sign=" AND NOT ")
