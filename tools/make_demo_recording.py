"""Make the recordings that ship with the search: the demo's search, and more papers for offline trials.

The papers are real and so are their bibliographic facts; the short descriptions are our own. The demo's papers are in
`demo_papers.json`. The other papers are those of the sample shelf and of the real systems whose author lists are
complete. The answers are made up from them in the shape each source uses, and recorded by running the search itself.

    python tools/make_demo_recording.py
"""

import asyncio
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.sax.saxutils import escape

from paper_library.domain.entries import Entry
from paper_library.service.build.readers.bibtex import read_entries
from paper_library.service.shelf_catalog import SAMPLE_PAPERS
from paper_search.config import AppConfig
from paper_search.errors import RetryableError
from paper_search.models import RawPaper
from paper_search.recordings import CLASSICS, QUERY, RECORDING
from paper_search.sources.interfaces import Request, Response
from paper_search.testing import EmulatedLiterature
from paper_search.workflow import SearchWorkflow
from universe.domain.systems.catalogue import list_system_names, read_system_data
from uraniborg.kernel.bibliography.names import uninvert_name
from uraniborg.kernel.clock import FrozenClock

PAPERS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("demo_papers.json").read_text(encoding="utf-8"))
for _paper in PAPERS:  # the authors' abstracts are not ours to give, and ours must not pass for theirs
    _paper["abstract"] = f"Our summary: {_paper['abstract']}"
WHEN = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
SOURCES = ["crossref", "arxiv", "openalex", "europepmc", "semantic_scholar", "pubmed", "dblp"]


Papers = list[dict[str, Any]]


def list_classics() -> Papers:
    """Return the papers for trials: those with a complete author list and an identifier, each once."""
    seen = {paper["doi"].lower() for paper in PAPERS}
    papers: Papers = []
    for paper in (*read_sample_shelf(), *read_systems()):
        if (paper["doi"] or paper["arxiv"]) and paper["doi"].lower() not in seen:
            seen.add(paper["doi"].lower() or paper["arxiv"])
            papers.append(paper)
    return papers


def read_sample_shelf() -> Iterator[dict[str, Any]]:
    for entry in read_entries(SAMPLE_PAPERS / "papers.bib", "papers.bib"):
        assert isinstance(entry, Entry)
        if " and others" in entry.bibtex or len(entry.authors[0].split()) > 4:  # a team is not a person's name
            continue
        names, doi = entry.identifiers, entry.identifiers.get("doi", "")
        yield {
            "title": entry.title,
            "authors": entry.authors,
            "year": entry.year,
            "venue": entry.venue,
            "volume": entry.volume,
            "pages": entry.pages,
            "doi": doi,
            "arxiv": names.get("arxiv", ""),
            "abstract": entry.abstract,
            "type": "proceedings-article" if entry.kind == "inproceedings" else "journal-article",
        }


def read_systems() -> Iterator[dict[str, Any]]:
    for system in list_system_names():
        for source in read_system_data(system)["sources"].values():
            if "doi" not in source or "others" in source["authors"]:
                continue
            place = re.fullmatch(r"(.+) (\d+), (\w+)", source["venue"])
            assert place is not None
            yield {
                **dict(zip(("venue", "volume", "pages"), place.groups(), strict=True)),
                "title": source["title"],
                "authors": [uninvert_name(name) for name in source["authors"]],
                "year": source["year"],
                "doi": source["doi"],
                "arxiv": source.get("arxiv", ""),
                "abstract": "",
                "type": "journal-article",
            }


def names(full: str) -> tuple[str, str]:
    """Given and family name; particles stay with the family name."""
    words = full.split()
    start = next((i for i, word in enumerate(words) if i and word in ("de", "Van", "Bardalez")), len(words) - 1)
    return " ".join(words[:start]), " ".join(words[start:])


def crossref(papers: Papers) -> Any:
    items = [
        {
            "DOI": paper["doi"],
            "type": paper.get("type", "journal-article"),
            "title": [paper["title"]],
            "author": [dict(zip(("given", "family"), names(author), strict=True)) for author in paper["authors"]],
            "container-title": [paper["venue"]],
            "published": {"date-parts": [[paper["year"]]]},
            "volume": paper["volume"],
            "page": paper["pages"],
            "URL": f"https://doi.org/{paper['doi']}",
            "language": "en",
        }
        for paper in papers
    ]
    return {"status": "ok", "message-type": "work-list", "message": {"total-results": len(items), "items": items}}


def openalex(papers: Papers) -> Any:
    results = [
        {
            "doi": f"https://doi.org/{paper['doi'].lower()}",
            "display_name": paper["title"],
            "title": paper["title"],
            "publication_year": paper["year"],
            "language": "en",
            "type": "article",
            "authorships": [{"author": {"id": None, "display_name": author}} for author in paper["authors"]],
            "primary_location": {"source": {"display_name": paper["venue"]}},
            **(
                {"open_access": {"is_oa": True, "oa_url": f"https://arxiv.org/pdf/{paper['arxiv']}"}}
                if paper["arxiv"]
                else {}
            ),
            "biblio": make_biblio(paper),
            **({"abstract_inverted_index": inverted(paper["abstract"])} if paper["abstract"] else {}),
        }
        for paper in papers
    ]
    return {"meta": {"count": len(results), "page": 1, "per_page": 100, "next_cursor": None}, "results": results}


def make_biblio(paper: dict[str, Any]) -> dict[str, str]:
    first, _, last = paper["pages"].partition("-")
    # The demo's answers stay as they are: replays of recordings are compared byte for byte.
    return {"volume": paper["volume"], "first_page": first, **({"last_page": last} if last and "type" in paper else {})}


