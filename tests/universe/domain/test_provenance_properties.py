"""No value carries a source that does not support exactly this value, whatever commands are sent."""

import math
from copy import deepcopy
from functools import cache
from typing import Any, Final, cast

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.universe.domain.samples import a_payload
from universe.domain import systems
from universe.domain.command_parser import parse_command
from universe.domain.orbits.jacobi_hierarchy import compute_orbited_mass
from universe.domain.provenance.provenance_tracking import ChangeOrigin, update_replaced_state_provenance
from universe.domain.reducer import reduce
from universe.domain.state import State, make_state_from_plain, parse_state
from universe.domain.units_and_dates import AU_IN_METRES, SOLAR_MASS_IN_KG

Json = dict[str, Any]
Pair = tuple[str, str, str]
"""A body, a source and a field that the source supports."""

ORBITAL: Final = ("kepler", "orbital", "orbit", "semiMajorAxis", "eccentricity")
FIELDS: Final = (
    *("mass", "radius", "physical.massKg", "physical.radiusKm", "physical", "kepler", "kepler.period"),
    *("kepler.semiMajorAxis", "kepler.eccentricity", "orbitalDistance", "orbitalSpeed", "orbitOffsetX", "nothing"),
)
SOURCES: Final = ("agol-2021", "paper-a", "paper-b")
BASES: Final[dict[str, tuple[str, ...]]] = {
    "physical.massKg": ("mass",),
    "physical.radiusKm": ("radius",),
    "orbitalDistance": ("kepler.semiMajorAxis",),
    "semiMajorAxis": ("kepler.semiMajorAxis",),
    "eccentricity": ("kepler.eccentricity",),
    "orbitalSpeed": ("kepler.period",),
    "orbitalPhase": ("kepler.meanAnomaly", "kepler.eccentricity"),
    "orbitRotX": ("kepler.inclination", "kepler.longitudeOfAscendingNode", "kepler.argumentOfPeriapsis"),
    "orbitOffsetX": ("kepler.semiMajorAxis", "kepler.eccentricity", "kepler.argumentOfPeriapsis"),
}
"""Values from which values of the shipped systems were computed."""


@cache
def system(name: str) -> State:
    return parse_state(systems.load_system(name))


def made_up() -> State:
    stars = {
        "sun": {
            **a_payload(None),
            "id": "sun",
            "children": ["one", "two"],
            "mass": 1.0,
            "sources": [source("paper-a", "mass")],
        },
        "one": a_planet("one", 1.0, [source("paper-a", "kepler", "mass"), source("paper-b", "mass")]),
        "two": a_planet("two", 4.0, [source("paper-b", "kepler.period", "kepler.semiMajorAxis", "radius")]),
    }
    return parse_state({"stars": stars, "rootIds": ["sun"]})


def a_planet(key: str, axis: float, sources: list[Json]) -> Json:
    kepler = {"units": "astronomical", "semiMajorAxis": axis, "period": 365.0 * axis**1.5, "derived": "semiMajorAxis"}
    return {**a_payload("sun"), "id": key, "children": [], "mass": 1e-3, "kepler": kepler, "sources": sources}


def source(key: str, *fields: str) -> Json:
    return {"id": key, "title": key, "fields": list(fields)}


def _source_of(key: str, fields: list[str]) -> Json:
    return source(key, *fields)


numbers = st.sampled_from([0.0, 1e-6, 0.5, 1.0, 2.0, 3])
kepler_patches = st.dictionaries(
    st.sampled_from(["semiMajorAxis", "period", "eccentricity", "meanAnomaly", "argumentOfPeriapsis", "derived"]),
    st.sampled_from([0.25, 0.5, 0.75]),
    max_size=3,
)
sources = st.lists(
    st.builds(_source_of, st.sampled_from(SOURCES), st.lists(st.sampled_from(FIELDS))),
    max_size=2,
)
physical: st.SearchStrategy[Json] = st.fixed_dictionaries({}, optional={"massKg": numbers, "radiusKm": numbers})
patches: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {},
    optional={
        "mass": numbers,
        "radius": numbers,
        "orbitalDistance": numbers,
        "orbitOffsetX": numbers,
        "nothing": numbers,
        "parentId": st.none() | st.sampled_from(["sun", "trappist-1"]),
        "physical": physical,
        "setBy": st.just({"mass": {"by": "a forger"}}),
        "sources": st.none() | sources,
    },
)


