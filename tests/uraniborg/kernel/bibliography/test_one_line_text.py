"""Any text becomes one line that every format can contain."""

import pytest

from uraniborg.kernel.bibliography.plain_text import clean_names, to_one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (None, ""),
        (" a\n\tb\u2028c ", "a b c"),
        ("a\x00b\x1b[31m", "a b [31m"),
        ("a\ufffeb\uffffc", "a\ufffdb\ufffdc"),
    ],
)
def test_a_text_becomes_one_line_without_characters_that_xml_cannot_contain(text: str | None, line: str) -> None:
    assert to_one_line(text) == line


def test_names_are_cleaned_and_empty_ones_left_out() -> None:
    assert clean_names(["Ada\nByron", " ", "", "Grace Hopper"]) == ("Ada Byron", "Grace Hopper")
