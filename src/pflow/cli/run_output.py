"""Show a run while it runs and when it ends: progress, warnings and errors on stderr, outputs on stdout."""

import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final, NamedTuple, TextIO

from pflow.cli.workflow_sources import is_file_path, restore_given_name
from pflow.config import load_settings
from pflow.domain.run_events import NodeStatus
from pflow.errors import ApprovalRequired, InvalidWorkflow, NodeFailed, TemplateUnresolved, WorkflowNotFound
from pflow.service.engine.results import RunResult
from pflow.service.operations import Service
from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.language.messages import format_duration, plural
from uraniborg.kernel.logging import redact
from uraniborg.kernel.terminal.output_streams import format_json, get_terminal_columns, write_text
from uraniborg.kernel.terminal.page import Page, print_stderr_message
from uraniborg.kernel.terminal.progress import LiveLine
from uraniborg.kernel.terminal.styled_text import (
    BOLD,
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
    measure_width,
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
            padding = " " * (_ID_COLUMNS - measure_width(clean_id))
            text = f" {clean_id}{padding}  {style.word}{took}  "
            fitted_note = self._fit_note(note, used_width=measure_width(f"  {self._get_mark(style)}{text}"))
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


_SHORT: Final = 72
_NAME: Final = re.compile(r"[^\W\d][\w-]*")


def get_exit_code(result: RunResult) -> int:
    """Return the exit code, as `pflow run --help` lists them."""
    if result.success:
        return 0
    if result.is_cancelled:
        return 130
    if isinstance(result.error, ApprovalRequired):
        return 4
    return 2 if isinstance(result.error, InvalidInput) else 5


def print_result(result: RunResult, name_or_path: str, stdout: TextIO) -> None:
    for warning in result.warnings:
        print_stderr_message("warning", YELLOW, restore_given_name(warning, name_or_path))
    if result.success:
        print_outputs(result.outputs, stdout)
    elif result.is_cancelled:
        print_stderr_message("interrupted", YELLOW, _summarize_progress(result))
    elif result.error is not None:
        print_error(result.error, name_or_path)
        is_waiting = isinstance(result.error, ApprovalRequired)  # then the hint explains how to resume
        if result.is_resumable and result.progress.completed and not is_waiting:
            print_stderr_message("note", CYAN, _summarize_progress(result))


def print_error(error: UraniborgError, name_or_path: str) -> None:
    """Print the error and its hint, or all diagnostics of an invalid workflow."""
    if isinstance(error, InvalidWorkflow) and error.ids.get("diagnostics"):
        from pflow.cli.diagnostic_printing import (
            get_error_diagnostics,
            print_diagnostics,
            read_workflow_text,
            summarize_severities,
        )

        diagnostics = get_error_diagnostics(error)
        print_diagnostics(Page(sys.stderr), diagnostics, read_workflow_text(Service(load_settings()), name_or_path))
        print_stderr_message(
            "error", RED, f"'{name_or_path}' is not valid: {summarize_severities(diagnostics)}. Nothing was run."
        )
        return
    label, style = ("waiting", YELLOW) if isinstance(error, ApprovalRequired) else ("error", RED)
    print_stderr_message(label, style, restore_given_name(_format_message(error), name_or_path))
    if hint := _choose_hint(error, name_or_path):
        print_stderr_message("hint", DIM, hint)


def _format_message(error: UraniborgError) -> str:
    where = error.ids.get("nested_node") or error.ids.get("node")
    if isinstance(error, NodeFailed) and where and f"'{where}'" not in error.message:
        return f"'{where}' failed. {error.message}"
    return error.message


def _choose_hint(error: UraniborgError, name_or_path: str) -> str:
    has_better = error.ids.get("nearest") or error.ids.get("node_type")
    if isinstance(error, WorkflowNotFound) and not has_better and not is_file_path(name_or_path):
        return f"`pflow list` lists the workflows; `pflow new {name_or_path}` creates a draft."
    if isinstance(error, TemplateUnresolved) and all(map(_NAME.fullmatch, error.missing)):
        return f"pflow run {name_or_path} {' '.join(f'{name}=…' for name in error.missing)}"
    return restore_given_name(error.hint, name_or_path)


def _summarize_progress(result: RunResult) -> str:
    done = len(result.progress.completed)
    summary = f"{plural(done, 'node')} {'is' if done == 1 else 'are'} done" if done else "No node is done"
    if not result.is_resumable:
        return f"{summary}; their results could not be stored."
    return f"{summary}. Run it again to resume, or with --fresh to start over."


def print_outputs(outputs: Mapping[str, Any], stdout: TextIO) -> None:
    """Print a single output without its name, several with names. Output to a file or program is not cleaned."""
    is_terminal = stdout.isatty()
    if len(outputs) == 1:
        (value,) = outputs.values()
        text = _format_value(value)
        text = mask_and_escape_text(text, keep_chars="\n\t") if is_terminal else text
        write_text(stdout, text if text.endswith("\n") else f"{text}\n")
        return
    page = Page(stdout)
    for name, value in outputs.items():
        text = _format_value(value)
        lines = (mask_and_escape_text(text, keep_chars="\n\t") if is_terminal else text).removesuffix("\n").split("\n")
        if len(lines) == 1:
            write_text(stdout, f"{page.render_piece(StyledText(BOLD, name))}: {lines[0]}".rstrip() + "\n")
            continue
        page.write_line(StyledText(BOLD, name), ":")
        for line in lines:
            write_text(stdout, f"  {line}".rstrip() + "\n")


def _format_value(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    short = format_json(value)
    return short if measure_width(short) <= _SHORT else format_json(value, indented=True)
