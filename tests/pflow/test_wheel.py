"""The installed wheel runs without this checkout, and resumes runs of another process."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.installed_wheel import install_wheel, make_environment
from tests.requirements import requirement
from uraniborg.kernel.mcp.testing import connect_stdio_client, get_json

Pflow = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_wheel(tmp_path_factory)


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {
        **make_environment(tmp_path),
        "PFLOW_HOME": str(tmp_path / "home"),
        "URANIBORG_HOME": str(tmp_path / "house"),
    }


@pytest.fixture
def pflow(installed: Path, tmp_path: Path, env: dict[str, str]) -> Pflow:
    """Each call is a process of its own."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [installed / "pflow", *arguments],
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
            cwd=tmp_path,
            env=env,
        )

    return run


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    """Return the path of a workflow with an effect, followed by a node that reads a file that does not exist yet."""
    path = tmp_path / "home" / "workflows" / "drafts" / "diary.json"
    path.parent.mkdir(parents=True)
    nodes = [
        {"id": "note", "type": "shell", "params": {"command": "echo ${word} >> diary.txt"}},
        {"id": "read", "type": "read-file", "params": {"file_path": "today.txt"}},
    ]
    ir = {
        "nodes": nodes,
        "edges": [{"from": "note", "to": "read"}],
        "outputs": {"today": {"source": "${read.content}"}},
    }
    path.write_text(json.dumps({**ir, "inputs": {"word": {"type": "string"}}}))
    return path


def test_the_program_is_that_of_the_wheel(pflow: Pflow, installed: Path, tmp_path: Path, env: dict[str, str]) -> None:
    assert json.loads(pflow("--version", "--json").stdout)["version"]
    report = subprocess.run(
        [installed / "python", "-c", "import pflow, uraniborg; print(pflow.__file__); print(uraniborg.__file__)"],
        capture_output=True,
        text=True,
        timeout=50,
        check=True,
        cwd=tmp_path,
        env=env,
    )
    assert all(line.startswith(str(installed.parent)) for line in report.stdout.splitlines())


@requirement("PF-E10", "PF-N3")
def test_a_second_process_resumes_where_the_first_failed_and_repeats_no_effect(
    pflow: Pflow, draft: Path, tmp_path: Path
) -> None:
    first = pflow("run", "diary", "word=stars", "--json")
    assert first.returncode == 5, first.stderr
    failed = json.loads(first.stdout)
    assert (failed["success"], failed["error"]["node"]) == (False, "read")
    assert failed["checkpoint"]["completed_nodes"] == ["note"]
    (kept,) = (tmp_path / "home" / "checkpoints").glob("*.json")
    assert json.loads(kept.read_text())["workflow"] == "diary"
    assert kept.stat().st_mode & 0o077 == 0

    (tmp_path / "today.txt").write_text("clear sky")
    second = pflow("run", "diary", "word=stars", "--json")
    assert second.returncode == 0, second.stderr
    done = json.loads(second.stdout)
    assert done["outputs"] == {"today": "clear sky"}
    assert done["reused_nodes"] == ["note"]
    assert done["resumed_from"] == failed["run_id"]
    assert (tmp_path / "diary.txt").read_text() == "stars\n"
    assert list((tmp_path / "home" / "checkpoints").glob("*.json")) == []


@requirement("PF-E10")
async def test_a_second_server_resumes_where_the_first_failed(
    installed: Path, draft: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    async def execute() -> tuple[bool, Any]:
        async with connect_stdio_client(str(installed / "pflow"), ["mcp", "serve"], env, cwd=str(tmp_path)) as client:
            result = await client.call_tool("execute", {"name": "diary", "inputs": {"word": "stars"}})
            return bool(result.isError), get_json(result)

    is_error, failed = await execute()
    assert is_error
    assert failed["checkpoint"]["failed_node"] == "read"
    (tmp_path / "today.txt").write_text("clear sky")
    is_error, done = await execute()
    assert not is_error
    assert (done["outputs"], done["reused_nodes"]) == ({"today": "clear sky"}, ["note"])
    assert (tmp_path / "diary.txt").read_text() == "stars\n"


def test_the_nodes_of_all_parts_are_in_the_wheel_and_found(pflow: Pflow) -> None:
    report = json.loads(pflow("browse", "--json").stdout)
    types = {node["type"] for node in report["nodes"]}
    assert {"shell", "github", "approval", "paper-search", "library-read", "universe-command"} <= types
    assert "problems" not in report


def test_the_guide_and_the_examples_are_in_the_wheel(pflow: Pflow) -> None:
    assert "# How workflows are written" in pflow("guide").stdout
    assert len(json.loads(pflow("examples", "--json").stdout)["examples"]) == 6
    assert pflow("examples", "hello", "--as", "greeting").returncode == 0
    assert pflow("run", "greeting", "who=Ada", "--quiet").stdout == "Hello, Ada!\n"
