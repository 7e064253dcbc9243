"""Every recorded answer of the sources, compared with its raw body, without helpers of the package."""

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest

from paper_search.errors import SearchSourceError
from paper_search.models import RawPaper
from paper_search.sources.interfaces import Request, Response
from tests.paper_search.sources.sample_answers import DEFINITIONS

FOLDERS = {"semantic_scholar": "semanticscholar", "serpapi_scholar": "serpapi"}
NOT_WHOLE = {"pubmed/biopython_einfo4.xml"}
OTHER_SERVICES = ("https://oaipmh.arxiv.org/", "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/esummary.fcgi")
"""Services of the same providers that no source uses."""
ALL = 10**9
NOTHING: Any = {}


@dataclass(frozen=True)
class Expected:
    """The fields of the raw body; None for missing fields."""

    title: str
    authors: list[str]
    year: int | None = None
    venue: str | None = None
    doi: str | None = None
    abstract: str | None = None
    citations: int = 0


def strip_markup(value: str | None) -> str:
    """Return the text without tags, entities and spaces."""
    bare = html.unescape(html.unescape(value or ""))
    bare = re.sub(r"</?[A-Za-z][\w:.-]*( [^<>]*)?/?>", "", bare)
    return re.sub(r"[\s\x00]", "", bare)


def keep_letters(value: str | None) -> str:
    """Return the letters of a title without tags, punctuation and spaces."""
    return re.sub(r"\W", "", strip_markup(value))


def strip_doi(value: str | None) -> str | None:
    return value.lower().removeprefix("https://doi.org/").strip() if value else None


def openalex(body: Any) -> Iterator[Expected]:
    for work in body.get("results", [body]):
        title = work.get("title") or work.get("display_name")
        if not title or "/W" not in work.get("id", ""):
            continue
        place = work.get("primary_location") or NOTHING
        index: dict[str, list[int]] = work.get("abstract_inverted_index") or {}
        words = {at: word for word, ats in index.items() for at in ats}
        yield Expected(
            title,
            [
                authorship["author"]["display_name"]
                for authorship in work.get("authorships", [])
                if not authorship["author"]["display_name"].startswith(",")  # a piece of an address
            ],
            work["publication_year"],
            (place.get("source") or NOTHING).get("display_name") or place.get("raw_source_name"),
            strip_doi(work["doi"]),
            " ".join(words[at] for at in sorted(words)) or None,
            work.get("cited_by_count", 0),
        )


def crossref(body: Any) -> Iterator[Expected]:
    works = {"work-list": body["message"].get("items"), "work": [body["message"]]}.get(body["message-type"], [])
    for work in works:
        if not work.get("title"):
            continue
        names = [f"{a.get('given', '')} {a['family']}" if "family" in a else a["name"] for a in work.get("author", [])]
        dates = ("issued", "published-print", "published-online", "created")
        years = [work[k]["date-parts"][0][0] for k in dates if k in work]
        abstract = re.sub(r"^\s*<jats:title>Abstract</jats:title>", "", work.get("abstract", ""))
        yield Expected(
            work["title"][0] + "".join(work.get("subtitle", [])[:1]),
            names,
            next((year for year in years if year), None),
            (work.get("container-title") or [None])[0],
            work["DOI"].lower(),
            abstract or None,
            work.get("is-referenced-by-count", 0),
        )


def semantic_scholar(body: Any) -> Iterator[Expected]:
    whole: Any = body if hasattr(body, "get") else {"data": body}
    for record in filter(None, whole.get("data", whole.get("recommendedPapers", [body]))):
        work: Any = record.get("citedPaper") or record.get("citingPaper") or record.get("paper") or record
        if not work.get("title"):
            continue
        yield Expected(
            work["title"],
            [author if isinstance(author, str) else author["name"] for author in work.get("authors", [])],
            work.get("year"),
            work.get("venue") or (work.get("journal") or NOTHING).get("name"),
            strip_doi((work.get("externalIds") or NOTHING).get("DOI")),
            work.get("abstract"),
            work.get("citationCount", 0),
        )


