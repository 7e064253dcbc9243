"""Mechanics of point masses: Newton's attraction, the first relativistic correction, and Jacobi coordinates."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from universe.domain.orbits.jacobi_hierarchy import JacobiHierarchy
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.units_and_dates import G

LIGHT_SPEED: Final = 173.144_632_674_24
"""In AU a day."""
_BLOCK: Final = 400_000
"""The pairs computed at once, so that intermediate arrays fit into the processor cache."""


def compute_pairwise_distances(positions: Floats) -> Floats:
    """Return the distances between bodies, of shape (b, n, n) for positions (b, 3, n); a body's own is infinite."""
    _, square = _compute_separations(positions)
    return np.sqrt(square)


class Gravity:
    """The attraction among bodies of given masses.

    Positions and velocities have the shape (b, 3, n): b configurations of n bodies. `relativistic_body`, if given,
    is the index of the body whose relativistic field (first post-Newtonian order) the others feel.
    """

    def __init__(self, masses: Floats, *, constant: float = G, relativistic_body: int | None = None) -> None:
        self.masses = masses
        self.constant = constant
        self.relativistic_body = relativistic_body
        self._pull = constant * masses

    @property
    def depends_on_velocity(self) -> bool:
        return self.relativistic_body is not None

    def compute_accelerations(self, positions: Floats, velocities: Floats | None = None) -> Floats:
        """Return the accelerations, of the shape of `positions`. `velocities` count in a relativistic field only."""
        block = max(1, _BLOCK // self.masses.size**2)
        if len(positions) <= block:
            found = self._compute_newtonian_accelerations(positions)
        else:
            parts = range(0, len(positions), block)
            found = np.concatenate(
                [self._compute_newtonian_accelerations(positions[part : part + block]) for part in parts]
            )
        if self.relativistic_body is not None:
            assert velocities is not None
            found += self._compute_relativistic_accelerations(positions, velocities, self.relativistic_body)
        return found

    def compute_energy(self, positions: Floats, velocities: Floats) -> Floats:
        """Return the Newtonian energy of each configuration, in solar masses x AU^2 / day^2."""
        kinetic = 0.5 * ((velocities * velocities).sum(axis=1) @ self.masses)
        return kinetic - 0.5 * self.constant * np.einsum(
            "i,bij,j->b", self.masses, 1 / compute_pairwise_distances(positions), self.masses
        )

    def compute_angular_momentum(self, positions: Floats, velocities: Floats) -> Floats:
        """Return the angular momentum of each configuration, of shape (b, 3)."""
        x, v = positions, velocities * self.masses
        found = [(x[:, j] * v[:, k] - x[:, k] * v[:, j]).sum(axis=1) for j, k in ((1, 2), (2, 0), (0, 1))]
        return np.stack(found, axis=1)

    def _compute_newtonian_accelerations(self, positions: Floats) -> Floats:
        apart, square = _compute_separations(positions)
        return np.einsum("bcij,bij->bci", apart, self._pull / (square * np.sqrt(square)))

    def _compute_relativistic_accelerations(
        self, positions: Floats, velocities: Floats, relativistic_body: int
    ) -> Floats:
        """Return the accelerations by the central body's field, which feels the opposite: momentum is conserved."""
        offset = positions - positions[:, :, relativistic_body, None]
        speed = velocities - velocities[:, :, relativistic_body, None]
        square = np.einsum("bcn,bcn->bn", offset, offset)
        square[:, relativistic_body] = 1.0
        mu = self._pull[relativistic_body]
        along = 4 * mu / np.sqrt(square) - np.einsum("bcn,bcn->bn", speed, speed)
        radial = 4 * np.einsum("bcn,bcn->bn", offset, speed)
        factor = mu / (LIGHT_SPEED**2 * square * np.sqrt(square))
        found = (factor * along)[:, None] * offset + (factor * radial)[:, None] * speed
        found[:, :, relativistic_body] = -(found @ self.masses) / self.masses[relativistic_body]
        return found


def _compute_separations(positions: Floats) -> tuple[Floats, Floats]:
    """Return the vectors between all bodies, and the squares of the distances."""
    apart = positions[:, :, None, :] - positions[:, :, :, None]
    square = np.einsum("bcij,bcij->bij", apart, apart)
    count = positions.shape[2]
    square.reshape(-1, count * count)[:, :: count + 1] = np.inf  # a body does not attract itself
    return apart, square


def make_relative_matrix(hierarchy: JacobiHierarchy) -> Floats:
    """Return the matrix whose product with positions is each subsystem relative to its centre; roots are 0."""
    matrix = np.zeros((len(hierarchy.ids), len(hierarchy.ids)))
    for index, (own, centre) in enumerate(hierarchy.compute_barycentre_weights()):
        if centre:
            matrix[index, list(own)] = list(own.values())
            matrix[index, list(centre)] -= list(centre.values())
    return matrix


def compute_body_states(hierarchy: JacobiHierarchy, orbit_states: Floats) -> Floats:
    """Return positions (or velocities) of all bodies from those of their orbits, both of shape (n, 3).

    The barycentre of each root and the bodies below it is at the row of the root.
    """
    groups = orbit_states.copy()
    """First the barycentre of a body's subsystem, then the body."""
    for parent in hierarchy.order:
        mass = hierarchy.subsystem_masses[parent]
        for child in reversed(hierarchy.children[parent]):
            share = hierarchy.subsystem_masses[child]
            fraction = share / mass if share > 0 else 0.0
            centre = groups[parent] - fraction * orbit_states[child]
            groups[child] = centre + orbit_states[child]
            groups[parent] = centre
            mass -= share
    return groups


def compute_subsystem_masses(masses: Floats, parents: Sequence[int]) -> Floats:
    """Return the mass of each body together with everything that orbits it."""
    total = masses.copy()
    for index, mass in enumerate(masses):
        above = parents[index]
        while above >= 0:
            total[above] += mass
            above = parents[above]
    return total


def subtract_barycentre(masses: Floats, values: Floats) -> Floats:
    """Return positions or velocities relative to their mean weighted by mass."""
    return values - masses @ values / masses.sum()
