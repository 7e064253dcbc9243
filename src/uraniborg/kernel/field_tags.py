"""Field tags of query languages: `title:`, `[tiab]`, `.ti,ab.`, `TS=`. No source searches single fields yet.

The tag of a known field is dropped: its name is not searched as a word, and the words beside it are searched in all
fields.
"""

import re
from collections.abc import Iterator
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
DROPPED_FIELDS: Final = "Single fields are not searched: the names are dropped, and the words searched in all fields."
_IDENTIFIERS: Final = frozenset({"arxiv", "doi", "pmcid", "pmid"})
_LABEL_NAMES: Final = """
author authors date journal key keyword keywords lang language source subject text topic venue year
"""
_LABELS: Final = _IDENTIFIERS | frozenset(_LABEL_NAMES.split())
"""Names before a colon that plain words use, too: alone they do not make a text a query."""
_TAG: Final = re.compile(
    r'"[^"]*"?'
    r"|(?<![\w./:-])(?P<prefix>[A-Za-z][A-Za-z_-]{0,24}):(?=[\"(\w])"
    r"|(?<![\w./-])(?P<function>TITLE(?:-ABS(?:-KEY)?)?|ABS|KEY|AUTH|SRCTITLE)(?=\s?\()"
    r"|(?<![\w./-])(?P<assigned>[A-Z]{2})\s?=(?=\s?[\"(\w])"
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
    is_dropped: bool
    """Whether dropping the tag changes what is searched; an identifier is searched as itself."""


def find_field_tags(query: str) -> list[FieldTag]:
    """Return the field tags outside quoted phrases; the quotation marks must be straight."""
    return list(_iterate_tags(query))


def blank_known_tags(query: str) -> str:
    """Return the query, equally long, with spaces in place of the tags of known fields."""
    for tag in find_field_tags(query):
        if tag.is_known:
            query = f"{query[: tag.start]}{' ' * (tag.end - tag.start)}{query[tag.end :]}"
    return query


def _iterate_tags(query: str) -> Iterator[FieldTag]:
    for match in _TAG.finditer(query):
        kind = match.lastgroup
        if kind is None:
            continue
        names = [_fold_name(name) for name in match[kind].split(",")] if kind == "dotted" else [_fold_name(match[kind])]
        is_known = KNOWN_FIELDS.issuperset(names)
        # "risk:benefit" is a ratio, "x.ab." may be an abbreviation, and p=0 a value.
        if is_known or kind == "bracketed" or (kind == "prefix" and query[match.end()] in '("'):
            yield FieldTag(
                *match.span(),
                match[0].strip(),
                is_known=is_known,
                makes_a_query=is_known and not (kind == "prefix" and names[0] in _LABELS),
                is_dropped=is_known and not (kind == "prefix" and names[0] in _IDENTIFIERS),
            )


def _fold_name(name: str) -> str:
    """Return the name in lower case without qualifiers: "MeSH Terms:noexp" is mesh-terms."""
    return re.sub(r"[\s/_-]+", "-", name.partition(":")[0].strip().lower())
