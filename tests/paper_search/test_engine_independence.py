"""The engine works without server, command line and exports, and has its own tests."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.requirements import requirement

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ("workflow", "skills")
OUTSIDE = (
    "paper_search.mcp_server",
    "paper_search.api",
    "paper_search.cli",
    "paper_search.__main__",
    "paper_search.export",
    "mcp",
    "typer",
)


def list_imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@requirement("PS-C7")
def test_workflow_and_skills_import_nothing_of_server_command_line_or_exports() -> None:
    offenders = [
        f"{path.name} imports {name}"
        for part in ENGINE
        for path in (ROOT / "src" / "paper_search" / part).rglob("*.py")
        for name in list_imports(path)
        if any(name == outside or name.startswith(outside + ".") for outside in OUTSIDE)
    ]
    assert offenders == []


@requirement("PS-C7")
def test_running_the_engine_loads_nothing_of_server_command_line_or_exports() -> None:
    code = (
        "import asyncio, sys\n"
        "from paper_search import SearchWorkflow\n"
        "from paper_search.config import AppConfig\n"
        "from uraniborg.recordings import QUERY, RECORDING\n"
        "asyncio.run(SearchWorkflow.from_config(AppConfig(replay_dir=RECORDING)).run(QUERY))\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=50)
    loaded = set(done.stdout.split())
    assert not loaded & set(OUTSIDE)


@requirement("PS-C6")
def test_the_engine_has_at_least_149_tests_of_its_own() -> None:
    tests = [
        node.name
        for part in ENGINE
        for path in (ROOT / "tests" / "paper_search" / part).rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]
    assert len(tests) >= 149
    assert len(set(tests)) >= 149


ALONE = """
import sys

OUTSIDE = {outside!r}


class Absent:
    def find_spec(self, name, path=None, target=None):
        if any(name == one or name.startswith(one + ".") for one in OUTSIDE):
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Absent())
import pytest

plugins = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:schemathesis"]
sys.exit(pytest.main(["-q", "--tb=line", "--color=no", *plugins, *{suites!r}]))
"""


@requirement("PS-C6")
@pytest.mark.timeout(240)
def test_the_same_suite_of_the_engine_passes_without_server_command_line_and_exports() -> None:
    """Run the tests of the engine with these modules removed."""
    # The property test of the log is slow and runs with all tests already.
    suites = [f"tests/paper_search/{part}" for part in ENGINE]
    suites.append("--ignore=tests/paper_search/workflow/test_round_log_properties.py")
    code = ALONE.format(outside=(*OUTSIDE, "paper_search.service.sessions"), suites=suites)
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    own["PROPERTY_EXAMPLES"] = "10"  # all examples run with all tests
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, timeout=230, check=False)
    assert done.returncode == 0, done.stdout[-5_000:]
    passed = re.fullmatch(r"(\d+) passed in .*", done.stdout.splitlines()[-1])
    assert passed, "none is left out or expected to fail"
    assert int(passed[1]) >= 149
