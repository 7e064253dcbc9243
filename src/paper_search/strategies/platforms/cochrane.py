"""Write strategies for the Cochrane Library (CENTRAL)."""

from typing import Final

from paper_search.strategies.fields import Field
from paper_search.strategies.platforms.shared import note_lost_field, quote_words
from paper_search.strategies.rendering import LEFT_OUT, NO_FIELD, Changes, Piece, Platform
from paper_search.strategies.subheadings import find_subheading_code
from paper_search.strategies.terms import FieldTerm

_SUFFIXES: Final = {
    Field.ALL: "",
    Field.TITLE: ":ti",
    Field.ABSTRACT: ":ab",
    Field.TITLE_ABSTRACT: ":ti,ab,kw",
    Field.TEXT_WORDS: ":ti,ab,kw",
    Field.KEYWORD: ":kw",
    Field.AUTHOR: ":au",
    Field.JOURNAL: ":so",
    Field.PUBLICATION_TYPE: ":pt",
    Field.SUBHEADING: ":ti,ab,kw",
    Field.SUBSTANCE: ":ti,ab,kw",
    Field.ACTION: ":ti,ab,kw",
    Field.IDENTIFIER: "",
}
_OWN: Final = frozenset(
    {Field.AUTHOR, Field.JOURNAL, Field.PUBLICATION_TYPE, Field.SUBHEADING, Field.MESH, Field.MAJOR_TOPIC}
)


def _render_term(term: FieldTerm, changes: Changes) -> Piece | None:
    if term.is_heading and "*" not in term.bare:
        return _render_heading(term, changes)
    if term.field is Field.SUBHEADING and (code := find_subheading_code(term.bare)):
        return Piece(f"[mh /{code.upper()}]")
    suffix = ":kw" if term.is_heading else _SUFFIXES.get(term.field)
    if suffix is None:
        changes.add(LEFT_OUT, term)
        return None
    if term.field is Field.SUBHEADING:
        changes.add(NO_FIELD[Field.SUBHEADING], term)
    note_lost_field(term, changes, _OWN)
    if term.distance is not None:
        return Piece(f" NEAR/{term.distance + 1} ".join(term.words), f"{{}}{suffix}", is_group=True)
    if "*" in term.bare and len(term.words) > 1:  # no truncation inside quotation marks
        return Piece(" NEXT ".join(term.words), f"{{}}{suffix}", is_group=True)
    return Piece(quote_words(term), f"{{}}{suffix}")


def _render_heading(term: FieldTerm, changes: Changes) -> Piece:
    name, subheading = term.heading
    code = find_subheading_code(subheading) if subheading else ""
    if code is None:
        changes.add("Unknown subheadings are left out", term)
    explode = "" if term.is_exploded else "^"
    focus = "[mj]" if term.field is Field.MAJOR_TOPIC else ""
    return Piece(f'[mh {explode}"{name}"{f"/{code.upper()}" if code else ""}{focus}]')


COCHRANE: Final = Platform("cochrane", "Cochrane Library (CENTRAL)", _render_term)
