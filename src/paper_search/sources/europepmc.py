"""Europe PMC: fielded boolean search over biomedical literature and preprints."""

from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element

from paper_search.lookups import Identifier
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, WorkType
from paper_search.query.boolean_query import parse_search_query
from paper_search.query.languages import parse_language, to_bibliographic_code
from paper_search.query.rendering import render_with_operators, render_within_limit
from paper_search.sources.interfaces import Page, Request, Response, SourceDefinition
from paper_search.sources.notices import medline_notices
from paper_search.sources.parsing import (
    batches,
    complaint,
    first_text,
    is_xml,
    items,
    json_object,
    json_or_none,
    listed,
    mapping,
    next_page,
    number,
    objects,
    page_range,
    paper,
    papers_of,
    refused,
    text,
    unreadable,
    xml_root,
    year_of,
)
from uraniborg.kernel.bibliography.identifiers import normalise_pmcid

NAME = "europepmc"
_URL = "https://www.ebi.ac.uk/europepmc/webservices/rest/search"
_PAGE = 100
_MAX_QUERY_BYTES = 3_000
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
    name = NAME
    capabilities = frozenset({"year", "language", "not"})

    def requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        search = render_within_limit(parse_search_query(query), render_with_operators, _MAX_QUERY_BYTES)
        if not search:
            return []
        if filters.year_from is not None or filters.year_to is not None:
            search += f" AND PUB_YEAR:[{filters.year_from or 1000} TO {filters.year_to or 3000}]"
        if language := parse_language(filters.language):
            search += f' AND LANG:"{to_bibliographic_code(language)}"'
        return [_search(search, max(1, min(limit, _PAGE)))]

    def lookups(self, identifiers: Sequence[Identifier]) -> list[Request]:
        terms = [_TERMS[one.scheme].format(one.value) for one in identifiers if one.scheme in _TERMS]
        return [_search(" OR ".join(batch), len(batch)) for batch in batches(terms, _TERMS_AT_ONCE)]

    def read(self, request: Request, response: Response, limit: int) -> Page:
        body = _object(xml_root(NAME, response)) if is_xml(response) else json_object(NAME, response)
        if said := first_text(body.get("errMsg"), body.get("error"), body.get("message")):
            raise complaint(NAME, said, passing=(number(body.get("errCode") or body.get("status")) or 0) >= 500)
        if "resultList" not in body:
            if "hitCount" not in body:
                raise unreadable(NAME, "an answer without results")
            return Page([], found=number(body["hitCount"]))
        records = listed(NAME, mapping(body["resultList"]), "result")
        papers = papers_of(objects(records), _paper)
        cursor = text(body.get("nextCursorMark"))
        fresh = cursor and cursor != dict(request.params).get("cursorMark")
        more = records and fresh and len(papers) < limit
        return Page(papers, (next_page(request, cursorMark=cursor),) if more else (), number(body.get("hitCount")))

    def failure(self, response: Response) -> Exception | None:
        body = mapping(json_or_none(response))
        return refused(NAME, response, first_text(body.get("errMsg"), body.get("message"), body.get("error")))


definition: SourceDefinition = EuropePmc()


def _search(query: str, size: int) -> Request:
    paging = (("resultType", "core"), ("format", "json"), ("pageSize", str(size)), ("cursorMark", "*"))
    return Request(NAME, _URL, (("query", query), *paging))


def _object(element: Element, depth: int = 8) -> dict[str, Any]:
    """The XML form as the object that the JSON form would have been; text where an element has no children."""
    found: dict[str, Any] = {}
    for child in element:
        if name := _LISTS.get(child.tag):
            found[child.tag] = {name: [_value(item, depth) for item in child.findall(name)]}
        else:
            found[child.tag] = _value(child, depth)
    return found


def _value(element: Element, depth: int) -> object:
    return _object(element, depth - 1) if len(element) and depth else element.text