def inverted(text: str) -> dict[str, list[int]]:
    index: dict[str, list[int]] = {}
    for position, word in enumerate(text.split()):
        index.setdefault(word, []).append(position)
    return index


def europepmc(papers: Papers) -> Any:
    result = [
        {
            "doi": paper["doi"],
            "title": paper["title"] + ".",
            "authorList": {"author": [{"fullName": author} for author in paper["authors"]]},
            "journalInfo": {"volume": paper["volume"], "journal": {"title": paper["venue"]}},
            "pubYear": str(paper["year"]),
            "pageInfo": paper["pages"],
            "abstractText": paper["abstract"],
            "language": "eng",
        }
        for paper in papers
    ]
    return {"version": "6.9", "hitCount": len(result), "resultList": {"result": result}}


def arxiv(papers: Papers) -> str:
    entries = "".join(map(_entry, papers))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom"'
        ' xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">\n'
        f"<opensearch:totalResults>{len(papers)}</opensearch:totalResults>\n"
        f"<opensearch:startIndex>0</opensearch:startIndex>\n{entries}</feed>\n"
    )


def _entry(paper: dict[str, Any]) -> str:
    authors = "".join(f"<author><name>{escape(author)}</name></author>" for author in paper["authors"])
    return (
        f"<entry><id>http://arxiv.org/abs/{paper['arxiv']}v1</id>\n"
        f"<published>{_published(paper['arxiv'])}-01T00:00:00Z</published>\n"
        f"<title>{escape(paper['title'])}</title>\n<summary>{escape(paper['abstract'])}</summary>\n{authors}\n"
        f"<link href='http://arxiv.org/pdf/{paper['arxiv']}v1' rel='related' title='pdf' type='application/pdf'/>"
        "</entry>\n"
    )


def _published(arxiv: str) -> str:
    """Return the year and month in which the preprint appeared: its id begins with them."""
    number = arxiv.rpartition("/")[2]
    return f"{19 if number[0] == '9' else 20}{number[:2]}-{number[2:4]}"


def pubmed(papers: Papers) -> Any:
    return {"esearchresult": {"count": "0", "retmax": "0", "retstart": "0", "idlist": []}}


def dblp(papers: Papers) -> Any:
    return {"result": {"status": {"@code": "200"}, "hits": {"@total": "0", "@computed": "0", "@sent": "0"}}}


def semantic_scholar(papers: Papers) -> Any:
    raise RetryableError(
        "semantic_scholar asks to slow down (429).",
        rate_limited=True,
        retry_at=datetime(2026, 11, 1, 12, 5, tzinfo=UTC),
        source="semantic_scholar",
        calls=3,
        seconds=4.2,
    )


ANSWERS: dict[str, Callable[[Papers], Any]] = {
    answer.__name__: answer for answer in (crossref, openalex, europepmc, arxiv, pubmed, dblp, semantic_scholar)
}
QUERY_PARAMETERS = {"openalex": "search", "europepmc": "query", "arxiv": "search_query"}
YEARS_OR_FIELD = re.compile(r" AND (?:PUB_YEAR|submittedDate):\[[^]]*\]|\ball:")
SECONDS = {"crossref": 0.8, "arxiv": 1.6, "openalex": 0.5, "europepmc": 0.7, "pubmed": 0.4, "dblp": 0.3}


def choose_of_source(request: Request) -> Papers:
    """Return the papers of the demo that the source has; of a source for Boolean queries those that match."""
    papers = [paper for paper in PAPERS if request.source in paper["sources"]]
    name = QUERY_PARAMETERS.get(request.source)
    if name is None:
        return papers
    query = YEARS_OR_FIELD.sub("", dict(request.params)[name])
    texts = [make_raw_paper(paper) for paper in papers]
    return [papers[index] for index in sorted(EmulatedLiterature(texts).find_matches(query))]


def make_raw_paper(paper: dict[str, Any]) -> RawPaper:
    return RawPaper(title=paper["title"], abstract=paper["abstract"], source="demo")


def choose_asked(request: Request) -> Papers:
    """Return the papers that a lookup names."""
    asked = unquote(request.address).lower()
    scheme = "arxiv" if request.source == "arxiv" else "doi"
    return [
        paper for paper in list_classics() if paper[scheme] and paper[scheme].lower() in re.split("doi:|[,|=&]", asked)
    ]


class MadeUpAnswers:
    """A transport that answers every request with chosen papers."""

    def __init__(self, choose: Callable[[Request], Papers]) -> None:
        self._choose = choose

    async def send(self, request: Request) -> Response:
        answer = ANSWERS[request.source](self._choose(request))
        body = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return Response(200, body.encode(), {}, seconds=SECONDS[request.source])

    async def aclose(self) -> None:
        pass


async def record(folder: Path, query: str, sources: list[str], choose: Callable[[Request], Papers]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    config = AppConfig(record_dir=folder)
    workflow = SearchWorkflow.from_config(
        config, transport=MadeUpAnswers(choose), only=sources, query=query, clock=FrozenClock(WHEN)
    )
    result = await workflow.run(query)
    sys.stdout.write(f"{len(result.papers)} papers recorded in {folder.name}\n")


async def main() -> None:
    await record(RECORDING, QUERY, SOURCES, choose_of_source)
    identifiers = [paper[scheme] for scheme in ("doi", "arxiv") for paper in list_classics() if paper[scheme]]
    await record(CLASSICS, " ".join(identifiers), ["crossref", "arxiv", "openalex"], choose_asked)


if __name__ == "__main__":
    asyncio.run(main())
