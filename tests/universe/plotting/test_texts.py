"""Texts that can be drawn."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.plotting.labels import clean_text, estimate_text_width


@given(st.text(max_size=200), st.integers(2, 60))
def test_what_is_drawn_is_short_on_one_line_and_visible(text: str, longest: int) -> None:
    shown = clean_text(text, longest)
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
        ("\ud800x", "\ufffdx"),
        ("", ""),
        ("x" * 50, "x" * 39 + "…"),
        ("例" * 5, "例" * 5),
        (None, ""),
        (3, ""),
        (["a"], ""),
    ],
)
def test_names_as_they_are_drawn(given: Any, expected: str) -> None:
    assert clean_text(given) == expected


def test_a_name_of_a_million_characters_costs_no_time() -> None:
    assert len(clean_text("\u200b" * 1_000_000 + "x")) <= 40


def test_wide_letters_take_more_room() -> None:
    assert (
        estimate_text_width("iiii", 10)
        < estimate_text_width("nnnn", 10)
        < estimate_text_width("MMMM", 10)
        < estimate_text_width("例例例例", 10)
    )
