"""Tells whether a file or a folder is still the one that was read."""

import os
from collections.abc import Mapping

Stamp = list[int] | None
"""None for what is not there."""


def stamp_of(path: str) -> Stamp:
    try:
        return stamp_from(os.stat(path))
    except (OSError, ValueError):
        return None


def stamp_from(seen: os.stat_result) -> list[int]:
    return [seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size]


def unchanged(stamps: Mapping[str, Stamp]) -> bool:
    """Whether all of them are as they were."""
    return all(stamp_of(path) == stamp for path, stamp in stamps.items())
