"""The source Crossref: words without operators, answered by registered metadata with JATS abstracts."""

from collections.abc import Sequence
from urllib.parse import quote

from paper_search.domain.query.filters import parse_language
from paper_search.domain.query.identifier_queries import Identifier
from paper_search.domain.query.query_texts import list_wanted_words, render_within_limit
from paper_search.domain.strategies.plain_words import parse_search_query
from paper_search.models import REGISTRATION, RawPaper, SearchConstraints, SearchQuery, SourceKind, WorkType
from paper_search.sources.editorial_notice_readers import read_crossref_notices
from paper_search.sources.interfaces import Request, Response, SourceDefinition, SourcePage
from paper_search.sources.record_fields import (
    build_paper,
    clean_text,
    ensure_list,
    find_year,
    format_page_range,
    get_date_parts,
    get_first_text,
    get_object_or_empty,
    join_title_and_subtitle,
    list_json_objects,
    parse_count,
    read_papers,
)
from paper_search.sources.response_bodies import (
    get_list_or_raise,
    limit_page_size,
    make_permanent_refusal_error,
    make_source_error,
    make_unreadable_error,
    parse_json_object,
    replace_params,
    select_values_of_scheme,
    split_batches,
    try_parse_json,
)
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.boolean_query import AllOf, Node

NAME = "crossref"
_URL = "https://api.crossref.org/works"
_PAGE = 200  # of the 1,000 allowed: larger answers exceed the usual timeout
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
    """The definition of Crossref."""

    name = NAME
    kind: SourceKind = "ranked"
    capabilities = frozenset({"year"})

    def build_requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        node = parse_search_query(query)
        words = render_within_limit(node, _render_query, _MAX_QUERY_BYTES)
        if not words:
            return []
        # Exclusions are applied afterwards, so more papers are fetched.
        wanted = limit * 2 if isinstance(node, AllOf) and node.excluded else limit
        start = ("offset", "0") if wanted <= _MAX_OFFSET else ("cursor", "*")
        params = [("query.bibliographic", words), ("rows", str(limit_page_size(wanted, _PAGE))), start]
        if restrictions := _build_filter(filters):
            params.append(("filter", restrictions))
        return [Request(NAME, _URL, (*params, ("select", _FIELDS)))]

    def build_lookup_requests(self, identifiers: Sequence[Identifier]) -> list[Request]:
        dois = select_values_of_scheme(identifiers, "doi")
        # A comma ends a filter, so a DOI with a comma is fetched by its own address.
        alone = [Request(NAME, f"{_URL}/{quote(doi, safe='')}") for doi in dois if "," in doi]
        together = [
            (("filter", ",".join(f"doi:{doi}" for doi in batch)), ("rows", str(len(batch))), ("select", _FIELDS))
            for batch in split_batches([doi for doi in dois if "," not in doi], _BATCH)
        ]
        return [*(Request(NAME, _URL, params) for params in together), *alone]

    def read_response(self, request: Request, response: Response) -> SourcePage:
        body = parse_json_object(NAME, response)
        message, kind = get_object_or_empty(body.get("message")), clean_text(body.get("message-type"))
        if body.get("status") != "ok" or not message:
            error_text = _join_error_messages(body.get("message"))
            raise (
                make_source_error(NAME, error_text)
                if error_text
                else make_unreadable_error(NAME, "JSON that is not a Crossref answer")
            )
        if kind == "work":
            return SourcePage(read_papers([message], _read_paper))
        if kind != "work-list":  # a list of journals, members, funders
            return SourcePage([])
        works = get_list_or_raise(NAME, message, "items")
        papers, found = read_papers(list_json_objects(works), _read_paper), parse_count(message.get("total-results"))
        return SourcePage(papers, _build_next_requests(request, message, len(works), found), found, len(works))

    def read_failure(self, response: Response) -> Exception | None:
        return make_permanent_refusal_error(
            NAME, response, _join_error_messages(get_object_or_empty(try_parse_json(response)).get("message"))
        )


