"""The four walks of the architecture page: the named functions exist, and one traced call runs them in that order.

`python -m tests.test_architecture` prints how many functions and modules of the product each walk runs.
"""

import asyncio
import importlib
import json
import re
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple, Protocol

import pytest

from tests.code_names import CodeNames
from uraniborg.kernel.mcp import Server
from uraniborg.recordings import QUERY, RECORDING

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = "docs/concepts/architecture.md"
PACKAGES: Final = ("uraniborg", "paper_search", "paper_library", "universe", "pflow")
HEADING: Final = re.compile(r"### `(\w+)`")
STEP: Final = re.compile(r"\d+\. `([\w.]+)` \((`[\w.]+`(?:, `[\w.]+`)*)\)")
CODE: Final = re.compile(r"`([A-Za-z_]\w*(?:[./]\w+)*/?)`")
NAME: Final = re.compile(r"[A-Za-z_]\w*(?:[./]\w+)*")
LABEL: Final = re.compile(r'"([^"]+)"')


class Step(NamedTuple):
    """A function that a line of the page names."""

    line: int
    module: str
    function: str

    def __str__(self) -> str:
        return f"{PAGE}:{self.line}: {self.module}: {self.function}"


def read_walks() -> dict[str, list[Step]]:
    """Return the steps of each walk, by the name of the tool that starts it."""
    walks: dict[str, list[Step]] = {}
    steps: list[Step] = []
    for line, text in enumerate((ROOT / PAGE).read_text(encoding="utf-8").splitlines(), 1):
        if heading := HEADING.match(text):
            steps = walks.setdefault(heading[1], [])
        if step := STEP.match(text):
            steps += [Step(line, step[1], name) for name in re.findall(r"`([\w.]+)`", step[2])]
    return walks


def shorten_qualified_name(name: str) -> str:
    """Return the name of a nested function without the functions around it."""
    return name.rpartition("<locals>.")[2]


def list_functions(module: str) -> set[str]:
    """Import a module and return the names of its functions and methods, nested ones too."""
    path = Path(str(importlib.import_module(module).__file__))

    def iterate_code(code: CodeType) -> Iterator[str]:
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield shorten_qualified_name(constant.co_qualname)
                yield from iterate_code(constant)

    return set(iterate_code(compile(path.read_text(encoding="utf-8"), path, "exec")))


class Tracer:
    """Records the functions of the product in the order in which they first run, in every new thread."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str], None] = {}
        self._is_recording = False

    @contextmanager
    def installed(self) -> Generator[None]:
        """Observe this thread, and the threads that are started in this block."""
        sys.setprofile(self._note_call)
        threading.setprofile(self._note_call)
        try:
            yield
        finally:
            threading.setprofile(None)
            sys.setprofile(None)

    async def call_tool(self, server: Server, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool and record the functions that run until it returns. Return its reply."""
        self.calls.clear()
        self._is_recording = True
        result = await server.call_tool(name, arguments)
        self._is_recording = False
        assert not result.isError, result.content[0].text
        return json.loads(result.content[0].text)

    def _note_call(self, frame: FrameType, event: str, _: object) -> None:
        code, module = frame.f_code, str(frame.f_globals.get("__name__"))
        is_written = not code.co_name.startswith("<") and not code.co_filename.startswith("<")
        if self._is_recording and event == "call" and is_written and module.partition(".")[0] in PACKAGES:
            self.calls.setdefault((module, shorten_qualified_name(code.co_qualname)))


class Walk(Protocol):
    """Calls a tool twice in an empty folder and records the second call, when everything is imported."""

    async def __call__(self, folder: Path, tracer: Tracer) -> None: ...


async def approve_strategy(folder: Path, tracer: Tracer) -> None:
    from paper_search import mcp_server
    from paper_search.service.sessions import SessionManager

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(mcp_server, "_session_manager", manager := SessionManager())
        reply: dict[str, Any] = {}
        for _ in range(2):
            opened = await tracer.call_tool(mcp_server.mcp, "search_papers", {"query": QUERY})
            arguments = {"session_id": opened["session_id"], "action": "approve"}
            reply = await tracer.call_tool(mcp_server.mcp, "decide", arguments)
        assert reply["checkpoint"]["kind"] == "result_review"
        await manager.aclose()


