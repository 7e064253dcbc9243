"""`uraniborg serve` for benchmarks: a process with data of its own, and sources of made-up papers."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from paper_search.sources.registry import KNOWN

SERVE: Final = [sys.executable, "-m", "uraniborg", "serve", "--port", "0", "--json"]
QUERY: Final = "tidal heating of icy moons"
_SOURCE: Final = """
WORDS = ["crust", "mantle", "ocean", "core", "plume", "ridge", "vent", "tide", "orbit", "flux"]
NAMES = [{"name": f"{name} Brahe"} for name in ("Tycho", "Sophie", "Otte", "Beate", "Steen")]


class Sky:
    name = "north"

    @property
    def source_name(self):
        return self.name

    async def search_advanced(self, strategy):
        return [self.make_paper(number) for number in range(COUNT)]

    def make_paper(self, number):
        words = " ".join(WORDS[number // 10**place % 10] for place in range(3))
        title = f"Tidal heating of icy moons: {self.name} {words}"
        return {
            "title": title,
            "authors": NAMES,
            "year": 2000 + number % 25,
            "venue": "Icarus",
            "doi": f"10.1000/{self.name}.{number}",
            "abstract": f"{title}. " * 20,
            "citation_count": number,
        }


class SouthernSky(Sky):
    name = "south"
"""


@dataclass
class ConsoleServer:
    """A running server, its addresses, and the environment of other processes that share its data."""

    process: "subprocess.Popen[str]"
    url: str
    token: str
    parts: dict[str, dict[str, Any]]
    env: dict[str, str]

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request that may change something."""
        return {"Authorization": f"Bearer {self.token}", "X-Uraniborg": "1"}

    def make_storage(self) -> Any:
        """Return the state of a browser profile that is signed in."""
        given = {"token": self.token, "name": "Tycho"}
        reply = httpx.post(f"{self.url}/api/sign-in", json=given, headers={"X-Uraniborg": "1"}, timeout=60)
        key = reply.raise_for_status().json()["key"]
        return {"origins": [{"origin": self.url, "localStorage": [{"name": "uraniborg.sign-in", "value": key}]}]}

    def make_client(self) -> httpx.Client:
        """Return a client of the API."""
        return httpx.Client(base_url=self.url, headers=self.headers, timeout=120)

    def make_async_client(self) -> httpx.AsyncClient:
        """Return a client of the API for an event loop."""
        return httpx.AsyncClient(base_url=self.url, headers=self.headers, timeout=120)


def make_environment(home: Path, **settings: str) -> dict[str, str]:
    """Return the environment of a server with the data of `home`, on free ports, that searches offline."""
    return {
        **os.environ,
        "HOME": str(home),
        "URANIBORG_HOME": str(home / "uraniborg"),
        "URANIBORG_USER": "Tycho",
        "URANIBORG_PAPER_SEARCH__OFFLINE": "true",
        "URANIBORG_CONSOLE__SEARCH_PORT": "0",
        "URANIBORG_LIBRARY__PORT": "0",
        "URANIBORG_UNIVERSE__PORT": "0",
        **settings,
    }


def install_sources(folder: Path, papers: int) -> dict[str, str]:
    """Install two sources with half of the papers each, and return the settings of a server that asks only these."""
    info = folder / "sky-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sky\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[paper_search.sources]\nnorth = sky:Sky\nsouth = sky:SouthernSky\n")
    (folder / "sky.py").write_text(f"COUNT = {papers // 2}\n{_SOURCE}")
    return {
        "PYTHONPATH": str(folder),
        "URANIBORG_PAPER_SEARCH__OFFLINE": "false",
        "URANIBORG_PAPER_SEARCH__SOURCES": json.dumps({name: {"enabled": False} for name in KNOWN}),
    }


@contextmanager
def run_console_server(env: dict[str, str], command: list[str] = SERVE) -> Generator[ConsoleServer]:
    """Run the server until the block ends."""
    process = subprocess.Popen(command, env=env, cwd=env["HOME"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        started = json.loads(process.stdout.readline())
        parts = {part["name"]: part for part in started["parts"]}
        yield ConsoleServer(process, started["url"], started["token"], parts, env)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
