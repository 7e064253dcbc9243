"""Runs whose log cannot be read."""

from pathlib import Path

import pytest

from pflow.service.history import RunHistory
from uraniborg.kernel.errors import UraniborgError


def test_runs_of_an_unreadable_log_are_not_counted_and_their_list_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs.db").mkdir()
    history = RunHistory(tmp_path, lambda _: None)
    assert history.count_runs() == {}
    with pytest.raises(UraniborgError) as refused:
        history.list_runs()
    assert refused.value.hint
