"""Write strategies for Europe PMC."""

import re
from typing import Final

from paper_search.query.languages import parse_language, to_bibliographic_code
from paper_search.strategies.fields import Field
from paper_search.strategies.platforms.shared import note_lost_field, quote_words
from paper_search.strategies.rendering import LEFT_OUT, Changes, Piece, Platform
from paper_search.strategies.terms import FieldTerm

_FIELDS: Final = {
    Field.ALL: "",
    Field.TEXT_WORDS: "",
    Field.TITLE: "TITLE:",
    Field.ABSTRACT: "ABSTRACT:",
    Field.TITLE_ABSTRACT: "TITLE_ABS:",
    Field.MESH: "KW:",
    Field.MAJOR_TOPIC: "KW:",
    Field.SUBHEADING: "",
    Field.SUBSTANCE: "CHEM:",
    Field.ACTION: "",
    Field.KEYWORD: "KW:",
    Field.AUTHOR: "AUTH:",
    Field.AFFILIATION: "AFF:",
    Field.JOURNAL: "JOURNAL:",
    Field.PUBLICATION_TYPE: "PUB_TYPE:",
    Field.IDENTIFIER: "",
}
_OWN: Final = frozenset(_FIELDS) - {Field.SUBHEADING, Field.ACTION, Field.IDENTIFIER}


def _render_term(term: FieldTerm, changes: Changes) -> Piece | None:
    if term.field is Field.PUBLISHED and (dates := term.dates):
        first, last = (_complete_date(dates[0] or "1000", "-01-01"), _complete_date(dates[1] or "3000", "-12-31"))
        return Piece(f"FIRST_PDATE:[{first} TO {last}]")
    if term.field is Field.LANGUAGE and (language := parse_language(term.bare)):
        return Piece(f'LANG:"{to_bibliographic_code(language)}"')
    name = _FIELDS.get(term.field)
    if name is None:
        changes.add(LEFT_OUT, term)
        return None
    note_lost_field(term, changes, _OWN)
    if term.is_heading:
        changes.add("MeSH headings are searched as keywords, without narrower headings", term)
        return Piece(f'{name}"{term.heading[0].replace(chr(34), " ")}"')
    if term.distance is not None or ("*" in term.bare and len(term.words) > 1):
        changes.add("Words at a distance and truncated phrases are joined by AND", term)
        return Piece(" AND ".join(f"{name}{word}" for word in term.words), is_group=True)
    return Piece(f"{name}{quote_words(term)}")


def _complete_date(date: str, ending: str) -> str:
    parts = [part.zfill(2) for part in re.split(r"\D", date) if part]
    return "-".join(parts) + ending[3 * (len(parts) - 1) :]


EUROPE_PMC: Final = Platform("europepmc", "Europe PMC", _render_term)
