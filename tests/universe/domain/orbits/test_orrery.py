"""Positions of all bodies of a state by their rules and their parents."""

import json
import math
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain.orbits import orrery as orrery_module
from universe.domain.orbits.element_buffers import encode_elements
from universe.domain.orbits.kepler import Elements
from universe.domain.orbits.orrery import Orrery
from universe.domain.orbits.uniform_ellipses import compute_local_position, compute_orbit_path, compute_rogue_position
from uraniborg.kernel.errors import InvalidInput, NotFound

CIRCLE = {"orbitalDistance": 2.0, "orbitalSpeed": 90.0, "orbitalPhase": 0.0}
STRAIGHT = {"initialPosition": {"x": 1, "y": 2, "z": 3}, "velocity": {"x": 1, "y": 0, "z": -1}}
CURVED = {**STRAIGHT, "pathCurvature": 0.5, "semiMajorAxis": 7, "eccentricity": 0.3, "pathOffsetY": 5, "orbitRotX": 40}


def body(parent: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"parentId": parent, **CIRCLE, **fields}


def at(orrery: Orrery, body_id: str, t: float) -> list[float]:
    return orrery.compute_positions(t)[orrery.ids.index(body_id)].tolist()


def test_every_recorded_hierarchy_is_reproduced(shared_data: Path) -> None:
    recorded = json.loads((shared_data / "universe" / "orbits.json").read_text(encoding="utf-8"))["hierarchies"]
    assert len(recorded) == 30
    for hierarchy in recorded:
        orrery = Orrery(hierarchy["stars"])
        for moment in hierarchy["world"]:
            assert set(orrery.ids) == set(moment["positions"])
            for found, body_id in zip(orrery.compute_positions(moment["t"]), orrery.ids, strict=True):
                expected = moment["positions"][body_id]
                assert math.dist(found, expected) <= 1e-8 * (math.hypot(*expected) or 1.0), body_id


NUMBERS = st.floats(-500, 500, allow_subnormal=False)
OPTIONAL = ("semiMajorAxis", "orbitOffsetX", "orbitOffsetY", "orbitOffsetZ", "orbitRotX", "orbitRotY", "orbitRotZ")
PLAIN_BODY = st.fixed_dictionaries(
    {"orbitalDistance": NUMBERS.filter(bool), "orbitalSpeed": NUMBERS, "orbitalPhase": NUMBERS},
    optional={**dict.fromkeys(OPTIONAL, st.none() | NUMBERS), "eccentricity": st.none() | st.floats(-1, 1)},
)


@given(bodies=st.lists(PLAIN_BODY, max_size=6), t=NUMBERS)
def test_many_bodies_are_where_each_is_alone(bodies: list[dict[str, Any]], t: float) -> None:
    orrery = Orrery({str(place): one for place, one in enumerate(bodies)})
    assert orrery.unplaceable == {}
    for found, one in zip(orrery.compute_positions(t), bodies, strict=True):
        assert found == pytest.approx(compute_local_position(one, t), rel=1e-9, abs=1e-9)
    for body_id, one in zip(orrery.ids, bodies, strict=True):
        assert orrery.compute_path(body_id, 6) == pytest.approx(
            np.array(compute_orbit_path(one, 6)), rel=1e-9, abs=1e-9
        )


def test_no_orbital_distance_at_all_puts_a_body_where_its_parent_is() -> None:
    stars = {
        "top": body(),
        "on": body("top", orbitalDistance=0, semiMajorAxis=9, orbitOffsetX=3, orbitRotX=20, eccentricity=4),
        "moon": body("on", orbitalDistance=5, orbitalPhase=90),
        "kepler": body("top", orbitalDistance=0, kepler={"semiMajorAxis": 4, "period": 4}),
    }
    orrery = Orrery(stars)
    assert at(orrery, "on", 0.0) == at(orrery, "top", 0.0) == pytest.approx([2, 0, 0])
    assert at(orrery, "moon", 0.0) == pytest.approx([2, 0, 5])
    assert at(orrery, "kepler", 0.0) == pytest.approx([6, 0, 0])
    assert not orrery.compute_path("on", 4).any()


def test_rogue_planets_follow_their_own_rule() -> None:
    stars = {
        "straight": body(isRoguePlanet=True, roguePlanet=STRAIGHT),
        "curved": body(isRoguePlanet=True, roguePlanet=CURVED),
        "tame": body(isRoguePlanet=False, roguePlanet=STRAIGHT),
        "empty": body(isRoguePlanet=True, roguePlanet=None),
        "moon": body("curved"),
    }
    orrery = Orrery(stars)
    t = 123.25
    assert at(orrery, "straight", t) == pytest.approx(compute_rogue_position(STRAIGHT, t))
    assert at(orrery, "curved", t) == pytest.approx(compute_rogue_position(CURVED, t))
    assert at(orrery, "tame", t) == at(orrery, "empty", t) == pytest.approx(compute_local_position(CIRCLE, t))
    moon = np.add(compute_rogue_position(CURVED, t), compute_local_position(CIRCLE, t))
    assert at(orrery, "moon", t) == pytest.approx(moon)


