"""Fixtures and settings every test may rely on."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

# Timings never decide a test: a busy machine must not turn a property red.
settings.register_profile("project", deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("project")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data kept beside the checkout; tests that need it are skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the shared data folder is not beside this checkout")
    return SHARED_DATA
