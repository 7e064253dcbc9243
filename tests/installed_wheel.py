"""An environment with the wheel of this checkout and nothing else of it, for tests that run the installed programs."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.prerequisites import find_built_console
from tests.shared_folders import make_once

ROOT = Path(__file__).resolve().parents[1]
CONTACTS = "XDG_TEST_CONTACTS"
"""The variable with the file in which programs list the hosts that they contact; child processes inherit it.

The prefix XDG_ is one that `build_child_environment` passes on.
"""
_LIST_CONTACTS = f"""
import os, sys

def list_contact(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    with open(os.environ["{CONTACTS}"], "a") as file:
        file.write(f"{{host}}\\n")

if "{CONTACTS}" in os.environ:
    sys.addaudithook(list_contact)
"""


def install_wheel(factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the programs of an environment with the wheel and the dependencies of the tests."""
    find_built_console()  # a wheel contains it
    return make_once(factory, "wheel", _build_and_install) / "fresh" / "bin"


def make_environment(folder: Path) -> dict[str, str]:
    """Return variables for programs of the wheel: a home of its own, and no variable of the checkout."""
    ours = ("PFLOW_", "URANIBORG_", "PYTHON", "XDG_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "HOME": str(folder), "NO_COLOR": "1", "COLUMNS": "100"}


def _build_and_install(folder: Path) -> None:
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist"), cwd=ROOT)
    (wheel,) = (folder / "dist").glob("*.whl")
    fresh = folder / "fresh"
    venv.create(fresh, with_pip=False)
    (site,) = fresh.glob("lib/python*/site-packages")
    # A folder that a .pth names is searched last, and its own .pth files, such as that of this checkout, do not count.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (site / "list_contacts.py").write_text(_LIST_CONTACTS)
    (site / "list_contacts.pth").write_text("import list_contacts\n")
    pip = [sys.executable, "-m", "pip", "--python", str(fresh / "bin" / "python")]
    _run(*pip, "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", str(wheel), cwd=folder)


def _run(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stderr
