"""What a person sees of a run while it goes on: a line for each node that ended, on a terminal also what runs now."""

import os
import threading
import time
from collections import Counter
from itertools import islice
from typing import Final, NamedTuple, TextIO

from pflow.cli.printing import columns, cut, first_line, room_of
from pflow.engine.output import NodeStatus
from uraniborg.kernel.cli import can_use_color
from uraniborg.kernel.logging import printable, redact

_GREEN, _CYAN, _RED, _YELLOW, _DIM = "32", "36", "31", "33", "2"
_ERASE: Final = "\r\x1b[2K"
_REDRAWN_AFTER_S: Final = 0.05
_LONGEST: Final = 1_000
_ID_COLUMNS: Final = 18
_RUNNING_SHOWN: Final = 3
_LEAST_NOTE: Final = 16


class _Look(NamedTuple):
    """`poor` is the mark for an alphabet that lacks the right one."""

    mark: str
    poor: str
    color: str
    word: str


_LOOKS: Final[dict[NodeStatus, _Look]] = {
    "completed": _Look("✓", "ok", _GREEN, "done"),
    "reused": _Look("↺", "=", _CYAN, "reused"),
    "failed": _Look("✗", "x", _RED, "failed"),
    "waiting": _Look("◦", "w", _YELLOW, "waits for a person"),
    "skipped": _Look("–", "-", _DIM, "skipped"),
    "uncertain": _Look("?", "?", _YELLOW, "uncertain"),
}
_RUNNING: Final = _Look("…", "...", _DIM, "running")


class Progress:
    """Writes to a stream such as stderr. One that cannot be written to is left alone: no run ends because of it."""

    def __init__(self, stream: TextIO, workflow: str = "") -> None:
        """`workflow` is what to call it, if not by its name."""
        self._stream: TextIO | None = stream
        self._workflow = workflow
        self._lock = threading.Lock()
        self._is_colored = can_use_color(stream)
        self._is_terminal = stream.isatty()
        self._is_live = self._is_terminal and os.environ.get("TERM") != "dumb"
        self._is_poor = not _is_writable("".join(look.mark for look in (*_LOOKS.values(), _RUNNING)), stream)
        self._nodes = 0
        self._ended: Counter[NodeStatus] = Counter()
        self._running: dict[str, str] = {}
        self._drawn_at: float | None = None

    def run_started(self, name: str, run_id: str, nodes: int) -> None:
        with self._lock:
            self._nodes = nodes
            self._ended.clear()
            self._running.clear()
            about = f"{nodes} {'node' if nodes == 1 else 'nodes'}, run {_clean(run_id)}"
            self._line(f"{_clean(self._workflow or name)}  {self._painted(_DIM, about)}")

    def node_started(self, node_id: str, type: str) -> None:  # noqa: A002 - what nodes call it
        with self._lock:
            self._running[node_id] = f" ({type})"
            self._draw()

    def node_finished(self, node_id: str, status: NodeStatus, duration_ms: float, note: str = "") -> None:
        look = _LOOKS[status]
        with self._lock:
            self._ended[status] += "/" not in node_id  # of a workflow within, which is one node here
            self._running.pop(node_id, None)
            took = f" {duration(duration_ms)}" if status in ("completed", "failed") else ""
            shown = _clean(node_id)
            padding = " " * (_ID_COLUMNS - columns(shown))
            said = f" {shown}{padding}  {look.word}{took}  "
            noted = self._fitted(note, beside=columns(f"  {self._sign(look)}{said}"))
            self._line(f"  {self._mark(look)}{said}{self._painted(_DIM, noted)}".rstrip())
            self._draw()

    def node_said(self, node_id: str, text: str) -> None:
        """On a terminal it is what the last line says of the node for now; elsewhere it is a line."""
        with self._lock:
            if not self._is_live:
                self._line(f"  {self._mark(_RUNNING)} {_clean(node_id)}: {_clean(text)}")
            elif node_id in self._running:
                self._running[node_id] = f": {text}"
                if self._drawn_at is None or time.monotonic() - self._drawn_at >= _REDRAWN_AFTER_S:
                    self._draw()

    def run_finished(self, success: bool, duration_ms: float) -> None:
        with self._lock:
            look = _LOOKS["completed" if success else self._stopped()]
            counts = ", ".join(
                f"{self._ended[status]} {each.word}" for status, each in _LOOKS.items() if self._ended[status]
            )
            took = f"{look.word} {'in' if success else 'after'} {duration(duration_ms)}"
            self._line(f"{self._mark(look)} {took}  {self._painted(_DIM, counts)}".rstrip())

    def _fitted(self, note: str, beside: int) -> str:
        """The first line of it, on a terminal as much as fits."""
        said = _clean(first_line("\n".join(redact(note).splitlines())))
        room = room_of(self._stream) if self._stream and self._is_terminal else None
        return said if room is None else cut(said, max(_LEAST_NOTE, room - beside), self._sign(_RUNNING))

    def _stopped(self) -> NodeStatus:
        """What kept it from going on."""
        if self._ended["failed"]:
            return "failed"
        return "waiting" if self._ended["waiting"] else "uncertain" if self._ended["uncertain"] else "failed"

    def _sign(self, look: _Look) -> str:
        return look.poor if self._is_poor else look.mark

    def _mark(self, look: _Look) -> str:
        return self._painted(look.color, self._sign(look))

    def _painted(self, color: str, text: str) -> str:
        return f"\x1b[{color}m{text}\x1b[0m" if self._is_colored and text else text

    def _line(self, text: str) -> None:
        self._write(f"{self._erasing()}{text}\n")

    def _draw(self) -> None:
        """The last line, which the next one takes the place of: how far it is, and what runs."""
        if not self._is_live or not self._running:
            return
        shown = [_clean(f"{node}{said}") for node, said in islice(self._running.items(), _RUNNING_SHOWN)]
        more = len(self._running) - len(shown)
        shown += [f"{more} more"] if more else []
        text = f"{self._ended.total()}/{self._nodes}  {', '.join(shown)}"
        sign = self._sign(_RUNNING)
        line = cut(f"  {sign} {text}", self._width() - 1, sign)
        # The cursor waits at the beginning, so that what others write does not go on where this ends.
        self._write(f"{self._erasing()}{self._painted(_DIM, line)}\r")
        self._drawn_at = time.monotonic()

    def _erasing(self) -> str:
        if self._drawn_at is None:
            return ""
        self._drawn_at = None
        return _ERASE

    def _width(self) -> int:
        try:
            assert self._stream is not None
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            return 80

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            if not _is_writable(text, self._stream):
                encoding = self._stream.encoding
                text = text.encode(encoding, "backslashreplace").decode(encoding)
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal is gone, the disk is full, or the stream is closed
            self._stream = None


def duration(milliseconds: float) -> str:
    """As people say it: 12 ms, 1.2 s, 3 min 05 s."""
    if milliseconds < 999.5:
        return "<1 ms" if milliseconds < 1 else f"{milliseconds:.0f} ms"
    if milliseconds < 59_950:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {seconds:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def _is_writable(text: str, stream: TextIO) -> bool:
    if text.isascii():
        return True
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _clean(text: str) -> str:
    masked = redact(text)
    return printable(masked if len(masked) <= _LONGEST else f"{masked[:_LONGEST]}...", keep="")
