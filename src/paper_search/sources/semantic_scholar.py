"""Semantic Scholar: bulk search with signs for operators, a thousand records a page."""

import re
from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import quote

from paper_search.lookups import Identifier
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, WorkType
from paper_search.query.boolean_query import Node, parse_search_query
from paper_search.query.rendering import render_with_operators, render_within_limit
from paper_search.sources.interfaces import Page, Request, Response, SourceDefinition
from paper_search.sources.parsing import (
    complaint,
    first_text,
    items,
    json_body,
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
    year_of,
)
from uraniborg.kernel.bibliography.identifiers import normalise_arxiv

NAME = "semantic_scholar"
_URL = "https://api.semanticscholar.org/graph/v1/paper/search/bulk"
_WORK = "https://api.semanticscholar.org/graph/v1/paper"
_SCHEMES = {"doi": "DOI", "arxiv": "ARXIV", "pmid": "PMID", "pmcid": "PMCID"}
_MAX_QUERY_BYTES = 3_000
_FIELDS = (
    "paperId,externalIds,title,abstract,year,publicationDate,venue,journal,authors,citationCount,openAccessPdf,"
    "publicationTypes,url"
)
# BibTeX's braces around acronyms and capitals; those of sets and formulas mean something.
_PROTECTED = re.compile(r"\{([A-Z][A-Za-z]+|[A-Z](?=\}[a-z]))\}")
_WRAPPERS = ("citedPaper", "citingPaper", "paper")
_WORK_TYPES = {
    "Conference": WorkType.CONFERENCE,
    "BookSection": WorkType.CHAPTER,
    "Book": WorkType.BOOK,
    "Dataset": WorkType.DATASET,
}


class SemanticScholar:
    name = NAME
    capabilities = frozenset({"year", "not"})

    def requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        search = render_within_limit(parse_search_query(query), _render, _MAX_QUERY_BYTES)
        if not search:
            return []
        params = [("query", search), ("fields", _FIELDS), ("sort", "citationCount:desc")]
        if filters.year_from is not None or filters.year_to is not None:
            params.append(("year", f"{filters.year_from or ''}-{filters.year_to or ''}"))
        return [Request(NAME, _URL, tuple(params))]

    def lookups(self, identifiers: Sequence[Identifier]) -> list[Request]:
        known = [(_SCHEMES[one.scheme], one.value) for one in identifiers if one.scheme in _SCHEMES]
        return [
            Request(NAME, f"{_WORK}/{scheme}:{quote(value.removeprefix('PMC'), safe='/')}", (("fields", _FIELDS),))
            for scheme, value in known
        ]

    def read(self, request: Request, response: Response, limit: int) -> Page:
        body: object = json_body(NAME, response)
        if isinstance(body, list):
            return Page(papers_of(objects(cast("object", body)), _paper))
        answer = mapping(body)
        if said := first_text(answer.get("error"), answer.get("message")):
            raise complaint(NAME, said)
        key = "recommendedPapers" if "recommendedPapers" in answer else "data"
        if not {key, "paperId", "authorId", "total"} & answer.keys():
            raise unreadable(NAME, "JSON that holds no papers")
        papers = papers_of(objects(listed(NAME, answer, key) or answer), _paper)
        token = text(answer.get("token"))
        more = token and papers and len(papers) < limit
        return Page(papers, (next_page(request, token=token),) if more else (), number(answer.get("total")))

    def failure(self, response: Response) -> Exception | None:
        body = mapping(json_or_none(response))
        return refused(NAME, response, first_text(body.get("error"), body.get("message")))


definition: SourceDefinition = SemanticScholar()


def _render(node: Node) -> str:
    return render_with_operators(node, both=" + ", either=" | ", without=" -")


def _paper(record: dict[str, Any]) -> RawPaper | None:
    """A paper from a search hit, a citation, a reference or a snippet, which wrap it differently."""
    work = next((mapping(record[key]) for key in _WRAPPERS if key in record), record)
    ids, journal = mapping(work.get("externalIds")), mapping(work.get("journal"))
    kinds = [kind for item in items(work.get("publicationTypes")) if (kind := text(item))]
    venue = first_text(work.get("venue"), journal.get("name"))
    return paper(
        NAME,
        work.get("paperId"),
        _PROTECTED.sub(r"\1", text(work.get("title"))),
        authors=[_author(author) for author in items(work.get("authors"))],
        identifiers={
            "doi": ids.get("DOI"),
            "arxiv": ids.get("ArXiv"),
            "pmid": ids.get("PubMed"),
            "pmcid": ids.get("PubMedCentral"),
            "s2": work.get("paperId"),
            "dblp": ids.get("DBLP"),
        },
        links=(
            mapping(work.get("openAccessPdf")).get("url"),
            f"https://arxiv.org/pdf/{arxiv}" if (arxiv := normalise_arxiv(text(ids.get("ArXiv")))) else None,
            work.get("url"),
        ),
        year=year_of(work.get("year"), work.get("publicationDate")),
        venue=venue,
        abstract=work.get("abstract"),
        snippet=mapping(record.get("snippet")).get("text"),
        citation_count=work.get("citationCount"),
        work_type=_work_type(kinds, venue),
        volume=journal.get("volume"),
        pages=page_range(journal.get("pages")),
        raw_data={"types": kinds},
    )


def _author(author: object) -> tuple[object, object]:
    if isinstance(author, str):
        return author, None
    return mapping(author).get("name"), mapping(author).get("authorId")


def _work_type(kinds: list[str], venue: str) -> WorkType | None:
    if venue.lower() in {"arxiv", "arxiv.org", "biorxiv", "medrxiv", "ssrn electronic journal"}:
        return WorkType.PREPRINT
    found = next((_WORK_TYPES[kind] for kind in kinds if kind in _WORK_TYPES), None)
    return found or (WorkType.ARTICLE if kinds else None)
