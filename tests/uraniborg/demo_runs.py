"""Runs of `uraniborg demo`, of which one is shared by all tests."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.installed_programs import find_program
from tests.shared_folders import PATIENCE_S

YEARS: Final = 0.3
"""The span of the N-body runs in tests: seconds instead of a minute."""


@dataclass(frozen=True)
class Demo:
    """A demo that was run, and the folder that it was run in."""

    folder: Path
    returncode: int
    stdout: str
    stderr: str

    @property
    def story_home(self) -> Path:
        return self.folder / "home" / "data" / "demo"


def make_environment(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with a home in the folder."""
    home = {"URANIBORG_HOME": str(folder / "home"), "URANIBORG_USER": "Ada", "COLUMNS": "100", "NO_COLOR": "1"}
    return {**os.environ, **home, **more}


def run_uraniborg(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the program without a terminal."""
    return subprocess.run(
        [find_program("uraniborg"), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        cwd=folder,
        env=make_environment(folder, more),
    )


def make_demo(folder: Path) -> None:
    """Run the demo in the folder and store its output there. Fail unless the demo succeeds."""
    (folder / "tmp").mkdir()
    done = run_uraniborg(
        folder, "demo", "--years", str(YEARS), PFLOW_HOME=str(folder / "pflow"), TMPDIR=str(folder / "tmp")
    )
    assert done.returncode == 0, done.stderr
    result = {"returncode": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
    (folder / "result.json").write_text(json.dumps(result))


def read_demo(folder: Path) -> Demo:
    """Return the demo that was run in the folder."""
    return Demo(folder, **json.loads((folder / "result.json").read_text()))
