"""Real systems to start a universe from, every number with the paper it came from."""

from universe.systems.catalogue import SystemNotFound, list_system_names, load_system

__all__ = ["SystemNotFound", "list_system_names", "load_system"]
