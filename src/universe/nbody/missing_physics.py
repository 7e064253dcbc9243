"""What a run leaves out, in sentences, with the size of what can be estimated."""

import math

from universe.nbody.answers import Motion
from universe.nbody.gravity import LIGHT_SPEED
from universe.orbits.units import G

_NOTICEABLE = 1e-4
"""Degrees by which relativity turns an orbit during a run, below which it is not worth a sentence of its own."""


def describe_missing_physics(motion: Motion, *, relativity: bool) -> list[str]:
    """Return sentences about forces that a run does not have."""
    sentences = ["Bodies are points with constant masses that attract each other by Newton's law."]
    turned = estimate_periapsis_shift(motion)
    if relativity:
        sentences.append("General relativity counts in the field of the heaviest body, to first order.")
    elif turned is not None and turned[1] >= _NOTICEABLE:
        name, degrees = turned
        sentences.append(
            f"General relativity is left out: it would turn the periapsis of {name} by {degrees:.2g} degrees during "
            "this run (--relativity adds it)."
        )
    else:
        sentences.append("General relativity is left out (--relativity adds it).")
    sentences.append(
        "Tides, the flattening of bodies, gas, radiation and all bodies that are not in the run are left out."
    )
    return sentences


def estimate_periapsis_shift(motion: Motion) -> tuple[str, float] | None:
    """Return the body whose periapsis relativity turns most during a run, and by how many degrees.

    To first order 6 pi G M / (c^2 a (1 - e^2)) for each revolution.
    """
    found: list[tuple[float, str]] = []
    for body, parent in enumerate(motion.parents):
        axis, eccentricity = float(motion.axes[0, body]), float(motion.eccentricities[0, body])
        if parent < 0 or not (axis > 0 and eccentricity < 1) or not motion.central_masses[body] > 0:
            continue
        mu = G * float(motion.central_masses[body])
        revolutions = motion.span / (math.tau * math.sqrt(axis**3 / mu))
        found.append((1080 * mu / (LIGHT_SPEED**2 * axis * (1 - eccentricity**2)) * revolutions, motion.names[body]))
    if not found:
        return None
    degrees, name = max(found)
    return name, degrees
