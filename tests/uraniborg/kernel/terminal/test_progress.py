"""Progress on stderr: nothing for quick work, one line of a terminal or some lines of a file for longer work."""

import io
import sys
from threading import Event

import pytest

from uraniborg.kernel.terminal import progress as module
from uraniborg.kernel.terminal.progress import ERASE, LiveLine, Progress


class Stream(io.StringIO):
    """A stream that notes when something is written."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal, self.written = is_terminal, Event()

    def isatty(self) -> bool:
        return self.is_terminal

    def flush(self) -> None:
        self.written.set()

    def wait(self) -> None:
        """Wait until something more is written."""
        self.written.clear()
        assert self.written.wait(30)


class Closed(Stream):
    tried = 0

    def write(self, _: str) -> int:
        self.tried += 1
        self.written.set()
        raise BrokenPipeError


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show progress without the usual pauses."""
    for name in ("_SILENT_S", "_TERMINAL_INTERVAL_S", "_STREAM_INTERVAL_S"):
        monkeypatch.setattr(module, name, 0.001)


def test_work_of_less_than_a_second_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_terminal in (False, True):
        monkeypatch.setattr(sys, "stderr", stream := Stream(is_terminal=is_terminal))
        with Progress("Checking") as progress:
            progress.report_item("a.json")
        assert stream.getvalue() == ""


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("is_terminal", "as_json"), [(False, False), (True, False), (True, True)])
def test_longer_work_shows_its_item_without_control_characters(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, as_json: bool
) -> None:
    monkeypatch.setattr(sys, "stderr", stream := Stream(is_terminal=is_terminal))
    with Progress("Checking", as_json=as_json) as progress:
        progress.report_item("a\x1b[2J.json")
        stream.wait()
        stream.wait()
    assert "Checking a\\x1b[2J.json" in stream.getvalue()
    assert "\x1b[2J" not in stream.getvalue()
    assert stream.getvalue().endswith(ERASE if is_terminal else "\n")
    assert ("\n" in stream.getvalue()) is not is_terminal


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("is_quiet", "as_json"), [(True, False), (False, True)])
def test_quiet_and_piped_json_show_nothing(monkeypatch: pytest.MonkeyPatch, is_quiet: bool, as_json: bool) -> None:
    monkeypatch.setattr(sys, "stderr", stream := Stream(is_terminal=False))
    with Progress("Checking", is_quiet=is_quiet, as_json=as_json) as progress:
        progress.report_item("a.json")
        assert not stream.written.wait(0.05)
    assert stream.getvalue() == ""


@pytest.mark.usefixtures("at_once")
def test_a_fraction_tells_the_time_left_and_a_count_how_many_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := Stream(is_terminal=False))
    monkeypatch.setattr(module.time, "monotonic", iter([0.0, *[8.0] * 100_000]).__next__)
    with Progress("t1") as progress:
        progress.report_fraction(0.25)
        stream.wait()
        stream.wait()
    assert "t1: 25 %, about 24 s left" in stream.getvalue().splitlines()
    with Progress("") as progress:
        progress.report_count("Writing papers", 1_200, 5_000)
        stream.wait()
        stream.wait()
        progress.report_count("Reading entries", 1_201, 0)
        stream.wait()
        stream.wait()
    assert {"Writing papers 1,200 of 5,000", "Reading entries 1,201"} <= {*stream.getvalue().splitlines()}


@pytest.mark.usefixtures("at_once")
def test_a_stream_that_is_gone_is_not_used_any_more_and_the_work_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := Closed(is_terminal=False))
    with Progress("t1"):
        assert stream.written.wait(30)
        assert not Event().wait(0.02)
    assert stream.tried == 1


def test_a_line_takes_the_place_of_the_one_that_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    line = LiveLine(stream := Stream(is_terminal=True))
    line.draw("x" * 100)
    line.write_line("done")
    line.erase()
    assert stream.getvalue() == f"{'x' * 78}…\r{ERASE}done\n"
    line.draw("more")
    line.erase()
    assert stream.getvalue().endswith(f"more\r{ERASE}")
