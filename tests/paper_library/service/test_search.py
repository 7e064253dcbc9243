"""Searches on a small shelf: results, order and the interpreted query."""

# pyright: reportArgumentType=false, reportTypedDictNotRequiredAccess=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_library.service.library import Library
from tests.paper_library.service.conftest import PAPERS
from tests.paper_library.service.libraries import find_titles, list_titles, make_library
from tests.requirements import requirement

CODE = "Templates in C++ and generics in C#"
CARROTS = "β-carotene in carrots"
BOUND = "An O(n²) lower bound"
CHINESE = "深度学习方法综述"
KOREAN = "한국어 자연어 처리"
ARABIC = "التعلم العميق للغة"
THAI = "การเรียนรู้ เชิงลึก"
ROOTS = "Growing roots in the dark"
UNDATED = "A paper of no year"
ALL = {paper["title"] for paper in PAPERS}


@requirement("PL-8")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("C++", {CODE}),
        ("c#", {CODE}),
        (".NET", {CODE}),
        ("β-carotene", {CARROTS}),
        ("beta carotene", {CARROTS}),
        ("10.1000/xyz", {CODE}),
        ("10.1000/XYZ.", {CODE}),
        ("2301.00001", {BOUND}),
        ("O(n²)", {BOUND}),
        ("O(n^2)", {BOUND}),
        ("O(n log n)", {BOUND}),
        ("o(nlogn)", {BOUND}),
        ("Schrödinger", {BOUND}),
        ("Schrodinger", {BOUND}),
        ("SCHRO\u0308DINGER", {BOUND}),
        ("深度学习", {CHINESE}),
        ("学习", {CHINESE}),
        ("学", {CHINESE}),
        ("자연어", {KOREAN}),
        ("어", {KOREAN}),
        ("العميق", {ARABIC}),
        ("العَمِيق", {ARABIC}),
        ("การเรียนรู้", {THAI}),
        ("well-known", {BOUND, UNDATED}),
        ("roots", {CARROTS, ROOTS}),
        ("root", {CARROTS, ROOTS}),
        ("colour carrot", {CARROTS}),
    ],
)
def test_every_script_and_odd_name_is_found_as_itself(library: Library, query: str, expected: set[str]) -> None:
    assert find_titles(library, query) == expected


@pytest.mark.parametrize("query", ["C", "net", "10.1000", "xyz", "zebra"])
def test_absent_words_are_not_found(library: Library, query: str) -> None:
    assert find_titles(library, query) == set()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"templates in"', {CODE}),
        ('"roots in the dark"', {ROOTS}),
        ('"深度学习"', {CHINESE}),
        ('"ada lovelace"', {CODE, BOUND}),
        ("templ*", {CODE, ROOTS}),
        ("carot*", {CARROTS}),
        ("roots -carrots", {ROOTS}),
        ("roots NOT carrots", {ROOTS}),
        ('roots -"in the dark"', {CARROTS}),
        ("-roots", ALL - {CARROTS, ROOTS}),
        ("carrots OR sorting", {CARROTS, BOUND}),
        ("roots AND light", {ROOTS}),
        ("carrots AND sorting", set[str]()),
        ("title:roots", {ROOTS}),
        ("author:godel", {CODE}),
        ('author:"Lovelace, Ada"', {CODE, BOUND}),
        ("author:ada", {CODE, BOUND, ROOTS}),
        ('venue:"journal of roots"', {CARROTS, ROOTS}),
        ("keyword:compilers", {CODE}),
        ("tag:plants", {CARROTS, ROOTS}),
        ("doi:10.1000/XYZ", {CODE}),
        ("doi:https://doi.org/10.1000/xyz", {CODE}),
        ("arxiv:2301.00001v4", {BOUND}),
        ("year:2020", {CARROTS, ROOTS}),
        ("year:2020..2021 journal", {CARROTS, ROOTS, BOUND}),
        ("year:>2021", {CHINESE, KOREAN}),
        ("year:..2018", {ARABIC, THAI}),
        ("-year:2000..2030", {UNDATED}),
        ("roots year:2020 -tag:plants", set[str]()),
    ],
)
def test_every_construct_finds_the_described_papers(library: Library, query: str, expected: set[str]) -> None:
    assert find_titles(library, query) == expected


