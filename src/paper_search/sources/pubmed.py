"""The source PubMed: a search returns ids (esearch), and the ids return records (efetch)."""

from collections.abc import Sequence

from paper_search.errors import SearchSourceError
from paper_search.identifier_queries import Identifier
from paper_search.models import SearchConstraints, SearchQuery, SourceKind
from paper_search.query.filters import has_year_limit
from paper_search.query.languages import parse_language, to_english_name
from paper_search.sources.interfaces import Page, Request, Response, SourceDefinition
from paper_search.sources.medline_xml import read_medline_papers
from paper_search.sources.record_fields import (
    clean_text,
    ensure_list,
    get_element_text,
    get_first_text,
    get_object_or_empty,
    parse_count,
)
from paper_search.sources.response_bodies import (
    build_request_for_length,
    get_params,
    is_xml_or_html,
    limit_page_size,
    make_refusal_error_from_json,
    make_source_error,
    make_unreadable_error,
    parse_json_object,
    parse_xml,
    replace_params,
    select_values_of_scheme,
    split_batches,
)
from paper_search.strategies.source_queries import render_own_syntax_within_limit
from paper_search.strategies.translation import render_for_pubmed
from uraniborg.kernel.bibliography.identifiers import normalise_pmid

NAME = "pubmed"
_SEARCH = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi"
_FETCH = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi"
_MOST_IDS = 9_999
_BATCH = 100
_TERMS_AT_ONCE = 25
_FIELDS = {"doi": "doi", "pmcid": "pmcid"}
_MAX_QUERY_BYTES = 60_000
_MAX_ADDRESS_BYTES = 3_000
_ROOTS = (
    *("PubmedArticleSet", "PubmedBookArticleSet", "PubmedArticle", "PubmedBookArticle", "pmc-articleset", "article"),
    *("eSearchResult", "eFetchResult", "eInfoResult", "eLinkResult", "eSpellResult", "ePostResult", "eSummaryResult"),
)
_RETRYABLE = ("rate limit", "backend", "timeout", "timed out", "temporarily", "unable to", "try again", "unavailable")


class PubMed:
    """The definition of PubMed."""

    name = NAME
    kind: SourceKind = "boolean"
    capabilities = frozenset({"year", "language", "not"})

    def build_requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        term = render_own_syntax_within_limit(query, render_for_pubmed, _MAX_QUERY_BYTES)
        if not term:
            return []
        if has_year_limit(filters):
            term += f" AND {filters.year_from or 1000}:{filters.year_to or 3000}[dp]"
        if language := parse_language(filters.language):
            term += f" AND {to_english_name(language)}[la]"
        return [_build_search_request(term, limit_page_size(limit, _MOST_IDS))]

    def build_lookup_requests(self, identifiers: Sequence[Identifier]) -> list[Request]:
        pmids = select_values_of_scheme(identifiers, "pmid")
        terms = [
            f'"{identifier.value}"[{_FIELDS[identifier.scheme]}]'
            for identifier in identifiers
            if identifier.scheme in _FIELDS
        ]
        return [
            *_build_fetch_requests(pmids),
            *(_build_search_request(" OR ".join(batch), len(batch)) for batch in split_batches(terms, _TERMS_AT_ONCE)),
        ]

    def read_response(self, request: Request, response: Response) -> Page:
        if is_xml_or_html(response):
            return _read_xml_page(request, response)
        body = parse_json_object(NAME, response)
        result = get_object_or_empty(body.get("esearchresult"))
        if error_text := get_first_text(body.get("error"), body.get("ERROR"), result.get("ERROR")):
            raise _make_error_from_text(error_text)
        if "idlist" not in result:
            raise make_unreadable_error(NAME, "JSON without a list of ids")
        return _make_page_of_further_requests(request, ensure_list(result["idlist"]), parse_count(result.get("count")))

    def read_failure(self, response: Response) -> Exception | None:
        return make_refusal_error_from_json(NAME, response, "error", "message")


definition: SourceDefinition = PubMed()


def _make_error_from_text(error_text: str) -> SearchSourceError:
    lowered = error_text.lower()
    retryable = any(word in lowered for word in _RETRYABLE)
    return make_source_error(NAME, error_text, retryable=retryable, rate_limited="rate limit" in lowered)


def _read_xml_page(request: Request, response: Response) -> Page:
    root = parse_xml(NAME, response)
    if root.tag not in _ROOTS:
        raise make_unreadable_error(NAME, "a web page or XML that is not from PubMed")
    if root.tag == "eSearchResult" and (ids := root.find("IdList")) is not None:
        return _make_page_of_further_requests(
            request, [found.text for found in ids], parse_count(get_element_text(root.find("Count")))
        )
    if error_text := next((found for element in root.iter("ERROR") if (found := get_element_text(element))), ""):
        raise _make_error_from_text(error_text)
    return Page(read_medline_papers(root), sent=len(root) if root.tag.lower().endswith("set") else None)


def _make_page_of_further_requests(request: Request, ids: Sequence[object], found: int | None) -> Page:
    """Return a page that leads to the records, and then to the next ids, up to the number that PubMed gives out."""
    params = get_params(request)
    start = (parse_count(params.get("retstart")) or 0) + len(ids)
    follow = _build_fetch_requests([pmid for item in ids if (pmid := normalise_pmid(clean_text(item)))])
    if ids and start < min(found or 0, _MOST_IDS):
        size = min(parse_count(params.get("retmax")) or _BATCH, _MOST_IDS - start)
        follow.append(replace_params(request, retmax=size, retstart=start))
    return Page([], tuple(follow), found)


def _build_search_request(term: str, size: int) -> Request:
    rest = (("retmode", "json"), ("retmax", str(size)), ("retstart", "0"), ("sort", "relevance"))
    params = (("db", "pubmed"), ("term", term), *rest)
    return build_request_for_length(NAME, _SEARCH, params, most_bytes=_MAX_ADDRESS_BYTES)


def _build_fetch_requests(pmids: Sequence[str]) -> list[Request]:
    form = (("db", "pubmed"), ("retmode", "xml"))
    return [Request(NAME, _FETCH, form=(*form, ("id", ",".join(batch)))) for batch in split_batches(pmids, _BATCH)]
