"""`search_papers_by_keyword`: papers with a complete keyword or tag."""

import pytest

from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller
from tests.requirements import requirement

ROW = {"paper_id", "title", "year", "venue", "snippet_markdown", "authors"}


def find_titles(library: Caller, keyword: str) -> list[str]:
    return [row["title"] for row in library.call_structured("search_papers_by_keyword", keyword=keyword)["results"]]


@requirement("PL-9")
@pytest.mark.parametrize("keyword", ["transformer", "Transformer", "TRANSFORMER", "nowcasting", "rain radar"])
def test_papers_with_this_keyword_or_tag_are_found_once_each(library: Caller, keyword: str) -> None:
    page = library.call_structured("search_papers_by_keyword", keyword=keyword)
    (row,) = page["results"]
    assert row["title"].startswith("Attention for Weather")
    assert row.keys() >= ROW
    assert row["snippet_markdown"]
    assert page["total"] == 1


@requirement("PL-9")
@pytest.mark.parametrize("keyword", ["resume", "RESUME", "résumé"])
def test_accents_and_case_do_not_matter(library: Caller, keyword: str) -> None:
    assert find_titles(library, keyword) == ["Silent Orbits of Tidally Locked Moons"]


@requirement("PL-9")
@pytest.mark.parametrize("keyword", ["rain", "radar", "RAIN", "transform", "rain*", "rain ra", "trans"])
def test_a_part_of_a_keyword_finds_the_papers_with_the_keyword_and_the_answer_says_so(
    library: Caller, keyword: str
) -> None:
    page = library.call_structured("search_papers_by_keyword", keyword=keyword)
    (row,) = page["results"]
    assert row["title"].startswith("Attention for Weather")
    assert row["snippet_markdown"]
    (note,) = page["interpreted_query"]["ignored"]
    whole = "transformer" if keyword.startswith("trans") else "rain radar"
    assert note.lower() == f'no paper has the keyword "{keyword.lower()}"; it was read as a part of 1 keyword: {whole}.'


@requirement("PL-9")
@pytest.mark.parametrize("keyword", ["ain", "adar", "transformers", "silent", "ra", "*", "%", "_"])
def test_a_text_inside_a_word_is_not_a_part_of_a_keyword(library: Caller, keyword: str) -> None:
    assert find_titles(library, keyword) == []


@requirement("PL-9")
def test_a_keyword_that_some_papers_have_exactly_finds_only_these(library: Caller) -> None:
    page = library.call_structured("search_papers_by_keyword", keyword="transformer")
    assert page["interpreted_query"]["ignored"] == []
    assert "did_you_mean" not in page


@requirement("PL-9")
@pytest.mark.parametrize("keyword", ["C++", "c#", ".NET"])
def test_symbols_are_part_of_a_keyword(library: Caller, keyword: str) -> None:
    assert find_titles(library, keyword) == ["Porting C++ and C# kernels to .NET: an O(n²) story"]
    part = library.call_structured("search_papers_by_keyword", keyword=keyword.strip(".+#"))
    assert [row["title"] for row in part["results"]] == find_titles(library, keyword)
    assert "as a part of" in part["interpreted_query"]["ignored"][0]


@requirement("PL-9")
@pytest.mark.parametrize("keyword", ["深度学习", "学习", "β-carotene", "carotene"])
def test_keywords_of_any_script_are_found(library: Caller, keyword: str) -> None:
    assert len(find_titles(library, keyword)) == 1


@requirement("PL-9", "PL-18")
def test_ten_papers_are_listed_by_default_newest_first(library: Caller) -> None:
    page = library.call_structured("search_papers_by_keyword", keyword="gravel")
    assert (len(page["results"]), page["limit"], page["total"], page["next_offset"]) == (
        10,
        10,
        inputs.FILLERS,
        10,
    )
    years = [row["year"] for row in page["results"]]
    assert years == sorted(years, reverse=True)
    rest = library.call_structured("search_papers_by_keyword", keyword="gravel", offset=10, page_size=100)
    assert len(rest["results"]) == inputs.FILLERS - 10
    assert rest["next_offset"] is None


@requirement("PL-9")
def test_an_unknown_keyword_is_not_an_error(library: Caller) -> None:
    page = library.call_structured("search_papers_by_keyword", keyword="phlogiston")
    assert (page["results"], page["total"], page["next_offset"]) == ([], 0, None)
    assert any("search_papers" in note for note in page["interpreted_query"]["ignored"])


@requirement("PL-9")
@pytest.mark.parametrize(
    ("keyword", "meant"),
    [("transformers", "transformer"), ("radars", "rain radar"), ("photobleeching", "photobleaching")],
)
def test_a_keyword_without_papers_gets_suggestions(library: Caller, keyword: str, meant: str) -> None:
    page = library.call_structured("search_papers_by_keyword", keyword=keyword)
    assert (page["results"], page["total"]) == ([], 0)
    assert page["did_you_mean"].lower() == meant
    assert page["suggestions"][0] == page["did_you_mean"]
    assert library.call_structured("search_papers_by_keyword", keyword=page["did_you_mean"])["total"] > 0
