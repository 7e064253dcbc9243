"""DBLP: prefix search over computer science, whose OR joins single words and whose years cannot be asked for."""

import re
from typing import Any
from xml.etree.ElementTree import Element

from paper_search.models import RawPaper, SearchConstraints, SearchQuery, WorkType
from paper_search.query.boolean_query import AllOf, Node, parse_search_query
from paper_search.query.rendering import list_word_clauses, render_within_limit
from paper_search.sources.interfaces import Page, Request, Response, SourceDefinition
from paper_search.sources.parsing import (
    element_text,
    first_link,
    is_xml,
    items,
    json_object,
    listed,
    mapping,
    next_page,
    number,
    objects,
    page_range,
    paper,
    papers_of,
    text,
    unreadable,
    xml_root,
    year_of,
)
from uraniborg.kernel.bibliography.identifiers import normalise_arxiv

NAME = "dblp"
_URL = "https://dblp.org/search/publ/api"
_PAGE = 1_000
_MAX_QUERY_BYTES = 1_500
_HOMONYM = re.compile(r"\s+[0-9]{4}$")
_WORK_TYPES = {
    "Journal Articles": WorkType.ARTICLE,
    "Conference and Workshop Papers": WorkType.CONFERENCE,
    "Books and Theses": WorkType.BOOK,
    "Editorship": WorkType.BOOK,
    "Parts in Books or Collections": WorkType.CHAPTER,
    "Reference Works": WorkType.CHAPTER,
    "Data and Artifacts": WorkType.DATASET,
}


class Dblp:
    name = NAME
    capabilities = frozenset[str]()

    def requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        node = parse_search_query(query)
        words = render_within_limit(node, _render, _MAX_QUERY_BYTES)
        if not words:
            return []
        # Years and exclusions are applied afterwards to what came, so all that may come is asked for at once.
        narrowed = filters.year_from or filters.year_to or (isinstance(node, AllOf) and node.excluded)
        size = _PAGE if narrowed else max(1, min(limit, _PAGE))
        return [Request(NAME, _URL, (("q", words), ("format", "json"), ("h", str(size)), ("f", "0"), ("c", "0")))]

    def read(self, request: Request, response: Response, limit: int) -> Page:
        hits = _hits_of_xml(response) if is_xml(response) else _hits_of_json(response)
        records = listed(NAME, {"hits": hits.get("hit")}, "hits")
        papers = papers_of((mapping(hit.get("info")) for hit in objects(records)), _paper)
        found = number(hits.get("@total"))
        start = (number(hits.get("@first")) or 0) + len(records)
        more = records and len(papers) < limit and start < (found or 0)
        return Page(papers, (next_page(request, f=start),) if more else (), found)

    def failure(self, response: Response) -> Exception | None:
        return None


definition: SourceDefinition = Dblp()


def _render(node: Node) -> str:
    return " ".join("|".join(_word(word) for word in clause) for clause in list_word_clauses(node))


def _word(word: str) -> str:
    return re.sub(r"[|$:]", "", word)


def _hits_of_json(response: Response) -> dict[str, Any]:
    result = mapping(json_object(NAME, response).get("result"))
    if not isinstance(result.get("hits"), dict):
        raise unreadable(NAME, "JSON without hits")
    return mapping(result["hits"])


def _hits_of_xml(response: Response) -> dict[str, Any]:
    hits = xml_root(NAME, response).find("hits")
    if hits is None:
        raise unreadable(NAME, "a web page or XML without hits")
    return {
        "@total": hits.get("total"),
        "@first": hits.get("first"),
        "hit": [{"info": _info(info)} for hit in hits.findall("hit") if (info := hit.find("info")) is not None],
    }


def _info(info: Element) -> dict[str, Any]:
    """The XML form as the object that the JSON form would have been."""
    found: dict[str, Any] = {child.tag: element_text(child) for child in info}
    authors = [{"@pid": author.get("pid"), "text": element_text(author)} for author in info.findall("authors/author")]
    return {**found, "authors": {"author": authors}, "ee": [element_text(link) for link in info.findall("ee")]}


def _paper(info: dict[str, Any]) -> RawPaper | None:
    key, kind = text(info.get("key")), text(info.get("type"))
    addresses = [first_link(link) for link in items(info.get("ee"))]
    return paper(
        NAME,
        key,
        _text(info.get("title")),
        authors=[_author(author) for author in items(mapping(info.get("authors")).get("author"))],
        identifiers={
            "doi": info.get("doi"),
            "arxiv": next((found for link in addresses if (found := normalise_arxiv(link))), None),
            "dblp": key,
        },
        links=(*addresses, info.get("url")),
        year=year_of(info.get("year")),
        venue=" / ".join(found for venue in items(info.get("venue")) if (found := _text(venue))),
        work_type=_work_type(kind, key),
        volume=info.get("volume"),
        issue=info.get("number"),
        pages=page_range(info.get("pages")),
        publisher=info.get("publisher"),
        raw_data={"types": [kind] if kind else []},
    )


def _text(value: object) -> str:
    """DBLP's JSON gives plain text, or an object around it where its XML had attributes."""
    return text(mapping(value).get("text")) or text(value)


def _author(author: object) -> tuple[str, object]:
    return _HOMONYM.sub("", _text(author)), mapping(author).get("@pid")


def _work_type(kind: str, key: str) -> WorkType | None:
    if key.startswith(("phd/", "ms/")):
        return WorkType.THESIS
    if key.startswith("journals/corr/"):
        return WorkType.PREPRINT
    return _WORK_TYPES.get(kind, WorkType.OTHER) if kind else None
