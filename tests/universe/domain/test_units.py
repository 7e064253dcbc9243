"""Units and Kepler's third law agree with the Solar System."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain import units_and_dates
from uraniborg.kernel.errors import InvalidInput


def test_a_massless_planet_at_one_au_takes_the_gaussian_year() -> None:
    assert units_and_dates.compute_period(1.0, 1.0) == pytest.approx(365.2568983, rel=1e-9)


def test_jupiter_takes_almost_twelve_years() -> None:
    days = units_and_dates.compute_period(5.2026, 1 + units_and_dates.JUPITER_MASS)
    assert units_and_dates.convert_unit(days, "day", "year") == pytest.approx(11.86, abs=0.01)


def test_the_constants_agree_with_one_another_in_metres_and_seconds() -> None:
    gm = units_and_dates.G * units_and_dates.AU_IN_METRES**3 / units_and_dates.DAY_IN_SECONDS**2
    assert gm == pytest.approx(1.32712440e20, rel=1e-6)
    assert units_and_dates.convert_unit(1, "solar_mass", "kg") == pytest.approx(1.9884e30, rel=1e-4)
    assert units_and_dates.convert_unit(1, "solar_mass", "earth_mass") == pytest.approx(332_946, rel=1e-5)
    assert units_and_dates.convert_unit(1, "solar_mass", "jupiter_mass") == pytest.approx(1047.57, rel=1e-5)


@given(axis=st.floats(1e-3, 1e5), mass=st.floats(1e-9, 1e3))
def test_the_third_law_gives_the_axis_back_from_the_period(axis: float, mass: float) -> None:
    period = units_and_dates.compute_period(axis, mass)
    assert units_and_dates.compute_semi_major_axis(period, mass) == pytest.approx(axis, rel=1e-12)
    assert units_and_dates.compute_period(4 * axis, mass) == pytest.approx(8 * period, rel=1e-12)


@given(value=st.floats(1e-6, 1e6), pair=st.sampled_from([("au", "km"), ("year", "s"), ("earth_mass", "kg")]))
def test_a_conversion_there_and_back_changes_nothing(value: float, pair: tuple[str, str]) -> None:
    there, back = pair
    assert units_and_dates.convert_unit(units_and_dates.convert_unit(value, there, back), back, there) == pytest.approx(
        value, rel=1e-14
    )


@pytest.mark.parametrize(("unit", "to"), [("au", "day"), ("parsec", "au"), ("au", "")])
def test_units_that_do_not_go_together_are_refused_with_those_that_do(unit: str, to: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        units_and_dates.convert_unit(1, unit, to)
    assert set(refused.value.ids["allowed"]) == {"length", "time", "mass"}


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
def test_an_orbit_without_size_time_or_mass_is_refused_by_name(bad: float) -> None:
    with pytest.raises(InvalidInput, match="semi_major_axis"):
        units_and_dates.compute_period(bad, 1)
    with pytest.raises(InvalidInput, match="total_mass"):
        units_and_dates.compute_period(1, bad)
    with pytest.raises(InvalidInput, match="period"):
        units_and_dates.compute_semi_major_axis(bad, 1)
