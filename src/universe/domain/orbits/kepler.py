"""True Kepler orbits: positions and velocities of many bodies from their elements, the focus at the origin.

Axes are the scene's: the ecliptic's (x, y, z) are (x, z, y) here, so Y is up and angles grow from +x to +z.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from universe.domain.orbits.kepler_equation import BLOCK, Conics, Floats, compute_anomaly_sine_cosine, solve_kepler
from universe.domain.units_and_dates import check_finite_time
from uraniborg.kernel.errors import InvalidInput

__all__ = ["Elements", "solve_kepler"]

_TURN: Final = 2 * math.pi
_SLENDER: Final = 0.99
"""Ellipses of a larger eccentricity are computed from their periapsis, like open orbits."""
_REACH: Final = 50.0
"""The path of an open orbit ends at this many periapsis distances."""


class Elements:
    """Orbital elements of n bodies, prepared for the fast computation of positions.

    Arguments broadcast to one length n. Lengths are in any unit, `period` and `epoch` in the unit of `t`, angles in
    degrees; `mean_anomaly` holds at `epoch`. A hyperbola has a negative semi-major axis; a parabola has none and needs
    its `periapsis_distance`. The `period` of an open orbit is that of an ellipse
    with a semi-major axis as long (a parabola: as long as the periapsis distance).

    Raise InvalidInput for an element that is not finite, not positive where required, or inconsistent.
    """

    def __init__(
        self,
        semi_major_axis: ArrayLike,
        eccentricity: ArrayLike,
        *,
        period: ArrayLike,
        inclination: ArrayLike = 0.0,
        longitude_of_ascending_node: ArrayLike = 0.0,
        argument_of_periapsis: ArrayLike = 0.0,
        mean_anomaly: ArrayLike = 0.0,
        epoch: ArrayLike = 0.0,
        periapsis_distance: ArrayLike = math.nan,
    ) -> None:
        axis, e, nearest = _complete_sizes(semi_major_axis, eccentricity, periapsis_distance)
        axis, e, nearest, days, tilt, node, periapsis, mean, since = np.broadcast_arrays(
            axis,
            e,
            nearest,
            _check_finite("period", period, positive=True),
            np.radians(_check_finite("inclination", inclination)),
            np.radians(_check_finite("longitude_of_ascending_node", longitude_of_ascending_node)),
            np.radians(_check_finite("argument_of_periapsis", argument_of_periapsis)),
            _check_finite("mean_anomaly", mean_anomaly),
            _check_finite("epoch", epoch),
        )
        indices = np.flatnonzero(np.ravel(e) > _SLENDER)
        # The following arrays are for ellipses; the values at `indices` are not used.
        closed = np.ravel(e) < 1
        axis = np.where(closed, np.ravel(axis), 1.0)
        self.eccentricity: Floats = np.where(closed, np.ravel(e), 0.0)
        self.turns_per_time: Floats = 1 / np.ravel(days)
        self.turns_at_epoch: Floats = np.ravel(mean) / 360 % 1.0
        # One epoch for all bodies is the common case and is faster than an array.
        same = since.size > 0 and bool((since == since.flat[0]).all())
        self.epoch: float | Floats = float(since.flat[0]) if same else np.ravel(since).copy()
        to_periapsis, to_side = _compute_plane_vectors(np.ravel(tilt), np.ravel(node), np.ravel(periapsis))
        self.to_periapsis: Floats = to_periapsis * axis
        """Shape (3, n): from the centre to the periapsis."""
        self.to_side: Floats = to_side * (axis * np.sqrt((1 - self.eccentricity) * (1 + self.eccentricity)))
        """Shape (3, n): from the centre to the end of the minor axis that is passed after the periapsis."""
        self.near_parabolic = NearParabolicOrbits(
            indices,
            np.ravel(nearest)[indices],
            np.ravel(e)[indices],
            days=np.ravel(days)[indices],
            turns=np.ravel(mean)[indices] / 360,
            since=np.ravel(since)[indices],
            to_periapsis=to_periapsis[:, indices],
            to_side=to_side[:, indices],
        )

    def __len__(self) -> int:
        return self.eccentricity.size

    @np.errstate(over="ignore", invalid="ignore")
    def compute_positions(self, t: float, out: Floats | None = None) -> Floats:
        """Return the positions at time `t` as an (n, 3) array, written into `out` if it is given.

        Results beyond the range of numbers are not-a-number.
        """
        check_finite_time(t)
        found = self._check_or_make_output(out)
        for part in self._list_block_slices():
            sin, cos = self._compute_anomaly_sine_cosine(t, part)
            cos -= self.eccentricity[part]
            for axis in range(3):
                np.add(self.to_periapsis[axis, part] * cos, self.to_side[axis, part] * sin, out=found[part, axis])
        if self.near_parabolic:
            found[self.near_parabolic.indices] = self.near_parabolic.compute_states(t)[0]
        return found

    @np.errstate(over="ignore", invalid="ignore")
    def compute_velocities(self, t: float, out: Floats | None = None) -> Floats:
        """Return the velocities at time `t`, in length per unit of time, as an (n, 3) array."""
        check_finite_time(t)
        found = self._check_or_make_output(out)
        for part in self._list_block_slices():
            sin, cos = self._compute_anomaly_sine_cosine(t, part)
            rate = self.turns_per_time[part] * _TURN / (1 - self.eccentricity[part] * cos)
            sin *= -rate
            cos *= rate
            for axis in range(3):
                np.add(self.to_periapsis[axis, part] * sin, self.to_side[axis, part] * cos, out=found[part, axis])
        if self.near_parabolic:
            found[self.near_parabolic.indices] = self.near_parabolic.compute_states(t)[1]
        return found

    def compute_path(self, index: int, segments: int) -> Floats:
        """Return one body's orbit as (segments + 1, 3) points.

        An ellipse is whole and evenly spread in eccentric anomaly from its periapsis; an open orbit is an arc around
        its periapsis.
        """
        if (arc := self.near_parabolic.compute_arc(index, segments)) is not None:
            return arc
        around = np.linspace(0, _TURN, segments + 1)
        along = np.cos(around) - self.eccentricity[index]
        return np.outer(along, self.to_periapsis[:, index]) + np.outer(np.sin(around), self.to_side[:, index])

    def _list_block_slices(self) -> list[slice]:
        return [slice(start, start + BLOCK) for start in range(0, len(self), BLOCK)]

    def _compute_anomaly_sine_cosine(self, t: float, part: slice) -> tuple[Floats, Floats]:
        """Return sine and cosine of the eccentric anomaly.

        Time is counted in turns, so whole periods drop out exactly.
        """
        elapsed = t - (self.epoch[part] if isinstance(self.epoch, np.ndarray) else self.epoch)
        turns = self.turns_per_time[part] * elapsed + self.turns_at_epoch[part]
        turns -= np.rint(turns)
        turns *= _TURN
        _, sin, cos = compute_anomaly_sine_cosine(turns, self.eccentricity[part])
        return sin, cos

    def _check_or_make_output(self, out: Floats | None) -> Floats:
        if out is None:
            return np.empty((len(self), 3))
        if out.shape != (len(self), 3) or out.dtype != np.float64:
            raise InvalidInput(
                f"The array to write into is {out.dtype} of shape {out.shape}.",
                hint="Leave out `out` to get a new array.",
                argument="out",
                allowed=f"float64 of shape ({len(self)}, 3)",
            )
        return out


class NearParabolicOrbits:
    """The orbits among n whose eccentricity is near 1 or above, with their periapsis times and periods."""

    @np.errstate(over="ignore", invalid="ignore")
    def __init__(
        self,
        indices: NDArray[np.intp],
        nearest: Floats,
        e: Floats,
        *,
        days: Floats,
        turns: Floats,
        since: Floats,
        to_periapsis: Floats,
        to_side: Floats,
    ) -> None:
        self.indices = indices
        self.eccentricity, self.days = e, days
        parabolic = e == 1
        axis = np.where(parabolic, nearest, nearest / np.abs(np.where(parabolic, 1.0, 1 - e)))
        self.conics = Conics(nearest, e, _TURN * axis / days * np.sqrt(axis), to_periapsis, to_side)
        self._closed = e < 1
        self.turns = np.where(self._closed, turns % 1.0, turns)
        self.since = since

    def __bool__(self) -> bool:
        return self.indices.size > 0

    def compute_states(self, t: float) -> tuple[Floats, Floats]:
        turns = (t - self.since) / self.days + self.turns
        turns = np.where(self._closed, turns - np.rint(turns), turns)
        return self.conics.compute_states(turns * self.days)

    def compute_arc(self, index: int, segments: int) -> Floats | None:
        """Return the path of the body at `index` if its orbit is open."""
        position = int(np.searchsorted(self.indices, index))
        if position == self.indices.size or self.indices[position] != index or self._closed[position]:
            return None
        return self.conics.compute_arc(position, segments, _REACH)


def _complete_sizes(axis: ArrayLike, eccentricity: ArrayLike, nearest: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return semi-major axes, eccentricities and periapsis distances that agree with each other."""
    e = _check_finite("eccentricity", eccentricity)
    if (e < 0).any():
        raise _make_range_error("eccentricity", e[e < 0].flat[0], "numbers of at least 0")
    given = np.asarray(nearest, dtype=np.float64)
    a = np.asarray(axis, dtype=np.float64)
    parabolic = e == 1
    q = np.where(np.isnan(given), a * np.where(parabolic, math.nan, 1 - e), given)
    if not (np.isfinite(q) & (q > 0)).all():
        bad = np.broadcast_arrays(a, e, q)
        wrong = ~(np.isfinite(bad[2]) & (bad[2] > 0))
        if (bad[1][wrong] == 1).any():
            raise _make_range_error(
                "periapsis_distance", math.nan, "positive finite numbers where the eccentricity is 1"
            )
        raise _make_range_error(
            "semi_major_axis", bad[0][wrong].flat[0], "finite numbers, above 0 for ellipses and below 0 for hyperbolas"
        )
    derived = q / np.where(parabolic, 1.0, 1 - e)
    return np.where(parabolic, math.inf, np.where(np.isfinite(a), a, derived)), e, q


