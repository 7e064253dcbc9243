"""Solve the motion along orbits of any eccentricity: Kepler's equation, and conics from their periapsis.

Kepler's equation is solved for whole arrays without iterating and without branches. The starting value is the root of
the cubic that F. L. Markley fitted to the equation ("Kepler Equation Solver", Celestial Mechanics and Dynamical
Astronomy 63, 1995), good to 3e-4 at every eccentricity below 1; one correction that uses the derivatives up to the
third then brings the equation's remainder to a few roundings.

Hyperbolas, parabolas and the ellipses near them are followed from their periapsis. The universal form of Kepler's
equation (R. H. Battin, "An Introduction to the Mathematics and Methods of Astrodynamics", 1999, chapter 4) counted from
the periapsis is q s + e s^3 c3(z) = sqrt(mu) t with z = s^2 (1 - e)/q. It holds for every e, also at 1, and its left
side grows and is convex for s > 0 up to the apoapsis, so that Newton's method from above cannot fail.
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


_MOST_STEPS: Final = 100
_SERIES_BELOW: Final = 1.0
_TERMS: Final = 11
"""With |z| below 1 further terms are smaller than the rounding error."""


class Conics:
    """n orbits: periapsis distances, eccentricities, square roots of mu (n,), and unit vectors of the planes (3, n)."""

    def __init__(self, q: Floats, e: Floats, root_mu: Floats, to_periapsis: Floats, to_side: Floats) -> None:
        self.q, self.e, self.root_mu = q, e, root_mu
        self.to_periapsis = to_periapsis
        self.to_side = to_side * np.sqrt(q * (1 + e))

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def compute_states(self, elapsed: Floats) -> tuple[Floats, Floats]:
        """Return positions and velocities, each (n, 3), at these times after the periapsis."""
        s = solve_universal_anomaly(self.q, self.e, self.root_mu * elapsed)
        c0, c1, c2, _ = compute_stumpff_functions(s * s * (1 - self.e) / self.q)
        distance = self.q + self.e * s * s * c2
        rate = self.root_mu / distance
        return (
            (self.to_periapsis * (self.q - s * s * c2) + self.to_side * (s * c1)).T,
            (self.to_periapsis * (-rate * s * c1) + self.to_side * (rate * c0)).T,
        )

    def compute_arc(self, index: int, segments: int, reach: float) -> Floats:
        """Return one orbit as (segments + 1, 3) points, through the periapsis, out to `reach` periapsis distances."""
        q, e = self.q[index : index + 1], self.e[index : index + 1]
        end = _solve_anomaly_at_distance(float(q[0]), float(e[0]), reach)
        s = np.linspace(-end, end, segments + 1)
        _, c1, c2, _ = compute_stumpff_functions(s * s * (1 - e) / q)
        along, aside = q - s * s * c2, s * c1
        return np.outer(along, self.to_periapsis[:, index]) + np.outer(aside, self.to_side[:, index])


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def solve_universal_anomaly(q: Floats, e: Floats, scaled_time: Floats) -> Floats:
    """Return s of q s + e s^3 c3(s^2 (1 - e)/q) = scaled_time, for times within half a period of the periapsis."""
    time, alpha = np.abs(scaled_time), (1 - e) / q
    s = _compute_anomaly_upper_bound(q, e, time, alpha)
    active = np.flatnonzero(np.isfinite(s))
    for _ in range(_MOST_STEPS):
        at = s[active]
        square = at * at
        _, _, c2, c3 = compute_stumpff_functions(alpha[active] * square)
        excess = q[active] * at + e[active] * square * at * c3 - time[active]
        step = excess / (q[active] + e[active] * square * c2)
        s[active] = at - step
        active = active[np.abs(step) > 1e-15 * np.abs(at)]
        if not active.size:
            break
    return np.copysign(s, scaled_time)


def compute_stumpff_functions(z: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return c0 to c3 of z: cos, sin and what follows of sqrt(z), continued through 0 to cosh and sinh of sqrt(-z)."""
    root = np.sqrt(np.abs(z))
    near = np.abs(z) < _SERIES_BELOW
    safe = np.where(near, 1.0, root)
    turning = z > 0
    bound = np.where(turning, root, 0.0)
    stretch = np.where(turning, 0.0, root)
    c0 = np.where(turning, np.cos(bound), np.cosh(stretch))
    c1 = np.where(near, 0.0, np.where(turning, np.sin(bound), np.sinh(stretch)) / safe)
    half = np.where(turning, np.sin(bound / 2), np.sinh(stretch / 2)) / (safe / 2)
    c2, c3 = half * half / 2, (1 - c1) / np.where(near, 1.0, z)
    c3_near, c2_near = _sum_stumpff_series(np.where(near, z, 0.0), 3), _sum_stumpff_series(np.where(near, z, 0.0), 2)
    c2, c3 = np.where(near, c2_near, c2), np.where(near, c3_near, c3)
    return c0, np.where(near, 1 - z * c3, c1), c2, c3


def _sum_stumpff_series(z: Floats, order: int) -> Floats:
    """Return the sum of (-z)^k / (2k + order)!, by Horner's rule."""
    total = np.zeros_like(z)
    for k in reversed(range(_TERMS)):
        total = 1 / math.factorial(2 * k + order) - z * total
    return total


def _compute_anomaly_upper_bound(q: Floats, e: Floats, time: Floats, alpha: Floats) -> Floats:
    """Return a value of s that is not below the root."""
    # c3 is least at the apoapsis of an ellipse (1/pi^2) and at the periapsis of an open orbit (1/6); with its least
    # value for all of the orbit the equation is a cubic whose root is the bound.
    weight = e * np.where(alpha > 0, 1 / math.pi**2, 1 / 6)
    half, third = time / (2 * weight), q / (3 * weight)
    cube = np.cbrt(half + np.sqrt(half * half + third**3))
    cubic = cube - third / cube
    apoapsis = math.pi / np.sqrt(np.where(alpha > 0, alpha, 1.0))
    bend = np.sqrt(np.where(alpha < 0, -alpha, 1.0))
    hyperbolic = np.arcsinh(time * bend**3 / np.where(e > 1, e - 1, 1.0)) / bend
    return np.where(alpha > 0, np.fmin(cubic, apoapsis), np.where(alpha < 0, np.fmin(cubic, hyperbolic), cubic))


def _solve_anomaly_at_distance(q: float, e: float, reach: float) -> float:
    """Return s where the distance is `reach` periapsis distances."""
    alpha, target = (1 - e) / q, (reach - 1) / e
    # distance = q + e s^2 c2, and s^2 c2 = 2 sinh^2(sqrt(-alpha) s / 2) / -alpha
    if e == 1:
        return math.sqrt(2 * q * target)
    bend = math.sqrt(abs(alpha))
    height = math.sqrt(q * target / 2) * bend
    return 2 / bend * (math.asinh(height) if e > 1 else math.asin(min(height, 1.0)))