definition: SourceDefinition = Crossref()


def _build_next_requests(
    request: Request, message: JsonObject, received: int, found: int | None
) -> tuple[Request, ...]:
    params = dict(request.params)
    if "cursor" in params:
        cursor = clean_text(message.get("next-cursor"))
        return (replace_params(request, cursor=cursor),) if received and cursor else ()
    offset = (parse_count(params.get("offset")) or 0) + received
    if (
        not received
        or received < (parse_count(params.get("rows")) or received)
        or offset >= min(found or 0, _MAX_OFFSET)
    ):
        return ()
    return (replace_params(request, offset=offset),)


def _join_error_messages(message: object) -> str:
    parts = [get_object_or_empty(part).get("message", part) for part in ensure_list(message)]
    return "; ".join(found for part in parts if (found := clean_text(part)))


def _render_query(node: Node) -> str:
    return " ".join(list_wanted_words(node))


def _build_filter(filters: SearchConstraints) -> str:
    found: list[str] = []
    if filters.year_from is not None:
        found.append(f"from-pub-date:{filters.year_from:04d}-01-01")
    if filters.year_to is not None:
        found.append(f"until-pub-date:{filters.year_to:04d}-12-31")
    return ",".join(found)


def _read_paper(work: JsonObject) -> RawPaper | None:
    doi, kind = clean_text(work.get("DOI")), clean_text(work.get("type"))
    published, created = (
        find_year(*(_get_year_of_date(work.get(date)) for date in _DATES)),
        find_year(_get_year_of_date(work.get("created"))),
    )
    return build_paper(
        NAME,
        doi,
        join_title_and_subtitle(
            get_first_text(*ensure_list(work.get("title"))), get_first_text(*ensure_list(work.get("subtitle")))
        ),
        authors=[_read_name_and_orcid(author) for author in list_json_objects(work.get("author"))],
        editors=[_read_name_and_orcid(editor) for editor in list_json_objects(work.get("editor"))],
        identifiers={"doi": doi},
        links=(_find_open_pdf_link(work), f"https://doi.org/{doi}" if doi else None, work.get("URL")),
        year=published or created,
        venue=_find_venue(work),
        abstract=work.get("abstract"),
        citation_count=work.get("is-referenced-by-count"),
        language=parse_language(work.get("language")),
        work_type=_WORK_TYPES.get(kind, WorkType.OTHER) if kind else None,
        volume=work.get("volume"),
        issue=work.get("issue"),
        pages=format_page_range(get_first_text(work.get("page"), work.get("article-number"))),
        publisher=work.get("publisher"),
        notices=read_crossref_notices(NAME, work),
        provenance={"year": NAME + REGISTRATION} if created and not published else None,
        raw_data={"types": [kind] if kind else []},
    )


def _read_name_and_orcid(author: JsonObject) -> tuple[str, object]:
    parts = (author.get("given"), author.get("prefix"), author.get("family"), author.get("suffix"))
    full = " ".join(found for part in parts if (found := clean_text(part)))
    return full or clean_text(author.get("name")), clean_text(author.get("ORCID")).rpartition("/")[2]


def _get_year_of_date(date: object) -> object:
    return next(iter(get_date_parts(date)), None)


def _find_venue(work: JsonObject) -> str:
    institutions = (institution.get("name") for institution in list_json_objects(work.get("institution")))
    event = get_object_or_empty(work.get("event"))
    return get_first_text(
        *ensure_list(work.get("container-title")), event.get("name"), *institutions, work.get("group-title")
    )


def _find_open_pdf_link(work: JsonObject) -> object:
    """Return the PDF link of a work under an open licence, else None: other links often lead to a paywall."""
    licences = [clean_text(licence.get("URL")) for licence in list_json_objects(work.get("license"))]
    if not any("creativecommons.org" in licence for licence in licences):
        return None
    pdfs = [
        link.get("URL") for link in list_json_objects(work.get("link")) if link.get("content-type") == "application/pdf"
    ]
    return pdfs[0] if pdfs else None
