"""Texts in pieces: none lost, none twice, and how to go on."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.errors import OutOfBounds
from paper_library.text.cutting import piece
from tests.requirements import requirement

MARKER = re.compile(r"\n\n\[truncated: (\d+) of (\d+) characters left; continue with offset=(\d+)\]\Z")


@requirement("PL-15")
@given(st.text(max_size=200), st.integers(1, 50))
def test_pieces_joined_give_the_text(text: str, size: int) -> None:
    offset, told = 0, ""
    while marker := MARKER.search(got := piece(text, offset, size)):
        assert marker.start() == size
        left, total, following = map(int, marker.groups())
        assert (left, total, following) == (len(text) - offset - size, len(text), offset + size)
        told += got[: marker.start()]
        offset = following
    assert len(got) <= size
    assert told + got == text


@given(st.text(max_size=50), st.integers(0, 50))
def test_without_a_limit_all_that_follows_the_offset_is_given(text: str, offset: int) -> None:
    if offset <= len(text):
        assert piece(text, offset) == text[offset:]
    else:
        with pytest.raises(OutOfBounds):
            piece(text, offset)


def test_a_text_that_just_fits_has_no_marker() -> None:
    assert piece("fish", 0, 4) == "fish"
    assert piece("fish", 0, 5) == "fish"
    assert piece("fish", 4, 1) == ""
    assert piece("fish", 0, 3) == "fis\n\n[truncated: 1 of 4 characters left; continue with offset=3]"


def test_what_people_see_as_one_character_counts_by_its_code_points() -> None:
    assert piece("\U0001f41f\U0001f41f", 0, 1).startswith("\U0001f41f\n\n[truncated: 1 of 2")


@pytest.mark.parametrize(
    ("offset", "most", "argument"), [(0, 0, "max_chars"), (0, -1, "max_chars"), (-1, 1, "offset"), (5, 1, "offset")]
)
def test_what_is_out_of_bounds_is_named_with_what_is_allowed(offset: int, most: int, argument: str) -> None:
    with pytest.raises(OutOfBounds) as caught:
        piece("fish", offset, most)
    assert caught.value.ids["argument"] == argument
    assert caught.value.hint
