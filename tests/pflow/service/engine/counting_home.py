"""A pflow home whose nodes log each of their runs, and fail or wait if a file requests it."""

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from pflow.config import Settings
from pflow.domain.ir.checker import require_valid_workflow
from pflow.service.engine.results import RunResult
from pflow.service.execution import Engine, ExecutionOptions
from pflow.service.operations import Service
from pflow.store.workflow_library import WorkflowLoader

SOON_S = 20.0

CODE = '''
import hashlib
import json
import os
import time

from pflow.errors import NodeFailed
from pflow.domain.node import Outcome


def digest(params):
    return hashlib.sha256(json.dumps(params, sort_keys=True).encode()).hexdigest()[:16]


def log_event(event, params, context):
    line = {"event": event, "node": context.node_id, "given": digest(params), "run": context.run_id, "pid": os.getpid()}
    file = os.open(context.home.parent / "lines", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, json.dumps(line).encode() + b"\\n")
    os.close(file)


def count(params, context):
    """Fail while `fail-NODE` exists, as often as the number in it, and wait while `wait-NODE` exists."""
    log_event("began", params, context)
    orders = context.home.parent / "orders"
    name = context.node_id.replace("/", "~")
    deadline = time.monotonic() + 60
    while (orders / f"wait-{name}").exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    fail = orders / f"fail-{name}"
    if fail.exists():
        text = fail.read_text()
        if text.isdigit():
            fail.write_text(str(int(text) - 1)) if int(text) > 1 else fail.unlink()
        raise NodeFailed(f"ordered to fail: {text}", outputs={"half": params.get("value")})
    action = params.get("action") or "default"
    if action == "choose":
        action = "left" if int(digest(params), 16) % 2 else "right"
    log_event("done", params, context)
    return Outcome({"value": digest(params), "echo": params.get("echo")}, action)


async def count_on_the_loop(params, context):
    import asyncio

    log_event("began", params, context)
    if "sleep" in params:
        await asyncio.sleep(params["sleep"])
    log_event("done", params, context)
    return {"value": digest(params), "echo": params.get("echo")}
'''


def _declare_node(kind: str, effect: str, function: str = "count", **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "description": f"Counts its runs; {effect}.",
        "run": f"counting.py:{function}",
        "outputs": {"value": "str", "echo": "any", "half": "any"},
        "effect": effect,
        "open_params": True,
        "open_actions": True,
        **more,
    }


NODES = [
    _declare_node("pure", "pure"),
    _declare_node("effect", "effectful"),
    _declare_node("reader", "pure", reads=["file"]),
    _declare_node("volatile", "pure", volatile=True),
    _declare_node("looker", "pure", reads_world=True),
    _declare_node("writer", "idempotent", writes=["file"]),
    _declare_node("on-loop", "pure", "count_on_the_loop"),
    _declare_node("effect-on-loop", "effectful", "count_on_the_loop"),
]


def until(holds: Callable[[], Any]) -> None:
    deadline = time.monotonic() + SOON_S
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        threading.Event().wait(0.005)


def node(name: str, kind: str = "pure", /, **params: Any) -> dict[str, Any]:
    """Return a node. `batch`, `retry`, `timeout`, `resume` and `effect` are keys of the node, the others parameters."""
    keys = {key: params.pop(key) for key in ("batch", "retry", "timeout", "resume", "effect") if key in params}
    return {"id": name, "type": kind, "params": params, **keys}


