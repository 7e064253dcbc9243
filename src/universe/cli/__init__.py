"""The command line: make universes, change them, look at them, serve them."""

from collections.abc import Sequence
from typing import Final, NoReturn

from universe.cli import serving, making, changing, looking, nbody, measuring  # isort: skip
from universe.cli.shared import app
from uraniborg.kernel.cli import run_typer_app

ROOMS: Final = (serving, making, changing, looking, nbody, measuring)
"""Each has added its commands, in the order in which the help lists them."""


def run(arguments: Sequence[str]) -> NoReturn:
    run_typer_app(app, arguments, name="universe")
