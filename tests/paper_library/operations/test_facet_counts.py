"""Filters and facet counts of any result set equal a manual count."""

# pyright: reportTypedDictNotRequiredAccess=false

import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library

AUTHORS = ["Tycho Brahe", "Sophie Brahe", "Émilie du Châtelet", "Ada Lovelace", "Wang Zhenyi"]
KEYWORDS = ["stars", "Comets", "β-decay", "C++", "plain words", "O(n²)"]
VENUES = ["", "Annals", "Proceedings of X"]
WORDS = ["angle", "orbit", "lens", "tail"]
YEARS = [None, 1573, 1609, 2020]
LISTS = {"author": "authors", "keyword": "keywords", "tag": "tags", "institution": "institutions"}


def draw_some(values: Sequence[str], most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), max_size=most, unique=True)


Papers = st.lists(
    st.fixed_dictionaries(
        {
            "authors": draw_some(AUTHORS, 3),
            "keywords": draw_some(KEYWORDS, 3),
            "tags": draw_some(KEYWORDS, 2),
            "venue": st.sampled_from(VENUES),
            "year": st.sampled_from(YEARS),
            "abstract": draw_some(WORDS, 3).map(" ".join),
        }
    ),
    min_size=1,
    max_size=25,
)
Asked = st.tuples(
    st.sampled_from(["", *WORDS]),
    st.sampled_from(["", "author", "keyword", "tag", "venue", "year"]),
    st.integers(0, 10),
)


def list_values(paper: dict[str, Any], kind: str) -> list[str]:
    if kind in LISTS:
        return paper.get(LISTS[kind], [])
    return [str(paper[kind])] if paper[kind] else []


def count_expected(papers: list[dict[str, Any]], word: str, kind: str, value: str) -> list[dict[str, Any]]:
    return [
        paper
        for paper in papers
        if (not word or word in paper["abstract"].split()) and (not kind or value in list_values(paper, kind))
    ]


CHOICES = {
    "author": AUTHORS,
    "keyword": KEYWORDS,
    "tag": KEYWORDS,
    "venue": VENUES[1:],
    "year": ["1573", "1609", "2020"],
}


@settings(max_examples=12)
@given(papers=Papers, asked=st.lists(Asked, min_size=8, max_size=8))
def test_filters_and_counts_equal_a_manual_count(
    papers: list[dict[str, Any]], asked: list[tuple[str, str, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number, paper in enumerate(papers):
            paper["title"] = f"Paper number {number} of many"
            paper["doi"] = f"10.1000/{number}"
        source = Path(folder) / "papers.json"
        source.write_text(json.dumps(papers))
        build_shelf([source], Path(folder) / "shelf")
        library = Library.open(Path(folder) / "shelf")
        for word, kind, choice in asked:
            value = CHOICES[kind][choice % len(CHOICES[kind])] if kind else ""
            compare_counts(library, count_expected(papers, word, kind, value), word, kind, value)
        library.close()


def compare_counts(library: Library, right: list[dict[str, Any]], word: str, kind: str, value: str) -> None:
    kinds = list(CHOICES)
    asked = {kind: value.upper() if kind == "author" else value} if kind else None
    found = library.search(word, limit=100, filters=asked, facets=kinds, facet_limit=100)
    assert found["total"] == len(right)
    assert {hit["title"] for hit in found["results"]} == {paper["title"] for paper in right}
    for each in kinds:
        counted = Counter(one for paper in right for one in list_values(paper, each))
        facet_values = found["facets"][each]
        assert {one["value"]: one["paper_count"] for one in facet_values} == dict(counted)
        assert [one["paper_count"] for one in facet_values] == sorted(counted.values(), reverse=True)
    few = library.search(word, filters=asked, facets=["author"], facet_limit=2)["facets"]["author"]
    authors = Counter(one for paper in right for one in list_values(paper, "author"))
    assert [one["paper_count"] for one in few] == sorted(authors.values(), reverse=True)[:2]
