"""Every plan followed undisturbed: once, for the process that imports this and all that are forked from it."""

import tempfile
from pathlib import Path
from typing import Final

from tests.paper_search.sessions.killing.harness import Rehearsal, rehearse

with tempfile.TemporaryDirectory() as folder:
    REHEARSAL: Final[Rehearsal] = rehearse(Path(folder))
