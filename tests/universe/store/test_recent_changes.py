"""The latest changes of a universe in memory."""

import pytest

from universe.domain.state import EMPTY
from universe.store import recent_changes
from universe.store.recent_changes import MAX_CHANGES, RecentChange, RecentChanges


def test_only_the_latest_thousand_changes_are_remembered() -> None:
    changes = RecentChanges(0, EMPTY)
    changes.add_steps([RecentChange(version, EMPTY, {}) for version in range(1, MAX_CHANGES + 1)])
    assert changes.find_state_at(0) is not None
    changes.add_steps([RecentChange(MAX_CHANGES + 1, EMPTY, {})])
    assert changes.find_state_at(0) is None
    assert changes.find_state_at(1) is not None


def test_a_large_change_pushes_out_earlier_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_changes, "_MAX_COST", 10)
    changes = RecentChanges(0, EMPTY)
    changes.add_steps(
        [RecentChange(1, EMPTY, {}, {"stars": ["a", "b"]}), RecentChange(2, EMPTY, {}, {"stars": ["a"] * 8})]
    )
    assert changes.find_state_at(0) is not None
    changes.add_steps([RecentChange(3, EMPTY, {}, {"stars": ["a"]})])
    assert [changes.find_state_at(version) is not None for version in range(4)] == [False, True, True, True]
