"""The texts of labels and their positions."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain.plotting.drawing import Label
from universe.domain.plotting.picture_layout import (
    Box,
    LabelledPage,
    clean_and_truncate_text,
    estimate_text_width,
    measure_label,
    propose_labels_around,
)


def test_the_first_free_place_is_taken_and_then_no_longer_free() -> None:
    page = LabelledPage(400, 400)
    choices = [Label(100, 100, "Mars", 14, "#ffffff"), Label(100, 200, "Mars", 14, "#ffffff")]
    assert page.place_first_free_label(choices) is choices[0]
    assert page.place_first_free_label(choices) is choices[1]
    assert page.place_first_free_label(choices) is None


@pytest.mark.parametrize(("x", "y"), [(-20, 100), (390, 100), (100, 3), (100, 399)])
def test_no_place_leads_off_the_page(x: float, y: float) -> None:
    assert LabelledPage(400, 400).place_first_free_label([Label(x, y, "Jupiter", 14, "#ffffff")]) is None


def test_a_place_under_a_body_is_not_free() -> None:
    page = LabelledPage(400, 400)
    page.occupy(Box(100, 90, 110, 100))
    assert not page.is_free(Box(105, 95, 300, 120))
    assert page.is_free(Box(111, 90, 300, 120))


def test_a_text_is_put_first_where_it_leads_outwards() -> None:
    for outwards, anchor, side in (((9.0, 1.0), "start", 1), ((-9.0, 1.0), "end", -1)):
        first = next(propose_labels_around(200, 200, 10, "Io", 12, "#ffffff", outwards=outwards))
        assert first.anchor == anchor
        assert (first.x - 200) * side > 0
    above = next(propose_labels_around(200, 200, 10, "Io", 12, "#ffffff", outwards=(0.0, -9.0)))
    assert above.anchor == "middle"
    assert above.y < 195


def test_every_place_around_a_point_leaves_the_point_free() -> None:
    for label in propose_labels_around(200, 200, 10, "Ganymede", 12, "#ffffff"):
        left, top, right, bottom = measure_label(label)
        assert not (left < 200 < right and top < 200 < bottom), label


@given(st.text(max_size=200), st.integers(2, 60))
def test_a_drawn_text_is_short_on_one_line_and_visible(text: str, longest: int) -> None:
    shown = clean_and_truncate_text(text, longest)
    assert len(shown) <= longest
    assert shown == shown.strip()
    assert not [char for char in shown if unicodedata.category(char)[0] == "C" or char in "\n\r\u2028\u2029"]
    shown.encode()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("Mars", "Mars"),
        ("  two\n lines\t", "two lines"),
        ("\x00\x1b[31mred", "[31mred"),
        ("a\u202eb\u200bc", "abc"),
        ("\ud800x", "x"),
        ("", ""),
        ("x" * 50, "x" * 39 + "…"),
        ("例" * 5, "例" * 5),
        (None, ""),
        (3, ""),
        (["a"], ""),
    ],
)
def test_names_are_cleaned_before_drawing(given: Any, expected: str) -> None:
    assert clean_and_truncate_text(given) == expected


def test_a_name_of_a_million_characters_costs_no_time() -> None:
    assert len(clean_and_truncate_text("\u200b" * 1_000_000 + "x")) <= 40


def test_wide_letters_take_more_room() -> None:
    assert (
        estimate_text_width("iiii", 10)
        < estimate_text_width("nnnn", 10)
        < estimate_text_width("MMMM", 10)
        < estimate_text_width("例例例例", 10)
    )
