"""Papers from the XML that PubMed and PubMed Central keep them in: MEDLINE citations, books, JATS articles."""

import re
from xml.etree.ElementTree import Element

from paper_search.models import RawPaper, WorkType
from paper_search.query.languages import parse_language
from paper_search.sources.notices import medline_notices
from paper_search.sources.parsing import element_text, first_text, page_range, paper, papers_of, year_of
from uraniborg.kernel.bibliography.identifiers import normalise_pmcid

NAME = "pubmed"
_RECORDS = ("PubmedArticle", "PubmedBookArticle", "article")
_WORK_TYPES = {
    "Preprint": WorkType.PREPRINT,
    "Dataset": WorkType.DATASET,
    "Academic Dissertation": WorkType.THESIS,
    "Technical Report": WorkType.REPORT,
}


def medline_papers(root: Element) -> list[RawPaper]:
    """Every record with a title, in order, of a set of records or of one alone."""
    records = [root] if root.tag in _RECORDS else [child for child in root if child.tag in _RECORDS]
    return papers_of(records, _paper)


def _paper(record: Element) -> RawPaper | None:
    if record.tag == "PubmedArticle":
        return _citation(record)
    return _book(record) if record.tag == "PubmedBookArticle" else _jats(record)


def _text(element: Element | None, path: str) -> str:
    return element_text(element.find(path)) if element is not None else ""


def _texts(element: Element, path: str) -> list[str]:
    return [found for item in element.findall(path) if (found := element_text(item))]


def _citation(record: Element) -> RawPaper | None:
    citation = record.find("MedlineCitation")
    article = citation.find("Article") if citation is not None else None
    if citation is None or article is None:
        return None
    ids = _ids(record.findall("PubmedData/ArticleIdList/ArticleId"), "IdType")
    kinds = _texts(article, "PublicationTypeList/PublicationType")
    pmid = _text(citation, "PMID") or ids.get("pubmed", "")
    return paper(
        NAME,
        pmid,
        _title(article),
        authors=_authors(article.findall("AuthorList/Author")),
        identifiers={"doi": _doi(article) or ids.get("doi"), "pmid": pmid, "pmcid": ids.get("pmc")},
        links=(_free_copy(ids.get("pmc")), f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else None),
        year=_year(article.find("Journal/JournalIssue")) or year_of(_text(article, "ArticleDate/Year")),
        venue=first_text(_text(article, "Journal/Title"), _text(article, "Journal/ISOAbbreviation")),
        abstract=_abstract(article.find("Abstract")) or _abstract(citation.find("OtherAbstract")),
        language=parse_language(_text(article, "Language")),
        work_type=next((_WORK_TYPES[kind] for kind in kinds if kind in _WORK_TYPES), WorkType.ARTICLE),
        volume=_text(article, "Journal/JournalIssue/Volume"),
        issue=_text(article, "Journal/JournalIssue/Issue"),
        pages=_pages(article),
        notices=medline_notices(NAME, kinds, _links(citation)),
        raw_data={"types": kinds},
    )


def _book(record: Element) -> RawPaper | None:
    document = record.find("BookDocument")
    book = document.find("Book") if document is not None else None
    if document is None or book is None:
        return None
    ids = _ids(document.findall("ArticleIdList/ArticleId"), "IdType")
    pmid, chapter, whole = _text(document, "PMID"), _text(document, "ArticleTitle"), _text(book, "BookTitle")
    shelf = ids.get("bookaccession")
    writers = document.findall("AuthorList/Author") or book.findall("AuthorList/Author")
    return paper(
        NAME,
        pmid,
        chapter or whole,
        authors=_authors(writers),
        identifiers={"doi": ids.get("doi"), "pmid": pmid, "pmcid": ids.get("pmc")},
        links=(
            f"https://www.ncbi.nlm.nih.gov/books/{shelf}/" if shelf else None,
            f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else None,
        ),
        year=_year(book) or year_of(_text(document, "ContributionDate/Year"), _text(book, "BeginningDate/Year")),
        venue=whole if chapter else _text(book, "CollectionTitle"),
        abstract=_abstract(document.find("Abstract")),
        language=parse_language(_text(document, "Language")),
        work_type=WorkType.CHAPTER if chapter else WorkType.BOOK,
        volume=_text(book, "Volume"),
        pages=_pages(document),
        publisher=_text(book, "Publisher/PublisherName"),
        raw_data={"types": _texts(document, "PublicationType")},
    )


