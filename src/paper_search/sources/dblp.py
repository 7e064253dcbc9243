"""The source DBLP: prefix search over computer science; OR joins single words, and years cannot be filtered."""

import re
from itertools import islice, product
from xml.etree.ElementTree import Element

from paper_search.domain.query.query_texts import render_within_limit
from paper_search.domain.strategies.plain_words import parse_search_query
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, SourceKind, WorkType
from paper_search.sources.interfaces import Request, Response, SourceDefinition, SourcePage
from paper_search.sources.record_fields import (
    build_paper,
    clean_text,
    ensure_list,
    find_year,
    format_page_range,
    get_element_text,
    get_first_link,
    get_object_or_empty,
    list_json_objects,
    parse_count,
    read_papers,
)
from paper_search.sources.response_bodies import (
    get_list_or_raise,
    is_xml_or_html,
    limit_page_size,
    make_unreadable_error,
    parse_json_object,
    parse_xml,
    replace_params,
)
from uraniborg.kernel.bibliography.identifiers import normalise_arxiv
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.language.boolean_query import AllOf, AnyOf, Node, Term

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
    """The definition of DBLP."""

    name = NAME
    kind: SourceKind = "boolean"
    capabilities = frozenset[str]()

    def build_requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        node = parse_search_query(query)
        words = render_within_limit(node, _render_query, _MAX_QUERY_BYTES)
        if not words:
            return []
        # Years and exclusions are applied afterwards, so the largest page is requested.
        narrowed = filters.year_from or filters.year_to or (isinstance(node, AllOf) and node.excluded)
        size = _PAGE if narrowed else limit_page_size(limit, _PAGE)
        return [Request(NAME, _URL, (("q", words), ("format", "json"), ("h", str(size)), ("f", "0"), ("c", "0")))]

    def read_response(self, request: Request, response: Response) -> SourcePage:
        hits = _read_xml_hits_in_json_form(response) if is_xml_or_html(response) else _read_json_hits(response)
        records = get_list_or_raise(NAME, {"hits": hits.get("hit")}, "hits")
        papers = read_papers((get_object_or_empty(hit.get("info")) for hit in list_json_objects(records)), _read_paper)
        found = parse_count(hits.get("@total"))
        start = (parse_count(hits.get("@first")) or 0) + len(records)
        more = records and start < (found or 0)
        return SourcePage(papers, (replace_params(request, f=start),) if more else (), found, len(records))

    def read_failure(self, response: Response) -> Exception | None:
        return None


definition: SourceDefinition = Dblp()


def _render_query(node: Node) -> str:
    return " ".join("|".join(_remove_operators(word) for word in clause) for clause in list_word_clauses(node))


def _remove_operators(word: str) -> str:
    return re.sub(r"[|$:]", "", word)


def _read_json_hits(response: Response) -> JsonObject:
    result = get_object_or_empty(parse_json_object(NAME, response).get("result"))
    if not isinstance(result.get("hits"), dict):
        raise make_unreadable_error(NAME, "JSON without hits")
    return get_object_or_empty(result["hits"])


def _read_xml_hits_in_json_form(response: Response) -> JsonObject:
    hits = parse_xml(NAME, response).find("hits")
    if hits is None:
        raise make_unreadable_error(NAME, "a web page or XML without hits")
    return {
        "@total": hits.get("total"),
        "@first": hits.get("first"),
        "hit": [
            {"info": _convert_xml_info_to_json_form(info)}
            for hit in hits.findall("hit")
            if (info := hit.find("info")) is not None
        ],
    }


def _convert_xml_info_to_json_form(info: Element) -> JsonObject:
    found: JsonObject = {child.tag: get_element_text(child) for child in info}
    authors: list[Json] = [
        {"@pid": author.get("pid"), "text": get_element_text(author)} for author in info.findall("authors/author")
    ]
    links: list[Json] = [get_element_text(link) for link in info.findall("ee")]
    return {**found, "authors": {"author": authors}, "ee": links}


def _read_paper(info: JsonObject) -> RawPaper | None:
    key, kind = clean_text(info.get("key")), clean_text(info.get("type"))
    addresses = [get_first_link(link) for link in ensure_list(info.get("ee"))]
    return build_paper(
        NAME,
        key,
        _get_plain_or_nested_text(info.get("title")),
        authors=[
            _read_name_and_pid(author) for author in ensure_list(get_object_or_empty(info.get("authors")).get("author"))
        ],
        identifiers={
            "doi": info.get("doi"),
            "arxiv": next((found for link in addresses if (found := normalise_arxiv(link))), None),
            "dblp": key,
        },
        links=(*addresses, info.get("url")),
        year=find_year(info.get("year")),
        venue=" / ".join(
            found for venue in ensure_list(info.get("venue")) if (found := _get_plain_or_nested_text(venue))
        ),
        work_type=_find_work_type(kind, key),
        volume=info.get("volume"),
        issue=info.get("number"),
        pages=format_page_range(info.get("pages")),
        publisher=info.get("publisher"),
        raw_data={"types": [kind] if kind else []},
    )


def _get_plain_or_nested_text(value: object) -> str:
    """Return the text of a JSON value, which is plain text or an object with attributes and the text."""
    return clean_text(get_object_or_empty(value).get("text")) or clean_text(value)


def _read_name_and_pid(author: object) -> tuple[str, object]:
    return _HOMONYM.sub("", _get_plain_or_nested_text(author)), get_object_or_empty(author).get("@pid")


def _find_work_type(kind: str, key: str) -> WorkType | None:
    if key.startswith(("phd/", "ms/")):
        return WorkType.THESIS
    if key.startswith("journals/corr/"):
        return WorkType.PREPRINT
    return _WORK_TYPES.get(kind, WorkType.OTHER) if kind else None


def list_word_clauses(node: Node, limit: int = 16) -> list[tuple[str, ...]]:
    """Return tuples of words of which a paper must hold one each, for sources whose OR joins single words only.

    An alternative gives at most `limit` tuples, and exclusions and word order are dropped: the result can only widen.
    """
    match node:
        case Term(words):
            found = [(word.rstrip("*"),) for word in words]
        case AllOf(parts):
            found = [clause for part in parts for clause in list_word_clauses(part, limit)]
        case AnyOf(parts):
            choices = islice(product(*(list_word_clauses(part, limit) for part in parts)), limit)
            found = [tuple(word for clause in choice for word in clause) for choice in choices]
    return list(dict.fromkeys(tuple(dict.fromkeys(clause)) for clause in found))
