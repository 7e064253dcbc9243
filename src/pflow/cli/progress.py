"""Show the progress of a run on stderr: a line for each node that ended, and those that run."""

import os
import threading
import time
from collections import Counter
from itertools import islice
from typing import Final, NamedTuple, TextIO

from pflow.cli.printing import (
    cut_to_width,
    format_duration,
    get_first_line_with_mark,
    get_terminal_columns,
    measure_width,
)
from pflow.engine.progress_output import NodeStatus
from uraniborg.kernel.cli import can_use_color
from uraniborg.kernel.logging import make_printable, redact

_GREEN, _CYAN, _RED, _YELLOW, _DIM = "32", "36", "31", "33", "2"
_ERASE: Final = "\r\x1b[2K"
_REDRAWN_AFTER_S: Final = 0.05
_LONGEST: Final = 1_000
_ID_COLUMNS: Final = 18
_RUNNING_SHOWN: Final = 3
_LEAST_NOTE: Final = 16


class _StatusStyle(NamedTuple):
    """How a status is displayed. `ascii_mark` is for streams that cannot encode `mark`."""

    mark: str
    ascii_mark: str
    color: str
    word: str


_STATUS_STYLES: Final[dict[NodeStatus, _StatusStyle]] = {
    "completed": _StatusStyle("✓", "ok", _GREEN, "done"),
    "reused": _StatusStyle("↺", "=", _CYAN, "reused"),
    "failed": _StatusStyle("✗", "x", _RED, "failed"),
    "waiting": _StatusStyle("◦", "w", _YELLOW, "waits for a person"),
    "skipped": _StatusStyle("–", "-", _DIM, "skipped"),
    "uncertain": _StatusStyle("?", "?", _YELLOW, "uncertain"),
}
_RUNNING: Final = _StatusStyle("…", "...", _DIM, "running")


