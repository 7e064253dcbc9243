"""`search_papers`: the results, their order and their fields."""

import re
from typing import Any

import pytest

from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller
from tests.requirements import requirement

ROW = {
    "paper_id",
    "title",
    "year",
    "venue",
    "snippet_markdown",
    "authors",
    "score",
    "matched_fields",
    "section",
    "offset",
}
PAGE = {"results", "total", "limit", "offset", "next_offset", "interpreted_query"}
PORTING = "Porting C++ and C# kernels to .NET: an O(n²) story"
ATTENTION = "Attention for Weather: Transformers on Rain Radar"
SILENT = "Silent Orbits of Tidally Locked Moons"
CAROTENE = "Photobleaching of β-carotene in olive oil"
CHINESE = "深度学习在天气预报中的应用"


def list_titles(page: dict[str, Any]) -> list[str]:
    return [row["title"] for row in page["results"]]


@requirement("PL-8")
def test_the_best_matches_come_first_with_their_matched_fields(library: Caller) -> None:
    page = library.call_structured("search_papers", query="rain radar")
    assert page.keys() >= PAGE
    assert list_titles(page) == [ATTENTION, PORTING]
    scores = [row["score"] for row in page["results"]]
    assert scores == sorted(scores, reverse=True)
    for row in page["results"]:
        assert row.keys() >= ROW
        assert re.search(r"\*\*[^*]*(rain|radar)[^*]*\*\*", row["snippet_markdown"], re.IGNORECASE)
    best = page["results"][0]
    assert (best["year"], best["venue"]) == (2021, "Conference on Learned Weather")
    assert best["authors"] == ["Ada Öztürk", "Thị Minh Nguyễn", "John Smith"]


@requirement("PL-8")
def test_ten_results_are_returned_by_default_and_the_rest_by_paging(library: Caller) -> None:
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = library.call_structured("search_papers", query="gravel", offset=offset)
        assert (page["total"], page["limit"], page["offset"]) == (inputs.FILLERS, 10, offset)
        assert len(page["results"]) == min(10, inputs.FILLERS - offset)
        seen += [row["paper_id"] for row in page["results"]]
        offset = page["next_offset"]
    assert len(seen) == len(set(seen)) == inputs.FILLERS


@requirement("PL-8", "PL-18")
@pytest.mark.parametrize("name", ["limit", "page_size"])
@pytest.mark.parametrize("size", [1, 3, 100])
def test_limit_and_page_size_are_synonyms(library: Caller, name: str, size: int) -> None:
    page = library.call_structured("search_papers", query="gravel", **{name: size})
    assert page["limit"] == size
    assert len(page["results"]) == min(size, inputs.FILLERS)


@requirement("PL-8")
@pytest.mark.parametrize("query", ["moons that show one face", "SILENT ORBITS", "kovacs", "author:kovács", "silent*"])
def test_words_are_found_in_any_case_accents_and_field(library: Caller, query: str) -> None:
    assert SILENT in list_titles(library.call_structured("search_papers", query=query))


@requirement("PL-8")
@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("C++", PORTING),
        ("C#", PORTING),
        (".NET", PORTING),
        ("β-carotene", CAROTENE),
        ("O(n²)", PORTING),
        (inputs.ATTENTION_DOI, ATTENTION),
        ("10.5555/BCAROTENE.9", CAROTENE),
        ("doi:10.5555/bcarotene.9", CAROTENE),
        ("天气预报", CHINESE),
        ("深度学习", CHINESE),
        ("2301.04242", "Sparse Graphs Remember"),
    ],
)
def test_names_with_symbols_are_found(library: Caller, query: str, title: str) -> None:
    assert list_titles(library.call_structured("search_papers", query=query))[:1] == [title]


