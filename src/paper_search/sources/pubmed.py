"""PubMed: a search gives ids (esearch), the ids give records (efetch)."""

from collections.abc import Sequence

from paper_search.errors import SearchSourceError
from paper_search.lookups import Identifier
from paper_search.models import SearchConstraints, SearchQuery
from paper_search.query.boolean_query import parse_search_query
from paper_search.query.languages import parse_language, to_english_name
from paper_search.query.rendering import render_with_operators, render_within_limit
from paper_search.sources.interfaces import Page, Request, Response, SourceDefinition
from paper_search.sources.medline import medline_papers
from paper_search.sources.parsing import (
    batches,
    complaint,
    element_text,
    first_text,
    is_xml,
    items,
    json_object,
    json_or_none,
    mapping,
    number,
    refused,
    text,
    unreadable,
    xml_root,
)
from uraniborg.kernel.bibliography.identifiers import normalise_pmid

NAME = "pubmed"
_SEARCH = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi"
_FETCH = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi"
_MOST_IDS = 9_999
_BATCH = 100
_TERMS_AT_ONCE = 25
_FIELDS = {"doi": "doi", "pmcid": "pmcid"}
_MAX_QUERY_BYTES = 3_000
_ROOTS = (
    *("PubmedArticleSet", "PubmedBookArticleSet", "PubmedArticle", "PubmedBookArticle", "pmc-articleset", "article"),
    *("eSearchResult", "eFetchResult", "eInfoResult", "eLinkResult", "eSpellResult", "ePostResult", "eSummaryResult"),
)
_PASSING = ("rate limit", "backend", "timeout", "timed out", "temporarily", "unable to", "try again", "unavailable")


class PubMed:
    name = NAME
    capabilities = frozenset({"year", "language", "not"})

    def requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        term = render_within_limit(parse_search_query(query), render_with_operators, _MAX_QUERY_BYTES)
        if not term:
            return []
        if filters.year_from is not None or filters.year_to is not None:
            term += f" AND {filters.year_from or 1000}:{filters.year_to or 3000}[dp]"
        if language := parse_language(filters.language):
            term += f" AND {to_english_name(language)}[la]"
        return [_search(term, max(1, min(limit, _MOST_IDS)))]

    def lookups(self, identifiers: Sequence[Identifier]) -> list[Request]:
        pmids = [one.value for one in identifiers if one.scheme == "pmid"]
        terms = [f'"{one.value}"[{_FIELDS[one.scheme]}]' for one in identifiers if one.scheme in _FIELDS]
        return [
            *_fetches(pmids),
            *(_search(" OR ".join(batch), len(batch)) for batch in batches(terms, _TERMS_AT_ONCE)),
        ]

    def read(self, request: Request, response: Response, limit: int) -> Page:
        if is_xml(response):
            return _read_xml(response, limit)
        body = json_object(NAME, response)
        result = mapping(body.get("esearchresult"))
        if said := first_text(body.get("error"), body.get("ERROR"), result.get("ERROR")):
            raise _error(said)
        if "idlist" not in result:
            raise unreadable(NAME, "JSON without a list of ids")
        return _found_ids(items(result["idlist"]), number(result.get("count")), limit)

    def failure(self, response: Response) -> Exception | None:
        body = mapping(json_or_none(response))
        return refused(NAME, response, first_text(body.get("error"), body.get("message")))


definition: SourceDefinition = PubMed()


def _error(said: str) -> SearchSourceError:
    lowered = said.lower()
    passing = any(word in lowered for word in _PASSING)
    return complaint(NAME, said, passing=passing, rate_limited="rate limit" in lowered)


def _read_xml(response: Response, limit: int) -> Page:
    root = xml_root(NAME, response)
    if root.tag not in _ROOTS:
        raise unreadable(NAME, "a web page or XML that is none of PubMed's")
    if root.tag == "eSearchResult" and (ids := root.find("IdList")) is not None:
        return _found_ids([found.text for found in ids], number(element_text(root.find("Count"))), limit)
    if said := next((found for element in root.iter("ERROR") if (found := element_text(element))), ""):
        raise _error(said)
    return Page(medline_papers(root))


def _found_ids(ids: list[object], found: int | None, limit: int) -> Page:
    wanted = [pmid for item in ids if (pmid := normalise_pmid(text(item)))][:limit]
    return Page([], tuple(_fetches(wanted)), found)


def _search(term: str, size: int) -> Request:
    rest = (("retmode", "json"), ("retmax", str(size)), ("retstart", "0"), ("sort", "relevance"))
    return Request(NAME, _SEARCH, (("db", "pubmed"), ("term", term), *rest))


def _fetches(pmids: Sequence[str]) -> list[Request]:
    form = (("db", "pubmed"), ("retmode", "xml"))
    return [Request(NAME, _FETCH, form=(*form, ("id", ",".join(batch)))) for batch in batches(pmids, _BATCH)]
