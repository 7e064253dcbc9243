"""The source Semantic Scholar: bulk search with signs for operators and 1,000 records per page."""

import re
from collections.abc import Sequence
from urllib.parse import quote

from paper_search.domain.query.filters import has_year_limit
from paper_search.domain.query.identifier_queries import Identifier
from paper_search.domain.query.query_texts import render_with_operators, render_within_limit
from paper_search.domain.strategies.plain_words import parse_search_query
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, SourceKind, WorkType
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
    get_list_or_raise,
    make_refusal_error_from_json,
    make_source_error,
    make_unreadable_error,
    parse_json,
    replace_params,
)
from uraniborg.kernel.bibliography.identifiers import normalise_arxiv
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.boolean_query import Node

NAME = "semantic_scholar"
_URL = "https://api.semanticscholar.org/graph/v1/paper/search/bulk"
_WORK = "https://api.semanticscholar.org/graph/v1/paper"
_SCHEMES = {"doi": "DOI", "arxiv": "ARXIV", "pmid": "PMID", "pmcid": "PMCID"}
_MAX_QUERY_BYTES = 3_000
_FIELDS = (
    "paperId,externalIds,title,abstract,year,publicationDate,venue,journal,authors,citationCount,openAccessPdf,"
    "publicationTypes,url"
)
# BibTeX braces around acronyms and capitals; the braces of sets and formulas stay.
_PROTECTED = re.compile(r"\{([A-Z][A-Za-z]+|[A-Z](?=\}[a-z]))\}")
_WRAPPERS = ("citedPaper", "citingPaper", "paper")
_WORK_TYPES = {
    "Conference": WorkType.CONFERENCE,
    "BookSection": WorkType.CHAPTER,
    "Book": WorkType.BOOK,
    "Dataset": WorkType.DATASET,
}


class SemanticScholar:
    """The definition of Semantic Scholar."""

    name = NAME
    kind: SourceKind = "boolean"
    capabilities = frozenset({"year", "not"})

    def build_requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        search = render_within_limit(parse_search_query(query), _render_query, _MAX_QUERY_BYTES)
        if not search:
            return []
        params = [("query", search), ("fields", _FIELDS), ("sort", "citationCount:desc")]
        if has_year_limit(filters):
            params.append(("year", f"{filters.year_from or ''}-{filters.year_to or ''}"))
        return [Request(NAME, _URL, tuple(params))]

    def build_lookup_requests(self, identifiers: Sequence[Identifier]) -> list[Request]:
        known = [
            (_SCHEMES[identifier.scheme], identifier.value)
            for identifier in identifiers
            if identifier.scheme in _SCHEMES
        ]
        return [
            Request(NAME, f"{_WORK}/{scheme}:{quote(value.removeprefix('PMC'), safe='/')}", (("fields", _FIELDS),))
            for scheme, value in known
        ]

    def read_response(self, request: Request, response: Response) -> SourcePage:
        body = parse_json(NAME, response)
        if isinstance(body, list):
            return SourcePage(read_papers(list_json_objects(body), _read_paper))
        answer = get_object_or_empty(body)
        if error_text := get_first_text(answer.get("error"), answer.get("message")):
            raise make_source_error(NAME, error_text)
        key = "recommendedPapers" if "recommendedPapers" in answer else "data"
        if not {key, "paperId", "authorId", "total"} & answer.keys():
            raise make_unreadable_error(NAME, "JSON without papers")
        works = list_json_objects(get_list_or_raise(NAME, answer, key) or answer)
        papers, token = read_papers(works, _read_paper), clean_text(answer.get("token"))
        follow = (replace_params(request, token=token),) if token and papers else ()
        return SourcePage(papers, follow, parse_count(answer.get("total")), len(works) if key in answer else None)

    def read_failure(self, response: Response) -> Exception | None:
        return make_refusal_error_from_json(NAME, response, "error", "message")


definition: SourceDefinition = SemanticScholar()


def _render_query(node: Node) -> str:
    return render_with_operators(node, and_sign=" + ", or_sign=" | ", not_sign=" -")


def _read_paper(record: JsonObject) -> RawPaper | None:
    """Return the paper of a search hit, a citation, a reference or a snippet, which wrap it differently."""
    work = next((get_object_or_empty(record[key]) for key in _WRAPPERS if key in record), record)
    ids, journal = get_object_or_empty(work.get("externalIds")), get_object_or_empty(work.get("journal"))
    kinds = [kind for item in ensure_list(work.get("publicationTypes")) if (kind := clean_text(item))]
    venue = get_first_text(work.get("venue"), journal.get("name"))
    return build_paper(
        NAME,
        work.get("paperId"),
        _PROTECTED.sub(r"\1", clean_text(work.get("title"))),
        authors=[_read_name_and_author_id(author) for author in ensure_list(work.get("authors"))],
        identifiers={
            "doi": ids.get("DOI"),
            "arxiv": ids.get("ArXiv"),
            "pmid": ids.get("PubMed"),
            "pmcid": ids.get("PubMedCentral"),
            "s2": work.get("paperId"),
            "dblp": ids.get("DBLP"),
        },
        links=(
            get_object_or_empty(work.get("openAccessPdf")).get("url"),
            f"https://arxiv.org/pdf/{arxiv}" if (arxiv := normalise_arxiv(clean_text(ids.get("ArXiv")))) else None,
            work.get("url"),
        ),
        year=find_year(work.get("year"), work.get("publicationDate")),
        venue=venue,
        abstract=work.get("abstract"),
        snippet=get_object_or_empty(record.get("snippet")).get("text"),
        citation_count=work.get("citationCount"),
        work_type=_find_work_type(kinds, venue),
        volume=journal.get("volume"),
        pages=format_page_range(journal.get("pages")),
        raw_data={"types": kinds},
    )


def _read_name_and_author_id(author: object) -> tuple[object, object]:
    if isinstance(author, str):
        return author, None
    return get_object_or_empty(author).get("name"), get_object_or_empty(author).get("authorId")


def _find_work_type(kinds: list[str], venue: str) -> WorkType | None:
    if venue.lower() in {"arxiv", "arxiv.org", "biorxiv", "medrxiv", "ssrn electronic journal"}:
        return WorkType.PREPRINT
    found = next((_WORK_TYPES[kind] for kind in kinds if kind in _WORK_TYPES), None)
    return found or (WorkType.ARTICLE if kinds else None)