@requirement("PL-8")
def test_symbols_of_a_name_are_not_dropped(library: Caller) -> None:
    assert list_titles(library.call_structured("search_papers", query="title:C++")) == [PORTING]
    assert list_titles(library.call_structured("search_papers", query="C++")) == [PORTING]
    assert list_titles(library.call_structured("search_papers", query="title:C")) == ["The C Language at Forty"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"silent orbits"', [SILENT]),
        ("silent OR carotene", [SILENT, CAROTENE]),
        ("radar -porting", [ATTENTION]),
        ("venue:gravel year:1981..1982", ["Gravel Study Number 1", "Gravel Study Number 2"]),
        ("keyword:transformer", [ATTENTION]),
        ("tag:food", [CAROTENE]),
        ("title:silent", [SILENT]),
    ],
)
def test_the_query_language_follows_its_description(library: Caller, query: str, found: list[str]) -> None:
    assert sorted(list_titles(library.call_structured("search_papers", query=query))) == sorted(found)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        '"',
        "(((",
        "a OR",
        "OR OR",
        "-",
        "--x",
        "*",
        "title:",
        "year:abc..",
        "a:b:c",
        "\\",
        "😀",
        "\u202e",
        "'; --",
    ],
)
def test_no_query_is_an_error_and_the_reply_has_its_interpretation(library: Caller, query: str) -> None:
    page = library.call_structured("search_papers", query=query)
    assert page["interpreted_query"].keys() >= {"terms", "filters", "ignored"}


def test_an_absent_phrase_is_searched_as_words_and_the_reply_reports_it(library: Caller) -> None:
    page = library.call_structured("search_papers", query='"tidally silent"')
    assert list_titles(page) == [SILENT]
    assert any("tidally silent" in reason for reason in page["interpreted_query"]["ignored"])
    assert library.call_structured("search_papers", query='"silent orbits"')["interpreted_query"]["ignored"] == []


def test_a_filter_is_distinguished_from_words(library: Caller) -> None:
    read = library.call_structured("search_papers", query="radar year:2019..2023")["interpreted_query"]
    assert read["terms"] == ["radar"]
    assert "year" in read["filters"]


def test_a_misspelt_word_gets_a_suggestion_from_the_shelf(library: Caller) -> None:
    page = library.call_structured("search_papers", query="photobleeching")
    assert (page["results"], page["total"], page["next_offset"]) == ([], 0, None)
    assert "photobleaching" in page["did_you_mean"].lower()


@pytest.mark.parametrize(("sort", "newest_first"), [("year_desc", True), ("year_asc", False)])
def test_results_can_be_sorted_by_year(library: Caller, sort: str, newest_first: bool) -> None:
    rows = library.call_structured("search_papers", query="gravel", sort=sort, limit=100)["results"]
    years = [row["year"] for row in rows]
    assert years == sorted(years, reverse=newest_first)


def test_a_snippet_is_short_and_cannot_break_out_of_its_line(library: Caller) -> None:
    for query in ("annals comet", "chlorophyll", "colour"):
        for row in library.call_structured("search_papers", query=query)["results"]:
            assert len(row["snippet_markdown"]) <= 400
            assert "\n" not in row["snippet_markdown"]
            assert "<script" not in row["snippet_markdown"]


@requirement("PL-8")
def test_a_repeated_search_has_the_same_reply(library: Caller) -> None:
    first = library.call_structured("search_papers", query="gravel study")
    assert library.call_structured("search_papers", query="gravel study") == first


def test_dropped_words_are_listed(library: Caller) -> None:
    page = library.call_structured("search_papers", query="silent orbits zebra")
    assert list_titles(page)[0] == SILENT
    assert page["interpreted_query"]["dropped"] == ["zebra"]
    assert "dropped" not in library.call_structured("search_papers", query="silent orbits")["interpreted_query"]


def test_a_hit_has_its_matched_fields_and_the_offset_of_the_passage(library: Caller) -> None:
    (row,) = library.call_structured("search_papers", query="optical flow author:öztürk")["results"]
    assert (row["matched_fields"], row["section"]) == (["author", "full_text"], "Introduction")
    text = library.call("get_paper_source", paper_id=row["paper_id"], offset=row["offset"])["content"][0]["text"]
    assert text.startswith("A transformer with local attention predicts")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SILENT AND ORBITS", SILENT),
        ("author: Oeztuerk rain", ATTENTION),
        ("autor:Smith orbits", SILENT),
        ("SELECT * FROM papers WHERE author LIKE '%Kovács%'", SILENT),
        ("silent orbits before 2005", SILENT),
    ],
)
def test_queries_in_running_text_are_understood(library: Caller, query: str, found: str) -> None:
    assert list_titles(library.call_structured("search_papers", query=query))[0] == found


def test_ten_thousand_characters_are_refused(library: Caller) -> None:
    error = library.call_error("search_papers", query="silent orbits " * 715)
    assert (error["code"], error["argument"]) == ("invalid_argument", "query")
