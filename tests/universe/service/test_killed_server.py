"""A server killed at any instant: what it acknowledged is there, what it did not is there whole or not at all."""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import orjson

from tests.universe.api.rest.processes import SOON, Served, run_server_process
from tests.universe.domain.samples import add_star
from universe.service.verification import verify_log
from universe.store.interface import StoredEntry
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.actors import Actor

CLIENTS = 4
UNIVERSES = ("u0", "u1")


@dataclass
class Request:
    """Commands sent with a key; the version they led to and their events, once that was answered."""

    universe_id: str
    key: str
    commands: list[dict[str, Any]]
    version: int | None = None
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


class Client:
    """Sends one request after another until the server is gone, and begins again with the one not answered."""

    def __init__(self, number: int, chance: random.Random) -> None:
        self.requests: list[Request] = []
        self._number = number
        self._chance = chance

    def send_until_gone(self, url: str, answered: Callable[[], None]) -> None:
        with httpx.Client(base_url=url, timeout=SOON) as client:
            while True:
                if not self.requests or self.requests[-1].version is not None:
                    self.requests.append(self._next())
                try:
                    self._send(client, self.requests[-1])
                except httpx.TransportError:
                    return
                answered()

    def _next(self) -> Request:
        key = f"{self._number}-{len(self.requests)}"
        count = self._chance.choice((1, 1, 3))
        stars = [add_star(f"{key}.{n}") for n in range(count)]
        return Request(self._chance.choice(UNIVERSES), key, stars)

    def _send(self, client: httpx.Client, request: Request) -> None:
        answer = client.post(
            f"/universes/{request.universe_id}/commands",
            params={"return": "events"},
            json=request.commands if len(request.commands) > 1 else request.commands[0],
            headers={"Idempotency-Key": request.key, "Uraniborg-Author": f"client {self._number}"},
        )
        assert answer.status_code == 200, answer.text
        printed = answer.json()
        request.version, request.events = printed["version"], printed["events"]


def kill_after(served: Served, clients: list[Client], answers: int) -> None:
    """Let all clients send at once, and kill the server when it has given so many answers."""
    lock, enough = threading.Lock(), threading.Event()
    count = 0

    def answered() -> None:
        nonlocal count
        with lock:
            count += 1
            if count == answers:
                enough.set()

    threads = [threading.Thread(target=one.send_until_gone, args=(served.url, answered)) for one in clients]
    for thread in threads:
        thread.start()
    assert enough.wait(SOON), f"{count} answers of {answers}"
    served.kill()
    for thread in threads:
        thread.join(SOON)
        assert not thread.is_alive()


def make_universes(url: str) -> None:
    for universe_id in UNIVERSES:
        made = httpx.post(f"{url}/universes", json={"name": "Hven", "id": universe_id}, timeout=SOON)
        assert made.status_code == 201


async def logs(file: Path) -> dict[str, list[StoredEntry]]:
    """Return the logs in the file, each of which must be intact."""
    store = SqliteStore(file)
    await store.open()
    found: dict[str, list[StoredEntry]] = {}
    for universe_id in UNIVERSES:
        verdict = await verify_log(store, universe_id)
        assert verdict.is_intact, verdict.problems
        found[universe_id] = await store.read_entries(universe_id, after=0, limit=1_000_000)
        assert [entry.version for entry in found[universe_id]] == list(range(1, verdict.entries + 1))
    await store.close()
    return found


def check_answered(request: Request, log: list[StoredEntry]) -> None:
    """Assert that the log has the commands and events of an answered request."""
    assert request.version is not None
    entries = log[request.version - len(request.commands) : request.version]
    assert [orjson.loads(entry.body) for entry in entries] == request.commands
    assert [event for entry in entries for event in orjson.loads(entry.events)] == request.events
    name = f"client {request.key.partition('-')[0]}"
    actor = Actor(kind="software", name=name, authenticated="none")
    assert all(entry.actor == actor for entry in entries)


def check_unanswered(request: Request, log: list[StoredEntry]) -> None:
    """Assert that the log has either all commands of an unanswered request, consecutively, or none."""
    names = {command["id"] for command in request.commands}
    places = [entry.version for entry in log if orjson.loads(entry.body)["id"] in names]
    assert places == [] or places == list(range(places[0], places[0] + len(names)))


async def test_acknowledged_changes_survive_and_others_are_complete_or_absent(tmp_path: Path) -> None:
    file = tmp_path / "universes.db"
    chance = random.Random(1601)
    clients = [Client(number, random.Random(chance.random())) for number in range(CLIENTS)]
    for round_number in range(3):
        with run_server_process(file, snapshot_every=25) as served:
            if round_number == 0:
                make_universes(served.url)
            kill_after(served, clients, chance.randrange(40, 200))
        found = await logs(file)
        requests = [request for client in clients for request in client.requests]
        for request in requests:
            check = check_answered if request.version is not None else check_unanswered
            check(request, found[request.universe_id])
        written = [orjson.loads(entry.body)["id"] for log in found.values() for entry in log]
        assert len(set(written)) == len(written)
        sent = {command["id"] for request in requests for command in request.commands}
        assert set(written) <= sent