def test_paths_of_rogue_planets_pass_through_their_positions() -> None:
    orrery = Orrery(
        {
            "straight": body(isRoguePlanet=True, roguePlanet={**STRAIGHT, "trajectoryPastWindow": 20}),
            "curved": body(isRoguePlanet=True, roguePlanet=CURVED),
        }
    )
    assert orrery.compute_path("straight", 12)[1] == pytest.approx(compute_rogue_position(STRAIGHT, 10))
    assert orrery.compute_path("straight", 12)[-1] == pytest.approx(compute_rogue_position(STRAIGHT, 120))
    assert orrery.compute_path("curved", 7)[1] == pytest.approx(compute_rogue_position(CURVED, 5))


def test_bodies_with_a_kepler_block_are_on_true_orbits() -> None:
    block = {"semiMajorAxis": 5, "eccentricity": 0.6, "period": 50, "inclination": 30, "meanAnomaly": 77, "epoch": 9}
    orrery = Orrery({"top": body(), "x": body("top", kepler=block), "moon": body("x", kepler=None)})
    true = Elements(5, 0.6, period=50, inclination=30, mean_anomaly=77, epoch=9)
    x = true.compute_positions(31.0)[0] + compute_local_position(CIRCLE, 31.0)
    assert at(orrery, "x", 31.0) == pytest.approx(x)
    assert at(orrery, "moon", 31.0) == pytest.approx(x + compute_local_position(CIRCLE, 31.0))
    assert orrery.compute_path("x").shape == (129, 3)
    assert orrery.compute_path("x", 2)[0] == pytest.approx(true.compute_positions(9 - 50 * 77 / 360)[0], abs=1e-12)


def test_a_body_without_a_position_is_reported_with_its_satellites_and_other_bodies_are_unaffected() -> None:
    stars = {
        "good": body(),
        "wide": body("good", eccentricity=1.5),
        "moon": body("wide"),
        "moonlet": body("moon", kepler={"semiMajorAxis": 1, "period": 1}),
        "text": body(orbitalSpeed="fast"),
        "open": body(kepler={"semiMajorAxis": 1, "eccentricity": 1.2, "period": 5}),
        "lost": body(isRoguePlanet=True, roguePlanet={"velocity": {"x": 0, "y": 0, "z": 0}}),
        "hasty": body(isRoguePlanet=True, roguePlanet={**CURVED, "pathPeriod": 0}),
        "flung": body(isRoguePlanet=True, roguePlanet={**CURVED, "eccentricity": 2}),
        "late": body("good"),
    }
    orrery = Orrery(stars)
    assert set(orrery.unplaceable) == set(stars) - {"good", "late"}
    for body_id, word in {
        "wide": "eccentricity",
        "moon": "'wide'",
        "moonlet": "'moon'",
        "text": "orbitalSpeed",
        "open": "kepler.semiMajorAxis",
        "lost": "initialPosition",
        "hasty": "pathPeriod is 0",
        "flung": "eccentricity",
    }.items():
        assert word in orrery.unplaceable[body_id]
        assert np.isnan(at(orrery, body_id, 1.0)).all()
    assert np.isnan(orrery.compute_path("wide")).all()
    assert np.isfinite(orrery.compute_path("moon")).all()
    assert at(orrery, "late", 1.0) == pytest.approx(np.multiply(compute_local_position(CIRCLE, 1.0), 2))


@pytest.mark.parametrize("value", [10**400, math.nan, math.inf, True, "2", {}])
def test_one_value_that_is_not_a_number_costs_only_its_own_body(value: object) -> None:
    orrery = Orrery({"bad": body(orbitRotX=value), "good": body()})
    assert "orbitRotX" in orrery.unplaceable["bad"]
    assert list(orrery.unplaceable) == ["bad"]
    assert at(orrery, "good", 0.5) == pytest.approx(compute_local_position(CIRCLE, 0.5))


def test_missing_fields_of_a_partial_body_count_as_none() -> None:
    orrery = Orrery({"bare": {}, "axis": {"semiMajorAxis": 3}, "nulls": dict.fromkeys(CIRCLE)})
    assert orrery.compute_positions(4.0).tolist() == [[0, 0, 0], [3, 0, 0], [0, 0, 0]]


