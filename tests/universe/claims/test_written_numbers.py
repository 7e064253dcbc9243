"""Parsing of numbers in papers."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.claims.quantities import find_numbers, normalise_number_text


def read(text: str) -> list[tuple[float, str]]:
    return [(one.value, one.kind) for one in find_numbers(normalise_number_text(text))]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1.374 ± 0.069", 1.374),
        ("1.374±0.069", 1.374),
        ("1.374 +/- 0.069", 1.374),
        ("1.374^{+0.069}_{-0.069}", 1.374),
        ("$  1.116_{- 0.012}^{+ 0.014} $", 1.116),
        ("1.116 +0.014 −0.012", 1.116),
        ("1.2 (+0.2, -0.3)", 1.2),
        ("1.374<sup>+0.069</sup><sub>-0.07</sub>", 1.374),
        (r"$0.692\pm0.022$", 0.692),
        (r"$  0.692{\pm}  0.022 $", 0.692),
        ("1.374(69)", 1.374),
        ("6.1×10^24", 6.1e24),
        ("6.1 × 10²⁴", 6.1e24),
        (r"(6.1 \pm 0.2)\times10^{24}", 6.1e24),
        ("5.97*10^24", 5.97e24),
        ("1.5e-5", 1.5e-5),
        ("1.5×10⁻⁵", 1.5e-5),
        ("−0.00215 ± 0.00332", -0.00215),
        ("–0.3", -0.3),
        ("- 0.5", -0.5),
        ("1,234,567.8", 1234567.8),
        ("1{,}234{,}567.8", 1234567.8),
        ("12\u2009345.6", 12345.6),
        ("**0.692** ± 0.02", 0.692),
        (r"{\bf 0.692}", 0.692),
        ("~0.05", 0.05),
        (".5", 0.5),
        ("1.0 ± 0.1 ± 0.2", 1.0),
    ],
)
def test_a_number_is_read_once_with_its_uncertainty_and_power(written: str, value: float) -> None:
    assert read(written) == [(pytest.approx(value, rel=1e-12), "value")]


@pytest.mark.parametrize(
    "text",
    [
        "TRAPPIST-1 e",
        "GJ-42",
        "M_{42}",
        "M₄₂",
        "x^{42}",
        "10^{42}",
        "4²",
        "3/42",
        "42/7",
        "0,42",
        "1.4.2",
        "1 042 kg"[2:5],
        "",
    ],
)
def test_names_indices_exponents_ratios_and_unclear_decimals_are_not_numbers(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("42–44", ["range"]),
        ("42 to 44", ["range", "range"]),
        ("42 - 44", ["range", "range"]),
        ("between 42 and 44", ["range", "range"]),
        ("< 42", ["limit"]),
        (r"$\lesssim 42$", ["limit"]),
        ("at most 42", ["limit"]),
        ("more than 42", ["limit"]),
        ("42%", ["percent"]),
        (r"42\,\%", ["percent"]),
        ("42 per cent", ["percent"]),
    ],
)
def test_ranges_limits_and_percentages_are_distinguished_from_values(text: str, kinds: list[str]) -> None:
    assert [kind for _, kind in read(text)] == kinds


def test_42_is_not_read_from_longer_numbers() -> None:
    for text in ("142", "2042", "42.5", "1.42", "0.42", "42,000", "4 2"):
        assert 42.0 not in [value for value, _ in read(text)]


@given(st.decimals(-(10**6), 10**6, places=4, allow_nan=False), st.decimals(0, 10, places=4, allow_nan=False))
def test_a_number_with_an_uncertainty_is_parsed_in_every_markup(number: Decimal, error: Decimal) -> None:
    value = float(number)
    minus = f"{number}".replace("-", "−")
    for written in (
        f"{number} ± {error}",
        f"${minus}\\pm{error}$",
        f"{minus}^{{+{error}}}_{{-{error}}}",
        f"{number}({str(error).replace('.', '')[:4]})",
        f"{number:,}",
        f"**{number}**",
        f"${number} \\times 10^{{0}}$",
    ):
        assert read(written) == [(pytest.approx(value), "value")], written


@given(st.text(max_size=300))
def test_reading_any_text_ends_without_an_error(text: str) -> None:
    for one in find_numbers(normalise_number_text(text)):
        assert one.half_digit >= 0


@pytest.mark.parametrize(
    "text", ["1" * 30_000, "1," * 15_000, "(" * 30_000, "1 ± " * 8_000, "1e999", "9" * 400, "-" * 30_000]
)
def test_long_and_odd_texts_are_read_quickly(text: str) -> None:
    read(text)
