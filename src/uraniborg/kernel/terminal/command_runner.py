"""What every command needs at its start and end: exit codes, errors, shell completion, closed streams, broken pipes."""

import json
import os
import select
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from uraniborg.kernel.errors import InternalError, InvalidInput, Unavailable, UraniborgError, UsageError, as_error
from uraniborg.kernel.logging import get_logger, redact
from uraniborg.kernel.terminal.page import print_stderr_message
from uraniborg.kernel.terminal.styled_text import DIM, RED
from uraniborg.kernel.version import version

if TYPE_CHECKING:
    import typer


_MAX_INPUT_BYTES = 64_000_000
"""The bytes that are read from stdin or a file; parts limit the text that they accept."""
_INTERRUPTED = 130
"""The exit code that typer returns after an interrupt."""


def read_text_input(file: Path | str) -> str:
    """Return the text of a file, or of stdin for `-`. Raise InvalidInput for a text that is too long or not UTF-8."""
    from uraniborg.kernel.store.files import display_path

    is_stdin = str(file) == "-"
    name = "stdin" if is_stdin else f"'{display_path(Path(file))}'"
    try:
        with nullcontext(sys.stdin.buffer) if is_stdin else open(file, "rb") as stream:
            data = stream.read(_MAX_INPUT_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read: {error.strerror}.", hint="Name a file, or - for stdin.") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{name} is not UTF-8 text.", hint="Save it as UTF-8.") from None
    if len(data) > _MAX_INPUT_BYTES:
        raise InvalidInput(f"{name} is longer than {_MAX_INPUT_BYTES:,} bytes.", hint="Give less text.")
    return text


def print_error(error: UraniborgError, *, as_json: bool) -> int:
    """Print the error, as one JSON line on stdout or as text on stderr, and return its exit code."""
    reopen_closed_streams()
    if as_json:
        sys.stdout.write(json.dumps(redact(error.body()), default=str) + "\n")
    else:
        print_stderr_message("error", RED, error.message)
        if error.hint:
            print_stderr_message("hint", DIM, error.hint)
    return error.exit_code


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

    from uraniborg.kernel.terminal.typer_app import EARLIER_NAMES

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


SHELLS: Final = ("bash", "zsh", "fish", "powershell", "pwsh")


def install_or_show_completion(arguments: Sequence[str], program: str) -> None:
    """Install the completion of a program, or print its script, for the shell that is named or that SHELL names.

    Raise UsageError for an unknown shell.
    """
    from typer.completion import (
        get_completion_script,  # pyright: ignore[reportPrivateImportUsage]
        install,  # pyright: ignore[reportPrivateImportUsage]
    )

    option, *shells = (one for one in arguments if one != "--json")
    shell = shells[0] if shells else Path(os.environ.get("SHELL", "")).stem
    if len(shells) > 1 or shell not in SHELLS:
        raise UsageError(
            f"'{shell[:40]}' is not a supported shell." if shell else "The shell could not be detected.",
            hint=f"Name one of {', '.join(SHELLS)}: {program} {option} bash",
        )
    variable = make_completion_variable(program)
    if option == "--show-completion":
        script = get_completion_script(prog_name=program, complete_var=variable, shell=shell)
        facts, text = {"shell": shell, "script": script}, script
    else:
        _, path = install(shell=shell, prog_name=program, complete_var=variable)
        facts = {"shell": shell, "path": str(path)}
        text = f"Installed completion for {shell} in {path}.\nRestart the shell to use it."
    sys.stdout.write((json.dumps(facts) if "--json" in arguments else text) + "\n")


def register_shells() -> None:
    """Make typer answer the requests of shells, which it does only for apps with its own completion options."""
    from typer.completion import get_completion_inspect_parameters

    get_completion_inspect_parameters()


def is_completion_request(program: str) -> bool:
    """Return True if a shell runs the program to complete a command."""
    return make_completion_variable(program) in os.environ


def make_completion_variable(program: str) -> str:
    """Return the environment variable with which a shell asks the program to complete a command."""
    return f"_{program}_COMPLETE".replace("-", "_").upper()


def shift_completion_request(program: str, part_program: str) -> None:
    """Turn a request to complete `PROGRAM PART …` into a request to complete `PART_PROGRAM …`."""
    os.environ[make_completion_variable(part_program)] = os.environ.pop(make_completion_variable(program))
    if "COMP_CWORD" in os.environ:
        os.environ["COMP_CWORD"] = str(int(os.environ["COMP_CWORD"]) - 1)
    for name in ("COMP_WORDS", "_TYPER_COMPLETE_ARGS"):
        if name in os.environ:
            os.environ[name] = os.environ[name].split(maxsplit=1)[1]


def read_completed_command() -> str:
    """Return the first word after the program of a request, or "" if this word is the one to complete."""
    text = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    words = text.split()
    if "COMP_CWORD" in os.environ:
        is_complete = int(os.environ["COMP_CWORD"]) > 1
    else:
        is_complete = len(words) > 2 or text.endswith(" ")
    return words[1] if is_complete and len(words) > 1 else ""