class ProgressPrinter:
    """Writes to a stream such as stderr. If writing fails, the rest is discarded: no run ends because of it."""

    def __init__(self, stream: TextIO, workflow: str = "") -> None:
        """Report to `stream`; `workflow` replaces the name of the workflow."""
        self._stream: TextIO | None = stream
        self._workflow = workflow
        self._lock = threading.Lock()
        self._is_colored = can_use_color(stream)
        self._is_terminal = stream.isatty()
        self._is_live = self._is_terminal and os.environ.get("TERM") != "dumb"
        self._uses_ascii = not _can_encode(
            "".join(style.mark for style in (*_STATUS_STYLES.values(), _RUNNING)), stream
        )
        self._nodes = 0
        self._end_counts: Counter[NodeStatus] = Counter()
        self._running: dict[str, str] = {}
        self._drawn_at: float | None = None

    def on_run_started(self, name: str, run_id: str, nodes: int) -> None:
        with self._lock:
            self._nodes = nodes
            self._end_counts.clear()
            self._running.clear()
            about = f"{nodes} {'node' if nodes == 1 else 'nodes'}, run {_mask_and_escape_line(run_id)}"
            self._write_line(f"{_mask_and_escape_line(self._workflow or name)}  {self._paint_text(_DIM, about)}")

    def on_node_started(self, node_id: str, type: str) -> None:  # noqa: A002 - what nodes call it
        with self._lock:
            self._running[node_id] = f" ({type})"
            self._draw_running_line()

    def on_node_finished(self, node_id: str, status: NodeStatus, duration_ms: float, note: str = "") -> None:
        style = _STATUS_STYLES[status]
        with self._lock:
            self._end_counts[status] += "/" not in node_id  # a node of a nested workflow, which counts as one node here
            self._running.pop(node_id, None)
            took = f" {format_duration(duration_ms)}" if status in ("completed", "failed") else ""
            clean_id = _mask_and_escape_line(node_id)
            padding = " " * (_ID_COLUMNS - measure_width(clean_id))
            text = f" {clean_id}{padding}  {style.word}{took}  "
            fitted_note = self._fit_note(note, used_width=measure_width(f"  {self._get_mark(style)}{text}"))
            self._write_line(f"  {self._paint_mark(style)}{text}{self._paint_text(_DIM, fitted_note)}".rstrip())
            self._draw_running_line()

    def on_node_message(self, node_id: str, text: str) -> None:
        """Update the last line on a terminal; write a new line elsewhere."""
        with self._lock:
            if not self._is_live:
                self._write_line(
                    f"  {self._paint_mark(_RUNNING)} {_mask_and_escape_line(node_id)}: {_mask_and_escape_line(text)}"
                )
            elif node_id in self._running:
                self._running[node_id] = f": {text}"
                if self._drawn_at is None or time.monotonic() - self._drawn_at >= _REDRAWN_AFTER_S:
                    self._draw_running_line()

    def on_run_finished(self, success: bool, duration_ms: float) -> None:
        with self._lock:
            style = _STATUS_STYLES["completed" if success else self._get_stop_status()]
            counts = ", ".join(
                f"{self._end_counts[status]} {each.word}"
                for status, each in _STATUS_STYLES.items()
                if self._end_counts[status]
            )
            took = f"{style.word} {'in' if success else 'after'} {format_duration(duration_ms)}"
            self._write_line(f"{self._paint_mark(style)} {took}  {self._paint_text(_DIM, counts)}".rstrip())

    def _fit_note(self, note: str, used_width: int) -> str:
        line = _mask_and_escape_line(get_first_line_with_mark("\n".join(redact(note).splitlines())))
        room = get_terminal_columns(self._stream) if self._stream and self._is_terminal else None
        return (
            line if room is None else cut_to_width(line, max(_LEAST_NOTE, room - used_width), self._get_mark(_RUNNING))
        )

    def _get_stop_status(self) -> NodeStatus:
        if self._end_counts["failed"]:
            return "failed"
        return "waiting" if self._end_counts["waiting"] else "uncertain" if self._end_counts["uncertain"] else "failed"

    def _get_mark(self, style: _StatusStyle) -> str:
        return style.ascii_mark if self._uses_ascii else style.mark

    def _paint_mark(self, style: _StatusStyle) -> str:
        return self._paint_text(style.color, self._get_mark(style))

    def _paint_text(self, color: str, text: str) -> str:
        return f"\x1b[{color}m{text}\x1b[0m" if self._is_colored and text else text

    def _write_line(self, text: str) -> None:
        self._write_text(f"{self._pop_erase_code()}{text}\n")

    def _draw_running_line(self) -> None:
        """Draw the line that the next line replaces: the number of nodes that ended, and the running nodes."""
        if not self._is_live or not self._running:
            return
        parts = [
            _mask_and_escape_line(f"{node}{message}") for node, message in islice(self._running.items(), _RUNNING_SHOWN)
        ]
        more = len(self._running) - len(parts)
        parts += [f"{more} more"] if more else []
        text = f"{self._end_counts.total()}/{self._nodes}  {', '.join(parts)}"
        sign = self._get_mark(_RUNNING)
        line = cut_to_width(f"  {sign} {text}", self._get_terminal_width() - 1, sign)
        # The cursor stays at the start of the line, so that other output begins there.
        self._write_text(f"{self._pop_erase_code()}{self._paint_text(_DIM, line)}\r")
        self._drawn_at = time.monotonic()

    def _pop_erase_code(self) -> str:
        if self._drawn_at is None:
            return ""
        self._drawn_at = None
        return _ERASE

    def _get_terminal_width(self) -> int:
        try:
            assert self._stream is not None
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            return 80

    def _write_text(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            if not _can_encode(text, self._stream):
                encoding = self._stream.encoding
                text = text.encode(encoding, "backslashreplace").decode(encoding)
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal is gone, the disk is full, or the stream is closed
            self._stream = None


def _can_encode(text: str, stream: TextIO) -> bool:
    if text.isascii():
        return True
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _mask_and_escape_line(text: str) -> str:
    masked = redact(text)
    return make_printable(masked if len(masked) <= _LONGEST else f"{masked[:_LONGEST]}...", keep="")
