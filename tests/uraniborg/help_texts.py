"""The help of every command of every program. `python -m tests.uraniborg.help_texts` writes it to `help_texts.txt`."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import typer.main

FILE: Final = Path(__file__).with_name("help_texts.txt")
PROGRAMS: Final = {
    "uraniborg": ("uraniborg.cli", "uraniborg.cli"),
    "paper-search": ("paper_search.cli.command", "paper_search.cli.command"),
    "python -m paper_search": ("paper_search.cli.search_command", "paper_search.__main__"),
    "paper-library": ("paper_library.cli.command", "paper_library.__main__"),
    "universe": ("universe.cli", "universe.__main__"),
    "pflow": ("pflow.cli.commands", "pflow.__main__"),
    "paper-search-mcp": (None, "paper_search.mcp_server"),
}
"""The module with the typer app of each program, and the module with its `main`."""


def get_root_command(program: str) -> Any:
    """Return the typer command of a program, or None."""
    module = PROGRAMS[program][0]
    return None if module is None else typer.main.get_command(import_module(module).app)


def list_commands() -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Yield every program and command at every level: the program, the words of the command, its typer command."""
    for program in PROGRAMS:
        yield from _walk(program, (), get_root_command(program))


def _walk(program: str, words: tuple[str, ...], command: Any) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    yield program, words, command
    for name, one in getattr(command, "commands", {}).items():
        is_part = program == "uraniborg" and one.rich_help_panel == "Parts"  # its help is that of another program
        if not is_part:
            yield from _walk(program, (*words, name), one)


def read_help(program: str, words: tuple[str, ...], option: str) -> str:
    """Return the help that a command prints in a terminal of 80 columns."""
    main = import_module(PROGRAMS[program][1]).main
    out = io.StringIO()
    with (
        patch.object(sys, "argv", [program.rsplit(maxsplit=1)[-1], *words, option]),
        patch.dict(os.environ, {"COLUMNS": "80"}),
        redirect_stdout(out),
        suppress(SystemExit),
    ):
        main()
    return out.getvalue()


def render_all() -> str:
    """Return the help of all commands, one after the other."""
    return "\n".join(
        f"$ {' '.join((program, *words))} --help\n\n{read_help(program, words, '--help')}"
        for program, words, _ in list_commands()
    )


if __name__ == "__main__":
    FILE.write_text(render_all(), encoding="utf-8")
