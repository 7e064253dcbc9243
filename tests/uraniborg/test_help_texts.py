"""All commands speak one dialect: the same options have the same names, and every help has the same form."""

import json
import re
from typing import Any, Final

import pytest

from tests.uraniborg.help_texts import FILE, PROGRAMS, list_commands, read_help, render_all
from uraniborg.kernel.terminal.typer_app import EARLIER_NAMES

COMMANDS: Final = [pytest.param(*one, id=" ".join((one[0], *one[1]))) for one in list_commands()]
WITHOUT_RESULT: Final = {"uraniborg bridge", "pflow mcp serve", "pflow serve"}
"""Servers that use stdout for their protocol."""
METAVARS: Final = {
    *("ADDRESS", "BODY", "DATABASE", "DATE", "DRAFT", "FILE", "FOLDER", "HOST", "ID", "KEY", "KEY=VALUE", "LON,LAT"),
    *("N", "NAME", "NODE", "ORIGIN", "SHELF", "TEMPLATE", "TEXT", "TIME", "TOKEN", "UNIVERSE", "URL"),
}
SHORT_NAMES: Final = {
    "--description": "-d",
    "--format": "-f",
    "--help": "-h",
    "--limit": "-n",
    "--output": "-o",
    "--quiet": "-q",
    "--yes": "-y",
}


def test_the_help_of_every_command_is_as_recorded() -> None:
    assert render_all() == FILE.read_text(encoding="utf-8"), (
        "run `python -m tests.uraniborg.help_texts` and read the diff"
    )


@pytest.mark.parametrize(("program", "words", "command"), COMMANDS)
def test_every_help_fits_80_columns_and_has_an_example(program: str, words: tuple[str, ...], command: Any) -> None:
    text = read_help(program, words, "--help")
    assert text.startswith(f"Usage: {' '.join((program, *words))}")
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(r"\nExamples:\n  \S", text)
    assert read_help(program, words, "-h") == text
    assert not re.search(r"<\w|INTEGER|FLOAT|\[default|None|\[\[|…\.", text)
    metavars = re.findall(r"^  (?:-\w, )?--[a-z-]+ ([^ \n]+)", text, re.MULTILINE)
    assert sorted(set(metavars) - METAVARS) == []


@pytest.mark.parametrize(("program", "words", "command"), COMMANDS)
def test_every_command_with_a_result_takes_json(program: str, words: tuple[str, ...], command: Any) -> None:
    is_group = hasattr(command, "commands") or command is None
    has_json = "--json" in read_help(program, words, "--help")
    assert has_json is not (is_group or " ".join((program, *words)) in WITHOUT_RESULT)


@pytest.mark.parametrize(("program", "words", "command"), COMMANDS)
def test_the_same_option_has_the_same_short_name(program: str, words: tuple[str, ...], command: Any) -> None:
    text = read_help(program, words, "--help")
    for short, long in re.findall(r"^  (?:(-\w), )?(--[a-z-]+)", text, re.MULTILINE):
        assert short == ("-V" if long == "--version" and not words else SHORT_NAMES.get(long, "")), long
        assert long not in EARLIER_NAMES


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_prints_its_version(program: str) -> None:
    text = read_help(program, (), "--version")
    assert read_help(program, (), "-V") == text
    name, number = text.split()
    assert name == program.rsplit(maxsplit=1)[-1]
    assert json.loads(read_help(program, ("--version",), "--json")) == {"version": number}
