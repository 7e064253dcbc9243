"""The source arXiv: fielded boolean queries, answered by an Atom feed of preprints."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from paper_search.domain.query.filters import has_year_limit
from paper_search.domain.query.identifier_queries import Identifier
from paper_search.domain.query.query_texts import quote_term_if_needed, render_with_operators, render_within_limit
from paper_search.domain.strategies.plain_words import parse_search_query
from paper_search.errors import NonRetryableError, RetryableError
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, SourceKind, WorkType
from paper_search.sources.interfaces import Request, Response, SourceDefinition, SourcePage
from paper_search.sources.record_fields import build_paper, find_year, get_element_text, parse_count, read_papers
from paper_search.sources.response_bodies import (
    limit_page_size,
    make_permanent_refusal_error,
    make_source_error,
    make_unreadable_error,
    parse_xml,
    replace_params,
    select_values_of_scheme,
    split_batches,
)
from uraniborg.kernel.bibliography.identifiers import normalise_arxiv
from uraniborg.kernel.language.boolean_query import Node

NAME = "arxiv"
_URL = "https://export.arxiv.org/api/query"
_PAGE = 100
_MAX_QUERY_BYTES = 3_000
_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"


class Arxiv:
    """The definition of arXiv."""

    name = NAME
    kind: SourceKind = "boolean"
    capabilities = frozenset({"year", "not"})

    def build_requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        search = render_within_limit(parse_search_query(query), _render_query, _MAX_QUERY_BYTES)
        if not search:
            return []
        if has_year_limit(filters):
            first, last = filters.year_from or 1900, filters.year_to or 2999
            search = f"{search} AND submittedDate:[{first:04d}01010000 TO {last:04d}12312359]"
        size = limit_page_size(limit, _PAGE)
        paging = (("start", "0"), ("max_results", str(size)), ("sortBy", "relevance"), ("sortOrder", "descending"))
        return [Request(NAME, _URL, (("search_query", search), *paging))]

    def build_lookup_requests(self, identifiers: Sequence[Identifier]) -> list[Request]:
        ids = select_values_of_scheme(identifiers, "arxiv")
        return [
            Request(NAME, _URL, (("id_list", ",".join(batch)), ("start", "0"), ("max_results", str(len(batch)))))
            for batch in split_batches(ids, _PAGE)
        ]

    def read_response(self, request: Request, response: Response) -> SourcePage:
        feed = parse_xml(NAME, response)
        if feed.tag != f"{_ATOM}feed":
            raise make_unreadable_error(NAME, "XML that is not an Atom feed")
        entries = feed.findall(f"{_ATOM}entry")
        if error := _find_error_text(entries):
            raise make_source_error(NAME, error)
        papers = read_papers(entries, _read_paper)
        found = parse_count(get_element_text(feed.find(f"{_OPENSEARCH}totalResults")))
        start = (parse_count(dict(request.params).get("start")) or 0) + len(entries)
        more = start < (found or 0)
        if more and not entries:  # this happens under load, and a retry gets the entries
            raise RetryableError(f"{NAME} sent an empty page although it has more papers.", source=NAME)
        return SourcePage(papers, (replace_params(request, start=start),) if more else (), found, len(entries))

    def read_failure(self, response: Response) -> Exception | None:
        try:
            entries = parse_xml(NAME, response).findall(f"{_ATOM}entry")
        except NonRetryableError:
            return None
        return make_permanent_refusal_error(NAME, response, _find_error_text(entries))


definition: SourceDefinition = Arxiv()


def _render_query(node: Node) -> str:
    return render_with_operators(
        node, render_term=lambda term: f"all:{quote_term_if_needed(term)}", not_sign=" ANDNOT "
    )


def _find_error_text(entries: list[Element]) -> str:
    """Return the error text of a feed whose only entry is an error, or ""."""
    for entry in entries:
        if "/api/errors" in get_element_text(entry.find(f"{_ATOM}id")):
            return get_element_text(entry.find(f"{_ATOM}summary"))[:300] or "an error without a description"
    return ""


def _read_paper(entry: Element) -> RawPaper | None:
    address = get_element_text(entry.find(f"{_ATOM}id"))
    links = {link.get("title") or link.get("rel"): link.get("href") for link in entry.findall(f"{_ATOM}link")}
    return build_paper(
        NAME,
        address.rpartition("/abs/")[2],
        get_element_text(entry.find(f"{_ATOM}title")),
        authors=[(get_element_text(author.find(f"{_ATOM}name")), None) for author in entry.findall(f"{_ATOM}author")],
        identifiers={"arxiv": normalise_arxiv(address), "doi": get_element_text(entry.find(f"{_ARXIV}doi"))},
        links=(links.get("pdf"), links.get("alternate"), address),
        year=find_year(
            get_element_text(entry.find(f"{_ATOM}published")), get_element_text(entry.find(f"{_ATOM}updated"))
        ),
        venue=get_element_text(entry.find(f"{_ARXIV}journal_ref")) or "arXiv",
        abstract=get_element_text(entry.find(f"{_ATOM}summary")),
        work_type=WorkType.PREPRINT,
        raw_data={
            "categories": [term for found in entry.findall(f"{_ATOM}category") if (term := found.get("term"))],
            "comment": get_element_text(entry.find(f"{_ARXIV}comment")),
        },
    )
