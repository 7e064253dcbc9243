"""Shell completion: `--install-completion`, `--show-completion`, and the requests of shells."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from uraniborg.kernel.errors import UsageError

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