def test_parents_that_do_not_exist_count_as_the_origin_and_rings_count_each_member_once() -> None:
    orrery = Orrery(
        {
            "orphan": body("nowhere"),
            "self": body("self"),
            "one": body("two", orbitalDistance=1),
            "two": body("one", orbitalDistance=10),
            "hanging": body("one", orbitalDistance=100),
        }
    )
    assert orrery.compute_positions(0.0)[:, 0].tolist() == [2, 2, 11, 11, 111]


def test_a_chain_a_hundred_thousand_deep_is_placed() -> None:
    depth = 100_000
    parents = [None, *(str(place) for place in range(depth - 1))]
    orrery = Orrery({str(place): body(parent) for place, parent in enumerate(parents)})
    found = orrery.compute_positions(0.0)
    assert found[-1].tolist() == [2 * depth, 0, 0]
    assert found[depth // 3].tolist() == [2 * (depth // 3 + 1), 0, 0]


ANY: st.SearchStrategy[Any] = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers()
BLOCK = ("semiMajorAxis", "eccentricity", "inclination", "meanAnomaly", "epoch", "period")
ANY_BODY: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"parentId": st.sampled_from(["0", "1", "2", None])},
    optional={
        **dict.fromkeys((*CIRCLE, *OPTIONAL, "eccentricity", "mass"), ANY),
        "kepler": st.fixed_dictionaries({}, optional={**dict.fromkeys(BLOCK, ANY), "units": st.just("astronomical")}),
        "isRoguePlanet": st.booleans(),
        "roguePlanet": st.fixed_dictionaries(
            {
                "initialPosition": st.just({"x": 1e308, "y": 0, "z": 0}),
                "velocity": st.just({"x": 1e308, "y": 0, "z": 0}),
            },
            optional=dict.fromkeys(("pathCurvature", "pathPeriod", "semiMajorAxis", "eccentricity"), ANY),
        ),
    },
)


@given(bodies=st.lists(ANY_BODY, max_size=3), t=st.floats(allow_nan=False, allow_infinity=False))
def test_no_finite_numbers_make_it_fail_or_warn(bodies: list[dict[str, Any]], t: float) -> None:
    orrery = Orrery({str(place): one for place, one in enumerate(bodies)})
    found = orrery.compute_positions(t)
    assert found.shape == (len(bodies), 3)
    for row, body_id in zip(found, orrery.ids, strict=True):
        assert np.isnan(row).all() or (np.isfinite(row).all() and body_id not in orrery.unplaceable)
        path = orrery.compute_path(body_id, 3)
        assert path.shape == (4, 3)
        assert not np.isinf(path).any()


def test_an_angle_beyond_all_numbers_leaves_only_its_body_without_a_position() -> None:
    found = Orrery({"mad": body(orbitalSpeed=1e300), "good": body()}).compute_positions(1e300)
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()


def test_nothing_is_at_no_places() -> None:
    assert Orrery({}).compute_positions(1.0).shape == (0, 3)


@pytest.mark.parametrize("t", [math.nan, math.inf, -math.inf])
def test_a_time_that_is_not_a_moment_is_refused(t: float) -> None:
    with pytest.raises(InvalidInput, match="time"):
        Orrery({"a": body()}).compute_positions(t)


def test_the_path_of_an_unknown_body_is_not_found() -> None:
    with pytest.raises(NotFound, match="'ghost'"):
        Orrery({"a": body()}).compute_path("ghost")
    with pytest.raises(InvalidInput, match="segments"):
        Orrery({"a": body()}).compute_path("a", 0)


