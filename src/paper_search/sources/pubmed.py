"""The source PubMed: a search returns ids (esearch), and the ids return records as XML (efetch)."""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from paper_search.domain.query.filters import has_year_limit, parse_language, to_english_name
from paper_search.domain.query.identifier_queries import Identifier
from paper_search.domain.query.query_texts import render_own_syntax_within_limit
from paper_search.domain.strategies.platform_translation import render_for_pubmed
from paper_search.errors import SearchSourceError
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, SourceKind, WorkType
from paper_search.sources.editorial_notice_readers import read_medline_notices
from paper_search.sources.interfaces import Request, Response, SourceDefinition, SourcePage
from paper_search.sources.record_fields import (
    build_paper,
    clean_text,
    ensure_list,
    find_year,
    format_page_range,
    get_element_text,
    get_first_text,
    get_object_or_empty,
    parse_count,
    read_papers,
)
from paper_search.sources.response_bodies import (
    build_request_for_length,
    get_params,
    is_xml_or_html,
    limit_page_size,
    make_refusal_error_from_json,
    make_source_error,
    make_unreadable_error,
    parse_json_object,
    parse_xml,
    replace_params,
    select_values_of_scheme,
    split_batches,
)
from uraniborg.kernel.bibliography.identifiers import normalise_pmcid, normalise_pmid

NAME = "pubmed"
_SEARCH = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi"
_FETCH = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi"
_MOST_IDS = 9_999
_BATCH = 100
_TERMS_AT_ONCE = 25
_FIELDS = {"doi": "doi", "pmcid": "pmcid"}
_MAX_QUERY_BYTES = 60_000
_MAX_ADDRESS_BYTES = 3_000
_ROOTS = (
    *("PubmedArticleSet", "PubmedBookArticleSet", "PubmedArticle", "PubmedBookArticle", "pmc-articleset", "article"),
    *("eSearchResult", "eFetchResult", "eInfoResult", "eLinkResult", "eSpellResult", "ePostResult", "eSummaryResult"),
)
_RETRYABLE = ("rate limit", "backend", "timeout", "timed out", "temporarily", "unable to", "try again", "unavailable")


class PubMed:
    """The definition of PubMed."""

    name = NAME
    kind: SourceKind = "boolean"
    capabilities = frozenset({"year", "language", "not"})

    def build_requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        term = render_own_syntax_within_limit(query, render_for_pubmed, _MAX_QUERY_BYTES)
        if not term:
            return []
        if has_year_limit(filters):
            term += f" AND {filters.year_from or 1000}:{filters.year_to or 3000}[dp]"
        if language := parse_language(filters.language):
            term += f" AND {to_english_name(language)}[la]"
        return [_build_search_request(term, limit_page_size(limit, _MOST_IDS))]

    def build_lookup_requests(self, identifiers: Sequence[Identifier]) -> list[Request]:
        pmids = select_values_of_scheme(identifiers, "pmid")
        terms = [
            f'"{identifier.value}"[{_FIELDS[identifier.scheme]}]'
            for identifier in identifiers
            if identifier.scheme in _FIELDS
        ]
        return [
            *_build_fetch_requests(pmids),
            *(_build_search_request(" OR ".join(batch), len(batch)) for batch in split_batches(terms, _TERMS_AT_ONCE)),
        ]

    def read_response(self, request: Request, response: Response) -> SourcePage:
        if is_xml_or_html(response):
            return _read_xml_page(request, response)
        body = parse_json_object(NAME, response)
        result = get_object_or_empty(body.get("esearchresult"))
        if error_text := get_first_text(body.get("error"), body.get("ERROR"), result.get("ERROR")):
            raise _make_error_from_text(error_text)
        if "idlist" not in result:
            raise make_unreadable_error(NAME, "JSON without a list of ids")
        return _make_page_of_further_requests(request, ensure_list(result["idlist"]), parse_count(result.get("count")))

    def read_failure(self, response: Response) -> Exception | None:
        return make_refusal_error_from_json(NAME, response, "error", "message")


definition: SourceDefinition = PubMed()


def _make_error_from_text(error_text: str) -> SearchSourceError:
    lowered = error_text.lower()
    retryable = any(word in lowered for word in _RETRYABLE)
    return make_source_error(NAME, error_text, retryable=retryable, rate_limited="rate limit" in lowered)


def _read_xml_page(request: Request, response: Response) -> SourcePage:
    root = parse_xml(NAME, response)
    if root.tag not in _ROOTS:
        raise make_unreadable_error(NAME, "a web page or XML that is not from PubMed")
    if root.tag == "eSearchResult" and (ids := root.find("IdList")) is not None:
        return _make_page_of_further_requests(
            request, [found.text for found in ids], parse_count(get_element_text(root.find("Count")))
        )
    if error_text := next((found for element in root.iter("ERROR") if (found := get_element_text(element))), ""):
        raise _make_error_from_text(error_text)
    return SourcePage(read_medline_papers(root), sent=len(root) if root.tag.lower().endswith("set") else None)


