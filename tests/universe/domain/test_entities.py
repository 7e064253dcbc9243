"""The fields of entities, and which of them are required."""

from typing import Any, Final

import pytest

from tests.universe.domain.samples import POSITION, RING, Json, a_body, add_star, command, parse
from universe.domain import entities
from universe.domain.command_parser import parse_command
from universe.domain.state import parse_state
from universe.errors import MalformedCommand, MalformedState


def names(text: str) -> set[str]:
    return set(text.split())


PARTICLES: Final = (
    "id systemId innerRadius outerRadius thickness particleCount baseColor highlightColor opacity brightness "
    "clumpiness rotationSpeedMultiplier seed style "
)
REQUIRED: Final[dict[str, set[str]]] = {
    "Position": names("x y z"),
    "PlanetaryRing": set(RING),
    "CometMeta": names(
        "isPeriodic perihelionDistance aphelionDistance hasTail tailLengthBase tailWidthBase tailColor tailOpacityBase "
        "activityFalloffDistance"
    ),
    "LagrangePointMeta": names("primaryId secondaryId pointIndex stable pairType"),
    "BlackHoleProperties": names(
        "hasAccretionDisk hasRelativisticJet hasPhotonRing spin shadowRadius accretionInnerRadius accretionOuterRadius "
        "diskThickness diskBrightness diskOpacity diskTemperature diskClumpiness jetLength jetOpeningAngle "
        "jetBrightness dopplerBeamingStrength lensingStrength rotationSpeedMultiplier seed"
    ),
    "RoguePlanetMeta": names("seed initialPosition velocity"),
    "Star": names("id name mass radius color children parentId orbitalDistance orbitalSpeed orbitalPhase"),
    "StarPayload": names("name mass radius color parentId orbitalDistance orbitalSpeed"),
    "GroupChild": names("id type"),
    "Group": names("id name children parentGroupId"),
    "GroupPayload": names("name children parentGroupId"),
    "AsteroidBelt": names(
        "id name parentId innerRadius outerRadius thickness eccentricity inclination asteroidCount asteroidIds"
    ),
    "SmallBodyField": names(PARTICLES + "hostStarId beltType regionLabel isIcy"),
    "ProtoplanetaryDisk": names(PARTICLES + "centralStarId"),
    "NebulaRegion": names(
        "id name position radius density brightness baseColor accentColor noiseScale noiseDetail seed"
    ),
}
_BODY_OPTIONS: Final = (
    "bodyType ring comet lagrangePoint blackHole parentBeltId asteroidSubType lagrangeHostId isRoguePlanet roguePlanet "
    "semiMajorAxis eccentricity orbitOffsetX orbitOffsetY orbitOffsetZ orbitRotX orbitRotY orbitRotZ kepler sources "
    "setBy stateVector "
)
OPTIONAL: Final[dict[str, set[str]]] = {
    "Position": set(),
    "PlanetaryRing": names("warpFactor seed"),
    "CometMeta": names("lastPerihelionTime seed"),
    "LagrangePointMeta": names("label"),
    "BlackHoleProperties": names(
        "diskTurbulenceScale diskInnerColor diskOuterColor diskStreakiness jetBaseColor jetTipColor jetGradientPower "
        "photonRingMultiImageCount photonRingWidth diskTilt diskTiltAxisAngle"
    ),
    "RoguePlanetMeta": names(
        "colorOverride pathCurvature semiMajorAxis eccentricity pathOffsetX pathOffsetY pathOffsetZ orbitRotX "
        "orbitRotY orbitRotZ pathPeriod showTrajectory trajectoryPastWindow trajectoryFutureWindow"
    ),
    "Star": names(_BODY_OPTIONS),
    "StarPayload": names(_BODY_OPTIONS + "orbitalPhase"),
    "GroupChild": set(),
    "Group": names("color icon position"),
    "GroupPayload": names("color icon position"),
    "AsteroidBelt": names("color beltType regionLabel isIcy inclinationSigma radialRangeHint lodLevel visible seed"),
    "SmallBodyField": names("inclinationSigma name visible"),
    "ProtoplanetaryDisk": names(
        "name bandStrength bandFrequency gapSharpness innerGlowStrength noiseScale noiseStrength spiralStrength "
        "spiralArmCount edgeSoftness temperatureGradient"
    ),
    "NebulaRegion": names("dimensions associatedGroupIds visible"),
}
COMET: Final[Json] = {
    "isPeriodic": True,
    "perihelionDistance": 1,
    "aphelionDistance": 30.5,
    "hasTail": False,
    "tailLengthBase": 4,
    "tailWidthBase": 0.5,
    "tailColor": "#abcdef",
    "tailOpacityBase": 0.5,
    "activityFalloffDistance": 10,
}
LAGRANGE: Final[Json] = {
    "primaryId": "sun",
    "secondaryId": "earth",
    "pointIndex": 4,
    "stable": True,
    "pairType": "starPlanet",
}
BLACK_HOLE: Final[Json] = {
    name: True if name.startswith("has") else "s" if name == "seed" else 0.5 for name in REQUIRED["BlackHoleProperties"]
}
ROGUE: Final[Json] = {"seed": 3, "initialPosition": POSITION, "velocity": POSITION}
VECTOR: Final[Json] = {"epoch": 0.0, "position": [1.0, 0.0, 0.0], "velocity": [0.0, 0.017, 0.0]}
KEPLER: Final[Json] = {"semiMajorAxis": 1.5, "period": 300}
SOURCE: Final[Json] = {"id": "tycho1602", "title": "Mechanica", "authors": ["Brahe, Tycho"], "year": 1602}
BLOCKS: Final = {
    "ring": RING,
    "comet": COMET,
    "lagrangePoint": LAGRANGE,
    "blackHole": BLACK_HOLE,
    "roguePlanet": ROGUE,
    "kepler": KEPLER,
    "stateVector": VECTOR,
}


