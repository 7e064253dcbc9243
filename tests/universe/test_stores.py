"""The requirements of universes hold whatever store is under the server."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.universe.chosen_store import KIND
from tests.universe.postgres_server import PostgresServer

FOLDER: Final = Path(__file__).parent


@pytest.mark.soak
@pytest.mark.timeout(1_600)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_every_requirement_holds_on(kind: str, postgres_server: PostgresServer, tmp_path: Path) -> None:
    assert postgres_server  # without PostgreSQL the test is skipped
    command = [sys.executable, "-m", "pytest", "-q", "-m", "requirement and not soak", str(FOLDER)]
    environment = {**os.environ, KIND: kind, "URANIBORG_HOME": str(tmp_path)}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=1_500, env=environment, cwd=FOLDER.parent.parent
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
    assert " passed" in done.stdout