def _compute_plane_vectors(tilt: Floats, node: Floats, periapsis: Floats) -> tuple[Floats, Floats]:
    """Return unit vectors of each orbit's plane, to the periapsis and 90 degrees ahead, each of shape (3, n)."""
    cos_tilt, sin_tilt = np.cos(tilt), np.sin(tilt)
    cos_node, sin_node = np.cos(node), np.sin(node)
    cos_peri, sin_peri = np.cos(periapsis), np.sin(periapsis)
    first = (
        cos_node * cos_peri - sin_node * sin_peri * cos_tilt,
        sin_peri * sin_tilt,
        sin_node * cos_peri + cos_node * sin_peri * cos_tilt,
    )
    second = (
        -cos_node * sin_peri - sin_node * cos_peri * cos_tilt,
        cos_peri * sin_tilt,
        cos_node * cos_peri * cos_tilt - sin_node * sin_peri,
    )
    return np.array(first), np.array(second)


def _check_finite(argument: str, values: ArrayLike, *, positive: bool = False) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    allowed = np.isfinite(array) & (array > 0) if positive else np.isfinite(array)
    if not allowed.all():
        raise _make_range_error(
            argument, array[~allowed].flat[0], "positive finite numbers" if positive else "finite numbers"
        )
    return array


def _make_range_error(argument: str, value: float, kind: str) -> InvalidInput:
    return InvalidInput(
        f"{argument} holds {value}, but must hold {kind}.",
        hint="Leave out bodies whose elements are unknown.",
        argument=argument,
        allowed=kind,
    )
