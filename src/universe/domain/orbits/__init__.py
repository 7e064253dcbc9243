"""Positions of bodies: the compatible rule, Kepler orbits and hierarchies. All functions are pure."""
