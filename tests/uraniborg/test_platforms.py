"""Every module imports without the modules that only POSIX has; functions that need these name the platform."""

import subprocess
import sys
from pathlib import Path

import pytest

from pflow.nodes import python_child
from tests.uraniborg.import_without_posix import hide_modules
from uraniborg.kernel.errors import UnsupportedPlatform
from uraniborg.kernel.store.files import lock_open_file


def test_every_module_imports_without_the_posix_modules() -> None:
    root = Path(__file__).parents[2]
    program = [sys.executable, "-m", "tests.uraniborg.import_without_posix"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=50, check=False, cwd=root)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.fixture
def without_posix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.__import__", __import__)
    hide_modules()


@pytest.mark.usefixtures("without_posix")
def test_locking_an_open_file_is_refused_and_the_platform_named(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as stream, pytest.raises(UnsupportedPlatform) as refused:
        lock_open_file(stream.fileno())
    assert refused.value.ids == {"platform": sys.platform}
    assert "'fcntl'" in refused.value.message
    assert sys.platform in refused.value.message


@pytest.mark.usefixtures("without_posix")
def test_a_python_node_ends_and_names_the_platform() -> None:
    with pytest.raises(SystemExit, match=f"'resource', which this platform \\({sys.platform}\\)"):
        python_child._limit_own_resources(64, None)  # pyright: ignore[reportPrivateUsage]
