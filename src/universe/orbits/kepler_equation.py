"""Kepler's equation, solved for whole arrays without iterating and without branches.

The starting value is the root of the cubic that F. L. Markley fitted to the equation ("Kepler Equation Solver",
Celestial Mechanics and Dynamical Astronomy 63, 1995), good to 3e-4 at every eccentricity below 1; one correction that
uses the derivatives up to the third then brings the equation's remainder to a few roundings.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uraniborg.kernel.errors import InvalidInput

Floats = NDArray[np.float64]

BLOCK: Final = 8192
"""The orbits computed at once, so that intermediate arrays fit into the processor cache."""

_TURN: Final = 2 * math.pi
_ALPHA: Final = 3 * math.pi**2 / (math.pi**2 - 6)
_ALPHA_SLOPE: Final = 1.6 * math.pi / (math.pi**2 - 6)
_CUBE_ROOT_BIAS: Final = np.int64(0x2A9F_7625_3119_D328)
"""Two thirds of the bias of the exponent, shifted to minimise the error of the guess."""


def solve_kepler(mean_anomaly: ArrayLike, eccentricity: ArrayLike) -> Floats:
    """Return the eccentric anomaly E, in radians, of E - e sin E = M. M and e broadcast; E has the whole turns of M.

    Raise InvalidInput for anything that is not finite, and unless 0 <= e < 1.
    """
    anomaly = np.asarray(mean_anomaly, dtype=np.float64)
    if not np.isfinite(anomaly).all():
        raise InvalidInput(
            "A mean anomaly is not a finite number.",
            hint="Leave out bodies whose mean anomaly is unknown.",
            argument="mean_anomaly",
            allowed="finite numbers (radians)",
        )
    shape = np.broadcast_shapes(anomaly.shape, np.shape(eccentricity))
    eccentric = np.broadcast_to(check_ellipse_eccentricities(eccentricity), shape).ravel()
    full = np.broadcast_to(anomaly, shape).ravel()
    solved = np.empty_like(full)
    for start in range(0, full.size, BLOCK):
        part = slice(start, start + BLOCK)
        turns = np.rint(full[part] / _TURN) * _TURN
        solved[part] = compute_anomaly_sine_cosine(full[part] - turns, eccentric[part])[0] + turns
    return solved.reshape(shape)


def check_ellipse_eccentricities(eccentricity: ArrayLike) -> Floats:
    """Return the eccentricities as an array. Raise InvalidInput unless all are those of ellipses."""
    eccentric = np.asarray(eccentricity, dtype=np.float64)
    outside = ~((eccentric >= 0) & (eccentric < 1))
    if outside.any():
        raise InvalidInput(
            f"An eccentricity is {eccentric[outside].flat[0]}, but only ellipses have a period.",
            hint="Kepler orbits are closed: give an eccentricity from 0 to just below 1.",
            argument="eccentricity",
            allowed="0 <= eccentricity < 1",
        )
    return eccentric


def compute_anomaly_sine_cosine(mean: Floats, e: Floats) -> tuple[Floats, Floats, Floats]:
    """Return E, sin E and cos E for mean anomalies within half a turn of 0.

    The caller checks the range and the block size.
    """
    start = _estimate_eccentric_anomaly(mean, e)
    sin, cos = np.sin(start), np.cos(start)
    half_second, sixth_third = 0.5 * (e * sin), e * cos
    slope = 1 - sixth_third
    missing = (mean - start) + 2 * half_second
    sixth_third *= 1 / 6
    step = missing / (slope + half_second * (missing / slope))
    step = missing / (slope + step * (half_second + step * sixth_third))
    # The step is below 5e-4, so short series replace another sine and cosine.
    square = step * step
    sin_step, cos_step_less_1 = step * (1 - square * (1 / 6)), square * (square * (1 / 24) - 0.5)
    return (
        start + step,
        sin + (sin * cos_step_less_1 + cos * sin_step),
        cos + (cos * cos_step_less_1 - sin * sin_step),
    )


def _estimate_eccentric_anomaly(mean: Floats, e: Floats) -> Floats:
    circular = 1 - e
    alpha = _ALPHA + _ALPHA_SLOPE * (math.pi - np.abs(mean)) / (1 + e)
    d = 3 * circular + alpha * e
    alpha *= d
    square = mean * mean
    q = 2 * alpha * circular - square
    r = (3 * alpha * (d - circular) + square) * mean
    q_square = q * q
    w = _estimate_cube_root(np.abs(r) + np.sqrt(q_square * q + r * r))
    w *= w
    return (2 * r * w / ((w + q) * w + q_square) + mean) / d


def _estimate_cube_root(values: Floats) -> Floats:
    """Return cube roots to 3e-5 for positive normal numbers.

    A third of the exponent, then one step of Halley's method.
    """
    guess = (values.view(np.int64) // 3 + _CUBE_ROOT_BIAS).view(np.float64)
    cube = guess * guess * guess
    return guess * ((cube + 2 * values) / (2 * cube + values))
