"""State vectors of bodies from an ephemeris, tied to the drawn elements that they came with."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, cast

from universe.domain.entities import Entity
from universe.orbits.units import G
from universe.systems.shipped_data import ShippedVectors
from uraniborg.kernel.json_values import JsonObject

_BASIS: Final = (
    "eccentricity",
    "inclination",
    "longitudeOfAscendingNode",
    "argumentOfPeriapsis",
    "meanAnomaly",
    "epoch",
)


def make_state_vector(shipped: ShippedVectors, body: Entity, julian_date: float) -> JsonObject | None:
    """Return the state vector of a body of a system whose time 0 is this Julian date, or None if it has none."""
    if body["id"] not in shipped["vectors"]:
        return None
    position, velocity, pull = shipped["vectors"][str(body["id"])]
    return {
        "epoch": shipped["epochJd"] - julian_date,
        "position": [*position],
        "velocity": [*velocity],
        "mass": pull / G,
        "frame": shipped["frame"],
        "elements": compute_elements_digest(body.get("kepler")),
    }


def compute_elements_digest(block: Any) -> str:
    """Return a digest of the elements of a `kepler` block that fix an orbit.

    A state vector is valid while the digest matches: a changed element replaces the orbit of the vector. The digest
    leaves out the one of semi-major axis and period that follows from the masses.
    """
    fields: Mapping[str, Any] = cast("Mapping[str, Any]", block) if isinstance(block, Mapping) else {}
    size = "period" if fields.get("derived") == "semiMajorAxis" else "semiMajorAxis"
    values = [fields.get(name) for name in (*_BASIS, size)]
    return sha256(repr([None if value is None else float(value) for value in values]).encode()).hexdigest()[:16]
