"""`pflow`: run, check, describe, make and serve workflows."""

from collections.abc import Sequence
from typing import Final, NoReturn

import typer

from pflow.cli import draft_commands, mcp_commands, schedule_command, workflow_commands
from pflow.cli.app import app
from uraniborg.kernel.language.messages import find_nearest_name
from uraniborg.kernel.terminal.command_runner import UsageError, run_command, run_typer_app

COMMAND_MODULES: Final = (workflow_commands, draft_commands, schedule_command, mcp_commands)
_MODULE_NAMES: Final = ["pflow.cli.app", *(module.__name__ for module in COMMAND_MODULES)]
# Importing a module adds its commands. The help lists them in the order of COMMAND_MODULES, whichever came first.
app.registered_commands.sort(key=lambda command: _MODULE_NAMES.index(getattr(command.callback, "__module__", "")))


def main(arguments: Sequence[str]) -> NoReturn:
    known = list(typer.main.get_group(app).commands)
    if arguments and not arguments[0].startswith("-") and arguments[0] not in known:
        run_command(lambda: _raise_unknown_command(arguments[0], known), as_json="--json" in arguments)
    run_typer_app(app, arguments, name="pflow")


def _raise_unknown_command(command: str, known_commands: Sequence[str]) -> NoReturn:
    """Raise UsageError with the nearest command, or with the command to run a workflow of this name."""
    near = find_nearest_name(command, known_commands)
    hint = f"Did you mean `pflow {near}`?" if near else f"To run a workflow: `pflow run {command[:60]}`."
    raise UsageError(f"No such command '{command[:60]}'.", hint=f"{hint} `pflow -h` lists the commands.")
