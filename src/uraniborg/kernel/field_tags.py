"""Field tags of query languages: `title:`, `[tiab]`, `.ti,ab.`, `TS=`.

The tag of a known field is not searched as a word. Paper searches read the tags of PubMed; every other tag is dropped,
and the words beside it are searched in all fields.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_NAMES: Final = """
ab abs abstract ad affiliation affl ak all all-fields all-metadata arxiv au aut auth author author-name authors cat ci
date date-publication doi dp edat fau filter hw is issn jn jnl jo jour journal key keyword keywords kf kw la lang
language lastauthor ls majr mesh mesh-heading mesh-major-topic mesh-subheading mesh-terms mh mj mp nm ot other-term pdat
pmcid pmid pt ptyp publication-date publication-type publication-year pubyear py rn sb sh so source src srctitle subject
subset supplementary-concept ta text text-word text-words ti ti-ab tiab title title-abs title-abs-key title-abstract
topic ts tw uid venue year yr
"""
KNOWN_FIELDS: Final = frozenset(_NAMES.split())
"""Fields of PubMed, Europe PMC, Ovid, Scopus, Web of Science and arXiv, with hyphens for spaces and slashes."""
_BRACKETED_NAMES: Final = """
1au aid all-field article-identifier auid author-corporate author-first author-full author-identifier author-last book
cn cois completion-date conflict-of-interest-statements corporate-author crdt create-date date-completion date-create
date-created date-entry date-last-revised date-mesh date-modification date-of-publication dcom ec-rn-number ed editor
electronic-publication-date entrez-date entry-date epdat fir first-author full-author-name gr grant-number
grants-and-funding investigator investigator-full ip ir isbn issue jid journal-title last-author lastau lid
location-id lr major-topic mesh-date mesh-headings mesh-major-topics mesh-subheadings mesh-term mhda modification-date
nlm-unique-id other-terms own owner pa pagination personal-name-as-subject pg pharmacological-action
pharmacological-actions pid pl place-of-publication pmc ppdat print-publication-date ps publication-types publisher
publisher-id pubn registry-number secondary-source secondary-source-id si stat status subheading subheadings
substance-name supplementary-concepts textword transliterated-title tt vi volume
"""
BRACKETED_FIELDS: Final = KNOWN_FIELDS | frozenset(_BRACKETED_NAMES.split())
"""Also the fields that only PubMed has: plain words use many of their names, so they count in square brackets only."""
_IDENTIFIERS: Final = frozenset({"arxiv", "doi", "pmcid", "pmid"})
_LABEL_NAMES: Final = """
author authors date journal key keyword keywords lang language source subject text topic venue year
"""
_LABELS: Final = _IDENTIFIERS | frozenset(_LABEL_NAMES.split())
"""Names before a colon that plain words use, too: alone they do not make a text a query."""
_TAG: Final = re.compile(
    r'"[^"]*"?'
    r"|(?<![\w./:-])(?P<prefix>[A-Za-z][A-Za-z_-]{0,24}):(?=[\"(\w])"
    r"|(?<![\w./-])(?P<function>TITLE(?:-ABS(?:-KEY)?)?|ABS|KEY|AUTH|SRCTITLE|ALL(?=\())(?=\s?\()"
    r"|(?<![\w./-])(?P<assigned>[A-Z]{2}|ALL)\s?=(?=\s?[\"(\w])"
    r"|(?<=[\w\")*])\.(?P<dotted>[a-z]{2}(?:,[a-z]{2}){0,9})\.(?=[\s)]|$)"
    r"|\[(?P<bracketed>[^\[\]\"()\n]{1,60})\](?![\w(])"
)


@dataclass(frozen=True, slots=True)
class FieldTag:
    """A field tag of a query, from `start` to before `end`."""

    start: int
    end: int
    text: str
    is_known: bool
    makes_a_query: bool
    """Whether a text with this tag is a query: plain words do not have such tags."""
    is_bracketed: bool
    """Whether the tag is written as in PubMed, `[tiab]`."""
    is_dropped: bool
    """Whether dropping the tag changes what is searched; an identifier is searched as itself."""


def find_field_tags(query: str) -> list[FieldTag]:
    """Return the field tags outside quoted phrases; the quotation marks must be straight."""
    return list(_iterate_tags(query))


def blank_known_tags(query: str) -> str:
    """Return the query, equally long, with spaces in place of the tags of known fields."""
    return blank_tags(query, [tag for tag in find_field_tags(query) if tag.is_known])


def blank_tags(query: str, tags: Iterable[FieldTag], sign: str = " ") -> str:
    """Return the query, equally long, with signs in place of the tags, which are in the order of their positions."""
    pieces: list[str] = []
    end = 0
    for tag in tags:
        pieces += [query[end : tag.start], sign * (tag.end - tag.start)]
        end = tag.end
    return "".join([*pieces, query[end:]])


def _iterate_tags(query: str) -> Iterator[FieldTag]:
    for match in _TAG.finditer(query):
        kind = match.lastgroup
        if kind is None:
            continue
        names = [fold_field_name(name) for name in (match[kind].split(",") if kind == "dotted" else [match[kind]])]
        is_known = (BRACKETED_FIELDS if kind == "bracketed" else KNOWN_FIELDS).issuperset(names)
        # "risk:benefit" is a ratio, "x.ab." may be an abbreviation, and p=0 a value.
        if is_known or kind == "bracketed" or (kind == "prefix" and query[match.end()] in '("'):
            yield FieldTag(
                *match.span(),
                match[0].strip(),
                is_known=is_known,
                makes_a_query=is_known and not (kind == "prefix" and names[0] in _LABELS),
                is_bracketed=kind == "bracketed",
                is_dropped=is_known and not (kind == "prefix" and names[0] in _IDENTIFIERS),
            )


def fold_field_name(name: str) -> str:
    """Return the name in lower case without qualifiers: "MeSH Terms:noexp" is mesh-terms."""
    return re.sub(r"[\s/_-]+", "-", name.partition(":")[0].strip().lower())
