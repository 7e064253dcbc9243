"""A release: both archives are complete and reproducible, versions agree, and the registry accepts server.json."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.installed_wheel import ROOT
from tools.install_lock import Progress
from tools.make_release import find_version_problems, find_wheel_problems, read_version
from uraniborg.cli import SERVERS

SERVER_FILES = sorted((ROOT / "packaging").glob("*/server.json"))
NAME = re.compile(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
ADDRESS = re.compile(r"https?://\S+")


def release(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "make_release.py"), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, cwd=folder.parent)


@pytest.mark.soak
@pytest.mark.timeout(200)
def test_two_releases_of_one_checkout_are_the_same_bytes_and_their_checksums_agree(tmp_path: Path) -> None:
    for name in ("first", "second"):
        done = release(tmp_path / name)
        assert done.returncode == 0, done.stdout + done.stderr
    files = sorted(path.name for path in (tmp_path / "first").iterdir())
    version = read_version()
    assert files == ["SHA256SUMS", f"uraniborg-{version}-py3-none-any.whl", f"uraniborg-{version}.tar.gz"]
    for name in files:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path / "first", check=True, timeout=50)


def test_a_wheel_with_tests_and_without_the_licence_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "bad.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("uraniborg-9.9.9.dist-info/METADATA", "Version: 9.9.9\n")
        archive.writestr("tests/test_x.py", "")
    problems = "\n".join(find_wheel_problems(wheel, "9.9.9"))
    assert "The wheel has tests/test_x.py, which is neither in src nor in the console." in problems
    assert "does not have paper_search/recordings/__init__.py" in problems
    assert "does not have uraniborg/console/web/index.html" in problems
    assert "does not have the licence" in problems


@pytest.mark.parametrize(
    ("heading", "problem"),
    [
        ("## 9.9.9 (2026-11-17)", None),
        ("## 9.9.9 (unreleased)", "CHANGELOG.md has no date for 9.9.9."),
        ("## 9.9.8 (2026-11-17)", "CHANGELOG.md begins with 9.9.8, and the version is 9.9.9."),
    ],
)
def test_a_changelog_of_another_version_is_refused(tmp_path: Path, heading: str, problem: str | None) -> None:
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n\n## 0.1.0 (2026-11-16)\n")
    assert find_version_problems("9.9.9", tmp_path) == ([problem] if problem else [])


def test_versions_of_the_checkout_agree() -> None:
    assert find_version_problems(read_version()) == []


def test_every_server_has_a_file_for_the_registry_and_a_name_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert sorted(path.parent.name for path in SERVER_FILES) == sorted(SERVERS)
    for path in SERVER_FILES:
        assert f"mcp-name: {json.loads(path.read_text())['name']}\n" in readme


@pytest.mark.parametrize("path", SERVER_FILES, ids=lambda path: path.parent.name)
def test_a_file_for_the_registry_follows_the_documented_rules(path: Path) -> None:
    """Check each field by the rules of the schema of 2025-12-11; no package that we can install has its text."""
    server: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert set(server) <= {"$schema", "name", "title", "description", "version", "packages"}
    assert server["$schema"] == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    assert NAME.fullmatch(server["name"])
    assert 3 <= len(server["name"]) <= 200
    assert server["name"].endswith(f"/{path.parent.name}")
    assert 1 <= len(server["title"]) <= 100
    assert 1 <= len(server["description"]) <= 100
    (package,) = server["packages"]
    assert (package["registryType"], package["registryBaseUrl"]) == ("pypi", "https://pypi.org")
    assert package["identifier"] == "uraniborg"
    assert re.fullmatch(r"\d+\.\d+\.\d+", package["version"])
    assert package["runtimeHint"] == "uvx"  # needed where runtimeArguments are given
    for argument in (*package["runtimeArguments"], *package["packageArguments"]):
        assert argument["type"] in ("named", "positional")
        assert argument["value"]
        assert (argument["type"] == "named") == ("name" in argument)
    for variable in package.get("environmentVariables", []):
        assert variable["name"]
        assert isinstance(variable["isSecret"], bool)
    if package["transport"]["type"] == "stdio":
        assert set(package["transport"]) == {"type"}
    else:
        assert package["transport"]["type"] == "streamable-http"
        assert ADDRESS.fullmatch(package["transport"]["url"])


@pytest.mark.parametrize("name", ["paper-search", "pflow"])
def test_the_arguments_in_the_file_for_the_registry_start_the_server(name: str, tmp_path: Path) -> None:
    (package,) = json.loads((ROOT / "packaging" / name / "server.json").read_text())["packages"]
    arguments = [argument["value"] for argument in package["packageArguments"]]
    done = subprocess.run(
        [sys.executable, "-m", "uraniborg", *arguments],
        input='{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n',
        capture_output=True, text=True, timeout=50, check=False, env={"HOME": str(tmp_path)},
    )  # fmt: skip
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}


PIP = """Ignoring colorama: markers 'sys_platform == "win32"' don't match your environment
Collecting anyio==4.0 (from -r core.lock (line 1))
  Downloading anyio.whl (80 kB)
Processing /wheels/numpy.whl (from -r core.lock (line 9))
Requirement already satisfied: rich==15.0 in site-packages (from -r core.lock (line 12))
Installing collected packages: anyio, numpy
"""
UV = (
    "Resolved 3 packages in 9ms\nPrepared 2 packages in 1s\nInstalled 2 packages in 5ms\n + anyio==4.0\n + numpy==2.0\n"
)


@pytest.mark.parametrize(("printed", "finished", "phase"), [(PIP, 3, "unpacking"), (UV, 2, "linking")])
def test_the_progress_of_an_installation_counts_packages(
    tmp_path: Path, printed: str, finished: int, phase: str
) -> None:
    lock = tmp_path / "core.lock"
    lock.write_text(
        'anyio==4.0 \\\n    --hash=sha256:00\ncolorama==1 ; sys_platform == "win32"\nnumpy==2.0\nrich==15.0\n'
    )
    progress = Progress(lock, is_terminal=False)
    assert progress.total == 4
    for line in printed.splitlines(keepends=True):
        progress.read_line(line)
    assert (progress.finished, progress.total, progress.phase) == (finished, 3, phase)


def test_a_failed_installation_shows_the_reason_and_the_exit_code(tmp_path: Path) -> None:
    lock = tmp_path / "bad.lock"
    lock.write_text("no-such-package-of-ours==1.0 --hash=sha256:00\n")
    command = [sys.executable, str(ROOT / "tools" / "install_lock.py"), sys.executable, str(lock)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        env={"PIP_NO_INDEX": "1", "HOME": str(tmp_path)},
    )
    assert done.returncode != 0
    assert done.stdout == ""
    assert "no-such-package-of-ours" in done.stderr
    assert "the installation failed after" in done.stderr
