"""The progress of long work on stderr."""

import io

import pytest

from universe.cli import common
from universe.cli.common import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Closed(io.StringIO):
    def write(self, _: str) -> int:
        raise BrokenPipeError


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list with the current time, which a test changes."""
    now = [0.0]
    monkeypatch.setattr(common.time, "monotonic", lambda: now[0])
    return now


def report(stream: io.StringIO, clock: list[float], *, is_quiet: bool = False) -> str:
    with ProgressLine("t1", stream=stream, is_quiet=is_quiet) as tell:
        for second in range(1, 31):
            clock[0] = second / 2
            tell(second / 30)
    return stream.getvalue()


def test_a_terminal_has_one_line_that_is_erased_at_the_end(clock: list[float]) -> None:
    text = report(Terminal(), clock)
    assert "\n" not in text
    assert "t1: 50 %, about 8 s left" in text
    assert text.endswith("\r\x1b[2K")


def test_a_file_has_a_line_every_ten_seconds(clock: list[float]) -> None:
    assert report(io.StringIO(), clock).splitlines() == ["t1: 7 %, about 14 s left", "t1: 73 %, about 4 s left"]


def test_short_work_quiet_work_and_a_closed_stream_have_no_lines(clock: list[float]) -> None:
    with ProgressLine("t1", stream=(stream := Terminal())) as tell:
        clock[0] = 0.9
        tell(0.5)
    assert stream.getvalue() == ""
    assert report(io.StringIO(), clock, is_quiet=True) == ""
    report(Closed(), clock)
