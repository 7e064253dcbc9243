"""The settings nobody has set are the numbers that the reference states."""

from paper_library.config import LibraryConfig
from pflow.config import Settings
from universe.config import UniverseConfig


def test_the_library_is_set_up_as_documented() -> None:
    config = LibraryConfig()
    assert (config.port, config.workers, config.threads, config.body_limit) == (8421, 1, 8, 1_000_000)
    assert (config.query_timeout_s, config.asset_timeout_s) == (5.0, 10.0)


def test_universes_are_set_up_as_documented() -> None:
    config = UniverseConfig()
    assert (config.port, config.body_limit, config.snapshot_every) == (3001, 10_000_000, 500)
    assert (config.heartbeat_s, config.stall_s) == (15.0, 30.0)
    assert (config.session_idle_s, config.max_sessions) == (1_800.0, 1_000)


def test_workflows_are_set_up_as_documented() -> None:
    assert (Settings().timeout, Settings().checkpoint_hours) == (None, 24.0)
