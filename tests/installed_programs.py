"""The installed programs, forked from one process that has loaded the whole project.

Loading takes longer than most of what is tested of a program. Processes that a forked program starts with
`python -m MODULE` are forked as well. How programs start is proved by tests that run them as they are installed.
"""

import runpy
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from tests.forked_processes import ROOT, SOON, Forked, Template, template

SOURCES: Final = ROOT / "src"
PACKAGES: Final = ("uraniborg", "paper_search", "paper_library", "universe", "pflow")
PROGRAMS: Final = ("uraniborg", "ubg", "paper-search", "paper-search-mcp", "paper-library", "universe", "pflow")
LOADED: Final = (
    *("anyio._backends._asyncio", "encodings.idna", "filelock", "mcp.server.fastmcp", "platformdirs.unix"),
    *(
        "rapidfuzz.fuzz",
        "rapidfuzz.process",
        "rich.logging",
        "Stemmer",
        "structlog",
        "uvicorn.lifespan.on",
    ),
    *("uvicorn.loops.uvloop", "uvicorn.protocols.http.httptools_impl", "uvicorn.supervisors"),
)
"""What programs import when they need it."""
PYTHON: Final = """#!/bin/sh
if [ "$1" = -m ]; then
  case "$2" in {modules}) exec {command} "$@" ;; esac
fi
exec {python} "$@"
"""


class Program:
    """An installed program, or `python`, with the methods of its template process."""

    def __init__(self, name: str) -> None:
        self._given = (str(find_programs()), name)

    def command(self, *arguments: str) -> list[str]:
        return _load_programs().command(*self._given, *arguments)

    def start(self, *arguments: str, env: Mapping[str, str], cwd: Path, stderr: int | None = None) -> Forked:
        return _load_programs().start(*self._given, *arguments, env=env, cwd=cwd, stderr=stderr)

    def run(
        self, *arguments: str, env: Mapping[str, str], cwd: Path, given: str = "", within_s: float = SOON
    ) -> "subprocess.CompletedProcess[str]":
        return _load_programs().run(*self._given, *arguments, env=env, cwd=cwd, given=given, within_s=within_s)


def find_program(name: str) -> str:
    """Return the path of the command that forks a program, or Python."""
    return str(find_programs() / name)


@cache
def find_programs() -> Path:
    """Return the folder with a command for each program, and for Python, that forks it."""
    loaded = _load_programs()
    folder = loaded.folder / "bin"
    folder.mkdir()
    for name in PROGRAMS:
        _write_command(folder / name, f'#!/bin/sh\nexec {shlex.join(loaded.command(str(folder), name))} "$@"\n')
    command = shlex.join(loaded.command(str(folder), "python"))
    modules = "|".join(pattern for package in PACKAGES for pattern in (package, f"{package}.*"))
    _write_command(folder / "python", PYTHON.format(modules=modules, command=command, python=sys.executable))
    return folder


def _write_command(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def _load_programs() -> Template:
    return template(f"{__name__}:main", *LOADED, *_list_modules())


def _list_modules() -> Iterator[str]:
    for package in PACKAGES:
        for path in sorted((SOURCES / package).rglob("*.py")):
            if path.stem != "__main__":
                yield ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")


def main() -> object:
    """Run the program, or the module after `python -m`, that the arguments name."""
    folder, name = sys.argv[1:3]
    sys.executable = str(Path(folder) / "python")
    if name != "python":
        sys.argv[:3] = [str(Path(folder) / name)]
        (program,) = entry_points(group="console_scripts", name=name)
        return program.load()()
    del sys.argv[:4]
    warnings.simplefilter("ignore", RuntimeWarning)  # the module is loaded already
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    return None
