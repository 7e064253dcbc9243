"""Real systems to start a universe from, every number with the paper it came from."""

from universe.systems.catalogue import SystemNotFound, load, names

__all__ = ["SystemNotFound", "load", "names"]
