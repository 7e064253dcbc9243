"""Newton's attraction among a few bodies, and what it must conserve: energy and angular momentum."""

import numpy as np

from universe.orbits.anomaly import Floats


class Gravity:
    """The attraction among bodies of given masses. Positions and velocities are of shape (3, n)."""

    def __init__(self, masses: Floats, constant: float) -> None:
        n = masses.size
        self._masses = masses
        self._constant = constant
        self._pull = constant * masses
        self._apart = np.empty((3, n, n))
        self._each = np.empty((3, n, n))
        self._nearness = np.empty((n, n))
        self._work = np.empty((n, n))
        self._own = self._work.reshape(-1)[:: n + 1]

    def accelerations(self, positions: Floats, out: Floats) -> None:
        """Writes what each body feels into `out`; how near all pairs are is kept for `energy`."""
        apart, each, work, nearness = self._apart, self._each, self._work, self._nearness
        np.subtract(positions[:, None, :], positions[:, :, None], out=apart)
        np.multiply(apart, apart, out=each)
        np.add(each[0], each[1], out=work)
        np.add(work, each[2], out=work)
        # A body is infinitely far from itself, so that it neither pulls itself nor divides by zero.
        self._own[:] = np.inf
        np.sqrt(work, out=work)
        np.divide(1.0, work, out=nearness)
        np.multiply(nearness, nearness, out=work)
        np.multiply(work, nearness, out=work)
        np.multiply(apart, work, out=each)
        np.matmul(each, self._pull, out=out)

    def energy(self, velocities: Floats) -> float:
        """Kinetic and potential energy at the positions that `accelerations` was last asked about."""
        return self.kinetic(velocities) + self.potential()

    def kinetic(self, velocities: Floats) -> float:
        return 0.5 * float(((velocities * velocities) @ self._masses).sum())

    def potential(self) -> float:
        return -0.5 * self._constant * float(self._masses @ self._nearness @ self._masses)

    def angular_momentum(self, positions: Floats, velocities: Floats) -> tuple[float, float, float]:
        product = ((positions * self._masses) @ velocities.T).tolist()
        (_, xy, xz), (yx, _, yz), (zx, zy, _) = product
        return (yz - zy, zx - xz, xy - yx)

    def energy_scale(self, velocities: Floats) -> float:
        """The size that a change of energy is to be compared with."""
        kinetic, potential = self.kinetic(velocities), self.potential()
        return _scale(abs(kinetic + potential), kinetic - potential)

    def momentum_scale(self, positions: Floats, velocities: Floats) -> float:
        """The size that a change of angular momentum is to be compared with."""
        spread = float(((positions * positions) @ self._masses).sum())
        reachable = 2 * (self.kinetic(velocities) - self.potential()) * spread
        return _scale(float(np.linalg.norm(self.angular_momentum(positions, velocities))), reachable**0.5)


def _scale(whole: float, parts: float) -> float:
    """The whole or, where that is nearly nothing because its parts cancel, the parts."""
    return (whole if whole > 1e-9 * parts else parts) or 1.0
