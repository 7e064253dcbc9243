"""Write strategies for Web of Science and Europe PMC."""

import re
from typing import Final

from paper_search.domain.query.filters import parse_language, to_bibliographic_code
from paper_search.domain.strategies.platform_rendering import (
    LEFT_OUT,
    Changes,
    Platform,
    RenderedTerm,
    note_lost_field,
    note_years,
    quote_words,
)
from paper_search.domain.strategies.terms import Field, FieldTerm

_WEB_OF_SCIENCE_FIELDS: Final = {
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
_WEB_OF_SCIENCE_TYPES: Final = {
    "review": "Review",
    "letter": "Letter",
    "editorial": "Editorial Material",
    "news": "News Item",
}
_WEB_OF_SCIENCE_OWN_FIELDS: Final = frozenset({Field.AUTHOR, Field.JOURNAL, Field.IDENTIFIER})


def _render_web_of_science_term(term: FieldTerm, changes: Changes) -> RenderedTerm | None:
    if years := term.years:
        note_years(term, changes)
        return RenderedTerm(f"{years[0] or 1900}-{years[1] or 2100}", "PY=({})")
    if term.field is Field.PUBLICATION_TYPE and (kind := _WEB_OF_SCIENCE_TYPES.get(term.bare.casefold())):
        return RenderedTerm(kind, "DT=({})")
    name = _WEB_OF_SCIENCE_FIELDS.get(term.field)
    if name is None:
        changes.add(LEFT_OUT, term)
        return None
    note_lost_field(term, changes, _WEB_OF_SCIENCE_OWN_FIELDS)
    if term.distance is not None:
        return RenderedTerm(f" NEAR/{term.distance} ".join(term.words), f"{name}=({{}})", is_group=True)
    return RenderedTerm(quote_words(term), f"{name}=({{}})")


WEB_OF_SCIENCE: Final = Platform("wos", "Web of Science", _render_web_of_science_term)


_EUROPE_PMC_FIELDS: Final = {
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
_EUROPE_PMC_OWN_FIELDS: Final = frozenset(_EUROPE_PMC_FIELDS) - {Field.SUBHEADING, Field.ACTION, Field.IDENTIFIER}


def _render_europe_pmc_term(term: FieldTerm, changes: Changes) -> RenderedTerm | None:
    if term.field is Field.PUBLISHED and (dates := term.dates):
        first, last = (_complete_date(dates[0] or "1000", "-01-01"), _complete_date(dates[1] or "3000", "-12-31"))
        return RenderedTerm(f"FIRST_PDATE:[{first} TO {last}]")
    if term.field is Field.LANGUAGE and (language := parse_language(term.bare)):
        return RenderedTerm(f'LANG:"{to_bibliographic_code(language)}"')
    name = _EUROPE_PMC_FIELDS.get(term.field)
    if name is None:
        changes.add(LEFT_OUT, term)
        return None
    note_lost_field(term, changes, _EUROPE_PMC_OWN_FIELDS)
    if term.is_heading:
        changes.add("MeSH headings are searched as keywords, without narrower headings", term)
        return RenderedTerm(f'{name}"{term.heading[0].replace(chr(34), " ")}"')
    if term.distance is not None or ("*" in term.bare and len(term.words) > 1):
        changes.add("Words at a distance and truncated phrases are joined by AND", term)
        return RenderedTerm(" AND ".join(f"{name}{word}" for word in term.words), is_group=True)
    return RenderedTerm(f"{name}{quote_words(term)}")


def _complete_date(date: str, ending: str) -> str:
    parts = [part.zfill(2) for part in re.split(r"\D", date) if part]
    return "-".join(parts) + ending[3 * (len(parts) - 1) :]


EUROPE_PMC: Final = Platform("europepmc", "Europe PMC", _render_europe_pmc_term)
