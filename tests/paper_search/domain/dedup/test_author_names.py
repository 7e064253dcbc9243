"""Tests of author names in the spellings of sources."""

import pytest

from paper_search.domain.dedup.author_names import (
    Agreement,
    ParsedAuthorName,
    compare_authors,
    match_names,
    parse_people,
)


def read_names(*authors: str) -> list[ParsedAuthorName]:
    return [name for _, _, name in parse_people(authors)]


@pytest.mark.parametrize(
    "spelling", ["Lei Wang", "Wang, Lei", "WANG, Lei", "Lei Wang 0001", "  Lei   Wang ", "Lei Wang, PhD", "wang, lei"]
)
def test_every_order_and_case_of_a_full_name_gives_the_same_name(spelling: str) -> None:
    assert read_names(spelling, "Someone Else")[0] == ParsedAuthorName("wang", ("lei",))


@pytest.mark.parametrize("spelling", ["L. Wang", "Wang, L.", "Wang L", "L Wang", "wang l."])
def test_initials_are_read_on_either_side_of_the_family_name(spelling: str) -> None:
    assert read_names(spelling, "Someone Else")[0] == ParsedAuthorName("wang", ("l",))


def test_joined_initials_are_split() -> None:
    assert read_names("Smith JA", "Jean-Paul O’Neill") == [
        ParsedAuthorName("smith", ("j", "a")),
        ParsedAuthorName("oneill", ("jean", "paul")),
    ]


@pytest.mark.parametrize("spelling", ["Jürgen Müller", "Jürgen Mueller", "Jurgen Muller", "J&uuml;rgen M&#252;ller"])
def test_accents_digraphs_and_entities_fold_to_one_family_name(spelling: str) -> None:
    assert compare_authors(read_names(spelling), read_names("J. Müller")) is Agreement.STRONG


@pytest.mark.parametrize(
    "text",
    [
        "p. auer, n. cesa-bianchi, y. freund, and r. e. schapire,",
        "Auer, P., Cesa-Bianchi, N., Freund, Y., & Schapire, R. E.",
        "auer, peter; cesa-bianchi, nicolo; freund, yoav; and schapire, robert.",
        "Peter Auer and Nicolò Cesa-Bianchi and Yoav Freund and Robert E. Schapire",
        "Auer P., Cesa-Bianchi N., Freund Y. and Schapire R.E.:",
    ],
)
def test_one_text_that_names_many_people_is_split(text: str) -> None:
    assert [name.family for name in read_names(text)] == ["aur", "cesabianchi", "freund", "schapire"]


@pytest.mark.parametrize(
    ("text", "families"),
    [
        ("A. Kim, B. Lee", ["kim", "lee"]),
        ("Kim, A., Lee, B.", ["kim", "lee"]),
        ("Kim, Ada", ["kim"]),
        ("Campos Prieto, Ada", ["prieto"]),
        ("Kim, Ada Bea", ["kim"]),
    ],
)
def test_a_comma_separates_people_unless_it_is_in_the_name_of_one(text: str, families: list[str]) -> None:
    assert [name.family for name in read_names(text)] == families


@pytest.mark.parametrize("text", ["et al.", "...", "and others", "others", "?", "", "ATLAS Collaboration"])
def test_et_al_and_collaborations_are_not_people(text: str) -> None:
    assert read_names("Lei Wang", text) == [ParsedAuthorName("wang", ("lei",))]


def test_a_collaboration_counts_when_groups_are_asked_for() -> None:
    assert [piece for _, piece, _ in parse_people(["A. Ng", "ATLAS Collaboration", "et al."], include_groups=True)] == [
        "A. Ng",
        "ATLAS Collaboration",
    ]


def test_chinese_names_are_read_with_or_without_a_space() -> None:
    assert read_names("王磊", "李 娜") == [ParsedAuthorName("王磊"), ParsedAuthorName("李娜")]


def test_swapped_family_and_given_names_still_agree() -> None:
    assert compare_authors(read_names("Wang Lei", "Chen Min"), read_names("Lei Wang", "Min Chen")) is Agreement.STRONG


def test_one_of_two_family_names_may_be_left_out() -> None:
    assert compare_authors(read_names("Rafael Campos Prieto"), read_names("Rafael Campos")) is Agreement.STRONG


def test_different_people_of_one_family_disagree() -> None:
    assert compare_authors(read_names("Lei Wang"), read_names("Min Wang")) is Agreement.DIFFERENT
    assert compare_authors(read_names("L. Wang", "B. Chen"), read_names("M. Wang", "B. Chen")) is Agreement.PARTIAL


def test_a_single_name_matches_the_first_author_only() -> None:
    eight = read_names(*(f"{letter}. Author{letter}" for letter in "ABCDEFGH"))
    assert compare_authors(read_names("A. AuthorA"), eight) is Agreement.STRONG
    assert compare_authors(read_names("E. AuthorE"), eight) is Agreement.PARTIAL
    assert compare_authors(read_names("C. AuthorC"), eight[:3]) is Agreement.PARTIAL
    assert compare_authors(read_names("B. AuthorB"), eight[:2]) is Agreement.STRONG


def test_an_empty_list_agrees_with_nothing_and_contradicts_nothing() -> None:
    assert compare_authors([], read_names("Lei Wang")) is Agreement.UNKNOWN


def test_namesakes_are_matched_to_the_one_with_the_same_given_name() -> None:
    left, right = read_names("Lei Wang", "Min Wang"), read_names("Min Wang", "Lei Wang")
    assert match_names(left, right) == {0: 1, 1: 0}


def test_three_hundred_authors_agree_with_their_initials() -> None:
    full = read_names(
        *(f"Given{number} Family{'abcdefghij'[number % 10] * (number // 10 + 1)}" for number in range(300))
    )
    short = [ParsedAuthorName(name.family, ("g",)) for name in full]
    assert compare_authors(full, short) is Agreement.STRONG
