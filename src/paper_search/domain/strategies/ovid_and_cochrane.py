"""Write strategies for Ovid MEDLINE and the Cochrane Library, which have the headings and subheadings of MeSH."""

import re
from typing import Final

from paper_search.domain.strategies.platform_rendering import (
    LEFT_OUT,
    NO_FIELD,
    Changes,
    Platform,
    RenderedTerm,
    note_lost_field,
    quote_words,
)
from paper_search.domain.strategies.terms import Field, FieldTerm

_CODES: Final = """
abnormalities ab|administration & dosage ad|adverse effects ae|agonists ag|analogs & derivatives aa|analysis an
anatomy & histology ah|antagonists & inhibitors ai|biosynthesis bi|blood bl|blood supply bs|cerebrospinal fluid cf
chemical synthesis cs|chemically induced ci|chemistry ch|classification cl|complications co|congenital cn|cytology cy
deficiency df|diagnosis di|diagnostic imaging dg|diet therapy dh|drug effects de|drug therapy dt|economics ec
education ed|embryology em|enzymology en|epidemiology ep|ethics es|ethnology eh|etiology et|genetics ge
growth & development gd|history hi|immunology im|injuries in|innervation ir|instrumentation is
isolation & purification ip|legislation & jurisprudence lj|metabolism me|methods mt|microbiology mi|mortality mo
nursing nu|organization & administration og|parasitology ps|pathogenicity py|pathology pa|pharmacokinetics pk
pharmacology pd|physiology ph|physiopathology pp|poisoning po|prevention & control pc|psychology px|radiation effects re
radiotherapy rt|rehabilitation rh|secondary sc|secretion se|standards st|statistics & numerical data sn
supply & distribution sd|surgery su|therapeutic use tu|therapy th|toxicity to|transmission tm|transplantation tr
trends td|ultrastructure ul|urine ur|veterinary ve|virology vi
"""
_BY_NAME: Final = {
    name: code for entry in _CODES.replace("\n", "|").split("|") if entry for name, _, code in [entry.rpartition(" ")]
}


def find_subheading_code(name: str) -> str | None:
    """Return the two letters of a subheading, written in full or as letters, or None for an unknown one."""
    folded = " ".join(name.casefold().replace(" and ", " & ").split())
    return folded if folded in _BY_NAME.values() else _BY_NAME.get(folded)


_OVID_SUFFIXES: Final = {
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


def _render_ovid_term(term: FieldTerm, changes: Changes) -> RenderedTerm | None:
    if term.is_heading and "*" not in term.bare:
        return _render_ovid_heading(term, changes)
    if term.years:
        return _render_years(term, changes)
    if term.field is Field.SUBHEADING and (code := find_subheading_code(term.bare)):
        return RenderedTerm(code, "{}.fs.")
    suffix = "hw" if term.is_heading else _OVID_SUFFIXES.get(term.field)
    if suffix is None:
        changes.add(LEFT_OUT, term)
        return None
    if term.field in {Field.ACTION, Field.IDENTIFIER, Field.SUBHEADING}:
        changes.add(NO_FIELD[term.field], term)
    if term.distance is not None:
        return RenderedTerm(f" adj{term.distance + 1} ".join(term.words), f"{{}}.{suffix}.", is_group=True)
    text = f"{term.bare.rstrip('.')}*" if term.field is Field.AUTHOR and not term.is_quoted else term.bare
    return RenderedTerm(_quote_for_ovid(text.replace("**", "*")), f"{{}}.{suffix}.")


def _render_ovid_heading(term: FieldTerm, changes: Changes) -> RenderedTerm:
    name, subheading = term.heading
    code = find_subheading_code(subheading) if subheading else ""
    if code is None:
        changes.add("Unknown subheadings are left out", term)
    focus = "*" if term.field is Field.MAJOR_TOPIC else ""
    heading = f'"{name}"' if re.search(r"\b(?:and|or|not)\b|[()]", name, re.IGNORECASE) else name
    return RenderedTerm(f"{'exp ' if term.is_exploded else ''}{focus}{heading}/{code or ''}")


def _render_years(term: FieldTerm, changes: Changes) -> RenderedTerm:
    first, last = term.years or (None, None)
    if any(len(date) > 4 for date in term.dates or ()):
        changes.add("Only the years of dates are kept", term)
    return RenderedTerm(f"{first or 1000}:{last or 3000}.(sa_year).")


def _quote_for_ovid(text: str) -> str:
    return f'"{text}"' if _NEEDS_QUOTES.search(text) else text


OVID: Final = Platform("ovid", "Ovid MEDLINE", _render_ovid_term, " and ", " or ", " not ")


_COCHRANE_SUFFIXES: Final = {
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
_COCHRANE_OWN_FIELDS: Final = frozenset(
    {Field.AUTHOR, Field.JOURNAL, Field.PUBLICATION_TYPE, Field.SUBHEADING, Field.MESH, Field.MAJOR_TOPIC}
)


def _render_cochrane_term(term: FieldTerm, changes: Changes) -> RenderedTerm | None:
    if term.is_heading and "*" not in term.bare:
        return _render_cochrane_heading(term, changes)
    if term.field is Field.SUBHEADING and (code := find_subheading_code(term.bare)):
        return RenderedTerm(f"[mh /{code.upper()}]")
    suffix = ":kw" if term.is_heading else _COCHRANE_SUFFIXES.get(term.field)
    if suffix is None:
        changes.add(LEFT_OUT, term)
        return None
    if term.field is Field.SUBHEADING:
        changes.add(NO_FIELD[Field.SUBHEADING], term)
    note_lost_field(term, changes, _COCHRANE_OWN_FIELDS)
    if term.distance is not None:
        return RenderedTerm(f" NEAR/{term.distance + 1} ".join(term.words), f"{{}}{suffix}", is_group=True)
    if "*" in term.bare and len(term.words) > 1:  # no truncation inside quotation marks
        return RenderedTerm(" NEXT ".join(term.words), f"{{}}{suffix}", is_group=True)
    return RenderedTerm(quote_words(term), f"{{}}{suffix}")


def _render_cochrane_heading(term: FieldTerm, changes: Changes) -> RenderedTerm:
    name, subheading = term.heading
    code = find_subheading_code(subheading) if subheading else ""
    if code is None:
        changes.add("Unknown subheadings are left out", term)
    explode = "" if term.is_exploded else "^"
    focus = "[mj]" if term.field is Field.MAJOR_TOPIC else ""
    return RenderedTerm(f'[mh {explode}"{name}"{f"/{code.upper()}" if code else ""}{focus}]')


COCHRANE: Final = Platform("cochrane", "Cochrane Library (CENTRAL)", _render_cochrane_term)