def test_a_phrase_is_exact_where_a_word_is_not(library: Library) -> None:
    assert find_titles(library, "template") == {CODE, ROOTS}
    assert find_titles(library, '"template"') == {ROOTS}
    assert find_titles(library, '"templates"') == {CODE}


def test_an_absent_phrase_is_searched_as_words_and_reported(library: Library) -> None:
    page = library.search('"carrots in the dark"')
    assert CARROTS in list_titles(page)
    assert any("carrots in the dark" in line for line in page["interpreted_query"]["ignored"])


@pytest.mark.parametrize("query", ["title:学", "-title:学 深度学习"])
def test_a_single_character_is_found_in_a_field(library: Library, query: str) -> None:
    assert find_titles(library, query) == (set() if query.startswith("-") else {CHINESE})


@pytest.mark.parametrize("query", ["year:0000", "year:..0000", "year:<0001"])
def test_there_are_no_papers_before_the_year_one(library: Library, query: str) -> None:
    assert find_titles(library, query) == set()


def test_lower_case_and_or_not_are_words(library: Library) -> None:
    assert find_titles(library, "carrots and sorting") == {CARROTS, BOUND}
    assert find_titles(library, "carrots not roots") == {CARROTS, ROOTS}


def test_stop_words_are_ignored_beside_other_words_and_reported(library: Library) -> None:
    page = library.search("the carrots of the")
    assert (list_titles(page), page["interpreted_query"]["terms"]) == ([CARROTS], ["carrots"])
    assert page["interpreted_query"]["ignored"] == ["Too common to count: the, of."]


def test_a_query_of_stop_words_only_searches_for_them(library: Library) -> None:
    assert find_titles(library, "when it was") == {UNDATED}


def test_an_empty_query_lists_all_papers_by_title(library: Library) -> None:
    for query in ("", "   "):
        page = library.search(query, limit=100)
        assert (page["total"], set(list_titles(page))) == (len(ALL), ALL)
        assert list_titles(page)[:2] == [UNDATED, BOUND]


@pytest.mark.parametrize("query", ["!!!", "?", "* * *", '""'])
def test_a_query_of_punctuation_only_finds_nothing(library: Library, query: str) -> None:
    assert library.search(query)["total"] == 0


def test_the_best_match_comes_first(library: Library) -> None:
    page = library.search("roots dark")
    assert list_titles(page) == [ROOTS, CARROTS]
    scores = [hit["score"] for hit in page["results"]]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"author": "ada  LOVELACE"}, {CODE, BOUND}),
        ({"author": "Schrodinger"}, set[str]()),
        ({"author": "erwin schrodinger"}, {BOUND}),
        ({"venue": "journal of roots", "tag": "PLANTS"}, {CARROTS, ROOTS}),
        ({"keyword": "generics", "year": "2019"}, {CODE}),
        ({"keyword": "generics", "year": "2020"}, set[str]()),
        ({"year": "2019..2020"}, {CODE, CARROTS, ROOTS}),
        ({"year": "2021.."}, {BOUND, CHINESE, KOREAN}),
        ({"year": "..2017"}, {THAI}),
    ],
)
def test_several_filters_apply_together_to_complete_values(
    library: Library, filters: dict[str, str], expected: set[str]
) -> None:
    page = library.search("", limit=100, filters=filters)
    assert (set(list_titles(page)), page["total"]) == (expected, len(expected))
    assert page["interpreted_query"]["filters"] == {kind: [value] for kind, value in filters.items()}


