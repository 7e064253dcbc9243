"""Sections are found by their headings as people name them."""

import pytest

from paper_library.errors import OutOfBounds
from paper_library.text.sections import read_section

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
