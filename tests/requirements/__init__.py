"""The requirement ledger: what must hold, and which tests prove it."""

import pytest


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Mark a test as proof of these requirements."""
    return pytest.mark.requirement(*ids)