def _make_page_of_further_requests(request: Request, ids: Sequence[object], found: int | None) -> SourcePage:
    """Return a page that leads to the records, and then to the next ids, up to the number that PubMed gives out."""
    params = get_params(request)
    start = (parse_count(params.get("retstart")) or 0) + len(ids)
    follow = _build_fetch_requests([pmid for item in ids if (pmid := normalise_pmid(clean_text(item)))])
    if ids and start < min(found or 0, _MOST_IDS):
        size = min(parse_count(params.get("retmax")) or _BATCH, _MOST_IDS - start)
        follow.append(replace_params(request, retmax=size, retstart=start))
    return SourcePage([], tuple(follow), found)


def _build_search_request(term: str, size: int) -> Request:
    rest = (("retmode", "json"), ("retmax", str(size)), ("retstart", "0"), ("sort", "relevance"))
    params = (("db", "pubmed"), ("term", term), *rest)
    return build_request_for_length(NAME, _SEARCH, params, most_bytes=_MAX_ADDRESS_BYTES)


def _build_fetch_requests(pmids: Sequence[str]) -> list[Request]:
    form = (("db", "pubmed"), ("retmode", "xml"))
    return [Request(NAME, _FETCH, form=(*form, ("id", ",".join(batch)))) for batch in split_batches(pmids, _BATCH)]


_RECORDS = ("PubmedArticle", "PubmedBookArticle", "article")
_WORK_TYPES = {
    "Preprint": WorkType.PREPRINT,
    "Dataset": WorkType.DATASET,
    "Academic Dissertation": WorkType.THESIS,
    "Technical Report": WorkType.REPORT,
}


def read_medline_papers(root: Element) -> list[RawPaper]:
    """Return the papers of a set of records or of a single record, in order, without records that lack a title."""
    records = [root] if root.tag in _RECORDS else [child for child in root if child.tag in _RECORDS]
    return read_papers(records, _read_record)


def _read_record(record: Element) -> RawPaper | None:
    if record.tag == "PubmedArticle":
        return _read_pubmed_article(record)
    return _read_book_article(record) if record.tag == "PubmedBookArticle" else _read_jats_article(record)


def _find_text(element: Element | None, path: str) -> str:
    return get_element_text(element.find(path)) if element is not None else ""


def _find_texts(element: Element, path: str) -> list[str]:
    return [found for item in element.findall(path) if (found := get_element_text(item))]


def _read_pubmed_article(record: Element) -> RawPaper | None:
    citation = record.find("MedlineCitation")
    article = citation.find("Article") if citation is not None else None
    if citation is None or article is None:
        return None
    ids = _index_ids_by_attribute(record.findall("PubmedData/ArticleIdList/ArticleId"), "IdType")
    kinds = _find_texts(article, "PublicationTypeList/PublicationType")
    pmid = _find_text(citation, "PMID") or ids.get("pubmed", "")
    return build_paper(
        NAME,
        pmid,
        _find_title(article),
        authors=_read_names_and_orcids(article.findall("AuthorList/Author")),
        identifiers={"doi": _find_doi(article) or ids.get("doi"), "pmid": pmid, "pmcid": ids.get("pmc")},
        links=(_build_pmc_link(ids.get("pmc")), f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else None),
        year=_find_publication_year(article.find("Journal/JournalIssue"))
        or find_year(_find_text(article, "ArticleDate/Year")),
        venue=get_first_text(_find_text(article, "Journal/Title"), _find_text(article, "Journal/ISOAbbreviation")),
        abstract=_join_abstract(article.find("Abstract")) or _join_abstract(citation.find("OtherAbstract")),
        language=parse_language(_find_text(article, "Language")),
        work_type=next((_WORK_TYPES[kind] for kind in kinds if kind in _WORK_TYPES), WorkType.ARTICLE),
        volume=_find_text(article, "Journal/JournalIssue/Volume"),
        issue=_find_text(article, "Journal/JournalIssue/Issue"),
        pages=_find_pages(article),
        notices=read_medline_notices(NAME, kinds, _list_correction_links(citation)),
        raw_data={"types": kinds},
    )


def _read_book_article(record: Element) -> RawPaper | None:
    document = record.find("BookDocument")
    book = document.find("Book") if document is not None else None
    if document is None or book is None:
        return None
    ids = _index_ids_by_attribute(document.findall("ArticleIdList/ArticleId"), "IdType")
    pmid, chapter, whole = (
        _find_text(document, "PMID"),
        _find_text(document, "ArticleTitle"),
        _find_text(book, "BookTitle"),
    )
    shelf = ids.get("bookaccession")
    writers = document.findall("AuthorList/Author") or book.findall("AuthorList/Author")
    return build_paper(
        NAME,
        pmid,
        chapter or whole,
        authors=_read_names_and_orcids(writers),
        identifiers={"doi": ids.get("doi"), "pmid": pmid, "pmcid": ids.get("pmc")},
        links=(
            f"https://www.ncbi.nlm.nih.gov/books/{shelf}/" if shelf else None,
            f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else None,
        ),
        year=_find_publication_year(book)
        or find_year(_find_text(document, "ContributionDate/Year"), _find_text(book, "BeginningDate/Year")),
        venue=whole if chapter else _find_text(book, "CollectionTitle"),
        abstract=_join_abstract(document.find("Abstract")),
        language=parse_language(_find_text(document, "Language")),
        work_type=WorkType.CHAPTER if chapter else WorkType.BOOK,
        volume=_find_text(book, "Volume"),
        pages=_find_pages(document),
        publisher=_find_text(book, "Publisher/PublisherName"),
        raw_data={"types": _find_texts(document, "PublicationType")},
    )


