"""The requirement ledger: what must hold, and which tests prove it."""

import pytest


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Marks a test as proof of the requirements named."""
    return pytest.mark.requirement(*ids)
