"""The command line: run workflows, check and look at them, make them, serve them."""

import os
import select
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

import typer

from pflow.cli import starting, checking, looking, runs, making, servers  # isort: skip
from pflow.cli.printing import open_streams
from pflow.cli.shared import app
from uraniborg.kernel.commands import UsageError, run_app
from uraniborg.kernel.terminal import run

_BROKEN_PIPE: Final = 1
ROOMS: Final = (starting, checking, looking, runs, making, servers)
"""Each has added its commands, in the order in which the help lists them."""


def main(arguments: Sequence[str]) -> NoReturn:
    open_streams()
    known = list(typer.main.get_group(app).commands)
    if arguments and not arguments[0].startswith("-") and arguments[0] not in known:
        run(lambda: _refuse(arguments[0], known), as_json="--json" in arguments)
    try:
        run_app(app, arguments, name="pflow")
    except SystemExit as ended:
        # What typer, or rich, makes of a reader that goes away; for us that is no failure.
        sys.exit(0 if ended.code == _BROKEN_PIPE and _reader_has_gone() else ended.code)


def _reader_has_gone() -> bool:
    """Whoever noticed it may have led stdout to nowhere since."""
    try:
        descriptor = sys.stdout.fileno()
        poll = select.poll()
        poll.register(descriptor, 0)
        return bool(poll.poll(0)) or os.path.samestat(os.fstat(descriptor), os.stat(os.devnull))
    except (AttributeError, OSError, ValueError):
        return False


def _refuse(given: str, known: Sequence[str]) -> NoReturn:
    """Most of those who name no command mean to run a workflow."""
    from difflib import get_close_matches

    near = get_close_matches(given, known, n=1)
    hint = f"Did you mean `pflow {near[0]}`?" if near else f"To run a workflow: `pflow run {given[:60]}`."
    raise UsageError(f"No such command '{given[:60]}'.", hint=f"{hint} `pflow -h` lists the commands.")
