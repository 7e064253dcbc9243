"""Print how a run ended: outputs on stdout, the error with its remedy on stderr."""

import re
import sys
from collections.abc import Mapping
from typing import Any, Final, TextIO

from pflow.cli.workflow_sources import is_file_path, restore_given_name
from pflow.config import load_settings
from pflow.errors import ApprovalRequired, InvalidWorkflow, NodeFailed, TemplateUnresolved, WorkflowNotFound
from pflow.service.engine.results import RunResult
from pflow.service.operations import Service
from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.terminal.output_streams import format_json, write_text
from uraniborg.kernel.terminal.page import Page, print_stderr_message
from uraniborg.kernel.terminal.styled_text import (
    BOLD,
    CYAN,
    DIM,
    RED,
    YELLOW,
    StyledText,
    mask_and_escape_text,
    measure_plain_width,
)

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
    return short if measure_plain_width(short) <= _SHORT else format_json(value, indented=True)
