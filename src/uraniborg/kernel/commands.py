"""Running a typer app so that its own complaints fail the way everything else does."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer
from typer.exceptions import Exit, TyperException

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.terminal import run

_INTERRUPTED = 130
"""What typer makes of an interrupt, which is ours to tell of."""


class UsageError(InvalidInput):
    code = "usage"


def _leads_nowhere() -> bool:
    try:
        return os.path.samestat(os.fstat(sys.stdout.fileno()), os.stat(os.devnull))
    except (OSError, ValueError):
        return False


def run_app(app: typer.Typer, arguments: Sequence[str], *, name: str) -> NoReturn:
    """Runs the app and exits. A command may return its exit code."""

    def body() -> int | None:
        command = typer.main.get_command(app)
        streams = sys.stdout, sys.stderr
        try:
            code = command.main(list(arguments), prog_name=name, standalone_mode=False)
        except Exit as asked:
            code = asked.exit_code
        except TyperException as complaint:
            if not complaint.format_message():  # no command was named, and the help has been shown
                return complaint.exit_code
            context = getattr(complaint, "ctx", None)
            path = context.command_path if context else name
            raise UsageError(complaint.format_message(), hint=f"See `{path} --help`.") from None
        except SystemExit as left:
            if not isinstance(left.__context__, BrokenPipeError):
                raise
            if sys.stdout is streams[0]:
                if left.code == 1 and _leads_nowhere():  # rich has found that nobody reads it, and closed it
                    return 0
                raise
            sys.stdout, sys.stderr = streams  # whose pipe it was, typer did not ask
            raise left.__context__ from None
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        return code

    own = list(arguments)
    run(body, as_json="--json" in (own[: own.index("--")] if "--" in own else own))
