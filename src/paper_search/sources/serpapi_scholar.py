"""Google Scholar through SerpAPI: what a results page shows, its one-line summaries taken apart."""

import re
from typing import Any

from paper_search.errors import NonRetryableError, SearchSourceError
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, WorkType
from paper_search.query.boolean_query import AllOf, AnyOf, Node, Term, parse_search_query
from paper_search.query.languages import parse_language
from paper_search.query.rendering import quote_term, render_within_limit
from paper_search.sources.interfaces import Page, Request, Response, SourceDefinition
from paper_search.sources.parsing import (
    complaint,
    first_link,
    first_text,
    json_object,
    json_or_none,
    listed,
    mapping,
    next_page,
    number,
    objects,
    paper,
    papers_of,
    text,
    unreadable,
    year_of,
)
from uraniborg.kernel.bibliography.identifiers import find_doi_in_url, normalise_arxiv

NAME = "serpapi_scholar"
_URL = "https://serpapi.com/search.json"
_PAGE = 20
_MAX_QUERY_CHARS = 256  # Scholar cuts longer queries off
_LABEL = re.compile(r"^(?:\[(?:PDF|HTML|DOC|PS|TXT|BOOK|CITATION|B|C)\]\s*)+")
_YEAR_AT_END = re.compile(r"^(?:(?P<venue>.*?)[,\s]\s*)?(?P<year>1[0-9]{3}|20[0-9]{2})$")
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+(?:/\S*)?$")
_WORK_TYPES = {"book": WorkType.BOOK}


class SerpApiScholar:
    name = NAME
    # Not "not": Scholar cannot be told every exclusion, and the short queries it takes have no room for many.
    capabilities = frozenset({"year", "language"})

    def requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        search = render_within_limit(parse_search_query(query), _render, _MAX_QUERY_CHARS, measure=len)
        if not search:
            return []
        params = [("engine", "google_scholar"), ("q", search), ("hl", "en"), ("num", str(max(1, min(limit, _PAGE))))]
        years = (("as_ylo", filters.year_from), ("as_yhi", filters.year_to))
        params += [(name, str(year)) for name, year in years if year is not None]
        if language := parse_language(filters.language):
            params.append(("lr", "lang_zh-CN|lang_zh-TW" if language == "zh" else f"lang_{language}"))
        return [Request(NAME, _URL, (*params, ("start", "0")))]

    def read(self, request: Request, response: Response, limit: int) -> Page:
        body = json_object(NAME, response)
        if said := text(body.get("error")):
            if _says_nothing_found(said):
                return Page([], found=0)
            raise _error(said)
        if "organic_results" not in body and not mapping(body.get("search_metadata")):
            raise unreadable(NAME, "JSON that is no results page")
        results = listed(NAME, body, "organic_results")
        papers = papers_of(objects(results), _paper)
        found = number(mapping(body.get("search_information")).get("total_results"))
        pages = {**mapping(body.get("pagination")), **mapping(body.get("serpapi_pagination"))}
        params = dict(request.params)
        start = (number(params.get("start")) or 0) + (number(params.get("num")) or len(results))
        more = results and pages.get("next") and len(papers) < limit
        return Page(papers, (next_page(request, start=start),) if more else (), found)

    def failure(self, response: Response) -> Exception | None:
        said = text(mapping(json_or_none(response)).get("error"))
        if not said or response.status >= 500 or (response.status == 429 and not _says_used_up(said)):
            return None
        return _error(said)


definition: SourceDefinition = SerpApiScholar()


def _says_nothing_found(said: str) -> bool:
    return "returned any results" in said or "no results" in said.lower()


def _says_used_up(said: str) -> bool:
    return "run out of searches" in said.lower()


def _error(said: str) -> SearchSourceError:
    lowered = said.lower()
    if _says_used_up(said):  # until its next month, which it does not say
        hint = "Add searches to the SerpAPI account, or wait for its next month."
        return NonRetryableError(f"{NAME} has no searches left on this account.", hint=hint, source=NAME)
    if "api key" in lowered or "api_key" in lowered:
        return NonRetryableError(
            f"{NAME} refused the key.", hint="Set SERPAPI_API_KEY to a valid SerpAPI key.", source=NAME
        )
    passing = any(word in lowered for word in ("try again", "throttl", "timed out"))
    return complaint(NAME, said, passing=passing, rate_limited="throttl" in lowered)


def _render(node: Node) -> str:
    if isinstance(node, AllOf):
        return " ".join(map(_inner, node.parts)) + "".join(map(_without, node.excluded))
    return _inner(node)


def _inner(node: Node) -> str:
    if isinstance(node, Term):
        return quote_term(node).replace("*", "")
    if isinstance(node, AnyOf):
        return f"({' OR '.join(map(_inner, node.parts))})"
    return f"({_render(node)})"


def _without(node: Node) -> str:
    """A minus before a term; Scholar cannot exclude terms only where they come together."""
    return f" -{_inner(node)}" if isinstance(node, Term) else ""


def _paper(result: dict[str, Any]) -> RawPaper | None:
    info, links = mapping(result.get("publication_info")), mapping(result.get("inline_links"))
    names, venue, year, publisher = _summary(text(info.get("summary")))
    link, kind = first_link(result.get("link")), text(result.get("type"))
    ids = {text(author.get("name")): author.get("author_id") for author in objects(info.get("authors"))}
    return paper(
        NAME,
        result.get("result_id"),
        _LABEL.sub("", text(result.get("title"))),
        authors=[(name, ids.get(name)) for name in names or list(ids)],
        identifiers={"doi": find_doi_in_url(link), "arxiv": normalise_arxiv(link), "scholar": result.get("result_id")},
        links=(*(resource.get("link") for resource in objects(result.get("resources"))), link),
        year=year,
        venue=venue,
        snippet=result.get("snippet"),
        citation_count=mapping(links.get("cited_by")).get("total"),
        work_type=_WORK_TYPES.get(kind.lower()),
        publisher=publisher,
        raw_data={"types": [kind] if kind else []},
    )


def _summary(summary: str) -> tuple[list[str], str, int | None, str]:
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
    return names, first_text(venue.strip(" ,")), year_of(dated["year"]) if dated else None, publisher
