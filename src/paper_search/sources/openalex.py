"""The source OpenAlex: boolean search over works, abstracts as inverted indexes, daily credits."""

from collections.abc import Sequence

from paper_search.domain.query.filters import has_year_limit, parse_language
from paper_search.domain.query.identifier_queries import Identifier
from paper_search.domain.query.query_texts import render_with_operators, render_within_limit
from paper_search.domain.strategies.plain_words import parse_search_query
from paper_search.editorial_notices import EditorialNotice, NoticeStatus
from paper_search.errors import CreditsExhaustedError, RetryableError
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, SourceKind, WorkType
from paper_search.sources.interfaces import Request, Response, SourceDefinition, SourcePage
from paper_search.sources.record_fields import (
    build_paper,
    clean_text,
    ensure_list,
    find_year,
    format_page_range,
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
    make_permanent_refusal_error,
    make_source_error,
    make_unreadable_error,
    parse_json_object,
    replace_params,
    select_values_of_scheme,
    split_batches,
    try_parse_json,
)
from uraniborg.kernel.bibliography.identifiers import arxiv_to_doi, normalise_arxiv, normalise_openalex
from uraniborg.kernel.json_values import JsonObject

NAME = "openalex"
_URL = "https://api.openalex.org/works"
_PAGE = 100
_BATCH = 25
_MAX_QUERY_BYTES = 3_000  # of the 4,094 that OpenAlex accepts for a whole address
_FIELDS = (
    "id,doi,title,display_name,publication_year,publication_date,language,primary_location,best_oa_location,"
    "open_access,type,authorships,biblio,cited_by_count,ids,abstract_inverted_index,is_retracted"
)
_WORK_TYPES = {
    "article": WorkType.ARTICLE,
    "journal-article": WorkType.ARTICLE,
    "review": WorkType.ARTICLE,
    "letter": WorkType.ARTICLE,
    "editorial": WorkType.ARTICLE,
    "erratum": WorkType.ARTICLE,
    "proceedings-article": WorkType.CONFERENCE,
    "conference-paper": WorkType.CONFERENCE,
    "preprint": WorkType.PREPRINT,
    "posted-content": WorkType.PREPRINT,
    "book": WorkType.BOOK,
    "monograph": WorkType.BOOK,
    "edited-book": WorkType.BOOK,
    "book-chapter": WorkType.CHAPTER,
    "reference-entry": WorkType.CHAPTER,
    "dissertation": WorkType.THESIS,
    "dataset": WorkType.DATASET,
    "report": WorkType.REPORT,
}


class OpenAlex:
    """The definition of OpenAlex."""

    name = NAME
    kind: SourceKind = "boolean"
    capabilities = frozenset({"year", "language", "not"})

    def build_requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        search = render_within_limit(parse_search_query(query), render_with_operators, _MAX_QUERY_BYTES)
        if not search:
            return []
        params = [("search", search), ("per-page", str(limit_page_size(limit, _PAGE))), ("cursor", "*")]
        if restrictions := _build_filter(filters):
            params.append(("filter", restrictions))
        return [Request(NAME, _URL, (*params, ("select", _FIELDS)))]

    def build_lookup_requests(self, identifiers: Sequence[Identifier]) -> list[Request]:
        dois = [
            identifier.value
            for identifier in identifiers
            if identifier.scheme == "doi" and not {",", "|"} & set(identifier.value)
        ]
        dois += [arxiv_to_doi(identifier.value) for identifier in identifiers if identifier.scheme == "arxiv"]
        pmids = select_values_of_scheme(identifiers, "pmid")
        wanted = [
            (name, batch) for name, ids in (("doi", dois), ("pmid", pmids)) for batch in split_batches(ids, _BATCH)
        ]
        return [
            Request(
                NAME,
                _URL,
                (("filter", f"{name}:{'|'.join(batch)}"), ("per-page", str(len(batch))), ("select", _FIELDS)),
            )
            for name, batch in wanted
        ]

    def read_response(self, request: Request, response: Response) -> SourcePage:
        body = parse_json_object(NAME, response)
        if "results" not in body:
            if "error" in body:
                raise make_source_error(NAME, get_first_text(body.get("message"), body["error"]))
            if not {"id", "doi"} & body.keys():
                raise make_unreadable_error(NAME, "JSON without results")
            return SourcePage(read_papers([body], _read_paper))
        works, meta = get_list_or_raise(NAME, body, "results"), get_object_or_empty(body.get("meta"))
        papers, cursor = read_papers(list_json_objects(works), _read_paper), clean_text(meta.get("next_cursor"))
        follow = (replace_params(request, cursor=cursor),) if works and cursor else ()
        return SourcePage(papers, follow, parse_count(meta.get("count")), len(works))

    def read_failure(self, response: Response) -> Exception | None:
        body = get_object_or_empty(try_parse_json(response))
        error_text = get_first_text(body.get("message"), body.get("error"))
        if response.status != 429:
            return make_permanent_refusal_error(NAME, response, error_text)
        if _is_out_of_credits(response, body, error_text):
            return CreditsExhaustedError(
                f"{NAME} has no credits left for today.",
                hint="Credits are renewed at midnight UTC. For more credits set OPENALEX_API_KEY to your own key.",
                source=NAME,
            )
        return RetryableError(f"{NAME} limits the rate of requests (429).", rate_limited=True, source=NAME)


