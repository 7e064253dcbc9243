"""What takes long to make is made once in a run of the tests, whichever worker needs it first."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import filelock
import pytest

PATIENCE_S = 150.0
"""How long a worker may be at making what the others wait for."""


def make_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return the folder with this name, filled once by `make`. All workers share it: do not change it."""
    base = factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "made-once"
    shared.mkdir(exist_ok=True)
    folder, done = shared / name, shared / f"{name}.done"
    with filelock.FileLock(shared / f"{name}.lock", timeout=PATIENCE_S):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
