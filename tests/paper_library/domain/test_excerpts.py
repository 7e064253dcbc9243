"""Texts in pieces: complete, without repeats, with the next offset."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.domain.excerpts import cut_text_with_marker, extract_section
from paper_library.errors import OutOfBounds
from tests.requirements import requirement

MARKER = re.compile(r"\n\n\[truncated: (\d+) of (\d+) characters left; continue with offset=(\d+)\]\Z")


@requirement("PL-15")
@given(st.text(max_size=200), st.integers(1, 50))
def test_the_excerpts_joined_are_the_whole_text(text: str, size: int) -> None:
    offset, message = 0, ""
    while marker := MARKER.search(got := cut_text_with_marker(text, offset, size)):
        assert marker.start() == size
        left, total, following = map(int, marker.groups())
        assert (left, total, following) == (len(text) - offset - size, len(text), offset + size)
        message += got[: marker.start()]
        offset = following
    assert len(got) <= size
    assert message + got == text


@given(st.text(max_size=50), st.integers(0, 50))
def test_without_a_limit_the_rest_of_the_text_is_returned(text: str, offset: int) -> None:
    if offset <= len(text):
        assert cut_text_with_marker(text, offset) == text[offset:]
    else:
        with pytest.raises(OutOfBounds):
            cut_text_with_marker(text, offset)


def test_a_text_of_exactly_the_limit_has_no_marker() -> None:
    assert cut_text_with_marker("fish", 0, 4) == "fish"
    assert cut_text_with_marker("fish", 0, 5) == "fish"
    assert cut_text_with_marker("fish", 4, 1) == ""
    assert cut_text_with_marker("fish", 0, 3) == "fis\n\n[truncated: 1 of 4 characters left; continue with offset=3]"


def test_a_combined_character_counts_by_its_code_points() -> None:
    assert cut_text_with_marker("\U0001f41f\U0001f41f", 0, 1).startswith("\U0001f41f\n\n[truncated: 1 of 2")


@pytest.mark.parametrize(
    ("offset", "most", "argument"), [(0, 0, "max_chars"), (0, -1, "max_chars"), (-1, 1, "offset"), (5, 1, "offset")]
)
def test_an_argument_out_of_range_is_named_with_the_allowed_range(offset: int, most: int, argument: str) -> None:
    with pytest.raises(OutOfBounds) as caught:
        cut_text_with_marker("fish", offset, most)
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
def test_an_equal_heading_is_preferred_to_one_that_contains_the_words(wanted: str, text: str) -> None:
    assert extract_section(TEXT, wanted) == text


@pytest.mark.parametrize("wanted", ["Conclusions", "Before the first heading", "   ", "x" * 500, "\ud800", "[a-z]"])
def test_an_unknown_heading_is_refused_with_a_list_of_the_headings(wanted: str) -> None:
    with pytest.raises(OutOfBounds) as refused:
        extract_section(TEXT, wanted)
    assert refused.value.ids["argument"] == "section"
    assert "1. Introduction, 2. Results of others" in refused.value.hint


def test_a_text_without_headings_is_refused_too() -> None:
    with pytest.raises(OutOfBounds) as refused:
        extract_section("Only words.", "Words")
    assert "none" in refused.value.hint


def test_the_last_of_many_sections_is_found_and_no_section_includes_the_next() -> None:
    text = "\n\n".join(f"# Part {n}\n\nBody {n}." for n in range(1_000))
    assert extract_section(text, "Part 998") == "# Part 998\n\nBody 998."
    assert extract_section(text, "Part 199") == "# Part 199\n\nBody 199."
    with pytest.raises(OutOfBounds) as refused:
        extract_section(text, "nothing")
    assert len(refused.value.hint) < 500
    assert refused.value.hint.endswith("and others.")
