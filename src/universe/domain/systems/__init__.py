"""Real systems to start a universe from, every number with its paper."""

from universe.domain.systems.catalogue import SystemNotFound, list_system_names, load_system

__all__ = ["SystemNotFound", "list_system_names", "load_system"]