class TestUpdate:
    """An orrery updated for changed bodies gives the positions of one prepared anew."""

    CHANGES: ClassVar[list[dict[str, Any]]] = [
        {"name": "renamed"},
        {"mass": 3.0},
        {"orbitalSpeed": 7.0},
        {"parentId": None},
        {"parentId": "b2"},
        {"kepler": {"semiMajorAxis": 2.0, "eccentricity": 0.4, "period": 30.0}},
        {"kepler": {"semiMajorAxis": 2.0, "units": "astronomical"}},
        {"kepler": {"semiMajorAxis": -2.0, "eccentricity": 1.4, "period": 30.0}},
        {"kepler": {"semiMajorAxis": -2.0, "eccentricity": 0.4, "period": 30.0}},
        {"isRoguePlanet": True, "roguePlanet": STRAIGHT},
        {"kepler": None, "isRoguePlanet": False, "eccentricity": 0.5},
    ]

    @pytest.mark.parametrize("order", range(12))
    def test_any_sequence_of_changes_leads_to_the_same_positions(self, order: int) -> None:
        random = Random(order)
        stars = {f"b{number}": _make_child(number) for number in range(30)}
        orrery = Orrery(stars)
        for _ in range(40):
            after = dict(stars)
            touched = random.sample(list(stars), random.choice((1, 1, 1, 2, 5)))
            for key in touched:
                change = random.choice(self.CHANGES)
                if change.get("parentId") != key:
                    after[key] = {**stars[key], **change}
            orrery, stars = orrery.update(stars, after, touched), after
            anew = Orrery(stars)
            np.testing.assert_array_equal(orrery.compute_positions(12.5), anew.compute_positions(12.5))
            assert orrery.unplaceable == anew.unplaceable
            np.testing.assert_array_equal(orrery.compute_path(touched[0]), anew.compute_path(touched[0]))

    @pytest.mark.parametrize("order", range(4))
    def test_bodies_added_removed_and_put_back_are_where_an_orrery_prepared_anew_has_them(self, order: int) -> None:
        random = Random(order)
        stars = {f"b{number}": _make_child(number) for number in range(30)}
        orrery = Orrery(stars)
        for _ in range(60):
            after, touched = dict(stars), set[str]()
            for key in random.sample([f"b{number}" for number in range(35)], random.choice((1, 2, 4))):
                touched.add(key)
                if key not in after:
                    after[key] = _make_child(int(key[1:])) | random.choice(self.CHANGES)
                elif random.random() < 0.5:
                    del after[key]
                else:
                    after[key] = {**after[key], **random.choice(self.CHANGES)}
            if random.random() < 0.2:  # the undo of a removal puts a body back between others
                after = dict(sorted(after.items()))
            orrery, stars = orrery.update(stars, after, touched, list(after)), after
            anew = Orrery(stars)
            assert orrery.ids == anew.ids
            np.testing.assert_array_equal(orrery.parents, anew.parents)
            np.testing.assert_array_equal(orrery.compute_positions(12.5), anew.compute_positions(12.5))
            assert orrery.unplaceable == anew.unplaceable
            for key in touched & stars.keys():
                np.testing.assert_array_equal(orrery.compute_path(key), anew.compute_path(key))
            for key in touched - stars.keys():
                with pytest.raises(NotFound):
                    orrery.compute_path(key)
            radii = [1.0] * len(stars)
            assert encode_elements(orrery, radii, version=1, time=0) == encode_elements(anew, radii, version=1, time=0)

    def test_only_bodies_that_were_added_are_prepared(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stars = {f"b{number}": _make_child(number) for number in range(500)}
        orrery = Orrery(stars)
        prepared: list[int] = []
        read = orrery_module.read_ellipses

        def count_bodies(bodies: Any) -> Any:
            prepared.append(len(bodies))
            return read(bodies)

        monkeypatch.setattr(orrery_module, "read_ellipses", count_bodies)
        for key in ("c1", "c2"):
            after = {**stars, key: _make_child(7)}
            orrery, stars = orrery.update(stars, after, [key], list(after)), after
        for key in ("b499", "c1"):
            after = {one: body for one, body in stars.items() if one != key}
            orrery, stars = orrery.update(stars, after, [key], list(after)), after
        assert prepared == [1, 2, 2, 1]
        assert "c2" in orrery.ids
        assert len(orrery.compute_positions(0.0)) == 500

    def test_a_new_name_changes_nothing(self) -> None:
        stars = {f"b{number}": _make_child(number) for number in range(3)}
        orrery = Orrery(stars)
        assert orrery.update(stars, {**stars, "b1": {**stars["b1"], "name": "new"}}, ["b1"]) is orrery

    def test_only_the_changed_body_is_prepared_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stars = {f"b{number}": _make_child(number) for number in range(500)}
        orrery = Orrery(stars)
        prepared: list[int] = []
        read = orrery_module.read_ellipses

        def count_bodies(bodies: Any) -> Any:
            prepared.append(len(bodies))
            return read(bodies)

        monkeypatch.setattr(orrery_module, "read_ellipses", count_bodies)
        for number in range(70):
            after = {**stars, f"b{number}": {**stars[f"b{number}"], "orbitalSpeed": 9.0}}
            orrery, stars = orrery.update(stars, after, [f"b{number}"]), after
        assert prepared == [*range(1, 65), 500, *range(1, 6)]


def _make_child(number: int) -> dict[str, Any]:
    return {
        "mass": 1.0 + number,
        "parentId": None if number == 0 else f"b{number // 3}",
        "orbitalDistance": 1.0 + number,
        "orbitalSpeed": 2.0,
        "orbitalPhase": 10.0 * number,
    }
