"""OpenAlex: boolean search over works, abstracts sent as inverted indexes, credits counted by the day."""

from collections.abc import Sequence

from paper_search.errors import CreditsExhaustedError, RetryableError
from paper_search.lookups import Identifier
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, WorkType
from paper_search.notices import EditorialNotice, NoticeStatus
from paper_search.query.boolean_query import parse_search_query
from paper_search.query.languages import parse_language
from paper_search.query.rendering import render_with_operators, render_within_limit
from paper_search.sources.interfaces import Page, Request, Response, SourceDefinition
from paper_search.sources.parsing import (
    batches,
    complaint,
    first_link,
    first_text,
    items,
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
from uraniborg.kernel.bibliography.identifiers import arxiv_to_doi, normalise_arxiv, normalise_openalex

NAME = "openalex"
_URL = "https://api.openalex.org/works"
_PAGE = 100
_BATCH = 25
_MAX_QUERY_BYTES = 3_000  # of the 4,094 that OpenAlex takes for a whole address
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
    name = NAME
    capabilities = frozenset({"year", "language", "not"})

    def requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        search = render_within_limit(parse_search_query(query), render_with_operators, _MAX_QUERY_BYTES)
        if not search:
            return []
        params = [("search", search), ("per-page", str(max(1, min(limit, _PAGE)))), ("cursor", "*")]
        if restrictions := _filter(filters):
            params.append(("filter", restrictions))
        return [Request(NAME, _URL, (*params, ("select", _FIELDS)))]

    def lookups(self, identifiers: Sequence[Identifier]) -> list[Request]:
        dois = [one.value for one in identifiers if one.scheme == "doi" and not {",", "|"} & set(one.value)]
        dois += [arxiv_to_doi(one.value) for one in identifiers if one.scheme == "arxiv"]
        pmids = [one.value for one in identifiers if one.scheme == "pmid"]
        wanted = [(name, batch) for name, ids in (("doi", dois), ("pmid", pmids)) for batch in batches(ids, _BATCH)]
        return [
            Request(
                NAME,
                _URL,
                (("filter", f"{name}:{'|'.join(batch)}"), ("per-page", str(len(batch))), ("select", _FIELDS)),
            )
            for name, batch in wanted
        ]

    def read(self, request: Request, response: Response, limit: int) -> Page:
        body = json_object(NAME, response)
        if "results" not in body:
            if "error" in body:
                raise complaint(NAME, first_text(body.get("message"), body["error"]))
            if not {"id", "doi"} & body.keys():
                raise unreadable(NAME, "JSON without results")
            return Page(papers_of([body], _paper))
        works, meta = listed(NAME, body, "results"), mapping(body.get("meta"))
        papers, cursor = papers_of(objects(works), _paper), text(meta.get("next_cursor"))
        more = works and cursor and len(papers) < limit
        return Page(papers, (next_page(request, cursor=cursor),) if more else (), number(meta.get("count")))

    def failure(self, response: Response) -> Exception | None:
        body = mapping(json_or_none(response))
        said = first_text(body.get("message"), body.get("error"))
        if response.status != 429:
            return refused(NAME, response, said)
        if _out_of_credits(response, body, said):
            return CreditsExhaustedError(
                f"{NAME} has no credits left for today.",
                hint="Credits are counted anew at midnight UTC. A key of your own raises them: set OPENALEX_API_KEY.",
                source=NAME,
            )
        return RetryableError(f"{NAME} asks to slow down (429).", rate_limited=True, source=NAME)


definition: SourceDefinition = OpenAlex()


def _out_of_credits(response: Response, body: dict[str, object], said: str) -> bool:
    remaining = number(first_text(body.get("creditsRemaining"), response.headers.get("x-ratelimit-remaining")))
    required = number(first_text(body.get("creditsRequired"), response.headers.get("x-ratelimit-credits-required")))
    if remaining is not None:
        return remaining < max(1, required or 0)
    return any(word in said.lower() for word in ("insufficient", "credit", "budget", "midnight"))


def _filter(filters: SearchConstraints) -> str:
    found: list[str] = []
    if filters.year_from is not None or filters.year_to is not None:
        found.append(f"publication_year:{filters.year_from or ''}-{filters.year_to or ''}")
    if language := parse_language(filters.language):
        found.append(f"language:{language}")
    return ",".join(found)


def _paper(work: dict[str, object]) -> RawPaper | None:
    openalex = normalise_openalex(text(work.get("id")))
    if work.get("id") and not openalex:  # an author, a journal, a funder
        return None
    primary, best = mapping(work.get("primary_location")), mapping(work.get("best_oa_location"))
    host, access = mapping(work.get("host_venue")), mapping(work.get("open_access"))
    journal, ids, biblio = mapping(primary.get("source")), mapping(work.get("ids")), mapping(work.get("biblio"))
    addresses = [place.get(kind) for place in (best, primary) for kind in ("pdf_url", "landing_page_url")]
    return paper(
        NAME,
        openalex,
        first_text(work.get("title"), work.get("display_name")),
        authors=[_author(authorship) for authorship in objects(work.get("authorships"))],
        identifiers={
            "doi": first_text(work.get("doi"), ids.get("doi")),
            "arxiv": next((found for link in addresses if (found := normalise_arxiv(first_link(link)))), None),
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
        year=year_of(work.get("publication_year"), work.get("publication_date")),
        venue=first_text(journal.get("display_name"), primary.get("raw_source_name"), host.get("display_name")),
        abstract=_abstract(work.get("abstract_inverted_index")),
        citation_count=work.get("cited_by_count"),
        language=parse_language(work.get("language")),
        work_type=_work_type(work, primary, journal),
        volume=biblio.get("volume"),
        issue=biblio.get("issue"),
        pages=page_range(biblio.get("first_page"), biblio.get("last_page")),
        publisher=first_text(journal.get("host_organization_name"), host.get("publisher")),
        notices=_notices(work),
        raw_data={"types": [kind] if (kind := text(work.get("type"))) else []},
    )


def _notices(work: dict[str, object]) -> list[EditorialNotice]:
    # OpenAlex has no more than a flag; a work of the type "retraction" is itself a notice.
    if work.get("is_retracted") is not True or work.get("type") == "retraction":
        return []
    return [EditorialNotice(status=NoticeStatus.RETRACTED, source=NAME, label="is_retracted")]


def _author(authorship: dict[str, object]) -> tuple[str, object]:
    author = mapping(authorship.get("author"))
    name = first_text(author.get("display_name"), authorship.get("raw_author_name"))
    return name, text(author.get("id")).rpartition("/")[2]


def _abstract(index: object) -> str:
    places = [
        (place, word) for word, found in mapping(index).items() for place in items(found) if isinstance(place, int)
    ]
    return " ".join(word for _, word in sorted(places))


def _work_type(work: dict[str, object], primary: dict[str, object], journal: dict[str, object]) -> WorkType | None:
    kind = text(work.get("type"))
    found = _WORK_TYPES.get(kind, WorkType.OTHER) if kind else None
    crossref = first_text(work.get("type_crossref"), primary.get("raw_type"))
    if found is WorkType.ARTICLE and (crossref == "proceedings-article" or journal.get("type") == "conference"):
        return WorkType.CONFERENCE
    return found