async def search_shelf(folder: Path, tracer: Tracer) -> None:
    from paper_library import Library, sample_shelf
    from paper_library.mcp_server import make_mcp_server
    from paper_library.service.worker_threads import WorkerThreads

    library = Library.open(sample_shelf(folder / "shelf"))
    threads = WorkerThreads(1, query_s=30, fetch_s=30)
    server = make_mcp_server(library, threads)
    reply: dict[str, Any] = {}
    for _ in range(2):
        reply = await tracer.call_tool(server, "search_papers", {"query": "planet atmosphere year:2000.."})
    assert reply["total"] > 1
    threads.close()
    library.close()


async def add_star(folder: Path, tracer: Tracer) -> None:
    from tests.universe.domain import samples
    from universe.mcp_server import make_mcp_server
    from universe.service.universes import UniverseService
    from universe.store.sqlite import SqliteStore

    async with UniverseService(SqliteStore(folder / "universes.db")).running() as service:
        await service.create("Hven", universe_id="hven")
        server = make_mcp_server(service)
        reply: dict[str, Any] = {}
        for number in range(2):
            command = samples.add_star(f"star-{number}")
            arguments = {"universeId": "hven", "command": command}
            reply = await tracer.call_tool(server, "send_universe_command", arguments)
        assert reply["events"]


async def run_workflow(folder: Path, tracer: Tracer) -> None:
    from pflow.mcp_server import build_server

    node = {"id": "greet", "type": "shell", "params": {"command": "echo ${name}"}}
    document = {"inputs": {"name": {"type": "string"}}, "nodes": [node]}
    drafts = folder / "pflow" / "workflows" / "drafts"
    drafts.mkdir(parents=True)
    (drafts / "greeting.json").write_text(json.dumps(document), encoding="utf-8")
    server = build_server()
    reply: dict[str, Any] = {}
    for _ in range(2):
        reply = await tracer.call_tool(server, "execute", {"name": "greeting", "inputs": {"name": "Tycho"}})
    assert reply["outputs"]["greet"]["stdout"].strip() == "Tycho"


WALKS: Final[dict[str, Walk]] = {
    "decide": approve_strategy,
    "search_papers": search_shelf,
    "send_universe_command": add_star,
    "execute": run_workflow,
}


def trace_walk(name: str, folder: Path) -> list[tuple[str, str]]:
    """Run a walk in this empty folder; return the modules and functions of the product that ran."""
    tracer = Tracer()
    with pytest.MonkeyPatch.context() as patched, tracer.installed():
        patched.chdir(folder)
        patched.setenv("HOME", str(folder))
        patched.setenv("URANIBORG_HOME", str(folder / "home"))
        patched.setenv("PFLOW_HOME", str(folder / "pflow"))
        patched.setenv("URANIBORG_PAPER_SEARCH__REPLAY_DIR", str(RECORDING))
        asyncio.run(WALKS[name](folder, tracer))
    return list(tracer.calls)


def test_the_page_has_the_four_walks() -> None:
    assert {name: bool(steps) for name, steps in read_walks().items()} == dict.fromkeys(WALKS, True)


@pytest.mark.parametrize("name", WALKS)
def test_every_function_that_a_walk_names_exists(name: str) -> None:
    missing = [str(step) for step in read_walks()[name] if step.function not in list_functions(step.module)]
    assert not missing, "not there:\n" + "\n".join(missing)


@pytest.mark.parametrize("name", WALKS)
def test_the_functions_of_a_walk_run_in_the_stated_order(name: str, tmp_path: Path) -> None:
    steps = read_walks()[name]
    calls = {call: index for index, call in enumerate(trace_walk(name, tmp_path))}
    missing = [str(step) for step in steps if step[1:] not in calls]
    assert not missing, "did not run:\n" + "\n".join(missing)
    early = [f"{later} before {step}" for step, later in pairwise(steps) if calls[later[1:]] < calls[step[1:]]]
    assert not early, "ran:\n" + "\n".join(early)


