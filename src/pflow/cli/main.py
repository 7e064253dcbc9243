"""Start a command of `pflow`: look at the arguments first, load no more than they need, and end the process."""

import os
import sys
import threading
from contextlib import suppress

from uraniborg.kernel.version import version


def print_version(*, as_json: bool) -> None:
    number = version()
    text = f'{{"version": "{number}"}}\n' if as_json else f"pflow {number}\n"
    try:
        _write_and_flush(text)
    except (OSError, AttributeError):  # the reader is gone, the disk is full, or stdout is closed
        from uraniborg.kernel.terminal.command_runner import run_command

        run_command(lambda: _write_and_flush(text))


def _write_and_flush(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main() -> None:
    try:
        _dispatch_command(sys.argv[1:])
    except KeyboardInterrupt:  # before an error handler is installed
        sys.exit(130)
    except SystemExit as ended:
        if isinstance(ended.code, int):
            _exit_at_once_if_nodes_run(ended.code)
        raise


def _exit_at_once_if_nodes_run(code: int) -> None:
    """End the process at once if a node that timed out still runs in its thread.

    Python aborts when such a thread prints while the interpreter shuts down.
    """
    if any(thread.name.startswith("pflow-") for thread in threading.enumerate()):
        # A run redirects sys.stdout, and nodes may have written to the stream that it replaced.
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            if stream is not None:
                with suppress(OSError, ValueError):
                    stream.flush()
        os._exit(code)


def _dispatch_command(arguments: list[str]) -> None:
    match arguments:
        case ["--version" | "-V", *more] if more in ([], ["--json"]):
            print_version(as_json=bool(more))
        case ["run", *more]:
            from pflow.cli.run_command import main as run

            run(more)
        case ["serve"] | ["mcp", "serve"]:
            from pflow.mcp_server import main as serve

            serve()
        case _:
            from pflow.cli.commands import main as command

            command(arguments)