@pytest.mark.parametrize(
    "years",
    [
        "9" * 30,
        "9" * 12,
        "2021..2019",
    ],
)
def test_a_filter_by_an_impossible_year_finds_nothing(library: Library, years: str) -> None:
    assert library.search("", filters={"year": years})["total"] == 0


@requirement("PL-8")
@pytest.mark.parametrize(
    "query",
    [
        "roots",
        "学习",
        "lovelace",
        "carotenoids",
    ],
)
def test_a_snippet_is_a_passage_of_the_abstract_with_matches_in_bold(library: Library, query: str) -> None:
    for hit in library.search(query)["results"]:
        abstract = library.metadata(hit["paper_id"])["abstract"]
        assert hit["snippet_markdown"].replace("**", "").replace("\\", "") == abstract
        assert ("**" in hit["snippet_markdown"]) == (query in abstract.lower())


@pytest.mark.parametrize(
    ("query", "shown"), [("한국어", "**한국어** 자연어 처리"), ("العميق", "التعلم **العميق** للغة")]
)
def test_the_snippet_of_a_paper_without_text_is_its_title(library: Library, query: str, shown: str) -> None:
    assert [hit["snippet_markdown"] for hit in library.search(query)["results"]] == [shown]


def test_years_and_titles_sort_in_both_directions(library: Library) -> None:
    def listed(sort: str) -> list[Any]:
        return library.search("year:2000..", limit=100, sort=sort)["results"]

    years = [hit["year"] for hit in listed("year_desc")]
    assert years == sorted(years, reverse=True)
    assert [hit["year"] for hit in listed("year_asc")] == sorted(years)
    assert list_titles({"results": listed("title_asc")}) == list_titles({"results": listed("title_desc")})[::-1]


def test_newest_first_lists_papers_without_a_year_last(library: Library) -> None:
    assert list_titles(library.search("", limit=100, sort="year_desc"))[-1] == UNDATED


def test_oldest_first_lists_papers_without_a_year_last(library: Library) -> None:
    assert list_titles(library.search("", limit=100, sort="year_asc"))[-1] == UNDATED


@pytest.mark.parametrize(
    "ordered", [["Eagles", "Études", "Zebras"], [f"{'A very long beginning ' * 4}{end}" for end in ("one", "two")]]
)
def test_titles_sort_without_regard_to_case_and_accents(tmp_path: Any, ordered: list[str]) -> None:
    library = make_library(tmp_path, *({"title": title} for title in reversed(ordered)))
    assert list_titles(library.search("", sort="title_asc")) == ordered


QUERIES = ("", "roots", "the of", "in", "roots OR sorting", "-roots", "year:2000..", "author:ada", "o*")


@settings(max_examples=40)
@given(
    st.sampled_from(QUERIES),
    st.integers(1, 5),
    st.sampled_from(["relevance", "year_desc", "year_asc", "title_asc", "title_desc"]),
)
def test_all_pages_together_have_each_result_once(library: Library, query: str, limit: int, sort: str) -> None:
    whole = library.search(query, limit=100, sort=sort)
    offset: int | None = 0
    seen: list[str] = []
    while offset is not None:
        page = library.search(query, limit=limit, offset=offset, sort=sort)
        assert page["total"] == whole["total"]
        assert len(page["results"]) <= limit
        seen += [hit["paper_id"] for hit in page["results"]]
        offset = page["next_offset"]
    assert seen == [hit["paper_id"] for hit in whole["results"]]
    assert len(set(seen)) == len(seen) == whole["total"]


def test_many_equal_papers_are_paged_without_repeats(tmp_path: Any) -> None:
    library = make_library(tmp_path, *({"title": f"Fish number {number}", "year": 2020} for number in range(60)))
    for sort in ("relevance", "year_desc", "year_asc", "title_desc"):
        pages = [library.search("fish", limit=7, offset=offset, sort=sort) for offset in range(0, 63, 7)]
        seen = [hit["paper_id"] for page in pages for hit in page["results"]]
        assert len(seen) == len(set(seen)) == 60, sort


