"""Text without control characters, entities and stray markup."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uraniborg.kernel.bibliography.plain_text import clean_line, clean_markdown_block, split_list


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("  a \n\t b\u00a0c ", "a b c"),
        ("R&amp;D &#x3b1; &lt;i&gt;x&lt;/i&gt; &amp;amp;", "R&D α x &"),
        ("CO<sub>2</sub> in <jats:p>air</jats:p>", "CO2 in air"),
        ('<span class="x">a</span> < b > c', "a < b > c"),
        ("p <b and c> d", "p <b and c> d"),
        ("AT&T; &notanentity; &copy", "AT&T; &notanentity; &copy"),
        ("nul\x00 soft\u00adhyphen zero\u200bwidth", "nul softhyphen zerowidth"),
    ],
)
def test_a_line_is_cleaned(text: str, clean: str) -> None:
    assert clean_line(text) == clean


@given(st.text())
def test_cleaning_a_cleaned_line_changes_nothing(text: str) -> None:
    once = clean_line(text)
    if "&" not in once and "<" not in once:
        assert clean_line(once) == once
    assert clean_markdown_block(clean_markdown_block(text)) == clean_markdown_block(text)


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("a; b, c", ["a", "b, c"]),
        ("a, b, a", ["a", "b"]),
        (["a ", "", None, 3], ["a", "3"]),
        ("", []),
        (None, []),
        (True, []),
        (float("nan"), []),
    ],
)
def test_lists_are_split_without_empty_items(value: Any, parts: list[str]) -> None:
    assert split_list(value) == parts
