"""How a run is told to a person: what it gave on stdout; warnings, what went wrong and what to do on stderr."""

import re
import sys
from collections.abc import Mapping
from typing import Any, Final, TextIO

from pflow.cli.printing import (
    BOLD,
    CYAN,
    DIM,
    RED,
    YELLOW,
    Page,
    Painted,
    clean,
    columns,
    json_text,
    say,
    write,
)
from pflow.cli.sources import as_given, names_a_file
from pflow.config import load_settings
from pflow.engine.results import RunResult
from pflow.errors import ApprovalRequired, InvalidWorkflow, NodeFailed, TemplateUnresolved, WorkflowNotFound
from pflow.service import Service
from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.text import plural

_SHORT: Final = 72
_NAME: Final = re.compile(r"[^\W\d][\w-]*")


def exit_code(result: RunResult) -> int:
    """As `pflow run --help` lists them."""
    if result.success:
        return 0
    if result.is_cancelled:
        return 130
    if isinstance(result.error, ApprovalRequired):
        return 4
    return 2 if isinstance(result.error, InvalidInput) else 5


def tell_result(result: RunResult, given: str, stdout: TextIO) -> None:
    for warning in result.warnings:
        say("warning", YELLOW, as_given(warning, given))
    if result.success:
        tell_outputs(result.outputs, stdout)
    elif result.is_cancelled:
        say("interrupted", YELLOW, _progress(result))
    elif result.error is not None:
        tell_error(result.error, given)
        is_told = isinstance(result.error, ApprovalRequired)
        if result.is_resumable and result.progress.completed and not is_told:
            say("note", CYAN, _progress(result))


def tell_error(error: UraniborgError, given: str) -> None:
    """What is wrong, and what to do; of an invalid workflow, everything that is."""
    if isinstance(error, InvalidWorkflow) and error.ids.get("diagnostics"):
        from pflow.cli.diagnostics import diagnostics_of, summary, tell_diagnostics, text_of

        diagnostics = diagnostics_of(error)
        tell_diagnostics(Page(sys.stderr), diagnostics, text_of(Service(load_settings()), given))
        say("error", RED, f"'{given}' is not valid: {summary(diagnostics)}. Nothing was run.")
        return
    label, style = ("waiting", YELLOW) if isinstance(error, ApprovalRequired) else ("error", RED)
    say(label, style, as_given(_message(error), given))
    if hint := _hint(error, given):
        say("hint", DIM, hint)


def _message(error: UraniborgError) -> str:
    where = error.ids.get("nested_node") or error.ids.get("node")
    if isinstance(error, NodeFailed) and where and f"'{where}'" not in error.message:
        return f"'{where}' failed. {error.message}"
    return error.message


def _hint(error: UraniborgError, given: str) -> str:
    has_better = error.ids.get("nearest") or error.ids.get("node_type")
    if isinstance(error, WorkflowNotFound) and not has_better and not names_a_file(given):
        return f"`pflow list` lists what there is; `pflow new {given}` makes a draft."
    if isinstance(error, TemplateUnresolved) and all(map(_NAME.fullmatch, error.missing)):
        return f"pflow run {given} {' '.join(f'{name}=…' for name in error.missing)}"
    return as_given(error.hint, given)


def _progress(result: RunResult) -> str:
    done = len(result.progress.completed)
    kept = f"{plural(done, 'node')} {'is' if done == 1 else 'are'} done" if done else "No node is done"
    if not result.is_resumable:
        return f"{kept}; what they gave could not be kept."
    return f"{kept}. Run it again to resume, or with --fresh to start over."


def tell_outputs(outputs: Mapping[str, Any], stdout: TextIO) -> None:
    """A single one plainly, several by name. What goes to another program or a file goes as it is."""
    is_seen = stdout.isatty()
    if len(outputs) == 1:
        (value,) = outputs.values()
        text = _plain(value)
        text = clean(text, keep="\n\t") if is_seen else text
        write(stdout, text if text.endswith("\n") else f"{text}\n")
        return
    page = Page(stdout)
    for name, value in outputs.items():
        text = _plain(value)
        lines = (clean(text, keep="\n\t") if is_seen else text).removesuffix("\n").split("\n")
        if len(lines) == 1:
            write(stdout, f"{page.shown(Painted(BOLD, name))}: {lines[0]}".rstrip() + "\n")
            continue
        page.line(Painted(BOLD, name), ":")
        for line in lines:
            write(stdout, f"  {line}".rstrip() + "\n")


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    short = json_text(value)
    return short if columns(short) <= _SHORT else json_text(value, indented=True)
