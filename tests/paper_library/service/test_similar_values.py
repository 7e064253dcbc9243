"""A filter whose value no paper has finds the same author under another form of the name, or suggests a value."""

# pyright: reportTypedDictNotRequiredAccess=false

import pytest

from paper_library.service.library import Library
from paper_library.service.suggestions import find_similar_values, is_abbreviation
from tests.paper_library.service.libraries import find_titles, make_library

PAPERS = (
    {"title": "Literate programs", "authors": ["Knuth, Donald E."], "year": 1984, "keywords": ["typesetting"]},
    {"title": "Attribute grammars", "authors": ["D. E. Knuth"], "venue": "Mathematical Systems Theory"},
    {"title": "Sorting on disks", "authors": ["Knuth DE"]},
    {"title": "Other Knuths", "authors": ["Eva Knuth"], "venue": "The Astrophysical Journal"},
    {"title": "Learning by errors", "authors": ["Geoffrey Hinton", "Anna van Dyke"], "tags": ["start here"]},
)
OF_DONALD = {"Literate programs", "Attribute grammars", "Sorting on disks"}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return make_library(tmp_path_factory.mktemp("knuth"), *PAPERS)


@pytest.fixture(scope="module")
def initials_only(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return make_library(tmp_path_factory.mktemp("initials"), *PAPERS[1:])


def test_a_full_name_finds_the_name_with_a_middle_initial(library: Library) -> None:
    assert "Literate programs" in find_titles(library, 'author:"Donald Knuth"')


@pytest.mark.parametrize("name", ["Donald Knuth", "Donald E. Knuth", "Donald Ervin Knuth", "D. Knuth", "Knuth, Donald"])
def test_a_full_name_finds_the_name_with_initials(initials_only: Library, name: str) -> None:
    assert "Attribute grammars" in find_titles(initials_only, f'author:"{name}"')


def test_a_full_name_finds_every_other_form_and_says_so(initials_only: Library) -> None:
    page = initials_only.search('author:"Donald Knuth"')
    assert {hit["title"] for hit in page["results"]} == OF_DONALD - {"Literate programs"}
    (note,) = page["interpreted_query"]["ignored"]
    assert note.startswith('No paper has the author "donald knuth"; it was read as ')
    assert "D. E. Knuth" in note


def test_another_given_name_with_the_same_first_letter_finds_initials_only(library: Library) -> None:
    assert find_titles(library, 'author:"David Knuth"') == OF_DONALD - {"Literate programs"}


def test_initials_find_the_full_name(library: Library) -> None:
    assert find_titles(library, 'author:"G. E. Hinton"') == {"Learning by errors"}
    assert find_titles(library, 'author:"A. van Dyke"') == {"Learning by errors"}


def test_other_words_of_the_query_still_count(initials_only: Library) -> None:
    assert find_titles(initials_only, 'author:"Donald Knuth" title:grammars') == {"Attribute grammars"}


def test_another_given_name_is_another_person_and_is_only_suggested(library: Library) -> None:
    page = library.search('author:"Kevin Hinton"')
    assert (page["total"], page["did_you_mean"]) == (0, 'author:"Geoffrey Hinton"')


@pytest.mark.parametrize(
    ("query", "suggested"),
    [
        ("author:Hintn", 'author:"Geoffrey Hinton"'),
        ('sorting author:"Geofrey Hintonn"', 'sorting author:"Geoffrey Hinton"'),
        ("keyword:typeseting", "keyword:typesetting"),
        ("venue:ApJ", 'venue:"The Astrophysical Journal"'),
        ('venue:"Mathematical System Theory"', 'venue:"Mathematical Systems Theory"'),
        ("tag:starthere", 'tag:"start here"'),
    ],
)
def test_the_nearest_value_of_a_filter_is_suggested_in_the_query_and_finds_papers(
    library: Library, query: str, suggested: str
) -> None:
    page = library.search(query)
    assert (page["total"], page.get("did_you_mean")) == (0, suggested)
    assert library.search(suggested)["total"] == 1 or "sorting" in suggested


def test_a_value_like_no_other_and_a_known_value_without_papers_suggest_nothing(library: Library) -> None:
    assert "did_you_mean" not in library.search("keyword:zoology")
    assert "did_you_mean" not in library.search('author:"Geoffrey Hinton" year:1700')


def test_a_venue_given_as_a_keyword_names_the_filter_to_use(library: Library) -> None:
    page = library.search_by_keyword("The Astrophysical Journal")
    (note,) = page["interpreted_query"]["ignored"]
    assert note == (
        '"The Astrophysical Journal" is not a keyword but a value of venue: '
        'call search_papers with venue:"The Astrophysical Journal".'
    )
    assert library.search('venue:"The Astrophysical Journal"')["total"] == 1


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("apj", "the astrophysical journal"),
        ("neurips", "advances in neural information processing systems"),
        ("jacs", "journal of the american chemical society"),
        ("pnas", "proceedings of the national academy of sciences"),
    ],
)
def test_usual_abbreviations_are_recognised(short: str, name: str) -> None:
    assert is_abbreviation(short, name.split())


@pytest.mark.parametrize(("short", "name"), [("apj", "nature"), ("xyz", "the astrophysical journal"), ("na", "nature")])
def test_letters_that_the_words_do_not_have_in_order_are_no_abbreviation(short: str, name: str) -> None:
    assert not is_abbreviation(short, name.split())


def test_only_venues_and_institutions_are_abbreviated() -> None:
    assert find_similar_values("keyword", "apj", ["the astrophysical journal"]) == []
    assert find_similar_values("venue", "apj", ["The Astrophysical Journal"]) == ["The Astrophysical Journal"]
