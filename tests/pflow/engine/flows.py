"""Homes whose nodes leave a line each time they run, and do as files tell them: fail, wait, or go on."""

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from pflow.config import Settings
from pflow.engine.engine import Engine
from pflow.engine.results import RunResult
from pflow.ir.checker import check
from pflow.ir.model import Workflow
from pflow.registry.registry import Registry
from pflow.service import Service, require_valid

SOON_S = 20.0

CODE = '''
import hashlib
import json
import os
import time

from pflow.errors import NodeFailed
from pflow.node import Outcome


def digest(params):
    return hashlib.sha256(json.dumps(params, sort_keys=True).encode()).hexdigest()[:16]


def tell(event, params, context):
    line = {"event": event, "node": context.node_id, "given": digest(params), "run": context.run_id, "pid": os.getpid()}
    file = os.open(context.home.parent / "lines", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, json.dumps(line).encode() + b"\\n")
    os.close(file)


def count(params, context):
    """Fails while `fail-NODE` is there, a number of times if that is what it says, and waits while `wait-NODE` is."""
    tell("began", params, context)
    told = context.home.parent / "told"
    name = context.node_id.replace("/", "~")
    deadline = time.monotonic() + 60
    while (told / f"wait-{name}").exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    fail = told / f"fail-{name}"
    if fail.exists():
        text = fail.read_text()
        if text.isdigit():
            fail.write_text(str(int(text) - 1)) if int(text) > 1 else fail.unlink()
        raise NodeFailed(f"told to fail: {text}", outputs={"half": params.get("value")})
    action = params.get("action") or "default"
    if action == "choose":
        action = "left" if int(digest(params), 16) % 2 else "right"
    tell("done", params, context)
    return Outcome({"value": digest(params), "echo": params.get("echo")}, action)


async def count_on_the_loop(params, context):
    import asyncio

    tell("began", params, context)
    if "sleep" in params:
        await asyncio.sleep(params["sleep"])
    tell("done", params, context)
    return {"value": digest(params), "echo": params.get("echo")}
'''


def _declared(kind: str, effect: str, function: str = "count", **more: Any) -> dict[str, Any]:
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
    _declared("pure", "pure"),
    _declared("effect", "effectful"),
    _declared("reader", "pure", reads=["file"]),
    _declared("volatile", "pure", volatile=True),
    _declared("looker", "pure", reads_world=True),
    _declared("writer", "idempotent", writes=["file"]),
    _declared("on-loop", "pure", "count_on_the_loop"),
    _declared("effect-on-loop", "effectful", "count_on_the_loop"),
]


def until(holds: Callable[[], Any]) -> None:
    deadline = time.monotonic() + SOON_S
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        threading.Event().wait(0.005)


def node(name: str, kind: str = "pure", /, **params: Any) -> dict[str, Any]:
    """A node. `batch`, `retry`, `timeout`, `resume` and `effect` are keys of the node, the rest its parameters."""
    keys = {key: params.pop(key) for key in ("batch", "retry", "timeout", "resume", "effect") if key in params}
    return {"id": name, "type": kind, "params": params, **keys}


def chain(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A workflow in which each node follows the one before it."""
    edges = [{"from": a["id"], "to": b["id"]} for a, b in pairwise(nodes)]
    return {"nodes": list(nodes), "edges": edges, **more}


def joined(nodes: list[dict[str, Any]], *edges: str, **more: Any) -> dict[str, Any]:
    """A workflow with edges such as `a>b` and `a>b:error`."""
    plain: list[dict[str, Any]] = []
    for edge in edges:
        ends, _, action = edge.partition(":")
        source, _, target = ends.partition(">")
        plain.append({"from": source, "to": target, **({"action": action} if action else {})})
    return {"nodes": nodes, "edges": plain, **more}


@dataclass
class Home:
    """A pflow home in `place`. What runs there leaves lines in a file, and looks into a folder for what it is told."""

    place: Path
    workflows: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self.told.mkdir(parents=True, exist_ok=True)
        self.add_nodes("counting", NODES, CODE)
        for name, ir in self.workflows.items():
            self.draft(name, ir)

    @property
    def path(self) -> Path:
        return self.place / "home"

    @property
    def told(self) -> Path:
        return self.place / "told"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    def checkpoint(self, name: str = "flow") -> dict[str, Any]:
        return json.loads((self.checkpoints / f"{name}.json").read_bytes())

    def add_nodes(self, name: str, nodes: list[dict[str, Any]], code: str) -> None:
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
        """Run it as the service does."""
        return self.service.run(ir, inputs, name=name, **more)

    def run_unlogged(
        self, ir: Any, inputs: dict[str, Any] | None = None, *, name: str = "flow", fresh: bool = False, **more: Any
    ) -> RunResult:
        """The same without the log of runs, which costs more than small nodes do."""
        registry = Registry(self.path)

        def child(params: Mapping[str, Any]) -> Workflow:
            return require_valid(check(params["workflow_ir"], registry), "within")

        engine = Engine(self.path, registry, child, folder=self.place, **more)
        return engine.execute(require_valid(check(ir, registry), name), inputs, name=name, fresh=fresh)

    def tell(self, *words: str, text: str = "") -> None:
        """`tell("fail-a")` has node `a` fail from now on, `tell("wait-a")` has it wait."""
        for word in words:
            (self.told / word.replace("/", "~")).write_text(text or word)

    def untell(self, *words: str) -> None:
        for word in words or [path.name for path in self.told.iterdir()]:
            (self.told / word.replace("/", "~")).unlink()

    def lines(self, event: str = "began") -> list[dict[str, Any]]:
        path = self.place / "lines"
        if not path.exists():
            return []
        return [line for line in map(json.loads, path.read_text().splitlines()) if line["event"] == event]

    def runs(self, event: str = "began") -> Counter[str]:
        """How often each node began, or was done."""
        return Counter(line["node"] for line in self.lines(event))

    def process(self, ir: Any, inputs: dict[str, Any] | None = None, *, name: str = "flow") -> "Running":
        """Run it in a process of its own."""
        return Running(self, ir, inputs, name)


RUNNER = """
import json, sys
from pathlib import Path
from pflow.config import Settings
from pflow.service import Service

place, ir, inputs, name = json.loads(sys.argv[1])
result = Service(Settings(home=Path(place, "home")), folder=Path(place)).run(ir, inputs, name=name)
print(json.dumps(result.reply()))
"""


class Running:
    """A run in a process of its own. Its reply is what it prints."""

    def __init__(self, home: Home, ir: Any, inputs: dict[str, Any] | None, name: str) -> None:
        told = json.dumps([str(home.place), ir, inputs, name])
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", RUNNER, told], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def reply(self) -> dict[str, Any]:
        """What it answered. It must have ended well."""
        out, err = self._process.communicate(timeout=SOON_S * 2)
        assert self._process.returncode == 0, err.decode()
        return json.loads(out)

    def kill(self) -> None:
        """End it as nothing else does, and wait until it is gone."""
        self._process.kill()
        self._process.communicate(timeout=SOON_S)