def _read_jats_article(record: Element) -> RawPaper | None:
    meta, journal = record.find("front/article-meta"), record.find("front/journal-meta")
    if meta is None:
        return None
    ids = _index_ids_by_attribute(meta.findall("article-id"), "pub-id-type")
    pmcid = normalise_pmcid(ids.get("pmcid") or ids.get("pmc"))
    writers = meta.findall("contrib-group/contrib[@contrib-type='author']")
    return build_paper(
        NAME,
        ids.get("pmid") or pmcid,
        _find_text(meta, "title-group/article-title"),
        authors=[(_format_jats_name(writer), None) for writer in writers],
        identifiers={"doi": ids.get("doi"), "pmid": ids.get("pmid"), "pmcid": pmcid},
        links=(_build_pmc_link(pmcid),),
        year=find_year(*_find_texts(meta, "pub-date/year")),
        venue=get_first_text(
            _find_text(journal, "journal-title-group/journal-title"), _find_text(journal, "journal-title")
        ),
        abstract=_find_text(meta, "abstract"),
        language=parse_language(record.get("{http://www.w3.org/XML/1998/namespace}lang")),
        work_type=WorkType.ARTICLE,
        volume=_find_text(meta, "volume"),
        issue=_find_text(meta, "issue"),
        pages=format_page_range(
            get_first_text(_find_text(meta, "fpage"), _find_text(meta, "elocation-id")), _find_text(meta, "lpage")
        ),
        publisher=_find_text(journal, "publisher/publisher-name"),
        raw_data={"types": [kind] if (kind := record.get("article-type")) else []},
    )


def _index_ids_by_attribute(elements: list[Element], attribute: str) -> dict[str, str]:
    # The first of a kind belongs to the record; later ones may belong to a paper that it corrects or comments on.
    return {element.get(attribute, ""): get_element_text(element) for element in reversed(elements)}


def _find_title(article: Element) -> str:
    title = _find_text(article, "ArticleTitle")
    untranslated = not title or re.fullmatch(r"\[?not available\]?\.?", title, re.IGNORECASE)
    return (_find_text(article, "VernacularTitle") or title) if untranslated else title


def _list_correction_links(citation: Element) -> list[tuple[str, str, str]]:
    entries = citation.findall("CommentsCorrectionsList/CommentsCorrections")
    return [(entry.get("RefType", ""), _find_text(entry, "RefSource"), _find_text(entry, "PMID")) for entry in entries]


def _find_doi(article: Element) -> str:
    locations = article.findall("ELocationID[@EIdType='doi']")
    return next((get_element_text(location) for location in locations if location.get("ValidYN") != "N"), "")


def _read_names_and_orcids(writers: list[Element]) -> list[tuple[str, str]]:
    return [
        (_format_name(writer), _find_text(writer, "Identifier[@Source='ORCID']").rpartition("/")[2])
        for writer in writers
    ]


def _format_name(writer: Element) -> str:
    given = _find_text(writer, "ForeName") or _find_text(writer, "Initials")
    person = " ".join(filter(None, (given, _find_text(writer, "LastName"), _find_text(writer, "Suffix"))))
    return person or _find_text(writer, "CollectiveName")


def _format_jats_name(writer: Element) -> str:
    given, family = _find_text(writer, "name/given-names"), _find_text(writer, "name/surname")
    return " ".join(filter(None, (given, family))) or _find_text(writer, "collab") or _find_text(writer, "string-name")


def _find_publication_year(parent: Element | None) -> int | None:
    return find_year(_find_text(parent, "PubDate/Year"), _find_text(parent, "PubDate/MedlineDate"))


def _join_abstract(abstract: Element | None) -> str:
    if abstract is None:
        return ""
    parts: list[str] = []
    for section in abstract.findall("AbstractText"):
        label, content = section.get("Label", ""), get_element_text(section)
        parts.append(f"{label}: {content}" if label and content and label != "UNLABELLED" else content)
    return " ".join(filter(None, parts))


def _find_pages(element: Element) -> str | None:
    # MedlinePgn shortens the last page: 113-25 for 113 to 125.
    pagination = element.find("Pagination")
    start = _find_text(pagination, "StartPage")
    return (
        format_page_range(start, _find_text(pagination, "EndPage"))
        if start
        else format_page_range(_find_text(pagination, "MedlinePgn"))
    )


def _build_pmc_link(pmc: str | None) -> str | None:
    pmcid = normalise_pmcid(pmc)
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/" if pmcid else None
