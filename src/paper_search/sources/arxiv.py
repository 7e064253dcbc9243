"""arXiv: fielded boolean search in, an Atom feed of preprints out."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from paper_search.errors import NonRetryableError, RetryableError
from paper_search.lookups import Identifier
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, WorkType
from paper_search.query.boolean_query import Node, parse_search_query
from paper_search.query.rendering import quote_term, render_with_operators, render_within_limit
from paper_search.sources.interfaces import Page, Request, Response, SourceDefinition
from paper_search.sources.parsing import (
    batches,
    complaint,
    element_text,
    next_page,
    number,
    paper,
    papers_of,
    refused,
    unreadable,
    xml_root,
    year_of,
)
from uraniborg.kernel.bibliography.identifiers import normalise_arxiv

NAME = "arxiv"
_URL = "https://export.arxiv.org/api/query"
_PAGE = 100
_MAX_QUERY_BYTES = 3_000
_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"


class Arxiv:
    name = NAME
    capabilities = frozenset({"year", "not"})

    def requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        search = render_within_limit(parse_search_query(query), _render, _MAX_QUERY_BYTES)
        if not search:
            return []
        if filters.year_from is not None or filters.year_to is not None:
            first, last = filters.year_from or 1900, filters.year_to or 2999
            search = f"{search} AND submittedDate:[{first:04d}01010000 TO {last:04d}12312359]"
        size = max(1, min(limit, _PAGE))
        paging = (("start", "0"), ("max_results", str(size)), ("sortBy", "relevance"), ("sortOrder", "descending"))
        return [Request(NAME, _URL, (("search_query", search), *paging))]

    def lookups(self, identifiers: Sequence[Identifier]) -> list[Request]:
        ids = [one.value for one in identifiers if one.scheme == "arxiv"]
        return [
            Request(NAME, _URL, (("id_list", ",".join(batch)), ("start", "0"), ("max_results", str(len(batch)))))
            for batch in batches(ids, _PAGE)
        ]

    def read(self, request: Request, response: Response, limit: int) -> Page:
        feed = xml_root(NAME, response)
        if feed.tag != f"{_ATOM}feed":
            raise unreadable(NAME, "XML that is no Atom feed")
        entries = feed.findall(f"{_ATOM}entry")
        if error := _error(entries):
            raise complaint(NAME, error)
        papers = papers_of(entries, _paper)
        found = number(element_text(feed.find(f"{_OPENSEARCH}totalResults")))
        start = (number(dict(request.params).get("start")) or 0) + len(entries)
        more = start < (found or 0)
        if more and not entries:  # it happens under load, and the same request gets its entries a moment later
            raise RetryableError(f"{NAME} left out the papers of a page that it says it has.", source=NAME)
        return Page(papers, (next_page(request, start=start),) if more and len(papers) < limit else (), found)

    def failure(self, response: Response) -> Exception | None:
        try:
            entries = xml_root(NAME, response).findall(f"{_ATOM}entry")
        except NonRetryableError:
            return None
        return refused(NAME, response, _error(entries))


definition: SourceDefinition = Arxiv()


def _render(node: Node) -> str:
    return render_with_operators(node, term=lambda term: f"all:{quote_term(term)}", without=" ANDNOT ")


def _error(entries: list[Element]) -> str:
    """arXiv reports errors as a feed whose one entry is called Error."""
    for entry in entries:
        if "/api/errors" in element_text(entry.find(f"{_ATOM}id")):
            return element_text(entry.find(f"{_ATOM}summary"))[:300] or "an error it does not name"
    return ""


def _paper(entry: Element) -> RawPaper | None:
    address = element_text(entry.find(f"{_ATOM}id"))
    links = {link.get("title") or link.get("rel"): link.get("href") for link in entry.findall(f"{_ATOM}link")}
    return paper(
        NAME,
        address.rpartition("/abs/")[2],
        element_text(entry.find(f"{_ATOM}title")),
        authors=[(element_text(author.find(f"{_ATOM}name")), None) for author in entry.findall(f"{_ATOM}author")],
        identifiers={"arxiv": normalise_arxiv(address), "doi": element_text(entry.find(f"{_ARXIV}doi"))},
        links=(links.get("pdf"), links.get("alternate"), address),
        year=year_of(element_text(entry.find(f"{_ATOM}published")), element_text(entry.find(f"{_ATOM}updated"))),
        venue=element_text(entry.find(f"{_ARXIV}journal_ref")) or "arXiv",
        abstract=element_text(entry.find(f"{_ATOM}summary")),
        work_type=WorkType.PREPRINT,
        raw_data={
            "categories": [term for found in entry.findall(f"{_ATOM}category") if (term := found.get("term"))],
            "comment": element_text(entry.find(f"{_ARXIV}comment")),
        },
    )
