"""Text that a spreadsheet would run as a formula is written as text, and read back unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uraniborg.kernel.boundary import neutralize_formula, restore_cell


@pytest.mark.parametrize(
    "text",
    ['=HYPERLINK("http://x","y")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "  =1", "'=1", "＝1+1"],
)
def test_a_formula_is_written_as_text(text: str) -> None:
    assert neutralize_formula(text) == f"'{text}"
    assert restore_cell(neutralize_formula(text)) == text


@pytest.mark.parametrize("text", ["-1.5", "+2e-7", "-inf", "Kepler-22 b", "a=b", "", "it's", "'quoted'", -3.0, 7, None])
def test_numbers_and_plain_text_stay_as_they_are(text: object) -> None:
    assert neutralize_formula(text) == text


@given(st.text(st.sampled_from("'=+-@ \t\r1a"), max_size=8))
def test_every_text_is_read_back_unchanged(text: str) -> None:
    assert restore_cell(neutralize_formula(text)) == text
    assert not neutralize_formula(text).lstrip().startswith(("=", "@"))
