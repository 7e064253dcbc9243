"""Write strategies for Embase (embase.com) and Scopus."""

from typing import Final

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

_EMBASE_SUFFIXES: Final = {
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
_EMBASE_TYPES: Final = frozenset(
    ["article", "book", "chapter", "editorial", "erratum", "letter", "note", "preprint", "review"]
)
"""The types of Embase that PubMed has, too; designs of studies are Emtree terms."""
_EMBASE_OWN_FIELDS: Final = frozenset(
    {Field.AUTHOR, Field.JOURNAL, Field.PUBLICATION_TYPE, Field.SUBHEADING, Field.MESH, Field.MAJOR_TOPIC}
)


def _render_embase_term(term: FieldTerm, changes: Changes) -> RenderedTerm | None:
    if years := term.years:
        note_years(term, changes)
        return RenderedTerm(f"[{years[0] or 1900}-{years[1] or 2100}]/py")
    if term.field is Field.LANGUAGE:
        return RenderedTerm(f"[{term.bare.lower()}]/lim")
    note_lost_field(term, changes, _EMBASE_OWN_FIELDS)
    if term.is_heading:
        return _render_embase_heading(term, changes)
    return _render_words(term, changes)


def _render_words(term: FieldTerm, changes: Changes) -> RenderedTerm | None:
    if term.field is Field.PUBLICATION_TYPE and term.bare.lower() not in _EMBASE_TYPES:
        changes.add("Publication types are written as Emtree terms; look each one up in Emtree", term)
        return RenderedTerm(f"'{term.bare.replace('-', ' ').lower()}'/exp")
    suffix = _EMBASE_SUFFIXES.get(term.field)
    if suffix is None:
        changes.add(LEFT_OUT, term)
        return None
    if term.distance is not None:
        return RenderedTerm(f" NEAR/{term.distance + 1} ".join(term.words), f"{{}}:{suffix}", is_group=True)
    return RenderedTerm(_quote_for_embase(term), f"{{}}:{suffix}")


def _render_embase_heading(term: FieldTerm, changes: Changes) -> RenderedTerm:
    changes.add("MeSH headings are written as Emtree terms; look each one up in Emtree", term)
    kind = "exp" if term.is_exploded else "de"
    focus = "/mj" if term.field is Field.MAJOR_TOPIC else ""
    name = term.natural_words.lower()
    sign = '"' if "'" in name else "'"
    return RenderedTerm(f"{sign}{name}{sign}/{kind}{focus}")


def _quote_for_embase(term: FieldTerm) -> str:
    return quote_words(term, '"' if "'" in term.bare else "'")


EMBASE: Final = Platform("embase", "Embase (embase.com)", _render_embase_term)


_SCOPUS_FIELDS: Final = {
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
_SCOPUS_TYPES: Final = {"review": "re", "letter": "le", "editorial": "ed", "note": "no"}
_SCOPUS_OWN_FIELDS: Final = frozenset({Field.AUTHOR, Field.JOURNAL, Field.IDENTIFIER, Field.MESH, Field.MAJOR_TOPIC})


def _render_scopus_term(term: FieldTerm, changes: Changes) -> RenderedTerm | None:
    if years := term.years:
        note_years(term, changes)
        bounds = [
            *([f"PUBYEAR > {years[0] - 1}"] if years[0] else []),
            *([f"PUBYEAR < {years[1] + 1}"] if years[1] else []),
        ]
        return RenderedTerm(" AND ".join(bounds), is_group=len(bounds) > 1) if bounds else None
    if term.field is Field.PUBLICATION_TYPE and (kind := _SCOPUS_TYPES.get(term.bare.casefold())):
        return RenderedTerm(kind, "DOCTYPE({})")
    name = _SCOPUS_FIELDS.get(term.field)
    if name is None:
        changes.add(LEFT_OUT, term)
        return None
    note_lost_field(term, changes, _SCOPUS_OWN_FIELDS)
    if term.is_heading:
        changes.add("MeSH headings are searched as index terms, without narrower headings", term)
        return RenderedTerm(f'"{term.heading[0].replace(chr(34), " ")}"', f"{name}({{}})")
    if term.distance is not None:
        return RenderedTerm(f" W/{term.distance} ".join(term.words), f"{name}({{}})", is_group=True)
    return RenderedTerm(quote_words(term), f"{name}({{}})")


SCOPUS: Final = Platform("scopus", "Scopus", _render_scopus_term, not_sign=" AND NOT ")
