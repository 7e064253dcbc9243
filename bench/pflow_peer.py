"""The peer of the workflow benchmarks: the latest release of `pflow-cli`, in an environment of its own."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

VERSION: Final = "0.16.0"


def peer() -> Path | None:
    """Its command: `$PFLOW_PEER`, or one that is installed now; None, and a line that says so, where it cannot be."""
    if given := os.environ.get("PFLOW_PEER"):
        return Path(given)
    from uraniborg.kernel.settings import cache_dir

    folder = cache_dir() / "bench" / f"pflow-cli-{VERSION}"
    command = folder / "bin" / "pflow"
    if not command.exists():
        print(f"  installing pflow-cli {VERSION} to compare with (about 600 MB) ...", file=sys.stderr)
        try:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
            install = [folder / "bin" / "python", "-m", "pip", "install", "-q", f"pflow-cli=={VERSION}"]
            subprocess.run(install, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            print("  pflow-cli cannot be installed here: only our own figures are shown")
            return None
    return command


def cpu_of(command: Sequence[Any], env: dict[str, str], cwd: Path) -> float:
    """Seconds of processor time that a command and its children take."""
    before = os.times()
    subprocess.run(
        [str(part) for part in command], env=env, cwd=cwd, check=True, capture_output=True, stdin=subprocess.DEVNULL
    )
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def measure_in_turns(
    rounds: int, *measures: Callable[[], float], of: Callable[[list[float]], float] = statistics.median
) -> list[float]:
    """Return the median of each measure, taken in turns so that load affects all; the first turn is dropped.

    With `of=min` the least: for what something costs, to which a busy machine can only add.
    """
    taken: list[list[float]] = [[] for _ in measures]
    for turn in range(rounds + 1):
        for values, measure in zip(taken, measures, strict=True):
            value = measure()
            if turn:
                values.append(value)
    return [of(values) for values in taken]


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def make_markdown_chain(nodes: int, *, shell: bool) -> str:
    """Return a chain of nodes that do nothing, in the peer's format."""
    parts = ["# Chain\n\nA chain of nodes that do nothing.\n\n## Steps\n"]
    for number in range(nodes):
        if shell:
            parts.append(f"### n{number}\n\nNothing.\n\n- type: shell\n\n```shell command\ntrue\n```\n")
        elif number == 0:
            parts.append('### n0\n\nNothing.\n\n- type: code\n\n```python code\nresult: str = "x"\n```\n')
        else:
            parts.append(
                f"### n{number}\n\nNothing.\n\n- type: code\n- inputs:\n    x: ${{n{number - 1}.result}}\n\n"
                "```python code\nx: str\nresult: str = x\n```\n"
            )
    return "\n".join(parts)


def chain(nodes: int, *, shell: bool = False) -> dict[str, Any]:
    """Return a chain of nodes that do nothing, in our format."""
    listed: list[dict[str, Any]] = []
    for number in range(nodes):
        if shell:
            listed.append({"id": f"n{number}", "type": "shell", "params": {"command": "true"}})
        else:
            message = "x" if number == 0 else f"${{n{number - 1}.echo}}"
            listed.append({"id": f"n{number}", "type": "echo", "params": {"message": message}})
    return {"nodes": listed, "edges": [{"from": f"n{at}", "to": f"n{at + 1}"} for at in range(nodes - 1)]}


def fan(nodes: int) -> dict[str, Any]:
    """One node, and all others after it side by side."""
    listed = [{"id": "start", "type": "echo", "params": {"message": "x"}}]
    listed += [{"id": f"n{at}", "type": "echo", "params": {"message": "${start.echo}"}} for at in range(nodes)]
    return {"nodes": listed, "edges": [{"from": "start", "to": f"n{at}"} for at in range(nodes)]}
