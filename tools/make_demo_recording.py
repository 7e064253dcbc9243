"""Make the recording that `uraniborg demo` replays.

The papers in `demo_papers.json` are real and so are their bibliographic facts; the short descriptions are our own. The
answers are made up from them in the shape each source uses, and recorded by running the search itself.

    python tools/make_demo_recording.py
"""

import asyncio
import json
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from paper_search.config import AppConfig
from paper_search.errors import RetryableError
from paper_search.sources.interfaces import Request, Response
from paper_search.workflow import SearchWorkflow
from uraniborg.kernel.clock import FrozenClock
from uraniborg.recordings import QUERY, RECORDING

PAPERS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("demo_papers.json").read_text(encoding="utf-8"))
for _paper in PAPERS:  # the authors' abstracts are not ours to give, and ours must not pass for theirs
    _paper["abstract"] = f"Our summary: {_paper['abstract']}"
WHEN = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
SOURCES = ["crossref", "arxiv", "openalex", "europepmc", "semantic_scholar", "pubmed", "dblp"]


def of(source: str) -> list[dict[str, Any]]:
    return [paper for paper in PAPERS if source in paper["sources"]]


def names(full: str) -> tuple[str, str]:
    """Given and family name; particles stay with the family name."""
    words = full.split()
    start = next((i for i, word in enumerate(words) if i and word in ("de", "Van", "Bardalez")), len(words) - 1)
    return " ".join(words[:start]), " ".join(words[start:])


def crossref(request: Request) -> Any:
    items = [
        {
            "DOI": paper["doi"],
            "type": "journal-article",
            "title": [paper["title"]],
            "author": [dict(zip(("given", "family"), names(author), strict=True)) for author in paper["authors"]],
            "container-title": [paper["venue"]],
            "published": {"date-parts": [[paper["year"]]]},
            "volume": paper["volume"],
            "page": paper["pages"],
            "URL": f"https://doi.org/{paper['doi']}",
            "language": "en",
        }
        for paper in of("crossref")
    ]
    return {"status": "ok", "message-type": "work-list", "message": {"total-results": len(items), "items": items}}


def openalex(request: Request) -> Any:
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
            "open_access": {"is_oa": True, "oa_url": f"https://arxiv.org/pdf/{paper['arxiv']}"},
            "biblio": {"volume": paper["volume"], "first_page": paper["pages"].split("-")[0]},
            "abstract_inverted_index": inverted(paper["abstract"]),
        }
        for paper in of("openalex")
    ]
    return {"meta": {"count": len(results), "page": 1, "per_page": 100, "next_cursor": None}, "results": results}


def inverted(text: str) -> dict[str, list[int]]:
    index: dict[str, list[int]] = {}
    for position, word in enumerate(text.split()):
        index.setdefault(word, []).append(position)
    return index


def europepmc(request: Request) -> Any:
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
        for paper in of("europepmc")
    ]
    return {"version": "6.9", "hitCount": len(result), "resultList": {"result": result}}


def arxiv(request: Request) -> str:
    entries = "".join(map(_entry, of("arxiv")))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom"'
        ' xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">\n'
        f"<opensearch:totalResults>{len(of('arxiv'))}</opensearch:totalResults>\n"
        f"<opensearch:startIndex>0</opensearch:startIndex>\n{entries}</feed>\n"
    )


def _entry(paper: dict[str, Any]) -> str:
    authors = "".join(f"<author><name>{escape(author)}</name></author>" for author in paper["authors"])
    return (
        f"<entry><id>http://arxiv.org/abs/{paper['arxiv']}v1</id>\n"
        f"<published>20{paper['arxiv'][:2]}-{paper['arxiv'][2:4]}-01T00:00:00Z</published>\n"
        f"<title>{escape(paper['title'])}</title>\n<summary>{escape(paper['abstract'])}</summary>\n{authors}\n"
        f"<link href='http://arxiv.org/pdf/{paper['arxiv']}v1' rel='related' title='pdf' type='application/pdf'/>"
        "</entry>\n"
    )


def pubmed(request: Request) -> Any:
    return {"esearchresult": {"count": "0", "retmax": "0", "retstart": "0", "idlist": []}}


def dblp(request: Request) -> Any:
    return {"result": {"status": {"@code": "200"}, "hits": {"@total": "0", "@computed": "0", "@sent": "0"}}}


def semantic_scholar(request: Request) -> Any:
    raise RetryableError(
        "semantic_scholar asks to slow down (429).",
        rate_limited=True,
        retry_at=datetime(2026, 11, 1, 12, 5, tzinfo=UTC),
        source="semantic_scholar",
        calls=3,
        seconds=4.2,
    )


ANSWERS: dict[str, Callable[[Request], Any]] = {
    answer.__name__: answer for answer in (crossref, openalex, europepmc, arxiv, pubmed, dblp, semantic_scholar)
}
SECONDS = {"crossref": 0.8, "arxiv": 1.6, "openalex": 0.5, "europepmc": 0.7, "pubmed": 0.4, "dblp": 0.3}


class MadeUpAnswers:
    """A transport that answers every request of a source with that source's papers."""

    async def send(self, request: Request) -> Response:
        answer = ANSWERS[request.source](request)
        body = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return Response(200, body.encode(), {}, seconds=SECONDS[request.source])

    async def aclose(self) -> None:
        pass


async def main() -> None:
    shutil.rmtree(RECORDING, ignore_errors=True)
    config = AppConfig(record_dir=RECORDING)
    workflow = SearchWorkflow.from_config(
        config, transport=MadeUpAnswers(), only=SOURCES, query=QUERY, clock=FrozenClock(WHEN)
    )
    result = await workflow.run(QUERY)
    sys.stdout.write(f"{len(result.papers)} papers recorded in {RECORDING.name}\n")


if __name__ == "__main__":
    asyncio.run(main())
