"""Progress of a run on terminals, in files and on broken streams."""

import io
import os
import re
import subprocess
import sys
import threading

import pytest

from pflow.cli import progress as live
from pflow.cli.progress import ProgressPrinter
from pflow.domain.run_events import ProgressOutput
from tests.requirements import requirement
from uraniborg.kernel.language.messages import format_duration
from uraniborg.kernel.logging import register_secret
from uraniborg.kernel.terminal.styled_text import measure_plain_width

ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Terminal(io.StringIO):
    """A terminal of 40 columns; `writes` are what it was given, piece by piece."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding
        self.writes: list[str] = []

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2

    def write(self, s: str, /) -> int:
        self.writes.append(s)
        return super().write(s)

    def screen(self) -> list[str]:
        """Return the visible lines, without those that were overwritten or erased."""
        lines = [""]
        for piece in re.split(r"(\r|\n|\x1b\[2K)", self.getvalue()):
            if piece == "\x1b[2K":
                lines[-1] = ""
            elif piece == "\n":
                lines.append("")
            elif piece != "\r":
                lines[-1] = ESCAPE.sub("", piece) or lines[-1]
        return lines


class File(io.StringIO):
    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")

    def columns(_descriptor: int) -> os.terminal_size:
        return os.terminal_size((40, 20))

    monkeypatch.setattr(os, "get_terminal_size", columns)


def report_run(output: ProgressOutput) -> None:
    output.on_run_started("greeter", "3f2a91", 5)
    output.on_node_finished("init", "reused", 0, "nothing it reads has changed")
    output.on_node_started("fetch", "http")
    output.on_node_message("fetch", "40 %")
    output.on_node_finished("fetch", "completed", 12.4)
    output.on_node_started("save", "write-file")
    output.on_node_finished("save", "failed", 1_250, "disk full")
    output.on_node_finished("notify", "skipped", 0)
    output.on_node_finished("post", "uncertain", 0)
    output.on_run_finished(False, 65_000)


LINES = [
    "greeter  5 nodes, run 3f2a91",
    "  ↺ init                reused  nothing it reads has changed",
    "  … fetch: 40 %",
    "  ✓ fetch               done 12 ms",
    "  ✗ save                failed 1.2 s  disk full",
    "  – notify              skipped",
    "  ? post                uncertain",
    "✗ failed after 1 min 05 s  1 done, 1 reused, 1 failed, 1 skipped, 1 uncertain",
    "",
]


SEEN = [line.replace("it reads has changed", "it read…") for line in LINES]
"""The same where there are 40 columns: a note is cut, unless less than a few words would be left of it."""


def test_a_file_gets_one_plain_line_for_each_node_that_ended() -> None:
    file = File()
    report_run(ProgressPrinter(file))
    assert file.getvalue().split("\n") == LINES


def test_a_terminal_gets_the_same_in_colour_and_messages_of_nodes_do_not_stay() -> None:
    terminal = Terminal()
    report_run(ProgressPrinter(terminal))
    assert terminal.screen() == [line for line in SEEN if "40 %" not in line]
    assert "\x1b[32m✓\x1b[0m" in terminal.getvalue()
    assert "\x1b[31m✗\x1b[0m" in terminal.getvalue()


def test_without_colour_a_terminal_still_has_its_live_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    report_run(ProgressPrinter(terminal))
    assert set(ESCAPE.findall(terminal.getvalue())) == {"\x1b[2K"}
    assert terminal.screen() == [line for line in SEEN if "40 %" not in line]


def test_a_terminal_that_knows_nothing_is_treated_as_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    terminal = Terminal()
    report_run(ProgressPrinter(terminal))
    assert terminal.getvalue().split("\n") == SEEN


def test_a_note_is_printed_in_one_line_that_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for stream in (Terminal(), File()):
        ProgressPrinter(stream).on_node_finished("save", "failed", 12, f"{'so much ' * 9}\nand more")
        (line,) = ESCAPE.sub("", stream.getvalue()).splitlines()
        assert line.startswith("  ✗ save                failed 12 ms  so much so much")
        assert line.endswith("…")
        assert measure_plain_width(line) == 60 or isinstance(stream, File)


def test_the_workflow_is_named_as_on_the_command_line() -> None:
    file = File()
    ProgressPrinter(file, "./here/greet.json").on_run_started("greet@0c45375d", "3f2a91", 1)
    assert file.getvalue() == "./here/greet.json  1 node, run 3f2a91\n"


def test_the_last_line_of_a_terminal_shows_the_running_nodes() -> None:
    terminal = Terminal()
    output = ProgressPrinter(terminal)
    output.on_run_started("w", "r", 9)
    output.on_node_started("fetch", "http")
    assert terminal.screen()[-1] == "  … 0/9  fetch (http)"
    output.on_node_finished("fetch", "completed", 1)
    assert terminal.screen()[-1] == ""
    for name in "abcde":
        output.on_node_started(name, "t")
    assert terminal.screen()[-1] == "  … 1/9  a (t), b (t), c (t), 2 more"
    output.on_node_finished("b", "completed", 1)
    assert terminal.screen()[-1] == "  … 2/9  a (t), c (t), d (t), 1 more"
    assert terminal.getvalue().endswith("\r")


def test_the_message_of_a_node_is_shown_until_the_node_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_REDRAWN_AFTER_S", 0)
    terminal = Terminal()
    output = ProgressPrinter(terminal)
    output.on_node_started("fetch", "http")
    output.on_node_message("fetch", "40 %")
    assert terminal.screen()[-1] == "  … 0/0  fetch: 40 %"
    output.on_node_finished("fetch", "completed", 1)
    output.on_node_message("fetch", "too late")
    assert terminal.screen()[-1] == ""


def test_many_messages_of_a_node_do_not_make_a_terminal_flicker(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    terminal = Terminal()
    output = ProgressPrinter(terminal)
    output.on_node_started("fetch", "http")
    for number in range(1_000):
        output.on_node_message("fetch", f"{number}")
    assert len(terminal.writes) == 1
    now += 1
    output.on_node_message("fetch", "last")
    assert terminal.screen()[-1] == "  … 0/0  fetch: last"


@pytest.mark.parametrize("message", ["x" * 500, "日本語" * 50, "e\u0301" * 200, "🎉" * 100, "\u200b" * 60 + "y" * 60])
def test_the_live_line_never_wraps(message: str) -> None:
    terminal = Terminal()
    ProgressPrinter(terminal).on_node_started(message, "t")
    (line,) = terminal.screen()
    assert line.endswith("…")
    assert 36 <= measure_plain_width(line) <= 39


def test_a_terminal_without_a_width_is_assumed_to_have_eighty_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def untold(_descriptor: int) -> os.terminal_size:
        raise OSError

    monkeypatch.setattr(os, "get_terminal_size", untold)
    terminal = Terminal()
    ProgressPrinter(terminal).on_node_started("x" * 500, "t")
    assert len(terminal.screen()[-1]) == 79


def test_names_of_any_script_stand_in_one_column() -> None:
    file = File()
    output = ProgressPrinter(file)
    for name in ("fetch", "日本語", "e\u0301e\u0301"):
        output.on_node_finished(name, "completed", 1)
    places = [measure_plain_width(line.partition("done")[0]) for line in file.getvalue().splitlines()]
    assert len(set(places)) == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_an_alphabet_without_the_marks_gets_others_and_loses_no_text(encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    output = ProgressPrinter(stream)
    output.on_node_finished("日", "completed", 5)
    output.on_node_finished("b", "reused", 0)
    output.on_run_finished(True, 5)
    written = raw.getvalue().decode(encoding)
    assert [line.split() for line in written.splitlines()] == [
        ["ok", r"\u65e5", "done", "5", "ms"],
        ["=", "b", "reused"],
        ["ok", "done", "in", "5", "ms", "1", "done,", "1", "reused"],
    ]


@pytest.mark.parametrize("stream", [File(), Terminal()], ids=["file", "terminal"])
def test_control_characters_in_names_and_messages_of_nodes_have_no_effect(stream: io.StringIO) -> None:
    hostile = "\x1b]0;owned\x07\r\n✓ forged\u202e\x9b31m\ud800"
    output = ProgressPrinter(stream)
    output.on_run_started(hostile, hostile, 1)
    output.on_node_started(hostile, hostile)
    output.on_node_message(hostile, hostile)
    output.on_node_finished(hostile, "completed", 1, hostile)
    output.on_run_finished(True, 1)
    left = ESCAPE.sub("", stream.getvalue())
    assert not re.search("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e\ud800]", left)
    assert left.count("\n") == (4 if isinstance(stream, File) else 3)


@requirement("PF-N4")
@pytest.mark.parametrize("stream", [File(), Terminal()], ids=["file", "terminal"])
def test_a_secret_is_never_shown(stream: io.StringIO) -> None:
    register_secret("rosebud-1941")
    output = ProgressPrinter(stream)
    output.on_run_started("w", "r", 1)
    output.on_node_started("rosebud-1941", "http")
    output.on_node_message("rosebud-1941", "rosebud-1941 " + "x" * 2_000)
    output.on_node_finished("rosebud-1941", "failed", 1, f"{'x' * 995}rosebud-1941")
    output.on_run_finished(False, 1)
    assert "rose" not in stream.getvalue()
    assert "***" in stream.getvalue()


class Broken(File):
    tried = 0

    def write(self, s: str, /) -> int:
        self.tried += 1
        raise BrokenPipeError(32, "gone")


def test_a_broken_stream_is_not_used_any_more_and_the_run_continues() -> None:
    broken = Broken()
    report_run(ProgressPrinter(broken))
    assert broken.tried == 1


def test_a_stream_that_is_closed_is_left_alone() -> None:
    file = File()
    output = ProgressPrinter(file)
    file.close()
    report_run(output)


def test_concurrent_threads_write_whole_lines() -> None:
    file = File()
    output = ProgressPrinter(file)

    def speak(one: int) -> None:
        for _ in range(200):
            output.on_node_message(f"n{one}", "x" * 50)

    threads = [threading.Thread(target=speak, args=(one,)) for one in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    lines = file.getvalue().splitlines()
    assert len(lines) == 1_600
    assert set(lines) == {f"  … n{one}: {'x' * 50}" for one in range(8)}


@pytest.mark.parametrize(
    ("milliseconds", "expected"),
    [
        (0, "<1 ms"),
        (0.99, "<1 ms"),
        (1, "1 ms"),
        (999.4, "999 ms"),
        (999.6, "1.0 s"),
        (59_949, "59.9 s"),
        (59_999, "1 min 00 s"),
        (185_400, "3 min 05 s"),
        (3_600_000, "1 h 00 min"),
        (93_784_000, "26 h 03 min"),
    ],
)
def test_durations_are_formatted_for_people(milliseconds: float, expected: str) -> None:
    assert format_duration(milliseconds) == expected


def test_showing_progress_loads_nothing_heavy() -> None:
    heavy = "{'pydantic', 'rich', 'typer', 'httpx', 'mcp', 'platformdirs', 'structlog', 'unicodedata'}"
    code = f"import sys, pflow.cli.progress; sys.exit(', '.join({heavy} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
