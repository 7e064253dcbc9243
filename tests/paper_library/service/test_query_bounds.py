"""The number of words that one query searches is limited."""

from pathlib import Path

from tests.paper_library.service.libraries import find_titles, make_library


def test_a_prefix_matches_its_fifty_most_frequent_words(tmp_path: Path) -> None:
    rare = [f"zebra{number:02}" for number in range(55)]
    common = [f"zebrb{number}" for number in range(5)]
    library = make_library(tmp_path, *({"title": f"Stripes {n} {word}"} for n, word in enumerate([*rare, *common * 2])))
    titles = find_titles(library, "zebr*")
    assert {word for title in titles for word in title.split() if word in common} == set(common)
    assert len(titles) == 45 + 2 * 5
    assert find_titles(library, "zebra*") == {f"Stripes {n} {word}" for n, word in enumerate(rare[:50])}


def test_words_after_the_hundredth_are_not_searched_and_reported(tmp_path: Path) -> None:
    library = make_library(tmp_path, {"title": "Hundredth carrots"}, {"title": "Later parsnips"})
    page = library.search("qq " * 99 + "carrots parsnips turnips")
    assert [hit["title"] for hit in page["results"]] == ["Hundredth carrots"]
    assert any("The last 2 words were not searched" in reply for reply in page["interpreted_query"]["ignored"])