def refusal_of(**facts: Any) -> MalformedCommand:
    with pytest.raises(MalformedCommand) as caught:
        parse_command(add_star("x", None, **facts))
    return caught.value


@pytest.mark.parametrize("entity", REQUIRED)
def test_an_entity_has_the_fields_of_the_domain_and_needs_those_it_must(entity: str) -> None:
    kind = getattr(entities, entity)
    assert kind.__required_keys__ == REQUIRED[entity]
    assert kind.__optional_keys__ == OPTIONAL[entity]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_of_a_body_is_taken_whole_and_refused_without_any_field_it_needs(block: str) -> None:
    whole = BLOCKS[block]
    assert parse(add_star("x", None, **{block: whole}))["payload"][block] == whole
    # The fields of an orbit are needed together and not each by itself.
    for name in whole if block != "kepler" else ():
        broken = {key: value for key, value in whole.items() if key != name}
        assert refusal_of(**{block: broken}).ids["path"] == f"payload.{block}.{name}"


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_keeps_unknown_fields_and_may_be_null(block: str) -> None:
    odd = {**BLOCKS[block], "ours": {"deep": [None]}}
    assert parse(add_star("x", None, **{block: odd}))["payload"][block] == odd
    assert parse(add_star("x", None, **{block: None}))["payload"][block] is None


@pytest.mark.parametrize("seed", ["hven", "", 7, 7.5, 0, -1])
def test_a_seed_is_text_or_a_number(seed: Any) -> None:
    ring = {**RING, "seed": seed}
    assert parse(add_star("x", None, ring=ring))["payload"]["ring"] == ring


@pytest.mark.parametrize("index", [1, 5, 4.0, 1.0])
def test_a_lagrange_point_is_a_whole_number_however_it_is_written(index: float) -> None:
    point = parse(add_star("x", None, lagrangePoint={**LAGRANGE, "pointIndex": index}))["payload"]
    assert point["lagrangePoint"]["pointIndex"] == index
    assert type(point["lagrangePoint"]["pointIndex"]) is type(index)


@pytest.mark.parametrize("index", [0, 6, -1, 2.5, 5.000001, 0.0, "4", True, None])
def test_there_are_five_lagrange_points(index: Any) -> None:
    error = refusal_of(lagrangePoint={**LAGRANGE, "pointIndex": index})
    assert error.ids["path"] == "payload.lagrangePoint.pointIndex"


@pytest.mark.parametrize("value", ["sun", "", 5, True, []])
def test_a_choice_is_one_of_its_words_and_the_refusal_lists_them(value: Any) -> None:
    error = refusal_of(bodyType=value)
    assert error.ids["path"] == "payload.bodyType"
    for word in ("star", "planet", "moon", "asteroid", "comet", "lagrangePoint", "blackHole"):
        assert f"'{word}'" in error.ids["allowed"]


def test_numbers_outside_their_usual_range_are_accepted() -> None:
    """From 0 to 1 is advice: nothing recorded enforces it."""
    ring = {**RING, "opacity": 7, "density": -3}
    assert parse(add_star("x", None, ring=ring, eccentricity=4))["payload"]["ring"] == ring


