"""Progress on stderr: nothing for quick work, the current item for work of more than a second."""

import io
import sys
from threading import Event

import pytest

from uraniborg.kernel import item_progress
from uraniborg.kernel.item_progress import ItemProgress


class Stream(io.StringIO):
    """A stream that notes when something is written."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal, self.written = is_terminal, Event()

    def isatty(self) -> bool:
        return self.is_terminal

    def flush(self) -> None:
        self.written.set()


def test_work_of_less_than_a_second_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_terminal in (False, True):
        monkeypatch.setattr(sys, "stderr", stream := Stream(is_terminal=is_terminal))
        with ItemProgress("Checking", is_quiet=False, as_json=False) as report:
            report("a.json")
        assert stream.getvalue().replace("\r\x1b[K", "") == ""


@pytest.mark.parametrize(("is_terminal", "as_json"), [(False, False), (True, False), (True, True)])
def test_longer_work_shows_its_item_without_control_characters(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, as_json: bool
) -> None:
    monkeypatch.setattr(item_progress, "_SILENT_S", 0.001)
    monkeypatch.setattr(sys, "stderr", stream := Stream(is_terminal=is_terminal))
    with ItemProgress("Checking", is_quiet=False, as_json=as_json) as report:
        report("a\x1b[2J.json")
        assert stream.written.wait(30)
    assert "Checking " in stream.getvalue()
    assert "\x1b[2J" not in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K" if is_terminal else "\n")


@pytest.mark.parametrize(("is_quiet", "as_json"), [(True, False), (False, True)])
def test_quiet_and_piped_json_show_nothing(monkeypatch: pytest.MonkeyPatch, is_quiet: bool, as_json: bool) -> None:
    monkeypatch.setattr(item_progress, "_SILENT_S", 0.001)
    monkeypatch.setattr(sys, "stderr", stream := Stream(is_terminal=False))
    with ItemProgress("Checking", is_quiet=is_quiet, as_json=as_json) as report:
        report("a.json")
        assert not stream.written.wait(0.05)
    assert stream.getvalue() == ""
