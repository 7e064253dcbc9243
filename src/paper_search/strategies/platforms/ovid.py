"""Write strategies for Ovid MEDLINE."""

import re
from typing import Final

from paper_search.strategies.fields import Field
from paper_search.strategies.rendering import LEFT_OUT, NO_FIELD, Changes, Piece, Platform
from paper_search.strategies.subheadings import find_subheading_code
from paper_search.strategies.terms import FieldTerm

_SUFFIXES: Final = {
    Field.ALL: "mp",
    Field.TITLE: "ti",
    Field.ABSTRACT: "ab",
    Field.TITLE_ABSTRACT: "ti,ab,kf",
    Field.TEXT_WORDS: "mp",
    Field.KEYWORD: "kf",
    Field.AUTHOR: "au",
    Field.AFFILIATION: "in",
    Field.JOURNAL: "jn",
    Field.PUBLICATION_TYPE: "pt",
    Field.SUBSTANCE: "nm",
    Field.LANGUAGE: "lg",
    Field.IDENTIFIER: "af",
    Field.ACTION: "mp",
    Field.SUBHEADING: "mp",
}
_NEEDS_QUOTES: Final = re.compile(r"\b(?:and|or|not|adj\d*)\b|[^\w\s*?'’-]", re.IGNORECASE)


def _render_term(term: FieldTerm, changes: Changes) -> Piece | None:
    if term.is_heading and "*" not in term.bare:
        return _render_heading(term, changes)
    if term.years:
        return _render_years(term, changes)
    if term.field is Field.SUBHEADING and (code := find_subheading_code(term.bare)):
        return Piece(code, "{}.fs.")
    suffix = "hw" if term.is_heading else _SUFFIXES.get(term.field)
    if suffix is None:
        changes.add(LEFT_OUT, term)
        return None
    if term.field in {Field.ACTION, Field.IDENTIFIER, Field.SUBHEADING}:
        changes.add(NO_FIELD[term.field], term)
    if term.distance is not None:
        return Piece(f" adj{term.distance + 1} ".join(term.words), f"{{}}.{suffix}.", is_group=True)
    text = f"{term.bare.rstrip('.')}*" if term.field is Field.AUTHOR and not term.is_quoted else term.bare
    return Piece(_quote(text.replace("**", "*")), f"{{}}.{suffix}.")


def _render_heading(term: FieldTerm, changes: Changes) -> Piece:
    name, subheading = term.heading
    code = find_subheading_code(subheading) if subheading else ""
    if code is None:
        changes.add("Unknown subheadings are left out", term)
    focus = "*" if term.field is Field.MAJOR_TOPIC else ""
    heading = f'"{name}"' if re.search(r"\b(?:and|or|not)\b|[()]", name, re.IGNORECASE) else name
    return Piece(f"{'exp ' if term.is_exploded else ''}{focus}{heading}/{code or ''}")


def _render_years(term: FieldTerm, changes: Changes) -> Piece:
    first, last = term.years or (None, None)
    if any(len(date) > 4 for date in term.dates or ()):
        changes.add("Only the years of dates are kept", term)
    return Piece(f"{first or 1000}:{last or 3000}.(sa_year).")


def _quote(text: str) -> str:
    return f'"{text}"' if _NEEDS_QUOTES.search(text) else text


OVID: Final = Platform("ovid", "Ovid MEDLINE", _render_term, " and ", " or ", " not ")
