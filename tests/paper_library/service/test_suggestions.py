"""Suggestions come from the shelf's own words."""

# pyright: reportTypedDictNotRequiredAccess=false

from pathlib import Path

import pytest

from paper_library.service.library import Library
from paper_library.service.suggestions import suggest_correction, suggest_keywords
from tests.paper_library.service.libraries import make_library


def find_correction(library: Library, query: str, *missing: str) -> str | None:
    return suggest_correction(library.live.get_current().searcher, query, list(missing))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Library:
    often = [{"title": f"Galaxies {number}", "authors": ["Vera Rubin"]} for number in range(5)]
    return make_library(tmp_path_factory.mktemp("words"), {"title": "Galaxius of old"}, *often)


def test_the_more_frequent_of_two_equally_similar_words_is_suggested(shelf: Library) -> None:
    assert find_correction(shelf, "galaxis", "galaxis") == "galaxies"


def test_a_frequent_but_clearly_less_similar_word_is_not_suggested(tmp_path: Path) -> None:
    often = [{"title": f"Temples {number}"} for number in range(5)]
    library = make_library(tmp_path, {"title": "Templates of old"}, *often)
    assert find_correction(library, "templatez", "templatez") == "templates"
    assert find_correction(library, "templez", "templez") == "temples"


def test_a_frequent_and_slightly_less_similar_word_is_suggested(tmp_path: Path) -> None:
    often = [{"title": f"Spectroscopes {number}"} for number in range(5)]
    library = make_library(tmp_path, {"title": "A spectroscope of old"}, *often)
    assert find_correction(library, "spectroscopez", "spectroscopez") == "spectroscopes"


def test_only_the_unknown_word_is_corrected(shelf: Library) -> None:
    assert find_correction(shelf, "OLD Galaxeis -cold", "galaxeis") == "OLD galaxies -cold"


def test_a_wrong_first_letter_is_corrected(shelf: Library) -> None:
    assert find_correction(shelf, "halaxies", "halaxies") == "galaxies"


def test_a_wrong_first_letter_is_corrected_in_the_first_unknown_word_only(shelf: Library) -> None:
    assert find_correction(shelf, "halaxies tubin", "halaxies", "tubin") == "galaxies tubin"
    assert find_correction(shelf, "halaxies rubinn", "halaxies", "rubinn") == "galaxies rubin"


def test_of_equally_similar_keywords_the_more_frequent_comes_first(tmp_path: Path) -> None:
    often = [{"title": f"Paper {number}", "keywords": ["Stellar wind"]} for number in range(3)]
    library = make_library(tmp_path, {"title": "Other", "keywords": ["Solar wind", "Wind"]}, *often)
    assert suggest_keywords(library.live.get_current(), "wind") == ["Wind", "Stellar wind", "Solar wind"]


def test_names_of_people_are_suggested(shelf: Library) -> None:
    assert find_correction(shelf, "rubinn", "rubinn") == "rubin"


@pytest.mark.parametrize("word", ["zzzzzz", "old2", "abc", "2019", "fi*"])
def test_short_or_dissimilar_words_get_no_suggestion(shelf: Library, word: str) -> None:
    assert find_correction(shelf, word, word) is None


@pytest.fixture(scope="module")
def keywords(tmp_path_factory: pytest.TempPathFactory) -> Library:
    papers = [{"title": f"Paper {number}", "keywords": ["Exoplanet atmospheres"]} for number in range(4)]
    other = {"title": "Other", "keywords": ["Exoplanets", "Résumé", "stellar flares"], "tags": ["JWST data"]}
    return make_library(tmp_path_factory.mktemp("keywords"), other, *papers)


@pytest.mark.parametrize(
    ("keyword", "others", "containing"),
    [
        ("exoplanet", ["Exoplanets", "Exoplanet atmospheres"], "2 keywords: Exoplanet atmospheres, Exoplanets."),
        ("exoplannets", ["Exoplanets"], ""),
        ("EXOPLANET ATMOSPHERE", ["Exoplanet atmospheres", "Exoplanets"], "1 keyword: Exoplanet atmospheres."),
        ("jwst", ["JWST data"], "1 keyword: JWST data."),
        ("resumee", ["Résumé"], ""),
        ("flare", ["stellar flares"], "1 keyword: stellar flares."),
        ("phlogiston", [], ""),
        ("🪐", [], ""),
        ("the", [], ""),
    ],
)
def test_an_unknown_keyword_gets_the_most_similar_keywords(
    keywords: Library, keyword: str, others: list[str], containing: str
) -> None:
    assert suggest_keywords(keywords.live.get_current(), keyword) == others
    page = keywords.search_by_keyword(keyword)
    assert (page.get("suggestions", []), page.get("did_you_mean")) == (others, (others or [None])[0])
    assert (page["total"] > 0) is bool(containing)
    (note,) = page["interpreted_query"]["ignored"]
    assert note.endswith(containing or "search_papers looks for its words in all fields.")


def test_a_suggested_keyword_finds_papers(keywords: Library) -> None:
    (first, *_) = keywords.search_by_keyword("exoplanet")["suggestions"]
    page = keywords.search_by_keyword(first)
    assert page["total"] == 1
    assert "suggestions" not in page
    assert "did_you_mean" not in page
