"""Crossref: words without operators in, registered metadata with JATS abstracts out."""

from collections.abc import Sequence
from urllib.parse import quote

from paper_search.lookups import Identifier
from paper_search.models import REGISTRATION, RawPaper, SearchConstraints, SearchQuery, WorkType
from paper_search.query.boolean_query import AllOf, Node, parse_search_query
from paper_search.query.languages import parse_language
from paper_search.query.rendering import list_wanted_words, render_within_limit
from paper_search.sources.interfaces import Page, Request, Response, SourceDefinition
from paper_search.sources.notices import crossref_notices
from paper_search.sources.parsing import (
    batches,
    complaint,
    date_parts,
    first_text,
    items,
    join_subtitle,
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
    year_of,
)

NAME = "crossref"
_URL = "https://api.crossref.org/works"
_PAGE = 200  # of the 1,000 allowed: larger answers take longer than a polite caller waits
_BATCH = 25
_MAX_OFFSET = 10_000
_MAX_QUERY_BYTES = 2_000
_FIELDS = (
    "DOI,title,subtitle,author,editor,issued,published,published-print,published-online,posted,created,"
    "container-title,abstract,is-referenced-by-count,type,volume,issue,page,article-number,publisher,link,license,"
    "group-title,event,updated-by,update-to"
)
_DATES = ("issued", "published", "published-print", "published-online", "posted")
_WORK_TYPES = {
    "journal-article": WorkType.ARTICLE,
    "proceedings-article": WorkType.CONFERENCE,
    "posted-content": WorkType.PREPRINT,
    "book": WorkType.BOOK,
    "monograph": WorkType.BOOK,
    "edited-book": WorkType.BOOK,
    "reference-book": WorkType.BOOK,
    "proceedings": WorkType.BOOK,
    "book-chapter": WorkType.CHAPTER,
    "book-section": WorkType.CHAPTER,
    "book-part": WorkType.CHAPTER,
    "reference-entry": WorkType.CHAPTER,
    "dissertation": WorkType.THESIS,
    "dataset": WorkType.DATASET,
    "report": WorkType.REPORT,
    "report-component": WorkType.REPORT,
}


class Crossref:
    name = NAME
    capabilities = frozenset({"year"})

    def requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        node = parse_search_query(query)
        words = render_within_limit(node, _render, _MAX_QUERY_BYTES)
        if not words:
            return []
        # What the query excludes is taken out afterwards, so more is fetched to begin with.
        wanted = limit * 2 if isinstance(node, AllOf) and node.excluded else limit
        params = [("query.bibliographic", words), ("rows", str(max(1, min(wanted, _PAGE)))), ("offset", "0")]
        if restrictions := _filter(filters):
            params.append(("filter", restrictions))
        return [Request(NAME, _URL, (*params, ("select", _FIELDS)))]

    def lookups(self, identifiers: Sequence[Identifier]) -> list[Request]:
        dois = [one.value for one in identifiers if one.scheme == "doi"]
        # A comma ends a filter, so a DOI with one in it is asked for by its own address.
        alone = [Request(NAME, f"{_URL}/{quote(doi, safe='')}") for doi in dois if "," in doi]
        together = [
            (("filter", ",".join(f"doi:{doi}" for doi in batch)), ("rows", str(len(batch))), ("select", _FIELDS))
            for batch in batches([doi for doi in dois if "," not in doi], _BATCH)
        ]
        return [*(Request(NAME, _URL, params) for params in together), *alone]

    def read(self, request: Request, response: Response, limit: int) -> Page:
        body = json_object(NAME, response)
        message, kind = mapping(body.get("message")), text(body.get("message-type"))
        if body.get("status") != "ok" or not message:
            said = _said(body.get("message"))
            raise complaint(NAME, said) if said else unreadable(NAME, "JSON that is no Crossref answer")
        if kind == "work":
            return Page(papers_of([message], _paper))
        if kind != "work-list":  # a list of journals, members, funders
            return Page([])
        works = listed(NAME, message, "items")
        papers, found = papers_of(objects(works), _paper), number(message.get("total-results"))
        return Page(papers, _following(request, len(works), found) if len(papers) < limit else (), found)

    def failure(self, response: Response) -> Exception | None:
        return refused(NAME, response, _said(mapping(json_or_none(response)).get("message")))


definition: SourceDefinition = Crossref()


def _following(request: Request, received: int, found: int | None) -> tuple[Request, ...]:
    params = dict(request.params)
    offset = (number(params.get("offset")) or 0) + received
    if not received or received < (number(params.get("rows")) or received) or offset >= min(found or 0, _MAX_OFFSET):
        return ()
    return (next_page(request, offset=offset),)


def _said(message: object) -> str:
    parts = [mapping(part).get("message", part) for part in items(message)]
    return "; ".join(found for part in parts if (found := text(part)))


def _render(node: Node) -> str:
    return " ".join(list_wanted_words(node))


def _filter(filters: SearchConstraints) -> str:
    found: list[str] = []
    if filters.year_from is not None:
        found.append(f"from-pub-date:{filters.year_from:04d}-01-01")
    if filters.year_to is not None:
        found.append(f"until-pub-date:{filters.year_to:04d}-12-31")
    return ",".join(found)


def _paper(work: dict[str, object]) -> RawPaper | None:
    doi, kind = text(work.get("DOI")), text(work.get("type"))
    published, created = year_of(*(_year(work.get(date)) for date in _DATES)), year_of(_year(work.get("created")))
    return paper(
        NAME,
        doi,
        join_subtitle(first_text(*items(work.get("title"))), first_text(*items(work.get("subtitle")))),
        authors=[_author(author) for author in objects(work.get("author"))],
        editors=[_author(editor) for editor in objects(work.get("editor"))],
        identifiers={"doi": doi},
        links=(_open_copy(work), f"https://doi.org/{doi}" if doi else None, work.get("URL")),
        year=published or created,
        venue=_venue(work),
        abstract=work.get("abstract"),
        citation_count=work.get("is-referenced-by-count"),
        language=parse_language(work.get("language")),
        work_type=_WORK_TYPES.get(kind, WorkType.OTHER) if kind else None,
        volume=work.get("volume"),
        issue=work.get("issue"),
        pages=page_range(first_text(work.get("page"), work.get("article-number"))),
        publisher=work.get("publisher"),
        notices=crossref_notices(NAME, work),
        provenance={"year": NAME + REGISTRATION} if created and not published else None,
        raw_data={"types": [kind] if kind else []},
    )


def _author(author: dict[str, object]) -> tuple[str, object]:
    parts = (author.get("given"), author.get("prefix"), author.get("family"), author.get("suffix"))
    full = " ".join(found for part in parts if (found := text(part)))
    return full or text(author.get("name")), text(author.get("ORCID")).rpartition("/")[2]


def _year(date: object) -> object:
    return next(iter(date_parts(date)), None)


def _venue(work: dict[str, object]) -> str:
    institutions = (institution.get("name") for institution in objects(work.get("institution")))
    event = mapping(work.get("event"))
    return first_text(*items(work.get("container-title")), event.get("name"), *institutions, work.get("group-title"))


def _open_copy(work: dict[str, object]) -> object:
    """The PDF of a work under an open licence; other links lead to a paywall as often as not."""
    licences = [text(licence.get("URL")) for licence in objects(work.get("license"))]
    if not any("creativecommons.org" in licence for licence in licences):
        return None
    pdfs = [link.get("URL") for link in objects(work.get("link")) if link.get("content-type") == "application/pdf"]
    return pdfs[0] if pdfs else None
