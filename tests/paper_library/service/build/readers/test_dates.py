"""Years and months are parsed from dates in any usual notation."""

from typing import Any

import pytest

from paper_library.service.build.readers.texts_and_dates import parse_month, parse_year, parse_year_and_month


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
