"""One spelling for each identifier, so that the same paper is recognised wherever it was found.

Every `normalise_*` takes what sources and people write (bare, prefixed, as a link) and gives the one
canonical spelling, or None when the text is no such identifier. None of them raises.
"""

import re
from collections.abc import Callable, Mapping
from urllib.parse import unquote

_DOI = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/[^\s\x00]+")
_DOI_PREFIX = re.compile(
    r"(?:https?://)?(?:www\.|dx\.)?doi\.org/+(?:doi:)?|(?:info:|urn:)?doi\s*[:/]?\s*(?=10[.%])", re.IGNORECASE
)
_ARXIV_ID = re.compile(
    r"(?P<new>[0-9][0-9](?:0[1-9]|1[0-2])\.[0-9]{4,5})(?:v[0-9]+)?"
    r"|(?P<archive>[a-z][a-z-]*)(?:\.[a-z]{2})?/(?P<number>[0-9]{7})(?:v[0-9]+)?",
    re.IGNORECASE,
)
_ARXIV_PREFIX = re.compile(
    r"(?:(?:https?://)?(?:[a-z]+\.)?arxiv\.org/(?:abs|pdf|html|ps|format)/|arxiv\s*:\s*|10\.48550/arxiv\.)",
    re.IGNORECASE,
)
_PMID = re.compile(
    r"(?:pmid\s*:?\s*|(?:https?://)?(?:pubmed\.ncbi\.nlm\.nih\.gov|(?:www\.)?ncbi\.nlm\.nih\.gov/pubmed)/)?"
    r"0*(?P<id>[1-9][0-9]{0,8})/?",
    re.IGNORECASE,
)
_PMCID = re.compile(r"(?:\S*/|pmcid\s*:?\s*)?(?:pmc)?0*(?P<id>[1-9][0-9]{0,9})(?:\.[0-9]+)?/?", re.IGNORECASE)
_OPENALEX = re.compile(r"(?:https?://(?:api\.)?openalex\.org/(?:works/)?)?(?P<id>w[0-9]+)", re.IGNORECASE)
_S2 = re.compile(r"(?:https?://\S*/)?(?P<id>[0-9a-f]{40})", re.IGNORECASE)
_DBLP = re.compile(
    r"(?:dblp:|https?://dblp\.(?:uni-trier\.de|dagstuhl\.de|org)/rec/(?:(?:html|bibtex|bib|xml)/)?)?"
    r"(?P<id>[a-z]+/(?:[^/\s]+/)+[^/\s]+?)(?:\.(?:html|bib|xml|rdf|json))?",
    re.IGNORECASE,
)
_CLOSING = {")": "(", "]": "[", "}": "{", ">": "<"}
_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
# What publishers' sites put behind the DOI in the address of an article.
_PAGE_OF_ARTICLE = re.compile(
    r"(?:\.(?:pdf|html?|xml|full)|/(?:full|pdf|epdf|abstract|html|fulltext|meta|summary|pdfdirect))+$",
    re.IGNORECASE,
)


def normalise_doi(text: str | None) -> str | None:
    """The bare lower-case DOI: `https://doi.org/10.1000%2FABC.` gives `10.1000/abc`."""
    if not text:
        return None
    bare = text.strip()
    prefix = _DOI_PREFIX.match(bare)
    if prefix:
        bare = bare[prefix.end() :]
        if "/" in prefix.group():
            bare = re.split(r"[?#]", bare, maxsplit=1)[0]
    if prefix or "/" not in bare:
        bare = unquote(bare)
    match = _DOI.match(bare)
    return _tidy_doi(match.group()) if match else None


def doi_in_link(link: str | None) -> str | None:
    """The DOI that the address of an article carries somewhere in it, as many publishers' do."""
    if not link:
        return None
    if doi := normalise_doi(link):
        return doi
    for part in re.split(r"[?#&]", link):
        if match := _DOI.search(unquote(part)):
            return _tidy_doi(_PAGE_OF_ARTICLE.sub("", match.group()))
    return None


