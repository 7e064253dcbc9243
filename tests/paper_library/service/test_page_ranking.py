"""Papers with all words come before papers with some, on every page, and the reply lists dropped words."""

# pyright: reportTypedDictNotRequiredAccess=false

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_library.domain.query_parser import parse_query
from paper_library.domain.replies import SearchPage
from paper_library.service.library import Library
from tests.paper_library.service.libraries import list_titles, make_library
from uraniborg.kernel.language.words import extract_terms

WORDS = ("apple", "berry", "cherry", "date", "elder")


def list_texts(page: SearchPage) -> list[set[str]]:
    return [set(extract_terms(hit["title"])) for hit in page["results"]]


@pytest.fixture(scope="module")
def fruit(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Return a library with one paper per subset of the words; abstracts with fewer words repeat them more."""
    papers: list[dict[str, Any]] = []
    for size in range(1, len(WORDS) + 1):
        for chosen in combinations(WORDS, size):
            often = " ".join(chosen * (6 - size))
            papers.append({"title": " ".join(chosen), "abstract": f"{often}. {'filler words ' * 5 * size}"})
    return make_library(tmp_path_factory.mktemp("fruit"), *papers)


@settings(max_examples=40)
@given(st.sets(st.sampled_from(WORDS), min_size=2), st.integers(1, 9))
def test_over_all_pages_complete_matches_come_first_and_no_paper_repeats(
    fruit: Library, words: set[str], limit: int
) -> None:
    wanted = set(extract_terms(" ".join(words)))
    whole = fruit.search(" ".join(sorted(words)), limit=100)
    seen: list[set[str]] = []
    scores: list[float] = []
    ids: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = fruit.search(" ".join(sorted(words)), limit=limit, offset=offset)
        seen += list_texts(page)
        scores += [hit["score"] for hit in page["results"]]
        ids += [hit["paper_id"] for hit in page["results"]]
        assert "dropped" not in page["interpreted_query"]
        offset = page["next_offset"]
    complete = [wanted <= has for has in seen]
    assert complete == sorted(complete, reverse=True)
    assert sum(complete) == 2 ** (len(WORDS) - len(words))
    assert scores == sorted(scores, reverse=True)
    assert ids == [hit["paper_id"] for hit in whole["results"]]
    assert len(ids) == len(set(ids)) == whole["total"]


def test_a_deep_page_has_the_same_order_as_a_long_one(tmp_path: Path) -> None:
    numbered = [{"title": f"{'apple' if at % 3 else 'apple berry'} number{at}"} for at in range(240)]
    library = make_library(tmp_path, *numbered)
    ids = [
        [hit["paper_id"] for hit in library.search("apple berry", limit=limit, offset=offset)["results"]]
        for limit, offset in ((100, 0), (100, 100), (100, 200), (10, 70), (10, 75), (10, 230))
    ]
    whole = ids[0] + ids[1] + ids[2]
    assert len(whole) == len(set(whole)) == 240
    assert ids[3:] == [whole[70:80], whole[75:85], whole[230:240]]
    assert library.search("apple berry", limit=100, offset=100)["total"] == 240


def test_a_rare_complete_paper_deep_in_the_ranking_comes_first(tmp_path: Path) -> None:
    often = [{"title": f"Apple apple apple {at}", "abstract": "Apple apple."} for at in range(80)]
    library = make_library(tmp_path, {"title": "Pears", "abstract": f"Apple once. {'filler words ' * 300}"}, *often)
    page = library.search("apple pears filler")
    assert list_titles(page)[0] == "Pears"
    assert page["total"] == 81


@pytest.mark.parametrize(
    ("query", "dropped"),
    [
        ("apple zebra", ["zebra"]),
        ("apple zebra yak", ["zebra", "yak"]),
        ("apple quince", ["quince"]),
        ("zebra apple quince", ["zebra", "quince"]),
        ("apple OR zebra", ["zebra"]),
        ("apple ban*", ["ban*"]),
        ("apple pea*", ["pea*"]),
        ("APPLE AND QUINCE", ["quince"]),
    ],
)
@pytest.mark.parametrize("offset", [0, 1])
def test_the_words_that_the_best_paper_lacks_are_reported(
    tmp_path: Path, query: str, dropped: list[str], offset: int
) -> None:
    papers = [{"title": "Apple trees"}, {"title": "Apple pie", "abstract": "Apple, apple."}]
    library = make_library(tmp_path, *papers, *({"title": f"Quince and pears {at}"} for at in range(9)))
    reading = library.search(query, offset=offset, limit=1)["interpreted_query"]
    assert reading["dropped"] == dropped
    assert any(all(word in note for word in dropped) for note in reading["ignored"])


@pytest.mark.parametrize("query", ["apple", "apple pie", "zebra", '"apple pie"', "apple*", "title:apple", ""])
def test_no_word_is_reported_as_dropped_if_all_or_none_are_found(tmp_path: Path, query: str) -> None:
    library = make_library(tmp_path, {"title": "Apple pie"}, {"title": "Pie"})
    assert "dropped" not in library.search(query)["interpreted_query"]


def test_words_of_the_full_text_and_of_names_count(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "one.md").write_text(
        "---\ntitle: Apples\nauthor: Ada Quince\nyear: 2020\n---\n# Fruit\n\nBerries grow too.\n", encoding="utf-8"
    )
    (tmp_path / "in" / "two.md").write_text(
        "---\ntitle: Apples, apples, apples\n---\n# Extra\n\nApples.\n", encoding="utf-8"
    )
    from paper_library.service.build.builder import build_shelf

    build_shelf([tmp_path / "in"], tmp_path / "shelf")
    library = Library.open(tmp_path / "shelf")
    for query in ("apples berries", "apples quince", "apples quince berries"):
        page = library.search(query)
        assert list_titles(page)[0] == "Apples", query
        assert "dropped" not in page["interpreted_query"]
    assert library.search("berries quince zebra")["interpreted_query"]["dropped"] == ["zebra"]
    assert library.search("apples fruit extra")["interpreted_query"]["dropped"] in (["fruit"], ["extra"])


def test_an_order_given_explicitly_counts_more_than_completeness(fruit: Library) -> None:
    assert (
        list_titles(fruit.search("apple berry", sort="title_asc", limit=3))
        == sorted(list_titles(fruit.search("apple berry", limit=100)))[:3]
    )


def test_the_sort_argument_overrides_sort_in_the_query_and_the_reply_reports_it(fruit: Library) -> None:
    page = fruit.search("apple sort:year", sort="title_desc")
    assert list_titles(page) == sorted(list_titles(page), reverse=True)
    assert any("sort:year_desc was not used" in note for note in page["interpreted_query"]["ignored"])


@pytest.mark.parametrize(
    "text",
    [
        "a-" * 5_000,
        "since " * 1_700,
        "select " * 1_400,
        "title: " * 1_400,
        '"' * 10_000,
        '" ' * 5_000,
        "(" * 10_000,
        "深" * 10_000,
        "🪐" * 10_000,
        "not before 201 " * 660,
        "x=" * 5_000,
        "ue" * 5_000,
        "SELECT * FROM p WHERE " + "a = '" * 1_900,
        "published " + " " * 9_000 + "since",
    ],
    ids=lambda text: text[:12].encode("ascii", "replace").decode(),
)
def test_ten_thousand_characters_are_parsed(text: str) -> None:
    assert parse_query(text).as_dict().keys() >= {"terms", "filters", "ignored"}


def test_ten_thousand_characters_are_refused_by_a_search(fruit: Library) -> None:
    from paper_library.errors import OutOfBounds

    with pytest.raises(OutOfBounds, match="500"):
        fruit.search("apple " * 1_667)
