"""True Kepler orbits: positions and velocities of many bodies from their elements, the focus at the origin.

Axes are the scene's: the ecliptic's (x, y, z) are (x, z, y) here, so Y is up and angles grow from +x to +z.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from universe.orbits.anomaly import BLOCK, Floats, eccentric_anomaly, require_elliptic, solve_kepler
from universe.orbits.numbers import require_time
from uraniborg.kernel.errors import InvalidInput

__all__ = ["Elements", "solve_kepler"]

_TURN: Final = 2 * math.pi


class Elements:
    """Orbital elements of n bodies, brought once into the form that positions are quickly had from.

    Arguments broadcast to one length n. Lengths are in any unit, `period` and `epoch` in the unit of `t`, angles in
    degrees; `mean_anomaly` holds at `epoch`. Raises InvalidInput for what is not finite, not positive where it must be,
    or not an ellipse.
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
    ) -> None:
        axis, e, days, tilt, node, periapsis, mean, since = np.broadcast_arrays(
            _finite("semi_major_axis", semi_major_axis, positive=True),
            require_elliptic(eccentricity),
            _finite("period", period, positive=True),
            np.radians(_finite("inclination", inclination)),
            np.radians(_finite("longitude_of_ascending_node", longitude_of_ascending_node)),
            np.radians(_finite("argument_of_periapsis", argument_of_periapsis)),
            _finite("mean_anomaly", mean_anomaly),
            _finite("epoch", epoch),
        )
        self.eccentricity: Floats = np.ravel(e).copy()
        self.turns_per_time: Floats = 1 / np.ravel(days)
        self.turns_at_epoch: Floats = np.ravel(mean) / 360 % 1.0
        # One epoch for all is the common case and spares reading an array of them at every step.
        same = since.size > 0 and bool((since == since.flat[0]).all())
        self.epoch: float | Floats = float(since.flat[0]) if same else np.ravel(since).copy()
        to_periapsis, to_side = _plane(np.ravel(tilt), np.ravel(node), np.ravel(periapsis))
        self.to_periapsis: Floats = to_periapsis * np.ravel(axis)
        """Shape (3, n): from the centre to the periapsis."""
        self.to_side: Floats = to_side * (np.ravel(axis) * np.sqrt((1 - self.eccentricity) * (1 + self.eccentricity)))
        """Shape (3, n): from the centre to the end of the minor axis that is passed after the periapsis."""

    def __len__(self) -> int:
        return self.eccentricity.size

    @np.errstate(over="ignore", invalid="ignore")
    def positions(self, t: float, out: Floats | None = None) -> Floats:
        """Where the bodies are at time `t`, as an (n, 3) array; written into `out` where one is given.

        What is beyond all numbers, such as the turns of a tiny period in an age, is not-a-number.
        """
        require_time(t)
        found = self._room(out)
        for part in self._parts():
            sin, cos = self._anomaly(t, part)
            cos -= self.eccentricity[part]
            for axis in range(3):
                np.add(self.to_periapsis[axis, part] * cos, self.to_side[axis, part] * sin, out=found[part, axis])
        return found

    @np.errstate(over="ignore", invalid="ignore")
    def velocities(self, t: float, out: Floats | None = None) -> Floats:
        """How fast they move at time `t`, in length per unit of time, as an (n, 3) array."""
        require_time(t)
        found = self._room(out)
        for part in self._parts():
            sin, cos = self._anomaly(t, part)
            rate = self.turns_per_time[part] * _TURN / (1 - self.eccentricity[part] * cos)
            sin *= -rate
            cos *= rate
            for axis in range(3):
                np.add(self.to_periapsis[axis, part] * sin, self.to_side[axis, part] * cos, out=found[part, axis])
        return found

    def path(self, index: int, segments: int) -> Floats:
        """One body's whole orbit as (segments + 1, 3) points, evenly spread in eccentric anomaly from its periapsis."""
        around = np.linspace(0, _TURN, segments + 1)
        along = np.cos(around) - self.eccentricity[index]
        return np.outer(along, self.to_periapsis[:, index]) + np.outer(np.sin(around), self.to_side[:, index])

    def _parts(self) -> list[slice]:
        return [slice(start, start + BLOCK) for start in range(0, len(self), BLOCK)]

    def _anomaly(self, t: float, part: slice) -> tuple[Floats, Floats]:
        """Sine and cosine of the eccentric anomaly. Time is counted in turns, so whole periods drop out exactly."""
        elapsed = t - (self.epoch[part] if isinstance(self.epoch, np.ndarray) else self.epoch)
        turns = self.turns_per_time[part] * elapsed + self.turns_at_epoch[part]
        turns -= np.rint(turns)
        turns *= _TURN
        _, sin, cos = eccentric_anomaly(turns, self.eccentricity[part])
        return sin, cos

    def _room(self, out: Floats | None) -> Floats:
        if out is None:
            return np.empty((len(self), 3))
        if out.shape != (len(self), 3) or out.dtype != np.float64:
            raise InvalidInput(
                f"The array to write into is {out.dtype} of shape {out.shape}.",
                hint="Leave `out` away to get a new array.",
                argument="out",
                allowed=f"float64 of shape ({len(self)}, 3)",
            )
        return out


def _plane(tilt: Floats, node: Floats, periapsis: Floats) -> tuple[Floats, Floats]:
    """Unit vectors of each orbit's plane, to the periapsis and a quarter turn on, each of shape (3, n)."""
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


def _finite(argument: str, values: ArrayLike, *, positive: bool = False) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    allowed = np.isfinite(array) & (array > 0) if positive else np.isfinite(array)
    if not allowed.all():
        kind = "positive finite numbers" if positive else "finite numbers"
        raise InvalidInput(
            f"{argument} holds {array[~allowed].flat[0]}, but must hold {kind}.",
            hint="Leave out bodies whose elements are unknown.",
            argument=argument,
            allowed=kind,
        )
    return array