def _tidy_doi(raw: str) -> str | None:
    doi = raw.translate(_ASCII_LOWER)
    while doi:
        last = doi[-1]
        opening = _CLOSING.get(last)
        if last in ".,;:!?'\"’”*/" or (opening and doi.count(last) > doi.count(opening)):
            doi = doi[:-1]
        else:
            break
    if not _DOI.fullmatch(doi):
        return None
    arxiv = arxiv_of_doi(doi)
    return arxiv_doi(arxiv) if arxiv else doi


def normalise_arxiv(text: str | None) -> str | None:
    """The arXiv id without version or subject class: `math.GT/0309136v1` gives `math/0309136`."""
    if not text:
        return None
    bare = text.strip()
    if link := _DOI_PREFIX.match(bare):
        bare = unquote(bare[link.end() :])
        if not bare.startswith("10.48550/"):
            return None
    if prefix := _ARXIV_PREFIX.match(bare):
        bare = re.split(r"[?#]", bare[prefix.end() :], maxsplit=1)[0].removesuffix(".pdf")
    match = _ARXIV_ID.fullmatch(bare.rstrip("./ "))
    if not match:
        return None
    if new := match["new"]:
        return new
    return f"{match['archive'].lower()}/{match['number']}"


def arxiv_doi(arxiv_id: str) -> str:
    """The DOI that arXiv registered for one of its own papers."""
    return f"10.48550/arxiv.{arxiv_id}"


def arxiv_of_doi(doi: str) -> str | None:
    """The arXiv id behind a DOI that arXiv registered, else None."""
    return normalise_arxiv(doi) if doi.lower().startswith("10.48550/arxiv.") else None


def normalise_pmid(text: str | None) -> str | None:
    """The digits of a PubMed id."""
    return _found(_PMID, text)


def normalise_pmcid(text: str | None) -> str | None:
    """A PubMed Central id with its prefix and without its version: `pmc123.2` gives `PMC123`."""
    found = _found(_PMCID, text)
    return f"PMC{found}" if found else None


def normalise_openalex(text: str | None) -> str | None:
    """An OpenAlex work id: `https://openalex.org/w42` gives `W42`."""
    found = _found(_OPENALEX, text)
    return found.upper() if found else None


def normalise_s2(text: str | None) -> str | None:
    """A Semantic Scholar paper id, forty hexadecimal digits in lower case."""
    found = _found(_S2, text)
    return found.lower() if found else None


def normalise_dblp(text: str | None) -> str | None:
    """A DBLP key such as `conf/nips/VaswaniSPUJGKP17`; its case means something and is kept."""
    return _found(_DBLP, text)


def normalise_scholar(text: str | None) -> str | None:
    """A Google Scholar result id, which has no form to check beyond being one word."""
    bare = (text or "").strip()
    return bare if bare and not re.search(r"\s", bare) else None


def _found(pattern: re.Pattern[str], text: str | None) -> str | None:
    match = pattern.fullmatch(text.strip()) if text else None
    return match["id"] if match else None


_NORMALISERS: dict[str, Callable[[str | None], str | None]] = {
    "doi": normalise_doi,
    "arxiv": normalise_arxiv,
    "pmid": normalise_pmid,
    "pmcid": normalise_pmcid,
    "openalex": normalise_openalex,
    "s2": normalise_s2,
    "dblp": normalise_dblp,
    "scholar": normalise_scholar,
}
SCHEMES = tuple(_NORMALISERS)
"""The identifier schemes a paper can carry, the most telling first."""


def normalise_identifiers(identifiers: Mapping[str, object]) -> dict[str, str]:
    """Every identifier of a known scheme in its canonical spelling, in the order of `SCHEMES`.

    What is no valid identifier of its scheme is left out; a DOI that arXiv registered gives the arXiv id too.
    """
    known: dict[str, str] = {}
    for scheme, normalise in _NORMALISERS.items():
        value = identifiers.get(scheme)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str) and (found := normalise(value)):
            known[scheme] = found
    if "arxiv" not in known and (arxiv := arxiv_of_doi(known.get("doi", ""))):
        known["arxiv"] = arxiv
    return {scheme: known[scheme] for scheme in SCHEMES if scheme in known}