def _paper(record: dict[str, Any]) -> RawPaper | None:
    info = mapping(record.get("journalInfo"))
    journal, origin, local = mapping(info.get("journal")), text(record.get("source")), text(record.get("id"))
    kinds = _kinds(record)
    return paper(
        NAME,
        f"{origin}:{local}" if origin and local else local,
        record.get("title"),
        authors=_authors(record),
        identifiers={"doi": record.get("doi"), "pmid": record.get("pmid"), "pmcid": record.get("pmcid")},
        links=(*_addresses(record), f"https://europepmc.org/article/{origin}/{local}" if origin and local else None),
        year=year_of(record.get("pubYear"), info.get("yearOfPublication"), record.get("firstPublicationDate")),
        venue=first_text(journal.get("title"), record.get("journalTitle"), _book(record), _repository(record)),
        abstract=record.get("abstractText"),
        citation_count=record.get("citedByCount"),
        language=parse_language(record.get("language")),
        work_type=_work_type(origin, kinds),
        volume=first_text(info.get("volume"), record.get("journalVolume")),
        issue=first_text(info.get("issue"), record.get("issue")),
        pages=page_range(record.get("pageInfo")),
        publisher=mapping(record.get("bookOrReportDetails")).get("publisher"),
        notices=medline_notices(NAME, kinds, _links(record)),
        raw_data={"types": kinds},
    )


def _links(record: dict[str, Any]) -> list[tuple[str, str, str]]:
    entries = objects(mapping(record.get("commentCorrectionList")).get("commentCorrection"))
    return [
        (text(entry.get("type")), text(entry.get("reference")), text(entry.get("id")) if _in_pubmed(entry) else "")
        for entry in entries
    ]


def _in_pubmed(entry: dict[str, Any]) -> bool:
    return entry.get("source") == "MED"


def _authors(record: dict[str, Any]) -> list[tuple[object, object]]:
    listed_authors = objects(mapping(record.get("authorList")).get("author"))
    if not listed_authors:
        return [(name, None) for name in text(record.get("authorString")).rstrip(".").split(", ")]
    return [(_name(author), mapping(author.get("authorId")).get("value")) for author in listed_authors]


def _name(author: dict[str, Any]) -> str:
    first, last = text(author.get("firstName")), text(author.get("lastName"))
    return (
        f"{first} {last}" if first and last else first_text(author.get("fullName"), author.get("collectiveName"), last)
    )


def _kinds(record: dict[str, Any]) -> list[str]:
    kinds = items(mapping(record.get("pubTypeList")).get("pubType")) or text(record.get("pubType")).split("; ")
    return [kind for item in kinds if (kind := text(item).lower())]


def _work_type(origin: str, kinds: list[str]) -> WorkType | None:
    if origin == "PPR" or "preprint" in kinds:
        return WorkType.PREPRINT
    if origin == "ETH" or any("thesis" in kind for kind in kinds):
        return WorkType.THESIS
    if any("book" in kind for kind in kinds):
        return WorkType.BOOK
    return WorkType.ARTICLE if kinds or origin in {"MED", "PMC"} else None


def _addresses(record: dict[str, Any]) -> list[object]:
    """Free copies first, PDFs before pages."""
    links = objects(mapping(record.get("fullTextUrlList")).get("fullTextUrl"))
    if pmcid := normalise_pmcid(text(record.get("pmcid"))):
        links = [*links, {"availabilityCode": "F", "url": f"https://europepmc.org/articles/{pmcid}"}]
    order = {"OA": 0, "F": 1}
    ranked = sorted(
        links,
        key=lambda link: (order.get(text(link.get("availabilityCode")), 2), link.get("documentStyle") != "pdf"),
    )
    return [link.get("url") for link in ranked]


def _book(record: dict[str, Any]) -> object:
    return mapping(record.get("bookOrReportDetails")).get("comprisingTitle")


def _repository(record: dict[str, Any]) -> object:
    """A preprint has no journal; the server it lies on is named as its publisher."""
    return mapping(record.get("bookOrReportDetails")).get("publisher")
