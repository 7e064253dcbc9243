"""`list_top_facets`: the most frequent values of a category."""

import pytest

from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller
from tests.requirements import requirement


@requirement("PL-13")
def test_the_top_authors_have_numbers_of_papers_in_descending_order(library: Caller) -> None:
    reply = library.call_structured("list_top_facets", category="author", limit=20)
    assert reply["category"] == "author"
    counts = [row["paper_count"] for row in reply["result"]]
    assert counts == sorted(counts, reverse=True)
    assert reply["result"][:2] == [
        {"value": "Peter Stone", "paper_count": inputs.FILLERS},
        {"value": "Ada Öztürk", "paper_count": 3},
    ]


@requirement("PL-13")
@pytest.mark.parametrize(
    ("category", "value", "count"),
    [
        ("venue", "Gravel Letters", inputs.FILLERS),
        ("venue", "Annals of Small Bodies", 2),
        ("keyword", "gravel", inputs.FILLERS),
        ("keyword", "C++", 1),
        ("institution", "University of Hven", 1),
        ("tag", "food", 1),
    ],
)
def test_every_category_is_counted_and_keeps_the_spelling(
    library: Caller, category: str, value: str, count: int
) -> None:
    rows = library.call_structured("list_top_facets", category=category, limit=100)["result"]
    assert {"value": value, "paper_count": count} in rows
    assert all(row.keys() >= {"value", "paper_count"} for row in rows)


@requirement("PL-13")
def test_the_number_of_values_is_limited(library: Caller) -> None:
    assert len(library.call_structured("list_top_facets", category="keyword", limit=3)["result"]) == 3
    assert len(library.call_structured("list_top_facets", category="keyword")["result"]) <= 20


@requirement("PL-13")
@pytest.mark.parametrize("category", ["authors", "year", "", "AUTHOR", "shelf.db"])
def test_an_unknown_category_is_refused_with_the_known_categories(library: Caller, category: str) -> None:
    error = library.call_error("list_top_facets", category=category)
    assert (error["code"], error["argument"]) == ("invalid_argument", "category")
    for known in ("author", "venue", "keyword", "institution", "tag"):
        assert known in error["allowed"]
