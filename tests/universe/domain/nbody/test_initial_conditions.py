"""Starts of N-body runs by the Jacobi rule, from vectors or elements, with notes about their accuracy."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from universe.domain import systems
from universe.domain.nbody.initial_conditions import InitialConditions, make_initial_conditions
from universe.domain.nbody.integration.methods import integrate
from universe.domain.nbody.osculating_orbits import compute_jacobi_elements
from universe.domain.nbody.state_vectors import MOST_WORK
from universe.domain.orbits.kepler import Elements
from universe.domain.units_and_dates import AU_IN_METRES, DAY_IN_SECONDS, compute_period
from uraniborg.kernel.errors import InvalidInput, NotFound

EARTH = {"units": "astronomical", "semiMajorAxis": 1.0, "eccentricity": 0.0167, "meanAnomaly": 30, "inclination": 5}
MOON = {"units": "astronomical", "semiMajorAxis": 0.00257, "eccentricity": 0.055, "meanAnomaly": 100}
DE421 = Path(__file__).parents[5] / "shared" / "data" / "universe" / "de421_vectors.json"


def system(time: float = 0.0, **changes: dict[str, Any]) -> dict[str, Any]:
    stars: dict[str, dict[str, Any]] = {
        "sun": {"mass": 1.0, "parentId": None},
        "earth": {"mass": 3.0e-6, "parentId": "sun", "kepler": EARTH},
        "moon": {"mass": 3.7e-8, "parentId": "earth", "kepler": MOON},
        "rock": {"mass": 0, "parentId": "sun", "kepler": {**EARTH, "semiMajorAxis": 2.5}},
    }
    return {
        "time": time,
        "stars": {body_id: {**fields, **changes.get(body_id, {})} for body_id, fields in stars.items()},
    }


def of(start: InitialConditions, body_id: str) -> tuple[Any, Any]:
    index = start.ids.index(body_id)
    return start.positions[index], start.velocities[index]


def test_the_barycentre_is_at_the_origin_and_bodies_are_in_the_requested_order() -> None:
    start = make_initial_conditions(system(), ["moon", "sun", "earth", "rock"])
    assert start.ids == ("moon", "sun", "earth", "rock")
    assert start.masses.tolist() == [3.7e-8, 1.0, 3.0e-6, 0]
    assert start.parents == (2, -1, 1, 1)
    assert start.masses @ start.positions == pytest.approx(np.zeros(3), abs=1e-16)
    assert start.masses @ start.velocities == pytest.approx(np.zeros(3), abs=1e-18)
    assert np.isnan(start.radii).all()


def test_earth_and_moon_stand_on_both_sides_of_their_barycentre() -> None:
    start = make_initial_conditions(system())
    (sun, _), (earth, flow), (moon, drift) = of(start, "sun"), of(start, "earth"), of(start, "moon")
    total = 3.0e-6 + 3.7e-8
    about = Elements(0.00257, 0.055, period=compute_period(0.00257, total), mean_anomaly=100)
    apart, speed = about.compute_positions(0.0)[0][[0, 2, 1]], about.compute_velocities(0.0)[0][[0, 2, 1]]
    assert moon - earth == pytest.approx(apart, abs=1e-15)
    assert drift - flow == pytest.approx(speed, abs=1e-17)
    both = Elements(1.0, 0.0167, period=compute_period(1.0, 1 + total), mean_anomaly=30, inclination=5)
    barycentre = (3.0e-6 * earth + 3.7e-8 * moon) / total
    assert barycentre - sun == pytest.approx(both.compute_positions(0.0)[0][[0, 2, 1]], abs=1e-14)


def test_relative_states_give_the_elements_back() -> None:
    start = make_initial_conditions(system())
    found = compute_jacobi_elements(start, start.positions, start.velocities)
    assert found.semi_major_axis[1:] == pytest.approx([1.0, 0.00257, 2.5], rel=1e-9)
    assert found.eccentricity[1:] == pytest.approx([0.0167, 0.055, 0.0167], rel=1e-7)
    assert found.mean_anomaly[1:] == pytest.approx([30, 100, 30], rel=1e-7)
    assert np.isnan(found.semi_major_axis[0])
    assert start.orbited_mass == pytest.approx([0, 1 + 3.037e-6, 3.037e-6, 1 + 3.037e-6])


def test_axes_are_right_handed_with_the_pole_of_the_reference_plane_up() -> None:
    start = make_initial_conditions(system(), ["sun", "earth"])
    position, velocity = of(start, "earth")
    assert np.cross(position, velocity)[2] > 0


def test_proxima_is_bound_to_both_stars_at_the_distance_and_speed_of_its_paper() -> None:
    # Kervella, Thévenin & Lovis (2017, A&A 598, L7): 12,947 AU and 273 m/s with masses of 2017; an orbit of 8700 AU
    # and e = 0.50 with these masses has 13,039 AU and 0.268 km/s at the epoch. Escape: 0.536 km/s.
    start = make_initial_conditions(systems.load_system("alpha-centauri"))
    relative, speed = start.relative_matrix @ start.positions, start.relative_matrix @ start.velocities
    index = start.ids.index("proxima-centauri")
    assert np.linalg.norm(relative[index]) == pytest.approx(13_039, abs=1)
    km_per_s = np.linalg.norm(speed[index]) * AU_IN_METRES / 1000 / DAY_IN_SECONDS
    assert km_per_s == pytest.approx(0.268, abs=5e-4)
    found = compute_jacobi_elements(start, start.positions, start.velocities)
    assert found.semi_major_axis[start.ids.index("alpha-centauri-b")] == pytest.approx(23.2986, abs=1e-4)


def test_kepler_16_b_keeps_a_circumbinary_orbit() -> None:
    # Doyle et al. (2011, Science 333, 1602): 41 and 229 days about both stars, far from where either alone would lead.
    kepler = {"units": "astronomical"}
    stars = {
        "a": {"mass": 0.6897, "parentId": None},
        "b": {
            "mass": 0.20255,
            "parentId": "a",
            "kepler": {**kepler, "semiMajorAxis": 0.22431, "eccentricity": 0.15944, "argumentOfPeriapsis": 263.464},
        },
        "planet": {
            "mass": 0.333 * 9.5458e-4,
            "parentId": "a",
            "kepler": {**kepler, "semiMajorAxis": 0.7048, "eccentricity": 0.0069, "argumentOfPeriapsis": 318},
        },
    }
    start = make_initial_conditions({"stars": stars, "time": 0})
    found = [
        compute_jacobi_elements(start, *segment.compute_states([segment.end])) for segment in _run(start, 3 * 365.25)
    ]
    axes, shapes = (
        np.array([getattr(one, name)[0, 2] for one in found]) for name in ("semi_major_axis", "eccentricity")
    )
    assert 0.69 < axes.min() < axes.max() < 0.72
    assert shapes.max() < 0.08


def _run(start: InitialConditions, days: float) -> Any:
    return integrate(start.masses, start.positions, start.velocities, days)


def test_planets_of_trappist_1_pass_in_front_when_their_paper_states() -> None:
    # Agol et al. (2021, PSJ 2, 1): the times of the first transits, next to the epoch of the elements.
    system_facts = json.loads((files("universe") / "systems" / "data" / "trappist-1.json").read_text(encoding="utf-8"))
    start = make_initial_conditions(systems.load_system("trappist-1"))
    for facts in system_facts["bodies"][1:]:
        index, when = start.ids.index(facts["id"]), facts["orbit"]["transitJd"] - system_facts["epochJd"]
        last = list(_run(start, when))[-1]
        positions, velocities = last.compute_states([when])
        place, speed = positions[0, index] - positions[0, 0], velocities[0, index] - velocities[0, 0]
        across, flow = place[[0, 2]], speed[[0, 2]]
        minutes_off = across @ flow / (flow @ flow) * 1440
        # The stated time of h is of its Kepler orbit, 8 days from the epoch.
        assert abs(minutes_off) < (2 if facts["id"].endswith("h") else 0.6), facts["id"]
        assert place[1] > 0, facts["id"]


def test_runs_use_the_osculating_period_and_drawing_the_mean_one() -> None:
    plain = systems.load_system("trappist-1")
    start = make_initial_conditions(plain)
    found = compute_jacobi_elements(start, start.positions, start.velocities)
    periods = [
        compute_period(axis, mass) for axis, mass in zip(found.semi_major_axis, start.orbited_mass, strict=True) if mass
    ]
    assert periods == pytest.approx([1.510826, 2.421937, 4.049219, 6.101013, 9.207540, 12.352446, 18.772866], rel=1e-9)
    drawn = [plain["stars"][key]["kepler"]["period"] for key in start.ids[1:]]
    assert drawn == [1.510882, 2.421796, 4.049658, 6.099510, 9.206430, 12.353515, 18.768186]


def test_a_later_start_is_the_earlier_one_integrated() -> None:
    plain = systems.load_system("trappist-1")
    first, later = make_initial_conditions(plain), make_initial_conditions({**plain, "time": 20.0})
    *_, last = _run(first, 20.0)
    assert later.positions == pytest.approx(last.last_positions.T, abs=1e-12)
    assert any("integrated from there over 20 days" in note for note in later.notes)
    assert first.notes == ()


def test_elements_of_several_instants_are_led_by_kepler_motion_and_a_note_reports_it() -> None:
    plain = system(10.0, earth={"kepler": {**EARTH, "epoch": 5.0}})
    start = make_initial_conditions(plain, ["sun", "earth", "rock"])
    about = Elements(1.0, 0.0167, period=compute_period(1.0, 1 + 3e-6), mean_anomaly=30, inclination=5, epoch=5.0)
    assert of(start, "earth")[0] - of(start, "sun")[0] == pytest.approx(
        about.compute_positions(10.0)[0][[0, 2, 1]], abs=1e-13
    )
    assert any("Kepler motion" in note and "one instant" in note for note in start.notes)


def test_a_time_too_far_to_integrate_is_reached_by_kepler_motion_and_a_note_reports_it() -> None:
    start = make_initial_conditions(system(float(MOST_WORK)))
    assert any("too far" in note for note in start.notes)
    assert np.isfinite(start.positions).all()


def test_the_solar_system_starts_from_the_vectors_of_de421() -> None:
    plain = systems.load_system("solar-system")
    start = make_initial_conditions(plain)
    sun = of(start, "sun")
    for key in ("mercury", "venus", "earth", "moon", "mars"):
        for kind, name in enumerate(("position", "velocity")):
            vectors = [np.array(plain["stars"][one]["stateVector"][name]) for one in (key, "sun")]
            assert of(start, key)[kind] - sun[kind] == pytest.approx(vectors[0] - vectors[1], abs=1e-15)
    assert "DE421" in start.notes[0]
    assert any(note.startswith("The start of Io") and "is accurate to 4 degrees" in note for note in start.notes)


@pytest.mark.skipif(not DE421.is_file(), reason="the ephemeris' vectors are not there")
def test_ten_years_on_the_planets_are_within_a_hundredth_of_an_arcsecond_of_de421() -> None:
    truth = json.loads(DE421.read_text())["epochs"]["2455197.5"]
    planets = ["sun", "mercury", "venus", "earth", "moon", "mars", "jupiter", "saturn", "uranus", "neptune", "pluto"]
    start = make_initial_conditions({**systems.load_system("solar-system"), "time": 2455197.5 - 2451545.0}, planets)
    for key in planets[1:]:
        found = of(start, key)[0] - of(start, "sun")[0]
        right = np.array(truth[key]["position"]) - np.array(truth["sun"]["position"])
        arcseconds = np.degrees(np.linalg.norm(found - right) / np.linalg.norm(right)) * 3600
        assert arcseconds < (1.0 if key == "moon" else 0.01), key


def test_moons_hang_on_the_barycentres_that_the_vectors_are_of() -> None:
    plain = systems.load_system("solar-system")
    start = make_initial_conditions(plain)
    family = ["jupiter", *plain["stars"]["jupiter"]["children"]]
    chosen = [start.ids.index(key) for key in family]
    masses = start.masses[chosen]
    barycentre = masses @ start.positions[chosen] / masses.sum()
    vectors = [np.array(plain["stars"][one]["stateVector"]["position"]) for one in ("jupiter", "sun")]
    assert barycentre - of(start, "sun")[0] == pytest.approx(vectors[0] - vectors[1], abs=1e-14)
    found = compute_jacobi_elements(start, start.positions, start.velocities)
    assert found.eccentricity[chosen[1:]] == pytest.approx([0.004, 0.009, 0.001, 0.007], rel=1e-6)


def test_a_changed_orbit_counts_and_a_changed_mass_keeps_the_vector() -> None:
    plain = systems.load_system("solar-system")
    mars = plain["stars"]["mars"]
    mars["kepler"] = {**mars["kepler"], "eccentricity": 0.5}
    plain["stars"]["venus"]["mass"] *= 100
    start = make_initial_conditions(plain, ["sun", "mercury", "venus", "earth", "moon", "mars"])
    found = compute_jacobi_elements(start, start.positions, start.velocities)
    assert found.eccentricity[5] == pytest.approx(0.5, rel=1e-9)
    vectors = [np.array(plain["stars"][one]["stateVector"]["position"]) for one in ("venus", "sun")]
    assert of(start, "venus")[0] - of(start, "sun")[0] == pytest.approx(vectors[0] - vectors[1], abs=1e-14)
    assert any("The start of Mars is accurate to 0.15 degrees" in note for note in start.notes)


def test_the_accuracy_of_the_ephemeris_is_claimed_for_all_its_bodies_unchanged() -> None:
    chosen, accuracy = ["sun", "earth", "mars"], "within 0.01 arcseconds"
    whole: dict[str, Any] = {**systems.load_system("solar-system"), "time": 9000.0}
    assert accuracy in " ".join(make_initial_conditions(whole, chosen).notes)
    left = {key: one for key, one in whole["stars"].items() if "jupiter" not in (key, one["parentId"])}
    notes = " ".join(make_initial_conditions({**whole, "stars": left}, chosen).notes)
    assert accuracy not in notes
    assert "bodies of the ephemeris are missing or have other orbits" in notes
    heavy = systems.load_system("solar-system")
    heavy["stars"]["jupiter"]["mass"] *= 10
    notes = " ".join(make_initial_conditions({**heavy, "time": 9000.0}, ["sun", "jupiter"]).notes)
    assert accuracy not in notes
    assert "The mass of Jupiter is not the one that the state vectors were integrated with" in notes


@pytest.mark.parametrize("bad", [{}, {"position": [1, 2]}, {"position": [1, 2, "3"], "velocity": [0, 0, 0]}, [], "x"])
def test_an_invalid_vector_is_ignored_and_the_elements_are_used(bad: Any) -> None:
    plain = systems.load_system("solar-system")
    plain["stars"]["mars"]["stateVector"] = bad
    start = make_initial_conditions(plain, ["sun", "mars"])
    assert any("The start of Mars is accurate to 0.15 degrees" in note for note in start.notes)


@pytest.mark.parametrize("bad", ["0.2", [], 10**400])
def test_a_body_that_is_not_chosen_may_have_an_element_that_is_not_a_number(bad: Any) -> None:
    plain = systems.load_system("solar-system")
    chosen = ["sun", "jupiter", "saturn"]
    usual = make_initial_conditions(plain, chosen)
    plain["stars"]["neptune"]["kepler"]["eccentricity"] = bad
    # Only the motion since the instant of the vectors can differ: Neptune does not attract the others any more.
    assert make_initial_conditions(plain, chosen).positions == pytest.approx(usual.positions, abs=1e-4)


def test_notes_list_unknown_and_unmeasured_values() -> None:
    notes = " ".join(make_initial_conditions(systems.load_system("kepler-90")).notes)
    assert "The argument of periapsis of Kepler-90 g and Kepler-90 h is unknown" in notes
    assert "The eccentricity of Kepler-90 b" in notes
    assert "is an estimate" in notes
    notes = " ".join(make_initial_conditions(systems.load_system("alpha-centauri")).notes)
    assert "The inclination of Proxima Centauri d and Proxima Centauri b is unknown" in notes
    assert "(m sin i)" in notes


def test_a_selection_reports_that_elements_stay_attached_to_it() -> None:
    start = make_initial_conditions(system(), ["sun", "earth"])
    assert any("2 other bodies do not attract" in note for note in start.notes)
    assert start.orbited_mass[1] == 1 + 3.0e-6


def test_a_period_that_the_masses_do_not_give_is_noted() -> None:
    plain = system(earth={"kepler": {**EARTH, "period": 300.0}})
    start = make_initial_conditions(plain, ["sun", "earth"])
    assert any("300 days" in note and "365.25" in note for note in start.notes)
    assert np.linalg.norm(of(start, "earth")[1]) == pytest.approx(0.0172, rel=0.02)


def test_a_stated_period_is_used_where_the_axis_follows_from_it() -> None:
    plain = system(earth={"kepler": {**EARTH, "period": 300.0, "derived": "semiMajorAxis"}})
    start = make_initial_conditions(plain, ["sun", "earth"])
    axis = compute_jacobi_elements(start, start.positions, start.velocities).semi_major_axis[1]
    assert compute_period(axis, 1 + 3.0e-6) == pytest.approx(300.0)


@pytest.mark.parametrize(
    ("block", "energy"),
    [
        ({"eccentricity": 1.0, "q": 0.5}, 0.0),
        ({"eccentricity": 1.2, "semiMajorAxis": -2.0}, 1.0),
        ({"eccentricity": 1.2, "q": 0.4}, 1.0),
    ],
)
def test_open_orbits_start_too(block: dict[str, Any], energy: float) -> None:
    plain = system(40.0, rock={"kepler": {"units": "astronomical", "epoch": 10.0, **block}})
    start = make_initial_conditions(plain, ["sun", "rock"])
    found = compute_jacobi_elements(start, start.positions, start.velocities)
    assert found.eccentricity[1] == pytest.approx(block["eccentricity"], abs=1e-12)
    assert -1 / found.semi_major_axis[1] * 2 == pytest.approx(energy, abs=1e-10)


def test_bodies_between_chosen_ones_count_for_where_these_are() -> None:
    both, all_three = (
        make_initial_conditions(system(), ["sun", "moon"]),
        make_initial_conditions(system(), ["sun", "earth", "moon"]),
    )
    apart = of(all_three, "moon")[0] - of(all_three, "sun")[0]
    assert of(both, "moon")[0] - of(both, "sun")[0] == pytest.approx(apart, abs=1e-15)
    assert both.parents == (-1, 0)


def test_a_planet_and_its_moon_can_be_moved_without_the_star() -> None:
    start = make_initial_conditions(system(), ["earth", "moon"])
    assert start.parents == (-1, 0)
    assert start.orbited_mass[1] == pytest.approx(3.037e-6)


@pytest.mark.parametrize(
    ("body_id", "change", "field"),
    [
        ("earth", {"kepler": None}, "kepler"),
        ("earth", {"kepler": {**EARTH, "units": "scene", "period": 365}}, "kepler.units"),
        ("earth", {"kepler": {**EARTH, "eccentricity": 1.0}}, "kepler.semiMajorAxis"),
        ("moon", {"mass": None}, "mass"),
        ("moon", {"mass": -1}, "mass"),
        ("moon", {"mass": "heavy"}, "mass"),
        ("moon", {"mass": float("nan")}, "mass"),
        ("moon", {"parentId": None, "kepler": None}, "kepler"),
        ("moon", {"parentId": "nowhere"}, "parentId"),
        ("sun", {"parentId": "moon"}, "parentId"),
    ],
)
def test_a_body_with_a_missing_field_is_refused_with_a_remedy(body_id: str, change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        make_initial_conditions(system(0.0, **{body_id: change}), ["sun", "moon"])
    assert refused.value.ids["argument"] == field
    assert refused.value.hint.startswith(f"Set {field} to ")


def test_bodies_without_any_mass_are_refused() -> None:
    with pytest.raises(InvalidInput, match="mass"):
        make_initial_conditions(system(), ["rock"])
    massless = system(sun={"mass": 0}, earth={"mass": 0}, moon={"mass": 0})
    with pytest.raises(InvalidInput, match="mass"):
        make_initial_conditions(massless)


@pytest.mark.parametrize("ids", [[], ["sun", "sun"]])
def test_no_bodies_or_one_named_twice_are_refused(ids: list[str]) -> None:
    with pytest.raises(InvalidInput) as refused:
        make_initial_conditions(system(), ids)
    assert refused.value.ids["argument"] == "ids"
    assert ("'sun' is named twice" in str(refused.value)) is bool(ids)


def test_an_unknown_body_is_not_found_by_its_name() -> None:
    with pytest.raises(NotFound, match="'pluto'"):
        make_initial_conditions(system(), ["sun", "pluto"])


def test_an_empty_universe_is_refused() -> None:
    with pytest.raises(InvalidInput, match="This universe has no bodies, so gravity has no orbits to start from"):
        make_initial_conditions({"stars": {}, "time": 0})
