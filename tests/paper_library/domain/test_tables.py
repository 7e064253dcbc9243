"""Rows of the tables in a paper's text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.domain.excerpts import TextTableRow, find_table_rows

TEXT = """# A paper

## Results

**Table 2.** Masses of *planets*

| planet | mass |
|:--|--:|
| b | 1.374 ± 0.069 |
| c | 1.308 |

Words | without a rule are | no table.

### More
a | b
--|--
1 | x \\| y
2

| only a header |
|---|
Table 3: below
"""


def test_rows_come_with_their_header_caption_section_and_offset() -> None:
    first, second, third = find_table_rows(TEXT)
    at = TEXT.index("| b |")
    assert first == TextTableRow(
        "Results", "Table 2. Masses of planets", ("planet", "mass"), ("b", "1.374 ± 0.069"), at
    )
    assert second.cells == ("c", "1.308")
    assert (third.section, third.header, third.cells, third.caption) == ("More", ("a", "b"), ("1", "x | y"), "")


def test_rows_have_as_many_cells_as_the_header() -> None:
    text = "| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |\n"
    assert [row.cells for row in find_table_rows(text)] == [("1", ""), ("1", "2")]


def test_a_caption_can_be_below_the_table_and_loses_a_label_without_a_number() -> None:
    text = "| a | b |\n|---|---|\n| 1 | 2 |\n\nTable: of numbers\n"
    assert [row.caption for row in find_table_rows(text)] == ["of numbers"]


@pytest.mark.parametrize("text", ["", "|", "|-|", "a|b", "|---|\n|---|", "| a |\n|---|"])
def test_text_without_rows_has_none(text: str) -> None:
    assert list(find_table_rows(text)) == []


@given(st.text(alphabet="|-: \n\\ab#", max_size=200))
def test_any_text_is_read_and_offsets_lead_to_the_rows(text: str) -> None:
    for row in find_table_rows(text):
        assert len(row.cells) == len(row.header)
        assert "|" in text[row.offset :].splitlines()[0]
