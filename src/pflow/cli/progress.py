"""Print the progress of a run on stderr: a line for each node, redrawn on a terminal."""

import threading
import time
from collections import Counter
from itertools import islice
from typing import Final, NamedTuple, TextIO

from pflow.domain.run_events import NodeStatus
from uraniborg.kernel.language.messages import format_duration, plural
from uraniborg.kernel.logging import redact
from uraniborg.kernel.terminal.output_streams import get_terminal_columns
from uraniborg.kernel.terminal.progress import LiveLine
from uraniborg.kernel.terminal.styled_text import (
    CYAN,
    DIM,
    GREEN,
    RED,
    YELLOW,
    Piece,
    StyledText,
    cut_to_width,
    get_first_line_with_mark,
    mask_and_escape_text,
    measure_plain_width,
)

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
    "completed": _StatusStyle("✓", "ok", GREEN, "done"),
    "reused": _StatusStyle("↺", "=", CYAN, "reused"),
    "failed": _StatusStyle("✗", "x", RED, "failed"),
    "waiting": _StatusStyle("◦", "w", YELLOW, "waits for a person"),
    "skipped": _StatusStyle("–", "-", DIM, "skipped"),
    "uncertain": _StatusStyle("?", "?", YELLOW, "uncertain"),
}
_RUNNING: Final = _StatusStyle("…", "...", DIM, "running")


class ProgressPrinter:
    """Writes to a stream such as stderr. If writing fails, the rest is discarded: no run ends because of it."""

    def __init__(self, stream: TextIO, workflow: str = "") -> None:
        """Report to `stream`; `workflow` replaces the name of the workflow."""
        self._columns = get_terminal_columns(stream) if stream.isatty() else None
        self._workflow = workflow
        self._lock = threading.Lock()
        self._line = LiveLine(stream)
        self._uses_ascii = not _can_encode_marks(stream)
        self._nodes = 0
        self._end_counts: Counter[NodeStatus] = Counter()
        self._running: dict[str, str] = {}
        self._drawn_at: float | None = None

    def on_run_started(self, name: str, run_id: str, nodes: int) -> None:
        with self._lock:
            self._nodes = nodes
            self._end_counts.clear()
            self._running.clear()
            about = StyledText(DIM, f"{plural(nodes, 'node')}, run {_shorten(run_id)}")
            self._write_line(f"{_shorten(self._workflow or name)}  ", about)

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
            padding = " " * (_ID_COLUMNS - measure_plain_width(clean_id))
            text = f" {clean_id}{padding}  {style.word}{took}  "
            fitted_note = self._fit_note(note, used_width=measure_plain_width(f"  {self._get_mark(style)}{text}"))
            self._write_line("  ", self._make_mark(style), text, StyledText(DIM, fitted_note))
            self._draw_running_line()

    def on_node_message(self, node_id: str, text: str) -> None:
        """Update the last line on a terminal; write a new line elsewhere."""
        with self._lock:
            if not self._line.is_live:
                self._write_line("  ", self._make_mark(_RUNNING), f" {_shorten(node_id)}: {_shorten(text)}")
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
            took = f" {style.word} {'in' if success else 'after'} {format_duration(duration_ms)}  "
            self._write_line(self._make_mark(style), took, StyledText(DIM, counts))

    def _fit_note(self, note: str, used_width: int) -> str:
        line = _mask_and_escape_line(get_first_line_with_mark("\n".join(redact(note).splitlines())))
        if self._columns is None:
            return line
        return cut_to_width(line, max(_LEAST_NOTE, self._columns - used_width), self._get_mark(_RUNNING))

    def _get_stop_status(self) -> NodeStatus:
        if self._end_counts["failed"]:
            return "failed"
        return "waiting" if self._end_counts["waiting"] else "uncertain" if self._end_counts["uncertain"] else "failed"

    def _get_mark(self, style: _StatusStyle) -> str:
        return style.ascii_mark if self._uses_ascii else style.mark

    def _make_mark(self, style: _StatusStyle) -> StyledText:
        return StyledText(style.color, self._get_mark(style))

    def _write_line(self, *pieces: Piece) -> None:
        self._line.write_line(*pieces)
        self._drawn_at = None

    def _draw_running_line(self) -> None:
        """Draw the line that the next line replaces: the number of nodes that ended, and the running nodes."""
        if not self._running:
            return
        parts = [_shorten(f"{node}{message}") for node, message in islice(self._running.items(), _RUNNING_SHOWN)]
        more = len(self._running) - len(parts)
        parts += [f"{more} more"] if more else []
        mark = self._get_mark(_RUNNING)
        self._line.draw(f"  {mark} {self._end_counts.total()}/{self._nodes}  {', '.join(parts)}", mark)
        self._drawn_at = time.monotonic()


def _can_encode_marks(stream: TextIO) -> bool:
    try:
        "".join(style.mark for style in (*_STATUS_STYLES.values(), _RUNNING)).encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _shorten(text: str) -> str:
    """Return a text with secrets masked, so that they are not recognised less when they are cut."""
    masked = redact(text)
    return masked if len(masked) <= _LONGEST else f"{masked[:_LONGEST]}..."


def _mask_and_escape_line(text: str) -> str:
    return mask_and_escape_text(_shorten(text))
