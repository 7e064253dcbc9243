"""Tells whether a file or a folder is still the one that was read."""

import os
from collections.abc import Mapping
from pathlib import Path

Stamp = list[int] | None
"""None for what is not there."""


def stamp_of(path: str | Path) -> Stamp:
    try:
        now = os.stat(path)
    except (OSError, ValueError):
        return None
    return [now.st_mtime_ns, now.st_ctime_ns, now.st_size]


def unchanged(stamps: Mapping[str, Stamp]) -> bool:
    """Whether all of them are as they were."""
    return all(stamp_of(path) == stamp for path, stamp in stamps.items())