def europepmc(body: Any) -> Iterator[Expected]:
    in_xml = isinstance(body, Element)
    hits: list[Any] = [{i.tag: i.text for i in hit} for hit in body.iter("result")] if in_xml else []
    for record in hits or body["resultList"]["result"]:
        if not record.get("title"):
            continue
        journal = (record.get("journalInfo") or NOTHING).get("journal") or NOTHING
        if "authorList" in record:
            names = [f"{author['firstName']} {author['lastName']}" for author in record["authorList"]["author"]]
        else:
            names = [name.strip(" .") for name in (record.get("authorString") or "").split(",") if name.strip()]
        yield Expected(
            record["title"].removesuffix("."),
            names,
            int(record.get("pubYear") or record["firstPublicationDate"][:4]),
            journal.get("title") or record.get("journalTitle"),
            strip_doi(record.get("doi")),
            record.get("abstractText"),
            int(record.get("citedByCount") or 0),
        )


def arxiv(feed: Any) -> Iterator[Expected]:
    atom, own = "{http://www.w3.org/2005/Atom}", "{http://arxiv.org/schemas/atom}"
    for entry in feed.iter(f"{atom}entry"):
        yield Expected(
            entry.findtext(f"{atom}title"),
            [name.text for name in entry.iterfind(f"{atom}author/{atom}name")],
            int(entry.findtext(f"{atom}published")[:4]),
            entry.findtext(f"{own}journal_ref"),
            strip_doi(entry.findtext(f"{own}doi")),
            entry.findtext(f"{atom}summary"),
        )


def pubmed(body: Any) -> Iterator[Expected]:
    if not isinstance(body, Element):
        return
    for tag, title_tag in (("PubmedArticle", "ArticleTitle"), ("PubmedBookArticle", "BookTitle")):
        for record in body.iter(tag):
            title, journal = record.find(f".//{title_tag}"), record.find(".//Journal/Title")
            assert title is not None
            printed = "".join(record.find(".//PubDate").itertext())  # pyright: ignore[reportOptionalMemberAccess]
            dois = [found.text for found in record.iter("ELocationID") if found.get("EIdType") == "doi"]
            dois += [i.text for i in record.iterfind("PubmedData/ArticleIdList/ArticleId") if i.get("IdType") == "doi"]
            labelled = [
                (text.get("Label", "") + ":" if text.get("Label") else "") + "".join(text.itertext())
                for text in record.iterfind(".//Abstract/AbstractText")
            ]
            yield Expected(
                "".join(title.itertext()).strip().removesuffix("."),
                [_medline_name(author) for author in record.iterfind(".//AuthorList[1]/Author")],
                int(re.findall(r"\d{4}", printed)[0]),
                journal.text if journal is not None else None,
                strip_doi(dois[0] if dois else None),
                " ".join(labelled) or None,
            )
    for article in body.iter("article"):
        title = article.find(".//article-title")
        assert title is not None
        doi = article.findtext(".//article-id[@pub-id-type='doi']")
        yield Expected("".join(title.itertext()), [], 2021, article.findtext(".//journal-title"), doi)


def _medline_name(author: Element) -> str:
    parts = [author.findtext(tag) or "" for tag in ("ForeName", "LastName", "Suffix")]
    return " ".join(parts) if any(parts) else author.findtext("CollectiveName") or ""


def dblp(body: Any) -> Iterator[Expected]:
    if isinstance(body, Element):
        for info in body.iter("info"):
            names = [author.text or "" for author in info.iter("author")]
            title, year, doi = info.findtext("title") or "", info.findtext("year") or "", info.findtext("doi")
            yield Expected(title.removesuffix("."), names, int(year), info.findtext("venue"), strip_doi(doi))
        return
    for hit in body["result"]["hits"]["hit"]:
        info, raw = hit["info"], hit["info"]["authors"]["author"]
        people = [raw] if isinstance(raw, str) else raw
        names = [re.sub(r" \d{4}$", "", person if isinstance(person, str) else person["text"]) for person in people]
        title = info["title"] if info["title"].endswith("...") else info["title"].removesuffix(".")
        yield Expected(title, names, int(info["year"]), info.get("venue"), strip_doi(info.get("doi")))


def serpapi_scholar(body: Any) -> Iterator[Expected]:
    for result in body["organic_results"]:
        summary = result["publication_info"]["summary"]
        doi = re.search(r"/doi/(?:\w+/)?(10\.\d{4,}/[^?#]+)", result["link"])
        names, middle, _host = summary.split(" - ")
        year = re.search(r"\d{4}$", middle)
        yield Expected(
            result["title"],
            [name.strip(" …") for name in names.split(",")],
            int(year[0]) if year else None,
            re.sub(r",? ?\d{4}$", "", middle) or None,
            doi[1].lower() if doi else None,
            citations=result["inline_links"]["cited_by"]["total"],
        )


