"""Tests of titles and of the differences of two titles."""

import pytest

from paper_search.domain.dedup.titles import compare_titles, parse_title


def list_differences(left: str, right: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = compare_titles(parse_title(left), parse_title(right))
    return found.left, found.right


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("On the Origin of Rings, Part II", "On the origin of rings: part 2"),
        ("Rings. IV", "Rings 4"),
        ("The First Workshop on Rings", "The 1st workshop on rings"),
        ("Ring systems <i>in situ</i> &amp; in vitro", "Ring Systems in situ & in vitro"),
        ("A multi-armed approach", "A multiarmed approach"),
        ("Ring formation (extended abstract)", "Ring formation"),
        ("Tutorial: Ring formation", "Ring formation [tutorial]"),
        ("Ｒｉｎｇ formation", "Ring formation"),
    ],
)
def test_spellings_of_one_title_are_equal(left: str, right: str) -> None:
    assert parse_title(left).compact == parse_title(right).compact


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Modelling the behaviour of rings", "Modeling the behavior of rings"),
        ("Cryptographic limitations of for-mulae", "Cryptographic limitations of formulae"),
        ("The strength of weak rings", "On the strength of weak rings"),
        ("Boosting a weak algortihm", "Boosting a weak algorithm"),
    ],
)
def test_spelling_hyphenation_and_function_words_make_no_difference(left: str, right: str) -> None:
    assert list_differences(left, right) == ((), ())


def test_the_words_of_one_title_only_are_listed_for_each_side() -> None:
    assert list_differences("Rings of Saturn", "Rings of Uranus") == (("saturn",), ("uranus",))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("hypothermia in rats", "hyperthermia in rats"),
        ("supervised rings", "unsupervised rings"),
        ("C rings", "D rings"),
    ],
)
def test_words_with_another_meaning_are_not_misspellings(left: str, right: str) -> None:
    assert list_differences(left, right) != ((), ())


@pytest.mark.parametrize("more", ["2", "III", "Part B", "erratum", "reply", "Task 4", "without", "semi"])
def test_a_number_a_letter_or_a_notice_is_a_distinctive_difference(more: str) -> None:
    assert compare_titles(parse_title("Rings of Saturn"), parse_title(f"Rings of Saturn {more}")).has_distinctive_word


def test_an_ordinary_word_is_not_a_distinctive_difference() -> None:
    assert not compare_titles(parse_title("Rings of Saturn"), parse_title("Dense rings of Saturn")).has_distinctive_word


@pytest.mark.parametrize(
    "title", ["Editorial", "Guest Editorial", "Editor's notes", "Preface", "Table of Contents", ""]
)
def test_titles_that_many_papers_share_are_generic(title: str) -> None:
    assert parse_title(title).is_generic


def test_a_title_with_a_distinctive_word_is_not_generic() -> None:
    assert not parse_title("Introduction to perturbation theory").is_generic


def test_a_title_begins_with_another_only_up_to_a_break() -> None:
    whole = parse_title("Learning the shape of rings quickly: a survey of methods")
    assert whole.starts_with_title(parse_title("Learning the shape of rings quickly"))
    assert not whole.starts_with_title(parse_title("Learning the shape of rings"))
    assert not parse_title("Rings: a survey").starts_with_title(parse_title("Rings"))


def test_a_title_of_a_million_characters_is_read_quickly_enough_to_compare() -> None:
    endless = parse_title("ring " * 200_000)
    assert len(endless.compact) < 2_000
    assert compare_titles(endless, parse_title("ring"))
