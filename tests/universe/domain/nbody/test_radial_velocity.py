"""Radial velocities: published semi-amplitudes, the sign, and N-body against the formula."""

import math
from typing import Any

import pytest

from tests.universe.domain.nbody.measured_systems import one_planet
from universe.domain import systems
from universe.domain.nbody.radial_velocity import measure_radial_velocities
from universe.domain.nbody.transits import measure_transit_times
from universe.domain.units_and_dates import EARTH_MASS, JUPITER_MASS
from uraniborg.kernel.errors import InvalidInput

measure_speeds: Any = measure_radial_velocities


@pytest.mark.parametrize(
    ("mass", "period", "eccentricity", "published"),
    [
        # Jupiter and the Earth: 12.5 and 0.09 m/s by the formula of Lovis & Fischer 2010 ("Exoplanets", 27).
        (JUPITER_MASS, 4332.6, 0.0489, 12.5),
        (EARTH_MASS, 365.256, 0.0167, 0.0895),
    ],
)
def test_semi_amplitudes_of_solar_system_planets(
    mass: float, period: float, eccentricity: float, published: float
) -> None:
    state = one_planet(mass=mass, period=period, eccentricity=eccentricity)
    reply = measure_speeds(state, days=period, samples=300)
    assert reply["planets"]["planet"]["semiAmplitude"] == pytest.approx(published, rel=0.005)
    assert (reply["greatest"] - reply["least"]) / 2 == pytest.approx(published, rel=0.006)


def test_semi_amplitudes_of_trappist_1() -> None:
    reply = measure_speeds(systems.load_system("trappist-1"), days=5, samples=20)
    found = [one["semiAmplitude"] for one in reply["planets"].values()]
    assert found == pytest.approx([3.82, 3.11, 0.78, 1.21, 1.58, 1.82, 0.39], abs=0.005)
    assert reply["errorMetresPerSecond"] < 1e-9


def test_the_star_recedes_before_a_transit_and_approaches_after_it() -> None:
    # As of 51 Pegasi b: the planet comes towards us until it is in front, so the star moves away.
    state = one_planet(mass=0.5 * JUPITER_MASS, period=4.23, periapsis=0.0)
    transit = measure_transit_times(state, days=4)["planets"]["planet"]["transits"][0]["time"]
    samples = measure_speeds(state, days=4.23, samples=201)["samples"]
    before = [v for t, v in zip(samples["times"], samples["velocities"], strict=True) if transit - 1 < t < transit]
    after = [v for t, v in zip(samples["times"], samples["velocities"], strict=True) if transit < t < transit + 1]
    assert min(before) > 0 > max(after)


@pytest.mark.parametrize("use_kepler_orbits", [False, True])
def test_the_velocity_curve_is_that_of_the_formula(use_kepler_orbits: bool) -> None:
    e, omega, period = 0.45, 40.0, 20.0
    state = one_planet(mass=3 * JUPITER_MASS, period=period, eccentricity=e, periapsis=omega, tilt=60.0)
    reply = measure_speeds(state, days=period, samples=41, use_kepler_orbits=use_kepler_orbits)
    k = reply["planets"]["planet"]["semiAmplitude"]
    for time, speed in zip(reply["samples"]["times"], reply["samples"]["velocities"], strict=True):
        mean = 2 * math.pi * time / period
        eccentric = mean
        for _ in range(100):
            eccentric -= (eccentric - e * math.sin(eccentric) - mean) / (1 - e * math.cos(eccentric))
        true = 2 * math.atan2(math.sqrt(1 + e) * math.sin(eccentric / 2), math.sqrt(1 - e) * math.cos(eccentric / 2))
        # The node here is where the planet comes towards us: omega of the star about a receding node is the same.
        star = math.radians(omega)
        assert speed == pytest.approx(k * (math.cos(star + true) + e * math.cos(star)), abs=1e-6 * k)


def test_the_velocities_of_alpha_centauri_cross_between_its_apastron_and_its_periastron() -> None:
    # By v = K (cos(omega + f) + e cos omega) with e 0.519, omega 231.5 degrees and the periastron in 2035.4, B recedes
    # faster than A until f = 199 degrees, about 2007.
    state = systems.load_system("alpha-centauri")
    epoch = state["stars"]["alpha-centauri-a"]["physical"]["epochJulianDate"]
    state["stars"] = {key: state["stars"][key] for key in ("alpha-centauri-a", "alpha-centauri-b")}
    order: list[bool] = []
    for year in (1990, 2000, 2015):
        state["time"] = 2451545 + (year - 2000) * 365.25 - epoch
        speeds = [
            measure_speeds(state, f"alpha-centauri-{star}", days=1, samples=2, use_kepler_orbits=True)["least"]
            for star in "ab"
        ]
        order.append(speeds[1] > speeds[0])
    assert order == [True, True, False]


def test_a_minimum_mass_with_an_unknown_tilt_counts_as_m_sin_i() -> None:
    reply = measure_speeds(systems.load_system("alpha-centauri"), "proxima-centauri", days=5, samples=10)
    planet = reply["planets"]["proxima-centauri-b"]
    # 28.4329 m/s (m sin i / Jupiter masses) (M / solar masses)^(-2/3) (P / years)^(-1/3), for 1.055 Earth masses.
    assert planet["semiAmplitude"] == pytest.approx(1.226, abs=0.01)
    assert planet["inclination"] is None


@pytest.mark.parametrize(("days", "samples"), [(0.0, 10), (math.nan, 10), (-1.0, 10), (5.0, 1), (5.0, 10**9)])
def test_days_and_samples_out_of_range_are_refused(days: float, samples: int) -> None:
    with pytest.raises(InvalidInput):
        measure_speeds(one_planet(), days=days, samples=samples)


def test_a_universe_without_a_star_is_refused() -> None:
    state = one_planet()
    state["stars"]["star"]["bodyType"] = "planet"
    with pytest.raises(InvalidInput, match="no star"):
        measure_speeds(state, days=5, samples=5)
