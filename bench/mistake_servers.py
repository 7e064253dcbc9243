"""The servers for replays of mistakes, each as its users start it, and the situations that the cases need."""

import json
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from uraniborg.kernel.mcp.testing import (
    ClientSession,
    connect_http_client,
    connect_stdio_client,
    get_json,
    serve_app,
)
from uraniborg.recordings import QUERY, RECORDING

_APPROVALS: Final = {"": 0, "strategy": 0, "review": 1, "complete": 2}
_SAVED: Final[dict[str, dict[str, Any]]] = {
    "greeter": {
        "inputs": {"who": {"type": "string", "description": "The person to greet"}},
        "nodes": [{"id": "greet", "type": "echo", "params": {"message": "Hello, ${who}!"}}],
        "outputs": {"greeting": {"source": "${greet.echo}"}},
    },
    "counter": {
        "inputs": {"n": {"type": "integer", "description": "The number to count to"}},
        "nodes": [{"id": "count", "type": "shell", "params": {"command": "seq 1 ${n}"}}],
    },
    "report-weekly": {"nodes": [{"id": "report", "type": "echo", "params": {"message": "All is well."}}]},
}


@dataclass
class Situation:
    """The values that a case refers to, and the file of its draft."""

    values: dict[str, str] = field(default_factory=dict[str, str])
    draft_file: Path | None = None

    def write_draft(self, draft: Any) -> None:
        """Write the draft of the case, an object or the text of a file."""
        assert self.draft_file is not None
        text = draft if isinstance(draft, str) else json.dumps(draft)
        self.draft_file.write_text(text, encoding="utf-8")


Prepare = Callable[[str, int], Awaitable[Situation]]
"""A function from the situation and the number of a case to the values of the situation."""
Opened = AbstractAsyncContextManager[tuple[ClientSession, Prepare]]


@asynccontextmanager
async def open_search() -> AsyncGenerator[tuple[ClientSession, Prepare]]:
    """Start paper-search-mcp over a recorded search, without a network."""
    with tempfile.TemporaryDirectory() as home:
        settings = {"URANIBORG_HOME": home, "URANIBORG_PAPER_SEARCH__REPLAY_DIR": str(RECORDING)}
        async with connect_stdio_client(sys.executable, ["-m", "paper_search.mcp_server"], settings) as client:
            prepared: dict[str, Situation] = {}

            async def prepare(at: str, _: int) -> Situation:
                if at and not (at in prepared and await _is_unchanged(client, prepared[at])):
                    prepared[at] = await _prepare_session(client, _APPROVALS[at])
                return prepared.get(at, Situation())

            yield client, prepare


async def _is_unchanged(client: ClientSession, situation: Situation) -> bool:
    """Return True if the session still is at its checkpoint, so that another case can use it."""
    state = get_json(await client.call_tool("get_session", {"session_id": situation.values["session"]}))
    return state.get("checkpoint_id", "") == situation.values["checkpoint"]


async def _prepare_session(client: ClientSession, approvals: int) -> Situation:
    """Open a session and approve that many checkpoints."""
    state = get_json(await client.call_tool("search_papers", {"query": QUERY}))
    session_id: str = state["session_id"]
    values = {**_misspell("session", session_id), "checkpoint": state["checkpoint_id"]}
    for _ in range(approvals):
        state = get_json(await client.call_tool("decide", {"session_id": session_id, "action": "approve"}))
        values["earlier"] = values["checkpoint"]
        values["checkpoint"] = state.get("checkpoint_id", "")
        if papers := state.get("checkpoint", {}).get("payload", {}).get("papers"):
            first = papers[0]
            values |= {**_misspell("paper", first["id"]), "paper_doi": first["doi"], "paper_title": first["title"]}
    return Situation(values)


def _misspell(name: str, value: str) -> dict[str, str]:
    """Return an id and its broken forms under names that begin with `name`."""
    wrong = "0" if value[-3] != "0" else "1"
    return {
        name: value,
        f"{name}8": value[:8],
        f"{name}_cut": value[:-3],
        f"{name}_upper": value.upper(),
        f"{name}_typo": value[:-3] + wrong + value[-2:],
    }


@asynccontextmanager
async def open_pflow() -> AsyncGenerator[tuple[ClientSession, Prepare]]:
    """Start `pflow mcp serve` with three saved workflows."""
    with tempfile.TemporaryDirectory() as folder:
        workflows = Path(folder) / "pflow" / "workflows"
        drafts = workflows / "drafts"
        drafts.mkdir(parents=True)
        for name, workflow in _SAVED.items():
            file = {"name": name, "description": f"The workflow {name}.", "ir": workflow}
            (workflows / f"{name}.json").write_text(json.dumps(file), encoding="utf-8")
        settings = {"URANIBORG_HOME": folder, "PFLOW_HOME": str(Path(folder) / "pflow")}
        async with connect_stdio_client(sys.executable, ["-m", "pflow", "mcp", "serve"], settings) as client:

            async def prepare(_: str, number: int) -> Situation:
                name = f"draft-{number}"
                return Situation({"draft": name, "folder": folder}, drafts / f"{name}.json")

            yield client, prepare


@asynccontextmanager
async def open_library() -> AsyncGenerator[tuple[ClientSession, Prepare]]:
    """Serve the sample shelf over HTTP."""
    from paper_library.api.app import make_app
    from paper_library.config import LibraryConfig
    from paper_library.service.shelf_catalog import sample_shelf

    async def prepare(_at: str, _number: int) -> Situation:
        return Situation()

    app = make_app(LibraryConfig(shelf=sample_shelf()))
    async with serve_app(app) as url, connect_http_client(f"{url}/mcp") as client:
        yield client, prepare


@asynccontextmanager
async def open_universe() -> AsyncGenerator[tuple[ClientSession, Prepare]]:
    """Serve universes over HTTP: the Solar System under its own id, and a new universe for each case."""
    from pydantic import SecretStr

    from universe.api.app import make_app
    from universe.config import UniverseConfig

    app = make_app(UniverseConfig(db=SecretStr("memory:")))
    async with (
        serve_app(app) as url,
        httpx.AsyncClient(base_url=url, timeout=60) as rest,
        connect_http_client(f"{url}/mcp") as mcp,
    ):

        async def create(universe_id: str, name: str, system: str) -> None:
            created = await rest.post("/universes", json={"id": universe_id, "name": name, "from": system})
            created.raise_for_status()

        async def prepare(at: str, number: int) -> Situation:
            name = f"case-{number}"
            await create(name, name, "solar-system" if at == "job" else at or "solar-system")
            if at != "job":
                return Situation({"universe": name})
            started = await rest.post(f"/universes/{name}/jobs", json={"kind": "nbody", "days": 1})
            started.raise_for_status()
            return Situation({"universe": name, **_misspell("job", started.json()["id"])})

        await create("solar-system", "Solar System", "solar-system")
        yield mcp, prepare


OPENERS: Final[dict[str, Callable[[], Opened]]] = {
    "search": open_search,
    "pflow": open_pflow,
    "library": open_library,
    "universe": open_universe,
}
"""The servers by name; opening one yields a client and the function that prepares situations."""
