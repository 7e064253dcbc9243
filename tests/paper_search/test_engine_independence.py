"""The engine stands alone, with a suite of its own."""

import ast
import subprocess
import sys
from pathlib import Path

from tests.requirements import requirement

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ("workflow", "skills")
OUTSIDE = (
    "paper_search.mcp_server",
    "paper_search.cli",
    "paper_search.__main__",
    "paper_search.export",
    "mcp",
    "typer",
)


def imports(path: Path) -> set[str]:
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
        for name in imports(path)
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
