"""Bodies with positions and velocities at one instant, turned into orbits about their parents by the Jacobi rule."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from universe.domain.field_types import Source
from universe.exchange.body_drafts import BodyDraft, choose_planet_color, choose_star_color, make_kepler
from universe.nbody.jacobi_coordinates import make_relative_matrix
from universe.nbody.osculating_elements import compute_osculating_elements
from universe.orbits.jacobi_hierarchy import build_hierarchy
from universe.orbits.kepler_equation import Floats
from universe.orbits.units import G, compute_period
from universe.systems.stated_orbit_conversion import Orbit
from uraniborg.kernel.json_values import Json, JsonObject


@dataclass
class VectorBody:
    """A body in solar masses, AU and AU a day, in any inertial frame that all bodies share."""

    id: str
    name: str
    mass: float
    position: Floats
    velocity: Floats
    kind: str = ""
    radius_km: float | None = None
    physical: JsonObject = field(default_factory=dict[str, Json])
    sources: list[Source] = field(default_factory=list[Source])


def make_drafts(bodies: Sequence[VectorBody]) -> list[BodyDraft]:
    """Return bodies with the osculating elements of their states at time 0. The heaviest is the root.

    Raise ValueError with the reason if no body has a mass, or two are in the same position.
    """
    ordered = sorted(bodies, key=lambda body: -body.mass)
    if not ordered or not ordered[0].mass > 0:
        raise ValueError("no body has a mass above 0")
    parents = _find_parents(ordered)
    stars = {
        body.id: {
            "mass": body.mass,
            "parentId": None if parent is None else ordered[parent].id,
            "kepler": None if parent is None else {"semiMajorAxis": _compute_size(body, ordered[parent])},
        }
        for body, parent in zip(ordered, parents, strict=True)
    }
    family = build_hierarchy(stars, list(stars))
    matrix = make_relative_matrix(family)
    positions, velocities = (np.array([getattr(body, name) for body in ordered]) for name in ("position", "velocity"))
    elements = compute_osculating_elements(matrix @ positions, matrix @ velocities, G * np.array(family.orbited_masses))
    drafts: list[BodyDraft] = []
    for index, (body, parent) in enumerate(zip(ordered, parents, strict=True)):
        draft = BodyDraft(
            body.id,
            body.name,
            body.kind or ("star" if parent is None else "planet"),
            body.mass,
            radius_km=body.radius_km,
            color=choose_star_color(None) if parent is None else choose_planet_color(index),
            physical=body.physical,
            sources=body.sources,
        )
        if parent is not None:
            draft.parent = ordered[parent].id
            axis, e = float(elements.semi_major_axis[index]), float(elements.eccentricity[index])
            angles = (
                elements.inclination,
                elements.longitude_of_ascending_node,
                elements.argument_of_periapsis,
                elements.mean_anomaly,
            )
            tilt, node, periapsis, mean = (float(one[index]) for one in angles)
            if not all(map(math.isfinite, (axis, e, tilt, node, periapsis, mean))):
                raise ValueError(f"the state of '{body.name[:60]}' gives no orbit about '{ordered[parent].name[:60]}'")
            period = compute_period(abs(axis), family.orbited_masses[index])
            draft.kepler = make_kepler(axis, e, tilt, node, periapsis, mean, period)
            draft.orbit = Orbit(axis, e, period, mean, (tilt, node), periapsis)
        drafts.append(draft)
    return drafts


def _find_parents(ordered: Sequence[VectorBody]) -> list[int | None]:
    """Return the parent of each body by index: the nearest heavier body in whose Hill sphere it is bound, or the first.

    Bodies are sorted by mass, the heaviest first.
    """
    parents: list[int | None] = [None]
    reach = np.full(len(ordered), math.inf)
    masses = np.array([body.mass for body in ordered])
    positions, velocities = (np.array([getattr(body, name) for body in ordered]) for name in ("position", "velocity"))
    for index, body in enumerate(ordered[1:], start=1):
        distances = np.linalg.norm(positions[:index] - body.position, axis=1)
        speeds = np.linalg.norm(velocities[:index] - body.velocity, axis=1)
        is_near = (distances > 0) & (distances < reach[:index])
        is_near[is_near] = speeds[is_near] ** 2 / 2 < G * (body.mass + masses[:index][is_near]) / distances[is_near]
        is_near[0] = True
        parent = int(np.argmin(np.where(is_near, distances, math.inf)))
        if not distances[parent] > 0:
            raise ValueError(f"'{body.name[:60]}' and '{ordered[parent].name[:60]}' are in the same position")
        parents.append(parent)
        heavier = ordered[parent].mass
        reach[index] = distances[parent] * math.cbrt(body.mass / (3 * heavier)) if heavier else 0.0
    return parents


def _compute_size(body: VectorBody, parent: VectorBody) -> float:
    """Return a number that sorts orbits outwards: the semi-major axis, or the distance of an open orbit."""
    distance = float(np.linalg.norm(body.position - parent.position))
    speed = float(np.linalg.norm(body.velocity - parent.velocity))
    bound = 2 / distance - speed**2 / (G * (body.mass + parent.mass))
    return 1 / bound if bound > 1e-9 / distance else distance
