"""The source Google Scholar through SerpAPI: results pages with one-line summaries."""

import re

from paper_search.domain.query.filters import parse_language
from paper_search.domain.query.query_texts import quote_term_if_needed, render_within_limit
from paper_search.domain.strategies.plain_words import parse_search_query
from paper_search.errors import NonRetryableError, SearchSourceError
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, SourceKind, WorkType
from paper_search.sources.interfaces import Request, Response, SourceDefinition, SourcePage
from paper_search.sources.record_fields import (
    build_paper,
    clean_text,
    find_year,
    get_first_link,
    get_first_text,
    get_object_or_empty,
    list_json_objects,
    parse_count,
    read_papers,
)
from paper_search.sources.response_bodies import (
    get_list_or_raise,
    limit_page_size,
    make_source_error,
    make_unreadable_error,
    parse_json_object,
    replace_params,
    try_parse_json,
)
from uraniborg.kernel.bibliography.identifiers import find_doi_in_url, normalise_arxiv
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.boolean_query import AllOf, AnyOf, Node, Term

NAME = "serpapi_scholar"
_URL = "https://serpapi.com/search.json"
_PAGE = 20
_MAX_QUERY_CHARS = 256  # Scholar cuts longer queries off
_LABEL = re.compile(r"^(?:\[(?:PDF|HTML|DOC|PS|TXT|BOOK|CITATION|B|C)\]\s*)+")
_YEAR_AT_END = re.compile(r"^(?:(?P<venue>.*?)[,\s]\s*)?(?P<year>1[0-9]{3}|20[0-9]{2})$")
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+(?:/\S*)?$")
_WORK_TYPES = {"book": WorkType.BOOK}


class SerpApiScholar:
    """The definition of Google Scholar through SerpAPI."""

    name = NAME
    kind: SourceKind = "ranked"
    # Without "not": Scholar does not support every exclusion, and its short queries have no room for many.
    capabilities = frozenset({"year", "language"})

    def build_requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        search = render_within_limit(parse_search_query(query), _render_query, _MAX_QUERY_CHARS, measure=len)
        if not search:
            return []
        params = [
            ("engine", "google_scholar"),
            ("q", search),
            ("hl", "en"),
            ("num", str(limit_page_size(limit, _PAGE))),
        ]
        years = (("as_ylo", filters.year_from), ("as_yhi", filters.year_to))
        params += [(name, str(year)) for name, year in years if year is not None]
        if language := parse_language(filters.language):
            params.append(("lr", "lang_zh-CN|lang_zh-TW" if language == "zh" else f"lang_{language}"))
        return [Request(NAME, _URL, (*params, ("start", "0")))]

    def read_response(self, request: Request, response: Response) -> SourcePage:
        body = parse_json_object(NAME, response)
        if error_text := clean_text(body.get("error")):
            if _is_nothing_found(error_text):
                return SourcePage([], found=0)
            raise _make_error_from_text(error_text)
        if "organic_results" not in body and not get_object_or_empty(body.get("search_metadata")):
            raise make_unreadable_error(NAME, "JSON that is not a results page")
        results = get_list_or_raise(NAME, body, "organic_results")
        papers = read_papers(list_json_objects(results), _read_paper)
        found = parse_count(get_object_or_empty(body.get("search_information")).get("total_results"))
        pages = {**get_object_or_empty(body.get("pagination")), **get_object_or_empty(body.get("serpapi_pagination"))}
        params = dict(request.params)
        start = (parse_count(params.get("start")) or 0) + (parse_count(params.get("num")) or len(results))
        more = results and pages.get("next")
        return SourcePage(papers, (replace_params(request, start=start),) if more else (), found, len(results))

    def read_failure(self, response: Response) -> Exception | None:
        error_text = clean_text(get_object_or_empty(try_parse_json(response)).get("error"))
        if not error_text or response.status >= 500 or (response.status == 429 and not _is_quota_used_up(error_text)):
            return None
        return _make_error_from_text(error_text)