def value_of(body: Json, field: str) -> Any:
    value: Any = body
    for name in field.split("."):
        value = cast("Json", value).get(name) if isinstance(value, dict) else None
    return value


def pairs_of(state: State) -> set[Pair]:
    return {
        (key, one["id"], field)
        for key, body in state.stars.items()
        for one in body.get("sources") or ()
        for field in one.get("fields") or ()
    }


class Support:
    """A value when a source was attached to it, with the values it was computed from."""

    def __init__(self, state: State, key: str, field: str) -> None:
        body = state.stars[key]
        self.value = deepcopy(value_of(body, field))
        self.parent = body["parentId"]
        self.basis = {name: value_of(body, name) for name in bases(state, key, field)}
        self.mass = compute_orbited_mass(state.stars, key) if is_third_law(body, field) else None

    def holds(self, state: State, key: str, field: str) -> bool:
        body = state.stars[key]
        if not equal(self.value, value_of(body, field)):
            return False
        if field.startswith(ORBITAL) and self.parent != body["parentId"]:
            return False
        if self.mass is not None and is_third_law(body, field) and self.mass != compute_orbited_mass(state.stars, key):
            return False
        is_still = (equal(value_of(body, name), was) for name, was in self.basis.items())
        return all(is_still) or (field not in ("physical.massKg", "physical.radiusKm") and not body.get("kepler"))


def is_third_law(body: Json, field: str) -> bool:
    return field in ("kepler.semiMajorAxis", "kepler.period") and value_of(body, "kepler.derived") == field[7:]


def bases(state: State, key: str, field: str) -> tuple[str, ...]:
    """Return the fields that this value was computed from, or () if it was not computed."""
    body = state.stars[key]
    names = BASES.get(field, ())
    if value_of(body, field) is None:
        return ()
    if key in ("sun", "one", "two") and field != "orbitOffsetX":
        return ()
    if len(names) == 1 and not is_computed(body, field, names[0]):
        return ()
    return names


def is_computed(body: Json, field: str, basis: str) -> bool:
    value, of = value_of(body, field), value_of(body, basis)
    if not isinstance(value, (int, float)) or not isinstance(of, (int, float)) or not of:
        return False
    magnification = value_of(body, "physical.displayMagnification") or 1
    expected = {
        "orbitalSpeed": 360 / of,
        "physical.massKg": of * SOLAR_MASS_IN_KG,
        "physical.radiusKm": of / magnification * AU_IN_METRES / 1000,
    }
    return math.isclose(value, expected.get(field, of), rel_tol=1e-9)


def equal(one: Any, other: Any) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


