"""The source Europe PMC: fielded boolean search over biomedical literature and preprints."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from paper_search.domain.query.filters import has_year_limit, parse_language, to_bibliographic_code
from paper_search.domain.query.identifier_queries import Identifier
from paper_search.domain.query.query_texts import render_own_syntax_within_limit
from paper_search.domain.strategies.platform_translation import render_for_europe_pmc
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, SourceKind, WorkType
from paper_search.sources.editorial_notice_readers import read_medline_notices
from paper_search.sources.interfaces import Request, Response, SourceDefinition, SourcePage
from paper_search.sources.record_fields import (
    build_paper,
    clean_text,
    ensure_list,
    find_year,
    format_page_range,
    get_first_text,
    get_object_or_empty,
    list_json_objects,
    parse_count,
    read_papers,
)
from paper_search.sources.response_bodies import (
    build_request_for_length,
    get_list_or_raise,
    get_params,
    is_xml_or_html,
    limit_page_size,
    make_permanent_refusal_error,
    make_source_error,
    make_unreadable_error,
    parse_json_object,
    parse_xml,
    replace_params,
    split_batches,
    try_parse_json,
)
from uraniborg.kernel.bibliography.identifiers import normalise_pmcid
from uraniborg.kernel.json_values import Json, JsonObject

NAME = "europepmc"
_URL = "https://www.ebi.ac.uk/europepmc/webservices/rest/search"
_PAGE = 100
_POST_URL = "https://www.ebi.ac.uk/europepmc/webservices/rest/searchPOST"
_MAX_QUERY_BYTES = 60_000
_MAX_ADDRESS_BYTES = 3_000
_TERMS = {"doi": 'DOI:"{}"', "pmid": "(EXT_ID:{} AND SRC:MED)", "pmcid": "PMCID:{}"}
_TERMS_AT_ONCE = 25
_LISTS = {
    "authorList": "author",
    "pubTypeList": "pubType",
    "fullTextUrlList": "fullTextUrl",
    "resultList": "result",
    "commentCorrectionList": "commentCorrection",
}


class EuropePmc:
    """The definition of Europe PMC."""

    name = NAME
    kind: SourceKind = "boolean"
    capabilities = frozenset({"year", "language", "not"})

    def build_requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        search = render_own_syntax_within_limit(query, render_for_europe_pmc, _MAX_QUERY_BYTES)
        if not search:
            return []
        if has_year_limit(filters):
            search += f" AND PUB_YEAR:[{filters.year_from or 1000} TO {filters.year_to or 3000}]"
        if language := parse_language(filters.language):
            search += f' AND LANG:"{to_bibliographic_code(language)}"'
        return [_build_search_request(search, limit_page_size(limit, _PAGE))]

    def build_lookup_requests(self, identifiers: Sequence[Identifier]) -> list[Request]:
        terms = [
            _TERMS[identifier.scheme].format(identifier.value)
            for identifier in identifiers
            if identifier.scheme in _TERMS
        ]
        return [_build_search_request(" OR ".join(batch), len(batch)) for batch in split_batches(terms, _TERMS_AT_ONCE)]

    def read_response(self, request: Request, response: Response) -> SourcePage:
        body = (
            _convert_xml_to_dict(parse_xml(NAME, response))
            if is_xml_or_html(response)
            else parse_json_object(NAME, response)
        )
        if error_text := get_first_text(body.get("errMsg"), body.get("error"), body.get("message")):
            raise make_source_error(
                NAME, error_text, retryable=(parse_count(body.get("errCode") or body.get("status")) or 0) >= 500
            )
        if "resultList" not in body:
            if "hitCount" not in body:
                raise make_unreadable_error(NAME, "an answer without results")
            return SourcePage([], found=parse_count(body["hitCount"]))
        records = get_list_or_raise(NAME, get_object_or_empty(body["resultList"]), "result")
        papers = read_papers(list_json_objects(records), _read_paper)
        cursor = clean_text(body.get("nextCursorMark"))
        fresh = cursor and cursor != get_params(request).get("cursorMark")
        more = records and fresh
        follow = (replace_params(request, cursorMark=cursor),) if more else ()
        return SourcePage(papers, follow, parse_count(body.get("hitCount")), len(records))

    def read_failure(self, response: Response) -> Exception | None:
        body = get_object_or_empty(try_parse_json(response))
        return make_permanent_refusal_error(
            NAME, response, get_first_text(body.get("errMsg"), body.get("message"), body.get("error"))
        )


definition: SourceDefinition = EuropePmc()


def _build_search_request(query: str, size: int) -> Request:
    paging = (("resultType", "core"), ("format", "json"), ("pageSize", str(size)), ("cursorMark", "*"))
    params = (("query", query), *paging)
    return build_request_for_length(NAME, _URL, params, most_bytes=_MAX_ADDRESS_BYTES, post_url=_POST_URL)


def _convert_xml_to_dict(element: Element, depth: int = 8) -> JsonObject:
    """Return the XML form as the object of the JSON form, with text for elements without children."""
    found: JsonObject = {}
    for child in element:
        if name := _LISTS.get(child.tag):
            found[child.tag] = {name: [_convert_xml_to_value(item, depth) for item in child.findall(name)]}
        else:
            found[child.tag] = _convert_xml_to_value(child, depth)
    return found


def _convert_xml_to_value(element: Element, depth: int) -> Json:
    return _convert_xml_to_dict(element, depth - 1) if len(element) and depth else element.text


def _read_paper(record: JsonObject) -> RawPaper | None:
    info = get_object_or_empty(record.get("journalInfo"))
    journal, origin, local = (
        get_object_or_empty(info.get("journal")),
        clean_text(record.get("source")),
        clean_text(record.get("id")),
    )
    kinds = _list_publication_types(record)
    return build_paper(
        NAME,
        f"{origin}:{local}" if origin and local else local,
        record.get("title"),
        authors=_read_names_and_author_ids(record),
        identifiers={"doi": record.get("doi"), "pmid": record.get("pmid"), "pmcid": record.get("pmcid")},
        links=(
            *_list_full_text_urls(record),
            f"https://europepmc.org/article/{origin}/{local}" if origin and local else None,
        ),
        year=find_year(record.get("pubYear"), info.get("yearOfPublication"), record.get("firstPublicationDate")),
        venue=get_first_text(
            journal.get("title"), record.get("journalTitle"), _get_book_title(record), _get_preprint_server(record)
        ),
        abstract=record.get("abstractText"),
        citation_count=record.get("citedByCount"),
        language=parse_language(record.get("language")),
        work_type=_find_work_type(origin, kinds),
        volume=get_first_text(info.get("volume"), record.get("journalVolume")),
        issue=get_first_text(info.get("issue"), record.get("issue")),
        pages=format_page_range(record.get("pageInfo")),
        publisher=get_object_or_empty(record.get("bookOrReportDetails")).get("publisher"),
        notices=read_medline_notices(NAME, kinds, _list_correction_links(record)),
        raw_data={"types": kinds},
    )


def _list_correction_links(record: JsonObject) -> list[tuple[str, str, str]]:
    entries = list_json_objects(get_object_or_empty(record.get("commentCorrectionList")).get("commentCorrection"))
    return [
        (
            clean_text(entry.get("type")),
            clean_text(entry.get("reference")),
            clean_text(entry.get("id")) if _is_in_pubmed(entry) else "",
        )
        for entry in entries
    ]


def _is_in_pubmed(entry: JsonObject) -> bool:
    return entry.get("source") == "MED"


def _read_names_and_author_ids(record: JsonObject) -> list[tuple[object, object]]:
    listed_authors = list_json_objects(get_object_or_empty(record.get("authorList")).get("author"))
    if not listed_authors:
        return [(name, None) for name in clean_text(record.get("authorString")).rstrip(".").split(", ")]
    return [
        (_format_name(author), get_object_or_empty(author.get("authorId")).get("value")) for author in listed_authors
    ]


def _format_name(author: JsonObject) -> str:
    first, last = clean_text(author.get("firstName")), clean_text(author.get("lastName"))
    return (
        f"{first} {last}"
        if first and last
        else get_first_text(author.get("fullName"), author.get("collectiveName"), last)
    )


def _list_publication_types(record: JsonObject) -> list[str]:
    kinds = ensure_list(get_object_or_empty(record.get("pubTypeList")).get("pubType")) or clean_text(
        record.get("pubType")
    ).split("; ")
    return [kind for item in kinds if (kind := clean_text(item).lower())]


def _find_work_type(origin: str, kinds: list[str]) -> WorkType | None:
    if origin == "PPR" or "preprint" in kinds:
        return WorkType.PREPRINT
    if origin == "ETH" or any("thesis" in kind for kind in kinds):
        return WorkType.THESIS
    if any("book" in kind for kind in kinds):
        return WorkType.BOOK
    return WorkType.ARTICLE if kinds or origin in {"MED", "PMC"} else None


def _list_full_text_urls(record: JsonObject) -> list[object]:
    """Return the full-text addresses: free copies first, PDFs before pages."""
    links = list_json_objects(get_object_or_empty(record.get("fullTextUrlList")).get("fullTextUrl"))
    if pmcid := normalise_pmcid(clean_text(record.get("pmcid"))):
        links = [*links, {"availabilityCode": "F", "url": f"https://europepmc.org/articles/{pmcid}"}]
    order = {"OA": 0, "F": 1}
    ranked = sorted(
        links,
        key=lambda link: (order.get(clean_text(link.get("availabilityCode")), 2), link.get("documentStyle") != "pdf"),
    )
    return [link.get("url") for link in ranked]


def _get_book_title(record: JsonObject) -> object:
    return get_object_or_empty(record.get("bookOrReportDetails")).get("comprisingTitle")


def _get_preprint_server(record: JsonObject) -> object:
    """Return the preprint server, which Europe PMC names as the publisher of a preprint."""
    return get_object_or_empty(record.get("bookOrReportDetails")).get("publisher")
