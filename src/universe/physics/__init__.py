"""Physical quantities that follow from a universe's masses, radii, orbits and starlight, each with its paper."""

from universe.physics.report import physics_of

__all__ = ["physics_of"]
