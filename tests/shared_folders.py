"""Folders that take long to make and that all workers of a test run share."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import filelock
import pytest

PATIENCE_S = 150.0
"""The time in seconds that a worker has to make a folder while the others wait."""


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
