"""Cleaned text, and dates parsed from text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.build.readers.dates import parse_month, parse_year, parse_year_and_month
from paper_library.build.readers.files import make_title_from_stem
from uraniborg.kernel.bibliography.clean_text import clean_block, clean_line, split_list


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
        ("half \ud800", "half \ufffd"),
    ],
)
def test_a_line_is_cleaned(text: str, clean: str) -> None:
    assert clean_line(text) == clean


@given(st.text())
def test_cleaning_a_cleaned_line_changes_nothing(text: str) -> None:
    once = clean_line(text)
    if "&" not in once and "<" not in once:
        assert clean_line(once) == once
    assert clean_block(clean_block(text)) == clean_block(text)


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


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2020", (2020, None)),
        ("2020-03-01", (2020, 3)),
        ("2020/3", (2020, 3)),
        ("20200301", (2020, 3)),
        ("11 October 2019", (2019, 10)),
        ("February 6, 2025", (2025, 2)),
        ("18. Dezember 2020", (2020, 12)),
        ("18.10.2022", (2022, 10)),
        ("03/14/2019", (2019, 3)),
        ("03/2019", (2019, 3)),
        ("1843/09/01/", (1843, 9)),
        ("TODO", (None, None)),
        ("2020-13-01", (2020, None)),
        ("", (None, None)),
    ],
)
def test_dates_are_read_in_any_notation(text: str, date: tuple[int | None, int | None]) -> None:
    assert parse_year_and_month(text) == date


@pytest.mark.parametrize(
    ("value", "year"),
    [
        (2020, 2020),
        (2020.0, 2020),
        ("2020", 2020),
        ("c. 1843", 1843),
        (True, None),
        (0, None),
        (99999, None),
        ([], None),
        ("0", None),
    ],
)
def test_years_are_numbers_in_a_plausible_range(value: Any, year: int | None) -> None:
    assert parse_year(value) == year


@pytest.mark.parametrize(
    ("value", "month"),
    [(3, 3), ("03", 3), ("Sept.", 9), ("mar", 3), (13, None), ("13", None), (None, None), ("x", None)],
)
def test_months_are_numbers_or_names(value: Any, month: int | None) -> None:
    assert parse_month(value) == month


@pytest.mark.parametrize(
    ("stem", "title"),
    [
        ("attention_is-all_you_need", "Attention is all you need"),
        ("A well-known title", "A well-known title"),
        ("smith2020", "Smith2020"),
        ("2301.00001", "2301.00001"),
        ("___", "Untitled"),
    ],
)
def test_a_file_name_makes_a_title(stem: str, title: str) -> None:
    assert make_title_from_stem(stem) == title