def _jats(record: Element) -> RawPaper | None:
    meta, journal = record.find("front/article-meta"), record.find("front/journal-meta")
    if meta is None:
        return None
    ids = _ids(meta.findall("article-id"), "pub-id-type")
    pmcid = normalise_pmcid(ids.get("pmcid") or ids.get("pmc"))
    writers = meta.findall("contrib-group/contrib[@contrib-type='author']")
    return paper(
        NAME,
        ids.get("pmid") or pmcid,
        _text(meta, "title-group/article-title"),
        authors=[(_jats_name(writer), None) for writer in writers],
        identifiers={"doi": ids.get("doi"), "pmid": ids.get("pmid"), "pmcid": pmcid},
        links=(_free_copy(pmcid),),
        year=year_of(*_texts(meta, "pub-date/year")),
        venue=first_text(_text(journal, "journal-title-group/journal-title"), _text(journal, "journal-title")),
        abstract=_text(meta, "abstract"),
        language=parse_language(record.get("{http://www.w3.org/XML/1998/namespace}lang")),
        work_type=WorkType.ARTICLE,
        volume=_text(meta, "volume"),
        issue=_text(meta, "issue"),
        pages=page_range(first_text(_text(meta, "fpage"), _text(meta, "elocation-id")), _text(meta, "lpage")),
        publisher=_text(journal, "publisher/publisher-name"),
        raw_data={"types": [kind] if (kind := record.get("article-type")) else []},
    )


def _ids(elements: list[Element], attribute: str) -> dict[str, str]:
    # The first of a kind is the record's own; later ones may belong to what it corrects or comments on.
    return {element.get(attribute, ""): element_text(element) for element in reversed(elements)}


def _title(article: Element) -> str:
    title = _text(article, "ArticleTitle")
    untranslated = not title or re.fullmatch(r"\[?not available\]?\.?", title, re.IGNORECASE)
    return (_text(article, "VernacularTitle") or title) if untranslated else title


def _links(citation: Element) -> list[tuple[str, str, str]]:
    entries = citation.findall("CommentsCorrectionsList/CommentsCorrections")
    return [(entry.get("RefType", ""), _text(entry, "RefSource"), _text(entry, "PMID")) for entry in entries]


def _doi(article: Element) -> str:
    places = article.findall("ELocationID[@EIdType='doi']")
    return next((element_text(place) for place in places if place.get("ValidYN") != "N"), "")


def _authors(writers: list[Element]) -> list[tuple[str, str]]:
    return [(_name(writer), _text(writer, "Identifier[@Source='ORCID']").rpartition("/")[2]) for writer in writers]


def _name(writer: Element) -> str:
    given = _text(writer, "ForeName") or _text(writer, "Initials")
    person = " ".join(filter(None, (given, _text(writer, "LastName"), _text(writer, "Suffix"))))
    return person or _text(writer, "CollectiveName")


def _jats_name(writer: Element) -> str:
    given, family = _text(writer, "name/given-names"), _text(writer, "name/surname")
    return " ".join(filter(None, (given, family))) or _text(writer, "collab") or _text(writer, "string-name")


def _year(published: Element | None) -> int | None:
    return year_of(_text(published, "PubDate/Year"), _text(published, "PubDate/MedlineDate"))


def _abstract(abstract: Element | None) -> str:
    if abstract is None:
        return ""
    parts: list[str] = []
    for section in abstract.findall("AbstractText"):
        label, said = section.get("Label", ""), element_text(section)
        parts.append(f"{label}: {said}" if label and said and label != "UNLABELLED" else said)
    return " ".join(filter(None, parts))


def _pages(element: Element) -> str | None:
    # MedlinePgn shortens what the other two spell out: 113-25 for 113 to 125.
    pagination = element.find("Pagination")
    start = _text(pagination, "StartPage")
    return page_range(start, _text(pagination, "EndPage")) if start else page_range(_text(pagination, "MedlinePgn"))


def _free_copy(pmc: str | None) -> str | None:
    pmcid = normalise_pmcid(pmc)
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/" if pmcid else None
