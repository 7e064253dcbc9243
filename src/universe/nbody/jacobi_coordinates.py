"""Jacobi coordinates: matrices between the states of orbits and the states of bodies."""

from collections.abc import Sequence

import numpy as np

from universe.orbits.jacobi_hierarchy import JacobiHierarchy
from universe.orbits.kepler_equation import Floats


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
