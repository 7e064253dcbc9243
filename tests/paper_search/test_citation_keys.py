"""Tests of citation keys."""

import re
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.citation_keys import add_citation_keys, citation_keys, make_plain_citation_key
from paper_search.models import Author, Paper, PaperCollection
from tests.paper_search.export.samples import collections, paper, untimed
from tests.requirements import requirement


@requirement("PS-X3")
@pytest.mark.parametrize("author", ["Wang Lei", "Lei Wang", "Wang, Lei"])
def test_the_key_is_family_name_year_and_first_title_word(author: str) -> None:
    assert make_plain_citation_key(paper("Perovskite solar cells", author, year=2023)) == "wang_2023_perovskite"


@requirement("PS-X3")
@pytest.mark.parametrize(
    ("author", "family"),
    [
        ("Jürgen Müller", "muller"),
        ("Anna Groß", "gross"),
        ("Lars Sørensen", "sorensen"),
        ("Jan Kowalski-Łuk", "kowalskiluk"),
        ("Þóra Æsir", "aesir"),
        ("Erdal İnan", "inan"),
        ("Séamus O'Brien", "obrien"),
        ("Jan van der Berg", "berg"),
        ("Soto Rivas, Gabriel", "sotorivas"),
        ("ATLAS Collaboration", "atlascollaboration"),
        ("Schmidt KA", "schmidt"),
        ("王磊", "unknown"),
        ("Иванов", "unknown"),
        ("...", "unknown"),
    ],
)
def test_family_names_are_folded_to_ascii(author: str, family: str) -> None:
    assert make_plain_citation_key(paper("Cells", author, year=2023)) == f"{family}_2023_cells"


@requirement("PS-X3")
@pytest.mark.parametrize(
    ("title", "word"),
    [
        ("Éclair physics", "eclair"),
        ("The origin of cells", "the"),
        ("<i>E. coli</i> growth", "e"),
        (r"\textit{Deep} nets", "deep"),
        ("“Quoted” words", "quoted"),
        ("Graph-based search", "graph"),
        ("Don't panic", "dont"),
        ("2D materials", "2d"),
        ("π-conjugated", "conjugated"),
        ("钙钛矿 cells", "cells"),
        ("钙钛矿", "untitled"),
        ("", "untitled"),
        ("a" * 5000, "a" * 40),
    ],
)
def test_the_title_word_is_the_first_with_an_ascii_letter_or_digit(title: str, word: str) -> None:
    assert make_plain_citation_key(paper(title, "Ada Brook", year=1999)) == f"brook_1999_{word}"


@requirement("PS-X3")
def test_missing_parts_have_fixed_names() -> None:
    assert make_plain_citation_key(paper("")) == "unknown_nd_untitled"
    assert make_plain_citation_key(paper("Cells", " ", "Ada Brook")) == "brook_nd_cells"


@requirement("PS-X3")
def test_one_paper_keeps_the_plain_key_and_the_others_are_lettered() -> None:
    same = [paper("Cells", "Ada Brook", year=2020)] * 30
    keys = citation_keys(same)
    assert keys[:4] == ["brook_2020_cells", "brook_2020_cells_a", "brook_2020_cells_b", "brook_2020_cells_c"]
    assert keys[26:29] == ["brook_2020_cells_z", "brook_2020_cells_aa", "brook_2020_cells_ab"]
    assert len(set(keys)) == 30


@requirement("PS-X3")
def test_keys_do_not_depend_on_the_order_of_the_papers() -> None:
    papers = [paper("Cells", "Ada Brook", year=2020).model_copy(update={"id": f"p_{number}"}) for number in range(4)]
    expected = {"p_0": "", "p_1": "_a", "p_2": "_b", "p_3": "_c"}
    for order in permutations(papers):
        keys = citation_keys(order)
        assert {
            made.id: key.removeprefix("brook_2020_cells") for made, key in zip(order, keys, strict=True)
        } == expected


def test_the_first_editor_replaces_a_missing_author() -> None:
    editors = [Author(name=""), Author(name="Tom Reed"), Author(name="Eda Kiln")]
    assert make_plain_citation_key(paper("Cells", year=2020, editors=editors)) == "reed_2020_cells"
    assert make_plain_citation_key(paper("Cells", "Ada Brook", year=2020, editors=editors)) == "brook_2020_cells"


def test_a_retraction_does_not_change_a_key() -> None:
    for title in ("RETRACTED: Cells of light", "RETRACTED ARTICLE: Cells of light", "[Retracted] Cells of light"):
        assert make_plain_citation_key(paper(title, "Ada Brook", year=2020)) == "brook_2020_cells"


def test_adding_papers_at_the_end_changes_no_earlier_key() -> None:
    first = [paper("Cells", "Ada Brook"), paper("Cells", "Ada Brook")]
    assert citation_keys([*first, *first])[:2] == citation_keys(first)


@requirement("PS-X3")
@untimed
@given(collections, st.integers(1, 3))
def test_keys_are_unique_and_use_nothing_but_lower_case_letters_digits_and_underscores(
    made: PaperCollection, times: int
) -> None:
    keys = citation_keys(made.papers * times)
    assert len(set(keys)) == len(keys) == len(made.papers) * times
    assert all(re.fullmatch(r"[a-z0-9]+_([0-9]+|nd)_[a-z0-9]+(_[a-z]+)?", key) for key in keys)


def test_existing_keys_stay_and_new_ones_avoid_them() -> None:
    wang = [Author(name="Lei Wang")]
    plain = Paper(id="p_1", title="Cells", authors=wang, year=2023, source="a")
    named = Paper(id="p_2", title="Other", authors=wang, year=2020, source="a", citation_key="wang_2023_cells")
    twice = Paper(id="p_3", title="Third", authors=wang, year=2021, source="a", citation_key="wang_2023_cells")
    assert citation_keys([plain, named, twice]) == [
        "wang_2023_cells_a",
        "wang_2023_cells",
        "wang_2021_third",
    ]
    keyed = add_citation_keys([plain, named])
    assert [paper.citation_key for paper in keyed] == citation_keys(keyed) == citation_keys(keyed[::-1])[::-1]
    assert add_citation_keys([]) == []
