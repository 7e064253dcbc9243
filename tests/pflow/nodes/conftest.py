"""Fixtures of the tests of the nodes."""

from pathlib import Path

import pytest

from pflow.domain.node import NodeContext


@pytest.fixture
def context(tmp_path: Path) -> NodeContext:
    """Return the context of a node that runs in a temporary folder."""
    return NodeContext("run", "workflow", "node", tmp_path, tmp_path, tmp_path / "spool")