def chain(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a workflow in which each node follows the one before it."""
    edges = [{"from": a["id"], "to": b["id"]} for a, b in pairwise(nodes)]
    return {"nodes": list(nodes), "edges": edges, **more}


def build_graph(nodes: list[dict[str, Any]], *edges: str, **more: Any) -> dict[str, Any]:
    """Return a workflow with edges such as `a>b` and `a>b:error`."""
    plain: list[dict[str, Any]] = []
    for edge in edges:
        ends, _, action = edge.partition(":")
        source, _, target = ends.partition(">")
        plain.append({"from": source, "to": target, **({"action": action} if action else {})})
    return {"nodes": nodes, "edges": plain, **more}


@dataclass
class Home:
    """A pflow home in `place`. Its nodes write lines to a file, and read their orders from a folder."""

    place: Path
    workflows: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self.orders.mkdir(parents=True, exist_ok=True)
        self.record_nodes("counting", NODES, CODE)
        for name, ir in self.workflows.items():
            self.draft(name, ir)

    @property
    def path(self) -> Path:
        return self.place / "home"

    @property
    def orders(self) -> Path:
        return self.place / "orders"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    def checkpoint(self, name: str = "flow") -> dict[str, Any]:
        return json.loads((self.checkpoints / f"{name}.json").read_bytes())

    def record_nodes(self, name: str, nodes: list[dict[str, Any]], code: str) -> None:
        folder = self.path / "nodes"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps({"nodes": nodes}))
        (folder / f"{name}.py").write_text(code)

    def draft(self, name: str, ir: Any) -> Path:
        path = self.path / "workflows" / "drafts" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(ir))
        return path

    @property
    def service(self) -> Service:
        return Service(Settings(home=self.path), folder=self.place)

    def run(self, ir: Any, inputs: dict[str, Any] | None = None, *, name: str = "flow", **more: Any) -> RunResult:
        """Run a workflow as the service does."""
        return self.service.run_document(ir, inputs, name=name, **more)

    def run_unlogged(
        self, ir: Any, inputs: dict[str, Any] | None = None, *, name: str = "flow", fresh: bool = False, **more: Any
    ) -> RunResult:
        """Run a workflow without the log of runs, which costs more than small nodes do."""
        loader = WorkflowLoader(self.path, self.place)
        workflow = require_valid_workflow(loader.check(ir), name)
        return Engine(loader, **more).run(workflow, inputs, ExecutionOptions(fresh=fresh), name=name)

    def order(self, *words: str, text: str = "") -> None:
        """Let node `a` fail from now on (`order("fail-a")`) or wait (`order("wait-a")`)."""
        for word in words:
            (self.orders / word.replace("/", "~")).write_text(text or word)

    def clear_orders(self, *words: str) -> None:
        for word in words or [path.name for path in self.orders.iterdir()]:
            (self.orders / word.replace("/", "~")).unlink()

    def lines(self, event: str = "began") -> list[dict[str, Any]]:
        path = self.place / "lines"
        if not path.exists():
            return []
        return [line for line in map(json.loads, path.read_text().splitlines()) if line["event"] == event]

    def runs(self, event: str = "began") -> Counter[str]:
        """Return how often each node began, or was done."""
        return Counter(line["node"] for line in self.lines(event))

    def process(self, ir: Any, inputs: dict[str, Any] | None = None, *, name: str = "flow") -> "Running":
        """Run a workflow in its own process."""
        return Running(self, ir, inputs, name)


RUNNER = """
import json, sys
from pathlib import Path
from pflow.config import Settings
from pflow.service.operations import Service

place, ir, inputs, name = json.loads(sys.argv[1])
result = Service(Settings(home=Path(place, "home")), folder=Path(place)).run_document(ir, inputs, name=name)
print(json.dumps(result.reply()))
"""


class Running:
    """A run in its own process, which prints its reply."""

    def __init__(self, home: Home, ir: Any, inputs: dict[str, Any] | None, name: str) -> None:
        arguments = json.dumps([str(home.place), ir, inputs, name])
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", RUNNER, arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def reply(self) -> dict[str, Any]:
        """Return the reply of the run, whose process must have succeeded."""
        out, err = self._process.communicate(timeout=SOON_S * 2)
        assert self._process.returncode == 0, err.decode()
        return json.loads(out)

    def kill(self) -> None:
        """Kill the process, and wait until it is gone."""
        self._process.kill()
        self._process.communicate(timeout=SOON_S)
