"""Physical quantities that follow from a universe's masses, radii, orbits and starlight, each with its paper."""

from universe.domain.physics.physics_report import report_physics, report_zones

__all__ = ["report_physics", "report_zones"]
