"""The exit codes of all commands are in one table, in the code and in the documentation."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from tests.uraniborg.help_texts import PROGRAMS, read_help
from uraniborg.kernel.errors import EXIT_CODES, UraniborgError

PAGE: Final = Path(__file__).parents[3] / "docs" / "reference" / "errors.md"


def iter_error_classes(base: type[UraniborgError]) -> Iterator[type[UraniborgError]]:
    yield base
    for one in base.__subclasses__():
        yield from iter_error_classes(one)


def test_the_documented_table_is_the_table_of_the_code() -> None:
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \| [^|]+ \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {int(code): meaning for code, meaning in rows} == EXIT_CODES


def test_every_error_ends_a_command_with_a_documented_code() -> None:
    for part in ("paper_search", "paper_library", "universe", "pflow"):
        import_module(f"{part}.errors")
    for one in iter_error_classes(UraniborgError):
        if one.__module__.partition(".")[0] != "tests":
            assert one.exit_code in EXIT_CODES, one


@pytest.mark.parametrize("program", ["uraniborg", "paper-search", "paper-library", "universe", "pflow"])
def test_the_help_of_a_program_lists_the_codes(program: str) -> None:
    assert program in PROGRAMS
    listed = " ".join(read_help(program, (), "--help").partition("Exit codes:")[2].partition("\n\n")[0].split())
    assert listed == ", ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items() if code != 1)
