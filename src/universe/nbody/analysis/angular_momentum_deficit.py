"""Compare the angular momentum deficit with the value below which secular motion cannot make orbits cross.

J. Laskar and A. C. Petit, "AMD-stability and the classification of planetary systems", A&A 605, A72 (2017). The
deficit is constant only without mean-motion resonances, so it does not apply to a resonant chain.
"""

import math
from typing import Final

import numpy as np

from universe.nbody.analysis.orbit_history import OrbitHistory
from universe.nbody.replies import Deficit, DeficitPair

_HEAVY: Final = 0.1
_BISECTIONS: Final = 60


def compute_angular_momentum_deficit(motion: OrbitHistory, *, has_resonances: bool) -> Deficit | None:
    """Return the deficit over its critical value at the start, for the largest family, or None if it does not apply.

    `ratio` is the largest of the neighbouring pairs. The meaning says how resonances limit it.
    """
    families = motion.list_sibling_families()
    massive = [body for body in max(families, key=len) if motion.masses[body] > 0] if families else []
    if len(massive) < 2 or not all(_is_deficit_defined(motion, body) for body in massive):
        return None
    axes = motion.axes[0, massive]
    if (np.diff(axes) <= 0).any():
        return None
    momenta = motion.masses[massive] * np.sqrt(motion.central_masses[massive] * axes)
    flatness = np.sqrt(1 - motion.eccentricities[0, massive] ** 2) * np.cos(np.radians(motion.tilts[0, massive]))
    deficit = float((1 - flatness) @ momenta)
    pairs: list[DeficitPair] = [
        {
            "inner": motion.ids[massive[k]],
            "outer": motion.ids[massive[k + 1]],
            "ratio": deficit
            / float(momenta[k + 1])
            / compute_critical_deficit(
                float(axes[k] / axes[k + 1]), float(motion.masses[massive[k]] / motion.masses[massive[k + 1]])
            ),
        }
        for k in range(len(massive) - 1)
    ]
    worst = max(pair["ratio"] for pair in pairs)
    return {"ratio": worst, "pairs": pairs, "meaning": _describe_deficit(worst, has_resonances=has_resonances)}


def compute_critical_deficit(axis_ratio: float, mass_ratio: float) -> float:
    """Return the least relative deficit with which two orbits (inner over outer: axes, masses) can touch.

    Relative to the circular angular momentum of the outer body (Laskar & Petit 2017).
    """
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        inner = (low + high) / 2
        outer = _solve_outer_eccentricity(inner, axis_ratio, mass_ratio)
        if axis_ratio * (1 + inner) + outer < 1:
            low = inner
        else:
            high = inner
    outer = _solve_outer_eccentricity(low, axis_ratio, mass_ratio)
    return mass_ratio * math.sqrt(axis_ratio) * (1 - math.sqrt(1 - low * low)) + 1 - math.sqrt(1 - outer * outer)


def _solve_outer_eccentricity(inner: float, axis_ratio: float, mass_ratio: float) -> float:
    """Return the eccentricity of the outer orbit with which the deficit of touching orbits is least."""
    return mass_ratio * inner / math.sqrt(axis_ratio * (1 - inner * inner) + (mass_ratio * inner) ** 2)


def _is_deficit_defined(motion: OrbitHistory, body: int) -> bool:
    return bool(
        motion.masses[body] < _HEAVY * motion.central_masses[body]
        and motion.axes[0, body] > 0
        and motion.eccentricities[0, body] < 1
        and motion.tilts[0, body] < 90
    )


def _describe_deficit(worst: float, *, has_resonances: bool) -> str:
    below = (
        f"The angular momentum deficit is {worst:.2g} of its critical value"
        if worst < 1
        else f"The angular momentum deficit is {worst:.2g} times its critical value"
    )
    if has_resonances:
        resonant = "and bodies are in or near mean-motion resonances, to which the criterion does not apply"
        return f"{below}, {resonant}. It excludes no collision here."
    if worst < 1:
        return f"{below}: slow (secular) exchange alone cannot make orbits cross. Resonances could."
    return f"{below}: slow (secular) exchange can make orbits cross. It does not have to."