@pytest.mark.parametrize(
    ("facts", "path"),
    [
        ({"semiMajorAxis": "1"}, "payload.kepler.semiMajorAxis"),
        ({"q": 0, "semiMajorAxis": None}, "payload.kepler.q"),
        ({"osculatingPeriod": 0}, "payload.kepler.osculatingPeriod"),
        ({"derived": "mass"}, "payload.kepler.derived"),
        ({"eccentricity": -0.1}, "payload.kepler.eccentricity"),
        ({"period": 0}, "payload.kepler.period"),
        ({"units": "parsec"}, "payload.kepler.units"),
        ({"epoch": "now"}, "payload.kepler.epoch"),
    ],
)
def test_a_field_of_a_true_orbit_is_refused_by_its_path(facts: Json, path: str) -> None:
    error = refusal_of(kepler={**KEPLER, **facts})
    assert error.ids["path"] == path


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"semiMajorAxis": 0}, "needs a semiMajorAxis above 0, or an eccentricity above 1."),
        ({"semiMajorAxis": -1}, "needs a semiMajorAxis above 0, or an eccentricity above 1."),
        ({"semiMajorAxis": None}, "needs a semiMajorAxis, or q, the periapsis distance."),
        ({"q": 1}, "has both semiMajorAxis and q, the periapsis distance: leave one out."),
        ({"eccentricity": 1.5}, "needs a semiMajorAxis below 0, because its eccentricity is above 1."),
        (
            {"eccentricity": 1},
            "needs q, the periapsis distance, instead of semiMajorAxis, because its eccentricity is 1.",
        ),
        (
            {"eccentricity": 1, "semiMajorAxis": None},
            "needs q, the periapsis distance, because its eccentricity is 1.",
        ),
    ],
)
def test_the_fields_of_a_true_orbit_must_describe_one_together(facts: Json, problem: str) -> None:
    error = refusal_of(kepler={**KEPLER, **facts})
    assert error.ids["path"] == "payload.kepler"
    assert error.message == f"payload.kepler {problem}"


@pytest.mark.parametrize(
    "facts",
    [
        {"eccentricity": 1.5, "semiMajorAxis": -2},
        {"eccentricity": 1.5, "q": 1},
        {"eccentricity": 1, "q": 1},
        {"eccentricity": 0.5, "q": 1, "semiMajorAxis": None},
        {"q": 1},
        {"semiMajorAxis": 1, "q": None, "osculatingPeriod": 299, "derived": "semiMajorAxis"},
    ],
)
def test_ellipses_parabolas_and_hyperbolas_are_taken_as_they_come(facts: Json) -> None:
    orbit = {"period": 300, **facts}
    assert parse(add_star("x", None, kepler=orbit))["payload"]["kepler"] == orbit


def test_a_true_orbit_in_astronomical_units_may_leave_its_period_to_the_masses() -> None:
    orbit = {"semiMajorAxis": 1, "units": "astronomical"}
    assert parse(add_star("x", None, kepler=orbit))["payload"]["kepler"] == orbit


@pytest.mark.parametrize("units", [{}, {"units": "scene"}, {"units": None}, {"period": None}])
def test_a_true_orbit_in_scene_units_needs_its_period(units: Json) -> None:
    error = refusal_of(kepler={"semiMajorAxis": 1, **units})
    assert error.ids["path"] == "payload.kepler"
    assert error.message == "payload.kepler needs a period, unless its units are astronomical."
    with pytest.raises(MalformedCommand, match="needs a period"):
        parse_command(command("updateStar", id="x", payload={"kepler": {"semiMajorAxis": 1, **units}}))
    with pytest.raises(MalformedState, match=r"stars\.x\.kepler needs a period"):
        parse_state({"stars": {"x": a_body("x", kepler={"semiMajorAxis": 1, **units})}})


def test_sources_of_a_body_are_publications_with_their_fields() -> None:
    sources = [SOURCE, {"id": "x", "title": "", "doi": None, "fields": ["mass"], "note": 1}]
    assert parse(add_star("x", None, sources=sources))["payload"]["sources"] == sources
    assert refusal_of(sources=[SOURCE, {"id": "x"}]).ids["path"] == "payload.sources.1.title"
    assert refusal_of(sources=[{**SOURCE, "fields": "mass"}]).ids["path"] == "payload.sources.0.fields"
    assert refusal_of(sources=SOURCE).ids["path"] == "payload.sources"
