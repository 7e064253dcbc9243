"""The command line `universe`: it creates, changes, displays, measures and serves universes."""

from collections.abc import Sequence
from typing import NoReturn

# Each module adds its commands to the app, in the order in which the help lists them.
from universe.cli import universe_commands  # isort: skip
from universe.cli import change_commands  # isort: skip
from universe.cli import view_commands  # isort: skip
from universe.cli import nbody_command  # isort: skip
from universe.cli import measurement_commands  # isort: skip
from universe.cli.common import app
from uraniborg.kernel.terminal.command_runner import run_typer_app

__all__ = [
    "app",
    "change_commands",
    "measurement_commands",
    "nbody_command",
    "run",
    "universe_commands",
    "view_commands",
]


def run(arguments: Sequence[str]) -> NoReturn:
    """Run the command line with these arguments and exit."""
    run_typer_app(app, arguments, name="universe")