class NamedCode(NamedTuple):
    """A name of code that the page uses, and the packages that it can belong to."""

    line: int
    name: str
    packages: tuple[str, ...]

    def __str__(self) -> str:
        return f"{PAGE}:{self.line}: {self.name}, in {' or '.join(self.packages)}"


def list_named_code(page: str) -> Iterator[NamedCode]:
    """Yield the names in backticks and in the diagrams of the page.

    Below a heading such as `## Inside pflow`, and in a row of a table that begins with a part, they are of this part.
    """
    section, is_diagram = PACKAGES, False
    for line, text in enumerate(page.splitlines(), 1):
        is_diagram = text == "```mermaid" or (is_diagram and text != "```")
        if text.startswith("## "):
            section = _choose_packages(text.removeprefix("## Inside "))
        cell = text.split("|")[1].strip("` ") if text.startswith("|") else ""
        packages = _choose_packages(cell) if _choose_packages(cell) != PACKAGES else section
        names = _list_names_of_diagram(text) if is_diagram else CODE.findall(text)
        yield from (NamedCode(line, name, packages) for name in names)


def _choose_packages(part: str) -> tuple[str, ...]:
    if part == "kernel":
        return ("uraniborg.kernel",)
    return (part, "uraniborg.kernel") if part in PACKAGES else PACKAGES


def _list_names_of_diagram(text: str) -> Iterator[str]:
    """Yield the single words of a label: all before the first colon or line, and those with a dot."""
    for label in LABEL.findall(text):
        head = re.split(r":|<br/>", label.replace(",<br/>", ", "))[0]
        yield from (word for word in head.split(", ") if NAME.fullmatch(word))
        yield from re.findall(r"\b[a-z_]+\.[a-z_]+\b", label[len(head) :] if NAME.fullmatch(head) else label)


def test_every_name_of_code_on_the_page_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    missing = [
        str(code)
        for code in list_named_code(page)
        if code.name not in _read_code_names(code.packages)
        and not (ROOT / code.name).exists()
        and code.name not in project["entry-points"]
    ]
    assert not missing, "not there:\n" + "\n".join(missing)


@cache
def _read_code_names(packages: tuple[str, ...]) -> CodeNames:
    return CodeNames(packages)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("`assembly` builds an engine.", "assembly"),
        ("It calls `workflow.ports`, and `paper_search.engine`.", "workflow.ports paper_search.engine"),
        ("## Inside paper_search\n\nThe `walker` and `sources/` with `Paper`.", "walker"),
        ("| `paper_library` | `identity`, `text` |", "identity"),
        (
            '## Inside paper_library\n```mermaid\n  a["identity:<br/>"] --> b["errors, setings"] & c[("shelf: ")]\n```',
            "identity setings",
        ),
        ('```mermaid\n  a -. "entry point pflow.modes" .- b["a Dask cluster"]\n```', "pflow.modes"),
        ("`make check` runs `pflow run`, and replies have `isError: true`.", ""),
    ],
)
def test_a_name_that_no_code_has_is_found_in_text_tables_and_diagrams(text: str, missing: str) -> None:
    found = [code.name for code in list_named_code(text) if code.name not in _read_code_names(code.packages)]
    assert found == missing.split()


def print_counts(write: Callable[[str], object] = sys.stdout.write) -> None:
    """Print how many functions and modules run in each walk, in all and outside the kernel."""
    for name in WALKS:
        with tempfile.TemporaryDirectory() as folder:
            calls = trace_walk(name, Path(folder))
        part = [call for call in calls if not call[0].startswith("uraniborg.")]
        write(f"{name}: {len(calls)} functions in {len({module for module, _ in calls})} modules, ")
        write(f"of these {len(part)} functions in {len({module for module, _ in part})} modules outside the kernel\n")


if __name__ == "__main__":
    print_counts()