READERS: dict[str, Callable[[Any], Iterator[Expected]]] = {
    reader.__name__: reader
    for reader in (openalex, crossref, semantic_scholar, europepmc, arxiv, pubmed, dblp, serpapi_scholar)
}


def iterate_recorded(shared_data: Path, source: str) -> Iterator[tuple[str, Request, Response]]:
    for entry in json.loads((shared_data / "api" / "index.json").read_text()):
        if entry["source"] == FOLDERS.get(source, source) and not (entry["url"] or "").startswith(OTHER_SERVICES):
            body = (shared_data / "api" / entry["file"]).read_bytes()
            yield entry["file"], Request(source, entry["url"] or ""), Response(entry["status"], body)


def parse_body(body: bytes) -> Any:
    return fromstring(body) if body.lstrip().startswith(b"<") else json.loads(body)


def list_differences(file: str, paper: RawPaper, expected: Expected) -> Iterator[str]:
    pairs: list[tuple[str, object, object]] = [
        ("title", keep_letters(paper.title), keep_letters(expected.title)),
        ("authors", [strip_markup(a.name) for a in paper.authors], [strip_markup(name) for name in expected.authors]),
        ("doi", paper.doi, expected.doi),
        ("doi among the identifiers", paper.identifiers.get("doi"), expected.doi),
        ("abstract", strip_markup(paper.abstract), strip_markup(expected.abstract)),
        ("citations", paper.citation_count, expected.citations),
    ]
    if expected.year:
        pairs.append(("year", paper.year, expected.year))
    if expected.venue:
        pairs.append(("venue", strip_markup(paper.venue), strip_markup(expected.venue)))
    for what, found, wanted in pairs:
        if found != wanted:
            yield f"{file}: {what} of {paper.title[:40]!r}: {found!r} instead of {wanted!r}"[:400]


@pytest.mark.parametrize("source", READERS)
def test_every_recorded_work_with_a_title_becomes_the_paper_its_body_describes(source: str, shared_data: Path) -> None:
    wrong: list[str] = []
    compared = 0
    for file, request, response in iterate_recorded(shared_data, source):
        if response.status != 200 or file in NOT_WHOLE:
            continue
        papers = DEFINITIONS[source].read_response(request, response).papers
        works = list(READERS[source](parse_body(response.body)))
        if len(papers) != len(works):
            wrong.append(f"{file}: {len(papers)} papers of {len(works)} works")
            continue
        for paper, work in zip(papers, works, strict=True):
            wrong.extend(list_differences(file, paper, work))
        compared += len(works)
    assert wrong == []
    assert compared > 0


@pytest.mark.parametrize("source", READERS)
def test_every_recorded_answer_is_read_or_refused_as_an_error_of_its_source(source: str, shared_data: Path) -> None:
    seen = 0
    for file, request, response in iterate_recorded(shared_data, source):
        seen += 1
        if response.status != 200:
            error = DEFINITIONS[source].read_failure(response)
            assert error is None or isinstance(error, SearchSourceError), file
        elif file in NOT_WHOLE:
            with pytest.raises(SearchSourceError):
                DEFINITIONS[source].read_response(request, response)
        else:
            for paper in DEFINITIONS[source].read_response(request, response).papers:
                assert paper.source == source
                assert paper.records[0].source == source
                assert paper.model_dump_json()
    assert seen > 0


def test_recorded_refusals_are_reported_with_the_message_of_the_source(shared_data: Path) -> None:
    expected_texts = {
        file: str(DEFINITIONS[source].read_failure(response))
        for source in READERS
        for file, _, response in iterate_recorded(shared_data, source)
        if response.status in {400, 404} and response.body.lstrip()[:1] in {b"{", b"<"} and b"html" not in response.body
    }
    assert len(expected_texts) > 10
    assert all("refused the request (4" in message for message in expected_texts.values())


def test_recorded_open_access_links_are_read(shared_data: Path) -> None:
    compared = 0
    for file, request, response in iterate_recorded(shared_data, "openalex"):
        if response.status != 200:
            continue
        body = json.loads(response.body)
        works = {str(work.get("id")).rpartition("/")[2]: work for work in body.get("results", [body])}
        for paper in DEFINITIONS["openalex"].read_response(request, response).papers:
            work = works[paper.identifiers["openalex"]]
            if address := (work.get("best_oa_location") or NOTHING).get("pdf_url") or work.get(
                "open_access", NOTHING
            ).get("oa_url"):
                assert paper.full_text_url == address, file
                compared += 1
    assert compared > 0
