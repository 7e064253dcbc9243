"""Fetch the works that a query of identifiers names (DOI, arXiv id, PMID, PMCID).

A text that consists of identifiers asks for exactly these works. The text of a `SearchQuery` is enough to know it, so a
strategy that a person edits works the same way.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paper_search.models import SearchQuery, Work
from uraniborg.kernel.bibliography.identifiers import (
    doi_to_arxiv,
    normalise_arxiv,
    normalise_doi,
    normalise_pmcid,
    normalise_pmid,
)

MOST_IDENTIFIERS = 200
_LONGEST = 10_000
_ARXIV_ID = r"(?:[0-9]{4}\.[0-9]{4,5}|[a-z-]{2,12}(?:\.[a-z]{2})?/[0-9]{7})(?:v[0-9]{1,3})?"
_IDENTIFIER = re.compile(
    rf"(?<![A-Za-z0-9_./-])(?:(?P<arxiv>(?:(?:https?://)?(?:[a-z]+\.)?arxiv\.org/(?:abs|pdf|html)/|arxiv\s*:?\s*)?{_ARXIV_ID}(?:\.pdf)?)"
    r"(?![\w/])"
    r"|(?P<doi>(?:(?:https?://)?(?:dx\.)?doi\.org/|doi\s*[:=]?\s*)?10\.[0-9]{4,9}(?:\.[0-9]+)*/[^\s\"\u3000-\u9fff]+)"
    r"|(?:(?:https?://)?(?:pubmed\.ncbi\.nlm\.nih\.gov|(?:www\.)?ncbi\.nlm\.nih\.gov/pubmed)/|pmids?\s*[:=]?\s*)"
    r"(?P<pmids>[0-9]{1,9}(?:[\s,;]+(?:and\s+)?[0-9]{1,9}(?![\w./]))*)/?"
    r"|(?:https?://\S{1,80}?/|pmcid\s*[:=]?\s*)?(?P<pmcid>pmc[0-9]{1,10})/?(?!\w)"
    r"|(?P<bare>[0-9]{7,8})(?![\w./-]))",
    re.IGNORECASE,
)
_SPLIT_DOI = re.compile(r"(?<![\w.])(10\.[0-9]{4,9}(?:\.[0-9]+)*)(?:\s+/\s*|/\s+)(?=\w)")
_LIST_SIGN = re.compile(r"[,;](?=\s*(?:10\.[0-9]{4}|doi\b|arxiv\b|pmids?\b|pmc[0-9]|https?:))", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
_COURTESY_WORDS = """
please kindly can could you find fetch get give show look up download read retrieve open me us i need want would like
the a an this these those following paper papers article articles work works publication publications preprint
preprints reference references record records with by for of and or number numbers id ids identifier identifiers doi
dois arxiv pmid pmids pmcid pmcids list thanks thank bitte und et y e merci gracias
"""
_COURTESY = frozenset(_COURTESY_WORDS.split())
_ARXIV_CLASS = re.compile(r"\[[a-z-]+(?:\.[a-z-]{2,})?\]", re.IGNORECASE)
_LINKS = (
    r"\b(?:citing|cites?|cited\s+(?:by|in)|citations?\s+(?:of|to|for|from|in)|references?\s+(?:of|in|from|to|cited\s+(?:by|in))"
    r"|reference\s+lists?\s+(?:of|in|from)|bibliograph(?:y|ies)\s+(?:of|in|from)|(?:similar|related|close|comparable)\s+to"
    r"|(?:papers?|articles?|works?|studies|more|others?|(?:some|any)thing)\s+like|follow(?:ing|s)?[\s-]up(?:s|\s+(?:of|on|to))?|(?:building|based)\s+(?:up)?on|builds?\s+(?:up)?on"
    r"|zitier(?:en|t|ende)|cit(?:ant|ent|an|am|ando)|similares\s+a|similaires\s+à|ähnlich(?:\s+wie)?)"
)
_LINKED = re.compile(
    rf"(?P<link>{_LINKS})(?:\s+(?:the|this|that|a|paper|article|work|preprint|publication|study|with|doi|pmid|arxiv|id|in|of|to"
    r"|den|die|das|el|la|le|artikel|artículo|artigo))*[\s:“\"(]*$"
    r"|(?P<cjk>引用(?:了|する|している)?|类似)[\s:“\"(]*$",
    re.IGNORECASE,
)
_LINKED_AFTER = re.compile(
    r"[\s)”\"]*(?:['’]s\s+)?(?P<link>references|citations|citing\s+(?:papers|works|articles)|bibliography|reference\s+list"
    r"|cites|is\s+cited|(?:を|の)?引用)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Identifier:
    """The identifier of a work in one scheme: doi, arxiv, pmid or pmcid."""

    scheme: str
    value: str

    def __str__(self) -> str:
        return {"arxiv": "arXiv:", "pmid": "PMID:"}.get(self.scheme, "") + self.value


def read_identifiers(text: str) -> list[Identifier]:
    """Return the identifiers that a text consists of, each once; [] if the text contains anything else."""
    text = _SPLIT_DOI.sub(r"\1/", text[:_LONGEST].replace("\u2010", "-").replace("\u2011", "-"))
    text = _LIST_SIGN.sub(" ", text)
    matches = list(_IDENTIFIER.finditer(text))
    rest = _ARXIV_CLASS.sub(" ", _IDENTIFIER.sub(" ", text)) if matches else text
    if not matches or not all(word.casefold() in _COURTESY or word.isdigit() for word in _WORD.findall(rest)):
        return []
    if any(word.isdigit() and len(word) > 2 for word in _WORD.findall(rest)):
        return []
    found = [_read_match(match) for match in matches]
    return list(dict.fromkeys(one for names in found for one in names))[:MOST_IDENTIFIERS] if all(found) else []


def find_citation_request(text: str) -> str | None:
    """Return the part of a text that asks for citations, references or relatives of an identified work, else None."""
    for match in _IDENTIFIER.finditer(text[:_LONGEST]):
        if match["bare"]:
            continue
        if before := _LINKED.search(text, max(0, match.start() - 120), match.start()):
            return " ".join(text[before.start() : match.end()].split())
        if after := _LINKED_AFTER.match(text, match.end()):
            return " ".join(text[match.start() : after.end()].split())
    return None


def make_lookup_query(identifiers: Sequence[Identifier]) -> SearchQuery:
    """Return the query that asks for exactly these works."""
    names = [str(identifier) for identifier in identifiers]
    return SearchQuery(keywords=names, boolean_query=" OR ".join(f'"{name}"' for name in names))


def find_matching_identifiers(work: Work, identifiers: Iterable[Identifier]) -> list[Identifier]:
    held = {(scheme.removeprefix("preprint_"), value.casefold()) for scheme, value in work.identifiers.items()}
    dois = [value for scheme, value in held if scheme == "doi"] + ([work.doi.casefold()] if work.doi else [])
    held |= {("doi", doi) for doi in dois} | {("arxiv", arxiv) for doi in dois if (arxiv := doi_to_arxiv(doi))}
    return [identifier for identifier in identifiers if (identifier.scheme, identifier.value.casefold()) in held]


def describe_missing_works(identifiers: Sequence[Identifier], works: Iterable[Work]) -> list[str]:
    found = {identifier for work in works for identifier in find_matching_identifiers(work, identifiers)}
    missing = [str(identifier) for identifier in identifiers if identifier not in found]
    return [f"Not found, since no source returned it: {name}." for name in missing]


def _read_match(match: re.Match[str]) -> list[Identifier]:
    """Return the identifiers of a match, in their one spelling."""
    if written := match["pmids"] or match["bare"]:
        numbers = [normalise_pmid(number) for number in re.findall(r"[0-9]+", written)]
        return [Identifier("pmid", number) for number in numbers if number]
    if match["pmcid"]:
        return [Identifier("pmcid", pmcid)] if (pmcid := normalise_pmcid(match["pmcid"])) else []
    if match["arxiv"]:
        number = re.search(_ARXIV_ID, match["arxiv"], re.IGNORECASE)
        arxiv = normalise_arxiv(number[0]) if number else None
        return [Identifier("arxiv", arxiv)] if arxiv else []
    doi = normalise_doi(match["doi"])
    if doi is None:
        return []
    return [Identifier("arxiv", arxiv)] if (arxiv := doi_to_arxiv(doi)) else [Identifier("doi", doi)]
