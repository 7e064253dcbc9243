"""Texts in pieces: none lost, none twice, and how to go on."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.errors import OutOfBounds
from paper_library.text.excerpts import cut_with_marker, read_section
from tests.requirements import requirement

MARKER = re.compile(r"\n\n\[truncated: (\d+) of (\d+) characters left; continue with offset=(\d+)\]\Z")


@requirement("PL-15")
@given(st.text(max_size=200), st.integers(1, 50))
def test_pieces_joined_give_the_text(text: str, size: int) -> None:
    offset, told = 0, ""
    while marker := MARKER.search(got := cut_with_marker(text, offset, size)):
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
        assert cut_with_marker(text, offset) == text[offset:]
    else:
        with pytest.raises(OutOfBounds):
            cut_with_marker(text, offset)


def test_a_text_that_just_fits_has_no_marker() -> None:
    assert cut_with_marker("fish", 0, 4) == "fish"
    assert cut_with_marker("fish", 0, 5) == "fish"
    assert cut_with_marker("fish", 4, 1) == ""
    assert cut_with_marker("fish", 0, 3) == "fis\n\n[truncated: 1 of 4 characters left; continue with offset=3]"


def test_what_people_see_as_one_character_counts_by_its_code_points() -> None:
    assert cut_with_marker("\U0001f41f\U0001f41f", 0, 1).startswith("\U0001f41f\n\n[truncated: 1 of 2")


@pytest.mark.parametrize(
    ("offset", "most", "argument"), [(0, 0, "max_chars"), (0, -1, "max_chars"), (-1, 1, "offset"), (5, 1, "offset")]
)
def test_what_is_out_of_bounds_is_named_with_what_is_allowed(offset: int, most: int, argument: str) -> None:
    with pytest.raises(OutOfBounds) as caught:
        cut_with_marker("fish", offset, most)
    assert caught.value.ids["argument"] == argument
    assert caught.value.hint


TEXT = """Before the first heading.

# 1. Introduction
Words.

# 2. Results of others
Theirs.

## 2.1 Methods
Their way.

# 3. Results:
Ours.

Appendix
========
More.
"""


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("1. Introduction", "# 1. Introduction\nWords."),
        ("introduction", "# 1. Introduction\nWords."),
        ("Results", "# 3. Results:\nOurs."),
        ("results of", "# 2. Results of others\nTheirs.\n\n## 2.1 Methods\nTheir way."),
        ("methods", "## 2.1 Methods\nTheir way."),
        ("APPENDIX", "Appendix\n========\nMore."),
    ],
)
def test_an_equal_heading_counts_before_one_that_contains_the_words(wanted: str, text: str) -> None:
    assert read_section(TEXT, wanted) == text


@pytest.mark.parametrize("wanted", ["Conclusions", "Before the first heading", "   ", "x" * 500, "\ud800", "[a-z]"])
def test_an_unknown_heading_is_refused_with_the_headings_there_are(wanted: str) -> None:
    with pytest.raises(OutOfBounds) as refused:
        read_section(TEXT, wanted)
    assert refused.value.ids["argument"] == "section"
    assert "1. Introduction, 2. Results of others" in refused.value.hint


def test_a_text_without_headings_is_refused_too() -> None:
    with pytest.raises(OutOfBounds) as refused:
        read_section("Only words.", "Words")
    assert "none" in refused.value.hint


def test_the_last_of_very_many_sections_is_found_and_none_runs_over_the_next() -> None:
    text = "\n\n".join(f"# Part {n}\n\nBody {n}." for n in range(1_000))
    assert read_section(text, "Part 998") == "# Part 998\n\nBody 998."
    assert read_section(text, "Part 199") == "# Part 199\n\nBody 199."
    with pytest.raises(OutOfBounds) as refused:
        read_section(text, "nothing")
    assert len(refused.value.hint) < 500
    assert refused.value.hint.endswith("and others.")