class Citations(RuleBasedStateMachine):
    """Bodies whose citations are followed beside the reducer."""

    def __init__(self) -> None:
        super().__init__()
        self.state = State()
        self.support: dict[Pair, Support] = {}
        self.changed: dict[tuple[str, str], int] = {}
        self.past: list[tuple[State, dict[Pair, Support], dict[tuple[str, str], int]]] = []

    @initialize(name=st.sampled_from(["trappist-1", "alpha-centauri", "solar-system", None]))
    def begin(self, name: str | None) -> None:
        self.state = made_up() if name is None else system(name)
        self.support = {pair: Support(self.state, pair[0], pair[2]) for pair in pairs_of(self.state)}

    @rule(data=st.data(), patch=patches, kepler=st.none() | kepler_patches, wipes=st.booleans())
    def update(self, data: st.DataObject, patch: Json, kepler: Json | None, wipes: bool) -> None:
        key = self.some_body(data)
        old = self.state.stars[key].get("kepler")
        if kepler is not None and old:
            merged = {**old, **kepler}
            if "derived" in kepler:
                merged["derived"] = "period" if wipes else None
            patch = {**patch, "kepler": merged}
        self.send({"type": "updateStar", "id": key, "payload": patch}, attached=patch.get("sources") or [], key=key)

    @rule(data=st.data(), patch=patches)
    def replace(self, data: st.DataObject, patch: Json) -> None:
        key = self.some_body(data)
        body = {name: value for name, value in self.state.stars[key].items() if name not in ("id", "children")}
        self.send({"type": "addStar", "id": key, "payload": body | patch}, whole=[key])

    @rule(data=st.data(), new=sources)
    def add(self, data: st.DataObject, new: list[Json]) -> None:
        parent = self.some_body(data)
        payload = {**a_payload(parent), "mass": 0.1, "sources": new}
        self.send({"type": "addStar", "id": f"new-{len(self.state.stars)}", "payload": payload}, whole=True)

    @rule(data=st.data())
    def attach(self, data: st.DataObject) -> None:
        self.send({"type": "attachStar", "childId": self.some_body(data), "parentId": self.some_body(data)})

    @rule(data=st.data())
    def detach(self, data: st.DataObject) -> None:
        self.send({"type": "detachStar", "childId": self.some_body(data)})

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        key = self.some_body(data)
        if len(self.state.stars) > 1 and not self.state.stars[key]["children"]:
            self.send({"type": "removeStar", "id": key})

    @rule(data=st.data())
    def give_a_ring(self, data: st.DataObject) -> None:
        self.send({"type": "updateRing", "planetId": self.some_body(data), "patch": {"opacity": 0.5}})

    @rule(data=st.data(), patch=patches, as_command=st.booleans())
    def replace_everything(self, data: st.DataObject, patch: Json, as_command: bool) -> None:
        plain: Any = deepcopy(self.state.to_plain())
        patch.pop("parentId", None)
        key = self.some_body(data)
        plain["stars"][key] |= patch
        if as_command:
            del plain["time"]
            self.send({"type": "replaceSnapshot", "snapshot": plain}, whole=True)
        else:
            self.follow(
                update_replaced_state_provenance(
                    self.state, make_state_from_plain(plain), ChangeOrigin(len(self.past) + 1, "put")
                ),
                whole=True,
            )

    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        if self.past:
            at = data.draw(st.integers(0, len(self.past) - 1))
            self.past.append((self.state, self.support, self.changed))
            self.state, self.support, self.changed = self.past[at]

    @invariant()
    def every_source_supports_exactly_the_value_that_is_there(self) -> None:
        for pair in pairs_of(self.state):
            key, _, field = pair
            assert pair in self.support, pair
            found = self.support[pair]
            assert found.holds(self.state, key, field), (pair, vars(found), self.state.stars[key])

    @invariant()
    def every_record_is_of_the_last_change_of_its_value(self) -> None:
        for key, body in self.state.stars.items():
            records: dict[str, Json] = body.get("setBy") or {}
            for field, record in records.items():
                assert record["by"] in ("a tester", "put"), (key, field, record)
                assert record["version"] >= self.changed.get((key, field), 0), (key, field, record)
                assert set(record.get("sources", ())) <= {one["id"] for one in body.get("sources") or ()}, (key, field)

    def some_body(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.state.stars)))

    def send(self, command: Json, *, attached: list[Json] = [], key: str = "", whole: Any = False) -> None:  # noqa: B006
        outcome = reduce(self.state, parse_command(command), ChangeOrigin(len(self.past) + 1, "a tester"))
        if not outcome.is_refused:
            given = {(key, one["id"], field) for one in attached for field in one["fields"]}
            self.follow(outcome.state, given, whole=bool(whole))

    def follow(self, after: State, given: set[Pair] | None = None, *, whole: bool = False) -> None:
        self.past.append((self.state, self.support, self.changed))
        before = {pair: self.support[pair] for pair in pairs_of(self.state)}
        self.changed = dict(self.changed)
        for key, body in after.stars.items():
            old = self.state.stars.get(key, {})
            for field in FIELDS:
                if not equal(value_of(old, field), value_of(body, field)):
                    self.changed[key, field] = len(self.past)
        self.state = after
        self.support = {}
        for pair in pairs_of(after):
            if pair in (given or ()) or (whole and pair not in before):
                self.support[pair] = Support(after, pair[0], pair[2])
            elif pair in before:
                self.support[pair] = before[pair]


def test_no_value_carries_a_source_that_does_not_support_it() -> None:
    run_state_machine_as_test(  # pyright: ignore[reportUnknownMemberType]
        Citations, settings=settings(max_examples=60, stateful_step_count=12, deadline=None)
    )
