"""Unusual inputs and queries that reviewers tried."""

# pyright: reportArgumentType=false

import json
from collections import Counter
from pathlib import Path

import pytest

from paper_library.api.entry_points import ShelfSource
from paper_library.domain.paper_ids import is_paper_id, spell_arxiv_for_id, spell_doi_for_id
from paper_library.service import hits, search
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.store.shelf import Shelf


def write_papers(path: Path, papers: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(paper) + "\n" for paper in papers), encoding="utf-8")
    return path


def test_no_input_can_choose_a_paper_id_or_a_file_name(tmp_path: Path) -> None:
    paper: dict[str, object] = {"title": "Deep Fish", "identifiers": {"paper_id": "../../etc/passwd", "stem": "other"}}
    build_shelf([write_papers(tmp_path / "papers.jsonl", [paper])], tmp_path / "shelf")
    (hit,) = Library.open(tmp_path / "shelf").search("fish")["results"]
    assert is_paper_id(hit["paper_id"])
    assert Library.open(tmp_path / "shelf").metadata(hit["paper_id"])["identifiers"] == {}


def test_a_local_path_is_not_a_url_of_a_paper(tmp_path: Path) -> None:
    paper: dict[str, object] = {"title": "Deep Fish", "url": "file:///home/ada/x.pdf"}
    build_shelf([write_papers(tmp_path / "papers.jsonl", [paper])], tmp_path / "shelf")
    library = Library.open(tmp_path / "shelf")
    assert "ada" not in json.dumps(library.metadata(library.search("fish")["results"][0]["paper_id"]))


def test_a_hundred_and_fifty_copies_of_one_entry_are_one_paper(tmp_path: Path) -> None:
    copy: dict[str, object] = {
        "title": "Deep Fish of the North",
        "authors": ["Ada Lovelace"],
        "year": 1843,
        "venue": "Sea",
    }
    report = build_shelf([write_papers(tmp_path / "papers.jsonl", [copy] * 150)], tmp_path / "shelf")
    assert (report.papers, report.merged) == (1, 149)


@pytest.mark.parametrize("hostile", ["10.1000/" + "%25" * 100_000, "10.1000/x" + ")" * 300_000, "doi:" * 100_000])
def test_a_very_long_identifier_is_ignored(hostile: str) -> None:
    assert spell_doi_for_id(hostile) is None
    assert spell_arxiv_for_id(hostile) is None


def test_facet_counts_are_complete_over_several_index_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from paper_library.service.build import shelf_writer

    def add(self: shelf_writer.ShelfWriter, described: shelf_writer.PreparedPaper) -> None:
        as_before(self, described)
        if self.papers % 40 == 0:
            self._documents.commit()  # pyright: ignore[reportPrivateUsage]

    as_before = shelf_writer.ShelfWriter.add_paper
    monkeypatch.setattr(shelf_writer.ShelfWriter, "add_paper", add)
    names = [f"Author {chr(97 + number % 23)}{chr(97 + number % 7)}" for number in range(200)]
    papers: list[dict[str, object]] = [
        {"title": f"Fish {number:03}", "doi": f"10.1000/{number}", "authors": [names[number], "Common Name"]}
        for number in range(200)
    ]
    build_shelf([write_papers(tmp_path / "papers.jsonl", papers)], tmp_path / "shelf")
    shelf = Shelf.open(tmp_path / "shelf")
    found = search.search_shelf(shelf, "fish", facets=["author"], facet_limit=1)
    assert found.facets == {"author": [{"value": "Common Name", "paper_count": 200}]}
    right = Counter([*names, *["Common Name"] * 200])
    every = search.search_shelf(shelf, "fish", facets=["author"], facet_limit=100).facets["author"]
    assert [value["paper_count"] for value in every] == [right[value["value"]] for value in every]


def test_full_texts_are_read_for_snippets_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        text = "nothing of interest here. " * 100 + f"a dugong{number} swims"
        (tmp_path / f"text{number}.md").write_text(f"---\ntitle: Sea number {number}\n---\n{text} dugong\n")
    build_shelf([*tmp_path.glob("*.md")], tmp_path / "shelf")
    library = Library.open(tmp_path / "shelf")
    assert all("**dugong**" in hit["snippet_markdown"] for hit in library.search("dugong")["results"])
    monkeypatch.setattr(hits, "SNIPPET_READ", 3_000)
    shown = [hit["snippet_markdown"] for hit in library.search("dugong")["results"]]
    assert sum("**dugong**" in text for text in shown) == 1


async def test_each_query_of_a_strategy_has_its_papers_among_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers: list[dict[str, object]] = [
        {"title": f"{word} number {number}", "doi": f"10.1000/{word}{number}"}
        for word in ("whale", "comet")
        for number in range(10)
    ]
    build_shelf([write_papers(tmp_path / "papers.jsonl", papers)], tmp_path / "shelf")
    monkeypatch.setenv("URANIBORG_LIBRARY__SHELF", str(tmp_path / "shelf"))
    queries = [{"keywords": ["whale"]}, {"keywords": ["comet", "NOT whale"]}]
    found = (await ShelfSource().search_advanced({"queries": queries, "filters": {"max_results": 6}}))["papers"]
    assert sum("comet" in paper["title"] for paper in found) >= 3
    assert sum("whale" in paper["title"] for paper in found) >= 2
