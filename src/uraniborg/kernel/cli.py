"""What every command needs at its start and end: exit codes, error messages, closed streams, broken pipes."""

import json
import os
import select
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn, TextIO

from uraniborg.kernel.completion import install_or_show_completion, is_completion_request, register_shells
from uraniborg.kernel.errors import InternalError, Unavailable, UraniborgError, UsageError, as_error
from uraniborg.kernel.logging import get_logger, make_printable, redact
from uraniborg.kernel.version import version

if TYPE_CHECKING:
    import typer

_RED = "31"
_DIM = "2"
PIPED_TABLE_WIDTH = 1_000
"""The width of tables in a file or a pipe, where rows are not wrapped."""
_LEAST_COLUMNS = 20
"""Columns to assume at least; lines are longer than a terminal that has fewer."""
_INTERRUPTED = 130
"""The exit code that typer returns after an interrupt."""


def can_use_color(stream: TextIO) -> bool:
    """Return True for a terminal with colours, unless NO_COLOR is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def get_terminal_columns(stream: TextIO) -> int | None:
    """Return the columns of COLUMNS or of the terminal, or None if the stream is not a terminal."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and len(given) < 6 and int(given) > 0:
        return max(_LEAST_COLUMNS, int(given))
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):
        return None


def fit_to_terminal(line: str, stream: TextIO, *, hanging: str = "  ") -> str:
    """Return the line in lines that fit the terminal, the further ones with an indent; unchanged for a file or pipe."""
    columns = get_terminal_columns(stream) if stream.isatty() else None
    if columns is None or len(line) <= columns:
        return line
    import textwrap

    return textwrap.fill(line, columns, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)


def print_error(error: UraniborgError, *, as_json: bool) -> int:
    """Print the error, as one JSON line on stdout or as text on stderr, and return its exit code."""
    reopen_closed_streams()
    if as_json:
        sys.stdout.write(json.dumps(redact(error.body()), default=str) + "\n")
    else:
        sys.stderr.write(_format_labelled_line("error", _RED, error.message))
        if error.hint:
            sys.stderr.write(_format_labelled_line("hint", _DIM, error.hint))
    return error.exit_code


def _format_labelled_line(label: str, style: str, text: str) -> str:
    line = fit_to_terminal(f"{label}: {make_printable(redact(text), keep='')}", sys.stderr)
    return (f"\x1b[{style}m{label}:\x1b[0m{line[len(label) + 1 :]}" if can_use_color(sys.stderr) else line) + "\n"


def run_typer_app(app: "typer.Typer", arguments: Sequence[str], *, name: str) -> NoReturn:
    """Run the app and exit; usage errors are printed as every other error. A command may return its exit code."""
    import typer
    from typer.exceptions import Exit, TyperException

    def run_app() -> int | None:
        if is_version_request(arguments):
            print_version(name.rpartition(" ")[2], as_json="--json" in arguments)
            return 0
        if " " not in name and arguments[:1] and arguments[0] in ("--install-completion", "--show-completion"):
            install_or_show_completion(arguments, name)
            return 0
        if is_completion_request(name):
            register_shells()
        command = typer.main.get_command(app)
        streams = sys.stdout, sys.stderr
        try:
            code = command.main(list(arguments), prog_name=name, standalone_mode=False)
        except Exit as exit_request:
            code = exit_request.exit_code
        except typer.Abort:  # the answer to a question was Ctrl-C or Ctrl-D
            raise KeyboardInterrupt from None
        except TyperException as error:
            context = getattr(error, "ctx", None)
            path = context.command_path if context else name
            raise UsageError(_tidy_usage_message(error.format_message()), hint=f"See `{path} --help`.") from None
        except SystemExit as exc:
            if not isinstance(exc.__context__, BrokenPipeError):
                raise
            if sys.stdout is streams[0]:
                if exc.code == 1 and _is_stdout_discarded():  # rich found that nobody reads stdout, and closed it
                    return 0
                raise
            sys.stdout, sys.stderr = streams  # typer does not check which pipe is broken
            raise exc.__context__ from None
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        return code

    own = list(arguments)
    run_command(run_app, as_json="--json" in (own[: own.index("--")] if "--" in own else own))


def _tidy_usage_message(message: str) -> str:
    """Return a message of typer without names of earlier versions and without words of its libraries."""
    import re

    from uraniborg.kernel.help_text import EARLIER_NAMES

    for name in EARLIER_NAMES:
        message = message.replace(f" / '{name}'", "")
    message = re.sub(r", unable to parse string as an? \w+", "", message).replace("Input should be", "it must be")
    return message if message.endswith((".", "?", ")")) else f"{message}."


def is_version_request(arguments: Sequence[str]) -> bool:
    """Return True if the first argument is --version or -V."""
    return bool(arguments) and arguments[0] in ("--version", "-V")


def print_version(program: str, *, as_json: bool) -> None:
    """Print the version of Uraniborg with the name of this program, or as JSON."""
    number = version()
    sys.stdout.write(f'{{"version": "{number}"}}\n' if as_json else f"{program} {number}\n")


def run_command(main: Callable[[], int | None], *, as_json: bool = False) -> NoReturn:
    """Run `main` and exit with the code that it returns, or with the exit code of the error that it raises."""
    reopen_closed_streams()
    try:
        code = _run_to_exit_code(main, as_json=as_json)
        _flush_stdout()
    except OSError as exc:
        # The interpreter would fail at exit if it had to flush the rest of stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0 if isinstance(exc, BrokenPipeError) else print_error(make_output_error(exc), as_json=False)
    sys.exit(code)


def _run_to_exit_code(main: Callable[[], int | None], *, as_json: bool) -> int:
    try:
        return main() or 0
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        return 130
    except UraniborgError as exc:
        return print_error(exc, as_json=as_json)
    except Exception as exc:
        if isinstance(exc, OSError) and _is_stdout_error(exc):
            raise
        error = as_error(exc)
        if isinstance(error, InternalError):
            get_logger(__name__).exception("unexpected failure", exc=exc)
        return print_error(error, as_json=as_json)


def reopen_closed_streams() -> None:
    """Redirect stdout and stderr to the null device if they are closed."""
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
            setattr(sys, name, open(descriptor, "w", encoding="utf-8", closefd=False))  # noqa: SIM115 - to the end


def make_output_error(exc: OSError) -> Unavailable:
    """Return the error for a stdout that cannot be written to."""
    return Unavailable(
        f"The output could not be written: {exc.strerror}.", hint="Check the file or pipe that stdout is connected to."
    )


def _flush_stdout() -> None:
    with suppress(ValueError):  # the command has closed stdout
        sys.stdout.flush()


def _is_stdout_error(exc: OSError) -> bool:
    """Return True if the error comes from stdout, and not from a file or a pipe that the command uses."""
    try:
        _flush_stdout()
    except OSError as again:
        return again.errno == exc.errno
    return isinstance(exc, BrokenPipeError) and _is_stdout_abandoned()


def _is_stdout_abandoned() -> bool:
    """Return True if no process reads stdout any more."""
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    try:
        poll.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):  # stdout was replaced by another object
        return False
    return bool(poll.poll(0))


def _is_stdout_discarded() -> bool:
    """Return True if stdout is the null device."""
    try:
        return os.path.samestat(os.fstat(sys.stdout.fileno()), os.stat(os.devnull))
    except (OSError, ValueError):
        return False