def test_a_page_after_the_last_is_empty_and_has_the_same_total(library: Library) -> None:
    page = library.search("roots", offset=50)
    assert (page["results"], page["total"], page["next_offset"]) == ([], 2, None)


@settings(max_examples=30)
@given(st.sampled_from(QUERIES), st.integers(1, 12))
def test_facet_counts_equal_a_manual_count(library: Library, query: str, most: int) -> None:
    kinds = {"author": "authors", "venue": "venue", "keyword": "keywords", "tag": "tags", "year": "year"}
    page = library.search(query, limit=100, facets=list(kinds), facet_limit=most)
    papers = [library.metadata(hit["paper_id"]) for hit in page["results"]]
    for kind, name in kinds.items():
        values = [paper[name] if isinstance(paper[name], list) else [paper[name]] for paper in papers]
        counted = Counter(str(value) for each in values for value in each if value)
        facet_values = [(one["value"], one["paper_count"]) for one in page["facets"][kind]]
        assert facet_values == sorted(facet_values, key=lambda pair: (-pair[1], pair[0]))
        assert [count for _, count in facet_values] == sorted(counted.values(), reverse=True)[:most]
        assert all(counted[value] == count for value, count in facet_values)


@pytest.mark.parametrize(
    ("query", "meant"),
    [("tempaltes", "templates"), ("carots", "carrots"), ("Lovelase", "lovelace"), ("sortng roots", "sorting roots")],
)
def test_an_unknown_word_is_corrected_to_a_word_of_the_shelf(library: Library, query: str, meant: str) -> None:
    assert library.search(query)["did_you_mean"].lower() == meant


def test_a_misspelt_word_with_an_accent_is_corrected(library: Library) -> None:
    assert "did_you_mean" in library.search("Schrödnger")


@pytest.mark.parametrize("query", ["roots", "", "qqqq", "xy", "12345"])
def test_no_suggestion_is_made_without_a_better_word(library: Library, query: str) -> None:
    assert "did_you_mean" not in library.search(query)


def test_a_suggestion_finds_something(library: Library) -> None:
    assert library.search(library.search("tempaltes")["did_you_mean"])["total"] == 2


def test_each_of_many_words_is_searched_or_reported(library: Library) -> None:
    page = library.search("x " * 120 + "carrots")
    assert list_titles(page) == [CARROTS] or page["interpreted_query"]["ignored"]


@settings(max_examples=150)
@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["-", "OR", '"', "title:", "学", "*", "c++", "o(", "10.1000/"])).map(" ".join)
)
def test_no_query_makes_a_search_fail(library: Library, query: str) -> None:
    page = library.search(query[:500])
    assert 0 <= len(page["results"]) <= page["total"] <= len(ALL)


@pytest.mark.parametrize(
    "query",
    [
        "10.1000/\ud800",
        "doi:\ud800",
        "\ud800",
        "title:\ud800",
    ],
)
def test_a_lone_surrogate_makes_no_search_fail(library: Library, query: str) -> None:
    assert library.search(query)["total"] >= 0


def test_similar_papers_share_words_and_exclude_the_paper_itself(library: Library) -> None:
    (paper,) = library.find_ids_by_title(CARROTS)
    page = library.find_similar(paper)
    assert list_titles(page)[0] == ROOTS
    assert CARROTS not in list_titles(page)
    assert page["interpreted_query"]["terms"]


def test_a_paper_that_shares_no_word_has_no_similar_ones(library: Library) -> None:
    (paper,) = library.find_ids_by_title(ARABIC)
    assert library.find_similar(paper)["results"] == []


def test_similar_papers_are_paged_without_repeats(library: Library) -> None:
    (paper,) = library.find_ids_by_title(CARROTS)
    whole = list_titles(library.find_similar(paper, limit=100))
    assert [list_titles(library.find_similar(paper, limit=1, offset=at))[0] for at in range(len(whole))] == whole
