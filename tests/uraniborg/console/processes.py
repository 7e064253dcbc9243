"""`uraniborg serve` as a process, and clients of its API."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import httpx

from tests.forked_processes import Forked
from tests.installed_programs import Program
from tests.paper_search.service.sessions.processes import GatedSource, serving
from tests.uraniborg.console.reply_schemas import ReplySchemas
from uraniborg.servers.credentials import AgentCredentials

SERVE: Final = ("serve", "--port", "0", "--json")


@dataclass
class ServerProcess:
    """A running server, its addresses and the environment of processes that share its data."""

    process: "Forked | subprocess.Popen[bytes]"
    url: str
    token: str
    parts: dict[str, dict[str, Any]]
    env: dict[str, str]
    console: str
    """The address that signs a browser in."""

    def sign_in(self, name: str) -> str:
        """Return the key of a person with this name."""
        given = {"token": self.token, "name": name}
        reply = httpx.post(f"{self.url}/api/sign-in", json=given, headers={"X-Uraniborg": "1"}, timeout=60)
        return reply.raise_for_status().json()["key"]

    def make_storage(self, key: str) -> Any:
        """Return the state of a browser profile that is signed in with this key."""
        return {"origins": [{"origin": self.url, "localStorage": [{"name": "uraniborg.sign-in", "value": key}]}]}

    def get_mcp(self, name: str) -> tuple[str, str]:
        """Return the address of the MCP server of a part, and the credential of a test agent for it."""
        credentials = AgentCredentials(Path(self.env["URANIBORG_HOME"]) / "data" / "console" / "agents.json")
        return self.parts[name]["mcp"], credentials.make_token("test-agent", name)

    def make_client(self) -> httpx.Client:
        """Return a client that is signed in with the token and checks the type of every reply."""
        hooks: Any = {"response": [self._schemas.check_reply]}
        return httpx.Client(base_url=self.url, headers=self._headers, timeout=60, event_hooks=hooks)

    def make_async_client(self, person: str = "") -> httpx.AsyncClient:
        """Return such a client for an event loop; with the name of a person, one that this person has signed in."""
        hooks: Any = {"response": [self._schemas.check_reply_of_stream]}
        headers = self._headers | ({"Authorization": f"Bearer {self.sign_in(person)}"} if person else {})
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=60, event_hooks=hooks)

    @cached_property
    def _schemas(self) -> ReplySchemas:
        return ReplySchemas(self.url, self.token)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "X-Uraniborg": "1"}


def make_environment(home: Path, **settings: str) -> dict[str, str]:
    """Return the environment of a server on free ports, whose searches are offline trials."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SSL_CERT_DIR") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "URANIBORG_HOME": str(home / "uraniborg"),
        "URANIBORG_USER": "Tycho",
        "URANIBORG_PAPER_SEARCH__OFFLINE": "true",
        "URANIBORG_CONSOLE__SEARCH_PORT": "0",
        "URANIBORG_LIBRARY__PORT": "0",
        "URANIBORG_UNIVERSE__PORT": "0",
        **settings,
    }


@contextmanager
def run_server(home: Path, **settings: str) -> Generator[ServerProcess]:
    """Run `uraniborg serve` until the block ends."""
    env = make_environment(home, **settings)
    with Program("uraniborg").start(*SERVE, env=env, cwd=home) as process:
        yield from _serve(process, env)


@contextmanager
def run_installed_server(home: Path, **settings: str) -> Generator[ServerProcess]:
    """Run such a server as it is installed, for tests that look at the processes that it starts."""
    env = make_environment(home, **settings)
    with start_process(env) as process:
        yield from _serve(process, env)


def _serve(process: "Forked | subprocess.Popen[bytes]", env: dict[str, str]) -> Generator[ServerProcess]:
    assert process.stdout
    assert process.stderr
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        started = json.loads(line)
        parts = {part["name"]: part for part in started["parts"]}
        yield ServerProcess(process, started["url"], started["token"], parts, env, started["console"])
    finally:
        process.send_signal(signal.SIGINT)
        process.stderr.read()  # until the server and its processes have ended


def start_process(env: dict[str, str]) -> "subprocess.Popen[bytes]":
    """Start `uraniborg serve --json` on a free port, as it is installed."""
    return subprocess.Popen(
        [sys.executable, "-m", "uraniborg", *SERVE],
        env=env,
        cwd=env["HOME"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def kill_agent_during_search(server: ServerProcess, source: GatedSource, query: str) -> str:
    """Let an agent search in a process of its own, and kill it while it asks the source; return the session id.

    The server must have the source installed, so that the search can be resumed. It has seen the decision while the
    agent had the session, and leaves the session alone.
    """
    command = (sys.executable, "-m", "paper_search.mcp_server")  # a forked one outlives its command for a moment
    env = {**server.env, **source.env, "URANIBORG_PAPER_SEARCH__OFFLINE": "false"}
    with (
        server.make_client() as client,
        client.stream("GET", "/api/events") as stream,
        serving(Path(server.env["HOME"]), command=command, env=env) as agent,
    ):
        lines = stream.iter_lines()
        next(lines)  # the stream is open
        session_id = agent.search(query)["session_id"]
        agent.begin("decide", session_id=session_id, action="approve")
        source.wait_for_search()
        next(line for line in lines if session_id in line and '"decided"' in line)
        # The worker of the server answers this after its own attempt to resume the session.
        client.post(f"/api/searches/{session_id}/resume").raise_for_status()
        agent.kill()
    return session_id
