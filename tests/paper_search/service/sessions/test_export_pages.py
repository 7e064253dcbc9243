"""The pages of a JSON export: together they are the export, also over stdio and after a restart."""

import json
from pathlib import Path
from typing import Any, cast

from pydantic import AnyUrl

from paper_search.export import export_json
from paper_search.models import Author, Paper, PaperCollection, SearchMetadata, SearchStrategy
from paper_search.service.reply_parts import count_json_bytes
from paper_search.service.sessions.reply_builder import build_export_page, build_export_summary
from tests.paper_search.service.sessions.processes import REPLY_BYTES, GatedSource, open_client
from uraniborg.kernel.mcp.testing import get_json

MANY_PAPERS = """
class Shelf:
    source_name = "shelf"

    async def search_advanced(self, strategy):
        names = [f"moon {chr(97 + one // 10)}{chr(97 + one % 10)}o" for one in range(60)]
        return [
            {"title": f"Tidal heating of {name}", "year": 2020, "doi": f"10.1000/{at}", "abstract": "Tides. " * 100}
            for at, name in enumerate(names)
        ]
"""


def make_collection(papers: int, **metadata: Any) -> PaperCollection:
    def make_papers(prefix: str, count: int) -> list[Paper]:
        return [
            Paper(
                id=f"{prefix}{number}",
                title=f"Moon {number}",
                authors=[Author(name="Tycho Brahe")],
                year=1990 + number % 30,
                abstract="Tides. " * 150,
                source="alpha",
            )
            for number in range(count)
        ]

    about = SearchMetadata(
        query="moons", search_strategy=SearchStrategy(queries=[], sources=["alpha"]), total_found=papers, **metadata
    )
    return PaperCollection(
        metadata=about,
        papers=make_papers("p", papers),
        excluded_papers=make_papers("e", 3),
        removed_papers=make_papers("r", 2),
    )


def join_pages(pages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the export that the pages contain: their lists joined, and their objects merged."""
    whole: dict[str, Any] = {}

    def merge(into: dict[str, Any], fields: dict[str, Any]) -> None:
        for name, value in fields.items():
            if isinstance(value, list):
                into[name] = [*into.get(name, []), *cast("list[Any]", value)]
            elif isinstance(value, dict) and name in ("metadata", "facets"):
                merge(into.setdefault(name, {}), cast("dict[str, Any]", value))
            else:
                into[name] = value

    for page in pages:
        merge(whole, {name: page[name] for name in PaperCollection.model_fields if name in page})
    return whole


def list_pages(collection: PaperCollection) -> list[Any]:
    pages = [build_export_page("s1", collection, 0)]
    while address := pages[-1]["next"]:
        pages.append(build_export_page("s1", collection, int(address.rpartition("/")[2])))
    return pages


def test_the_pages_together_are_the_export() -> None:
    collection = make_collection(70, notes=["A note.", "Another."])
    pages = list_pages(collection)
    assert len(pages) > 3
    assert all(count_json_bytes(page) <= REPLY_BYTES for page in pages)
    assert join_pages(pages) == json.loads(export_json(collection))


def test_an_empty_collection_is_one_page_with_empty_lists() -> None:
    collection = make_collection(0)
    empty = collection.model_copy(update={"excluded_papers": [], "removed_papers": []})
    (page,) = list_pages(empty)
    assert join_pages([page]) == json.loads(export_json(empty))


def test_a_page_beyond_the_end_is_empty_and_has_no_next_page() -> None:
    page = build_export_page("s1", make_collection(2), 9_999)
    assert not {"papers", "metadata", "facets"} & page.keys()
    assert page["next"] is None
    assert page["total_parts"] > 2


def test_the_summary_counts_what_the_pages_contain_and_names_where_to_read_them() -> None:
    summary = build_export_summary("s1", make_collection(60))
    counts = [summary[name] for name in ("total_papers", "excluded_papers", "removed_papers")]
    assert counts == [60, 3, 2]
    assert summary["years"] == [1990, 2019]
    assert summary["resource"] == "paper-search://sessions/s1/export"
    assert [paper["id"] for paper in summary["best_papers"]] == [f"p{number}" for number in range(20)]
    assert "paper-search export s1 --format json" in summary["hint"]
    assert len(json.dumps(summary)) < 8_000


async def test_the_pages_are_read_over_stdio_and_after_a_restart(tmp_path: Path) -> None:
    source = GatedSource(tmp_path / "source")
    (tmp_path / "source" / "the_shelf.py").write_text(MANY_PAPERS)
    async with open_client(tmp_path / "home", source.env) as client:
        state = get_json(await client.call_tool("search_papers", {"query": "tidal heating of moons"}))
        for _ in range(2):
            decision = {"session_id": state["session_id"], "action": "approve"}
            state = get_json(await client.call_tool("decide", decision))
        assert state["paper_count"] == 60
        asked = {"session_id": state["session_id"], "format": "json"}
        summary = get_json(await client.call_tool("export_results", asked))
    assert summary["is_summary"]
    found: list[str] = []
    address = summary["resource"]
    async with open_client(tmp_path / "home", source.env) as client:
        while address:
            (content,) = (await client.read_resource(AnyUrl(address))).contents
            page = json.loads(getattr(content, "text", ""))
            found += [paper["doi"] for paper in page.get("papers", [])]
            address = page["next"]
    assert sorted(found) == sorted(f"10.1000/{number}" for number in range(60))
