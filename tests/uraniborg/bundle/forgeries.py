"""All forgeries: each changes a bundle as somebody who cheats would."""

from tests.uraniborg.bundle import (
    forged_archives,
    forged_frames,
    forged_measurements,
    forged_papers,
    forged_runs,
    forged_stories,
    forged_universes,
    forged_versions,
)
from tests.uraniborg.bundle.forging import FORGERIES, Forgery, reseal

__all__ = [
    "FORGERIES",
    "Forgery",
    "forged_archives",
    "forged_frames",
    "forged_measurements",
    "forged_papers",
    "forged_runs",
    "forged_stories",
    "forged_universes",
    "forged_versions",
    "reseal",
]
