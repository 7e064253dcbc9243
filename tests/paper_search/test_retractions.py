"""A retraction, from the answers of two sources to the review and every export."""

import json
from pathlib import Path

import pytest

from paper_search.export import FORMATS
from paper_search.sources import crossref, openalex
from paper_search.sources.http_source import HttpSource
from paper_search.testing import FakeTransport
from tests.paper_search.service.sessions.helpers import QUERY, DataFolder
from tests.paper_search.sources.sample_answers import make_response
from tests.paper_search.tool_client import call_tool, export_papers, open_client

TITLE = "Tidal heating of icy moons"
CROSSREF = {
    "status": "ok",
    "message-type": "work-list",
    "message": {
        "total-results": 2,
        "items": [
            {
                "DOI": "10.5555/moons.1",
                "type": "journal-article",
                "title": [f"RETRACTED: {TITLE}"],
                "author": [{"given": "Ada", "family": "Example"}],
                "issued": {"date-parts": [[2001]]},
                "updated-by": [
                    {"DOI": "10.5555/c", "type": "correction", "updated": {"date-parts": [[2004]]}},
                    {"DOI": "10.5555/r", "type": "retraction", "updated": {"date-parts": [[2010, 2, 6]]}},
                ],
            },
            {
                "DOI": "10.5555/moons.2",
                "type": "journal-article",
                "title": [TITLE],
                "subtitle": ["A review of oceans"],
                "author": [{"given": "Bo", "family": "Sample"}],
                "issued": {"date-parts": [[2019]]},
            },
        ],
    },
}
OPENALEX = {
    "meta": {"count": 1},
    "results": [
        {
            "id": "https://openalex.org/W1",
            "doi": "https://doi.org/10.5555/moons.1",
            "title": TITLE,
            "publication_year": 2001,
            "is_retracted": True,
            "authorships": [{"author": {"display_name": "Ada Example"}}],
        }
    ],
}
NOTE = (
    "Retracted 2010-02-06 (notice doi:10.5555/r, source crossref); retracted (source openalex); "
    "corrected 2004 (notice doi:10.5555/c, source crossref)"
)


@pytest.fixture
def data_folder(home: Path) -> DataFolder:
    answers = {
        "https://api.crossref.org/": make_response(CROSSREF),
        "https://api.openalex.org/": make_response(OPENALEX),
    }
    sources = [HttpSource(module.definition, FakeTransport(answers)) for module in (crossref, openalex)]
    return DataFolder(home.parent / "data", *sources)


async def test_a_retracted_paper_is_found_and_marked_at_the_review_and_in_every_export(
    data_folder: DataFolder,
) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        review = await call_tool(client, "decide", session_id=session_id, action="approve")
        papers = {paper["doi"]: paper for paper in review["checkpoint"]["payload"]["papers"]}
        assert papers["10.5555/moons.1"]["retraction"]["notice_doi"] == "10.5555/r"
        assert papers["10.5555/moons.1"]["editorial_note"] == NOTE
        assert "retraction" not in papers["10.5555/moons.2"]
        await call_tool(client, "decide", session_id=session_id, action="approve")
        texts = {name: await export_papers(client, session_id, name) for name in FORMATS}
    assert texts["markdown"].count(f"| RETRACTED: {TITLE} |") == 1
    assert f"| {TITLE}: A review of oceans |" in texts["markdown"]
    assert f"note = {{{NOTE}}}" in texts["bibtex"]
    assert f"N1  - {NOTE}" in texts["ris"]
    assert [item.get("note") for item in json.loads(texts["csl-json"]) if item["DOI"] == "10.5555/moons.1"] == [NOTE]
    exported = {paper["doi"]: paper for paper in json.loads(texts["json"])["papers"]}
    assert exported["10.5555/moons.1"]["retraction"] == {
        "status": "retracted", "source": "crossref", "date": "2010-02-06", "notice_doi": "10.5555/r",
    }  # fmt: skip
    assert exported["10.5555/moons.2"]["retraction"] is None
    assert exported["10.5555/moons.1"]["citation_key"] == "example_2001_tidal"
    assert "{example_2001_tidal," in texts["bibtex"]
