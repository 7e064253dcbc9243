"""The replies of an undisturbed run of every plan, computed once for this process and its forks."""

import tempfile
from pathlib import Path
from typing import Final

from tests.paper_search.service.sessions.kill_harness.harness import Rehearsal, rehearse

with tempfile.TemporaryDirectory() as folder:
    REHEARSAL: Final[Rehearsal] = rehearse(Path(folder))
