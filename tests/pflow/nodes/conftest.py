"""Fixtures of the tests of the nodes."""

from pathlib import Path

import pytest

from pflow.node import Context


@pytest.fixture
def context(tmp_path: Path) -> Context:
    """Return the context of a node that runs in a temporary folder."""
    return Context("run", "workflow", "node", tmp_path, tmp_path, tmp_path / "spool")