definition: SourceDefinition = SerpApiScholar()


def _is_nothing_found(error_text: str) -> bool:
    return "returned any results" in error_text or "no results" in error_text.lower()


def _is_quota_used_up(error_text: str) -> bool:
    return "run out of searches" in error_text.lower()


def _make_error_from_text(error_text: str) -> SearchSourceError:
    lowered = error_text.lower()
    if _is_quota_used_up(error_text):  # until the next month of the account, whose date is not given
        hint = "Add searches to the SerpAPI account, or wait for its next month."
        return NonRetryableError(f"{NAME} has no searches left on this account.", hint=hint, source=NAME)
    if "api key" in lowered or "api_key" in lowered:
        return NonRetryableError(
            f"{NAME} refused the key.", hint="Set SERPAPI_API_KEY to a valid SerpAPI key.", source=NAME
        )
    retryable = any(word in lowered for word in ("try again", "throttl", "timed out"))
    return make_source_error(NAME, error_text, retryable=retryable, rate_limited="throttl" in lowered)


def _render_query(node: Node) -> str:
    if isinstance(node, AllOf):
        return " ".join(map(_render_nested, node.parts)) + "".join(map(_render_exclusion, node.excluded))
    return _render_nested(node)


def _render_nested(node: Node) -> str:
    if isinstance(node, Term):
        return quote_term_if_needed(node).replace("*", "")
    if isinstance(node, AnyOf):
        return f"({' OR '.join(map(_render_nested, node.parts))})"
    return f"({_render_query(node)})"


def _render_exclusion(node: Node) -> str:
    """Return an excluded term with a minus, "" for other nodes: Scholar cannot exclude combinations of terms."""
    return f" -{_render_nested(node)}" if isinstance(node, Term) else ""


def _read_paper(result: JsonObject) -> RawPaper | None:
    info, links = get_object_or_empty(result.get("publication_info")), get_object_or_empty(result.get("inline_links"))
    names, venue, year, publisher = _parse_authors_venue_year_publisher(clean_text(info.get("summary")))
    link, kind = get_first_link(result.get("link")), clean_text(result.get("type"))
    ids = {clean_text(author.get("name")): author.get("author_id") for author in list_json_objects(info.get("authors"))}
    return build_paper(
        NAME,
        result.get("result_id"),
        _LABEL.sub("", clean_text(result.get("title"))),
        authors=[(name, ids.get(name)) for name in names or list(ids)],
        identifiers={"doi": find_doi_in_url(link), "arxiv": normalise_arxiv(link), "scholar": result.get("result_id")},
        links=(*(resource.get("link") for resource in list_json_objects(result.get("resources"))), link),
        year=year,
        venue=venue,
        snippet=result.get("snippet"),
        citation_count=get_object_or_empty(links.get("cited_by")).get("total"),
        work_type=_WORK_TYPES.get(kind.lower()),
        publisher=publisher,
        raw_data={"types": [kind] if kind else []},
    )


def _parse_authors_venue_year_publisher(summary: str) -> tuple[list[str], str, int | None, str]:
    """Return authors, venue, year and publisher from `authors - venue, year - host`, any of which may be missing."""
    first, *rest = summary.split(" - ")
    if _YEAR_AT_END.match(first) or (not rest and _HOST.fullmatch(first)):  # no authors: "2020 - apps.example.org"
        first, rest = "", [first, *rest]
    host = rest.pop() if len(rest) > 1 or (rest and _HOST.fullmatch(rest[0])) else ""
    middle = " - ".join(rest)
    dated = _YEAR_AT_END.match(middle)
    venue = (dated["venue"] or "") if dated else middle
    names = [name for part in first.split(",") if (name := part.strip(" …."))]
    publisher = "" if _HOST.fullmatch(host) else host
    return names, get_first_text(venue.strip(" ,")), find_year(dated["year"]) if dated else None, publisher
