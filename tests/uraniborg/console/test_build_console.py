"""Building the console: only after a change, with a clear message where npm cannot be reached, and from the archive."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installed_wheel import ROOT
from tools.build_console import NOT_REACHED

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of the console and of the tool that builds it."""
    ignore = shutil.ignore_patterns("node_modules", "dist*", ".node", ".build-*")
    shutil.copytree(ROOT / "console", tmp_path / "console", ignore=ignore)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "build_console.py", tmp_path / "tools")
    return tmp_path


def run_build(checkout: Path) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "npm_config_registry": "http://127.0.0.1:9",
        "npm_config_cache": str(checkout / "cache"),
        "npm_config_fetch_retries": "0",
        "PIP_NO_INDEX": "1",
    }
    command = [sys.executable, str(checkout / "tools" / "build_console.py"), "build"]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=150, check=False)


def test_without_npm_the_build_says_so_and_leaves_nothing_half_done(checkout: Path) -> None:
    done = run_build(checkout)
    assert done.returncode == NOT_REACHED, done.stderr
    assert "cannot fetch the packages" in done.stderr or "no Node.js" in done.stderr
    assert not (checkout / "console" / "dist").exists()


def test_a_build_of_the_same_sources_is_used_as_it_is(checkout: Path) -> None:
    built = checkout / "console" / "dist"
    built.mkdir()
    code = "import build_console, json; print(json.dumps({'sources': build_console.hash_sources()}))"
    digest = subprocess.run(
        [sys.executable, "-c", code], cwd=checkout / "tools", capture_output=True, text=True, check=True
    ).stdout
    (built / "build.json").write_text(digest)
    assert run_build(checkout).returncode == 0  # nothing to do, so nothing to fetch
    (checkout / "console" / "src" / "main.tsx").write_text("changed")
    assert run_build(checkout).returncode == NOT_REACHED
    assert json.loads((built / "build.json").read_text()) == json.loads(digest)