definition: SourceDefinition = OpenAlex()


def _is_out_of_credits(response: Response, body: JsonObject, error_text: str) -> bool:
    remaining = parse_count(get_first_text(body.get("creditsRemaining"), response.headers.get("x-ratelimit-remaining")))
    required = parse_count(
        get_first_text(body.get("creditsRequired"), response.headers.get("x-ratelimit-credits-required"))
    )
    if remaining is not None:
        return remaining < max(1, required or 0)
    return any(word in error_text.lower() for word in ("insufficient", "credit", "budget", "midnight"))


def _build_filter(filters: SearchConstraints) -> str:
    found: list[str] = []
    if has_year_limit(filters):
        found.append(f"publication_year:{filters.year_from or ''}-{filters.year_to or ''}")
    if language := parse_language(filters.language):
        found.append(f"language:{language}")
    return ",".join(found)


def _read_paper(work: JsonObject) -> RawPaper | None:
    openalex = normalise_openalex(clean_text(work.get("id")))
    if work.get("id") and not openalex:  # an author, a journal, a funder
        return None
    primary, best = get_object_or_empty(work.get("primary_location")), get_object_or_empty(work.get("best_oa_location"))
    host, access = get_object_or_empty(work.get("host_venue")), get_object_or_empty(work.get("open_access"))
    journal, ids, biblio = (
        get_object_or_empty(primary.get("source")),
        get_object_or_empty(work.get("ids")),
        get_object_or_empty(work.get("biblio")),
    )
    addresses = [location.get(kind) for location in (best, primary) for kind in ("pdf_url", "landing_page_url")]
    return build_paper(
        NAME,
        openalex,
        get_first_text(work.get("title"), work.get("display_name")),
        authors=[_read_name_and_author_id(authorship) for authorship in list_json_objects(work.get("authorships"))],
        identifiers={
            "doi": get_first_text(work.get("doi"), ids.get("doi")),
            "arxiv": next((found for link in addresses if (found := normalise_arxiv(get_first_link(link)))), None),
            "pmid": ids.get("pmid"),
            "pmcid": ids.get("pmcid"),
            "openalex": openalex,
        },
        links=(
            best.get("pdf_url"),
            access.get("oa_url"),
            best.get("landing_page_url"),
            primary.get("landing_page_url"),
            work.get("doi"),
            work.get("id"),
        ),
        year=find_year(work.get("publication_year"), work.get("publication_date")),
        venue=get_first_text(journal.get("display_name"), primary.get("raw_source_name"), host.get("display_name")),
        abstract=_rebuild_abstract(work.get("abstract_inverted_index")),
        citation_count=work.get("cited_by_count"),
        language=parse_language(work.get("language")),
        work_type=_find_work_type(work, primary, journal),
        volume=biblio.get("volume"),
        issue=biblio.get("issue"),
        pages=format_page_range(biblio.get("first_page"), biblio.get("last_page")),
        publisher=get_first_text(journal.get("host_organization_name"), host.get("publisher")),
        notices=_read_notices(work),
        raw_data={"types": [kind] if (kind := clean_text(work.get("type"))) else []},
    )


def _read_notices(work: JsonObject) -> list[EditorialNotice]:
    # OpenAlex has only a flag; a work of the type "retraction" is itself a notice.
    if work.get("is_retracted") is not True or work.get("type") == "retraction":
        return []
    return [EditorialNotice(status=NoticeStatus.RETRACTED, source=NAME, label="is_retracted")]


def _read_name_and_author_id(authorship: JsonObject) -> tuple[str, object]:
    author = get_object_or_empty(authorship.get("author"))
    name = get_first_text(author.get("display_name"), authorship.get("raw_author_name"))
    return name, clean_text(author.get("id")).rpartition("/")[2]


def _rebuild_abstract(inverted_index: object) -> str:
    positions = [
        (position, word)
        for word, found in get_object_or_empty(inverted_index).items()
        for position in ensure_list(found)
        if isinstance(position, int)
    ]
    return " ".join(word for _, word in sorted(positions))


def _find_work_type(work: JsonObject, primary: JsonObject, journal: JsonObject) -> WorkType | None:
    kind = clean_text(work.get("type"))
    found = _WORK_TYPES.get(kind, WorkType.OTHER) if kind else None
    crossref = get_first_text(work.get("type_crossref"), primary.get("raw_type"))
    if found is WorkType.ARTICLE and (crossref == "proceedings-article" or journal.get("type") == "conference"):
        return WorkType.CONFERENCE
    return found
