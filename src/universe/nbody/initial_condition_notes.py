"""Say how accurate the start of a run is."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from universe.nbody.body_selection import read_astronomical_orbit, read_mass
from universe.nbody.state_vectors import VectorSet
from universe.nbody.text_formats import format_days_and_years
from universe.orbits.jacobi_hierarchy import Bodies, JacobiHierarchy
from universe.orbits.units import compute_period

_LISTED: Final = 6
_DISAGREEMENT: Final = 0.01
_EPHEMERIS: Final = "folkner2009"
_BODIES_OF_EPHEMERIS: Final = 11
"""Sun, Moon and nine planets: their states are exact only if all of them are integrated together."""
_KINDS: Final = {"estimate": "an estimate and not measured", "minimum": "a minimum (m sin i)"}


def describe_data_problems(
    stars: Bodies,
    chosen: Sequence[str],
    attracting: Sequence[str],
    family: JacobiHierarchy,
    from_elements: Sequence[str],
) -> list[str]:
    """Return sentences about the data of the bodies: values that are left out, unknown or inconsistent.

    `attracting` are the bodies that attract, `from_elements` those that start from elements.
    """
    notes: list[str] = []
    left = sum(1 for body_id, body in stars.items() if body.get("kepler") and body_id not in attracting)
    if left:
        notes.append(
            f"Only the chosen bodies are included: they keep their orbital elements, and {left} other "
            f"{'bodies do' if left > 1 else 'body does'} not attract."
        )
    accuracies = {
        body_id: _read_physical_block(stars, body_id).get("orbitAccuracyDegrees") for body_id in from_elements
    }
    for degrees in sorted({value for value in accuracies.values() if isinstance(value, (int, float))}):
        names = _join_first_names(stars, [body_id for body_id, value in accuracies.items() if value == degrees])
        unit = "degree" if degrees == 1 else "degrees"
        notes.append(f"The start of {names} is accurate to {degrees:g} {unit}: the elements are mean, not osculating.")
    for name, field, taken in (
        ("eccentricity", "eccentricity", "a circle is assumed"),
        ("argument of periapsis", "argumentOfPeriapsis", "a periapsis at the node is assumed"),
        ("inclination", "inclination", "an orbit in the reference plane is assumed"),
    ):
        unknown = [body_id for body_id in from_elements if _is_element_absent(stars[body_id], field)]
        if unknown:
            notes.append(f"The {name} of {_join_first_names(stars, unknown)} is unknown: {taken}.")
    for kind, meaning in _KINDS.items():
        if listed := [body_id for body_id in chosen if _read_physical_block(stars, body_id).get("massIs") == kind]:
            notes.append(f"The mass of {_join_first_names(stars, listed)} is {meaning}.")
    return notes + _describe_disagreements(stars, family, from_elements)


def describe_absorbed_moons(stars: Bodies, moons: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence about planets that stand for their moons, if there are any."""
    if not moons:
        return []
    names, verb = _join_first_names(stars, moons), "stand" if len(moons) > 1 else "stands"
    return [
        f"{names} {verb} for planet and moons: at their barycentre, with the mass of all, but "
        "without the moons' own motion (for Earth without its Moon about 2 arcseconds in 10 years)."
    ]


def describe_state_vectors(stars: Bodies, ids: Sequence[str], days: float, vectors: VectorSet) -> str:
    """Return a sentence about bodies `ids` that start from state vectors, integrated over this many days."""
    moved = (
        f", integrated over {format_days_and_years(abs(days))} with the relativistic field of the central body"
        if days
        else ""
    )
    note = f"{_join_first_names(stars, ids)} start from state vectors{moved}."
    changed = [one for one in ids if _has_changed_mass(stars, one, vectors)]
    if any(_EPHEMERIS in _list_source_ids(stars[body_id]) for body_id in ids):
        note += " They are from JPL's ephemeris DE421 at J2000 (Folkner, Williams and Boggs 2009)"
        if len(vectors.ids) < _BODIES_OF_EPHEMERIS:
            note += "; bodies of the ephemeris are missing or have other orbits"
            note += ", so the integration differs from the ephemeris." if days else "."
        elif changed:
            note += "."
        else:
            note += (
                "; integrated together to 2025 with relativity they stay within 0.01 arcseconds of it, the Moon "
                "within 1 arcsecond."
            )
    if changed:
        note += (
            f" The mass of {_join_first_names(stars, changed)} is not the one that the state vectors were integrated "
            "with: the start is that of the measured bodies, and the run continues with the changed mass."
        )
    return note


def _has_changed_mass(stars: Bodies, body_id: str, vectors: VectorSet) -> bool:
    """Return True if the mass of a body, with satellites without vectors, differs from that of its vector."""
    own = sum(
        read_mass(stars, one)
        for one, body in stars.items()
        if one == body_id or (body.get("parentId") == body_id and one not in vectors.ids)
    )
    mass = float(vectors.masses[vectors.ids.index(body_id)])
    return abs(own - mass) > _DISAGREEMENT * mass


def describe_integration_from_epoch(epoch: float, days: float) -> str:
    """Return a sentence about elements that hold at one instant and were integrated to the time."""
    span = format_days_and_years(abs(days))
    return f"The elements hold at time {epoch:.10g}; the bodies were integrated from there over {span}."


def describe_kepler_motion(reason: str) -> str:
    """Return a sentence about elements that were moved to the time along Kepler orbits."""
    return f"The bodies were moved to the time by Kepler motion, without mutual attraction: {reason}."


def has_mean_elements(stars: Bodies, ids: Iterable[str]) -> bool:
    """Return True if the elements of a body are means over years, which hold at any time but are not its orbit."""
    return any("orbitAccuracyDegrees" in _read_physical_block(stars, body_id) for body_id in ids)


def _describe_disagreements(stars: Bodies, family: JacobiHierarchy, from_elements: Sequence[str]) -> list[str]:
    notes: list[str] = []
    for body_id in from_elements:
        fields = cast("Mapping[str, Any]", stars[body_id].get("kepler") or {})
        orbit, mass = read_astronomical_orbit(stars, body_id), family.orbited_masses[family.ids.index(body_id)]
        if fields.get("period") is None or fields.get("derived") is not None or orbit.eccentricity >= 1:
            continue
        by_law = compute_period(orbit.semi_major_axis, mass)
        if abs(by_law / orbit.period - 1) > _DISAGREEMENT:
            notes.append(
                f"The period of {_join_first_names(stars, [body_id])}, {orbit.period:.6g} days, does not fit its "
                f"semi-major axis and the masses, which give {by_law:.6g} days; the run uses the semi-major axis."
            )
    return notes


def _is_element_absent(body: Mapping[str, Any], field: str) -> bool:
    fields = cast("Mapping[str, Any]", body.get("kepler") or {})
    if field == "argumentOfPeriapsis" and not fields.get("eccentricity"):
        return False
    return fields.get(field) is None


def _read_physical_block(stars: Bodies, body_id: str) -> Mapping[str, Any]:
    found = stars[body_id].get("physical")
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _list_source_ids(body: Mapping[str, Any]) -> list[Any]:
    found = body.get("sources")
    listed = cast("list[Any]", found) if isinstance(found, list) else []
    return [cast("Mapping[str, Any]", source).get("id") for source in listed if isinstance(source, Mapping)]


def _join_first_names(stars: Bodies, ids: Iterable[str]) -> str:
    names = [str(stars[body_id].get("name") or body_id)[:100] for body_id in ids]
    if len(names) > _LISTED:
        names[_LISTED:] = [f"{len(names) - _LISTED} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
