"""Concurrent requests to universes that are created and deleted cause no internal error."""

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from tests.universe.api.rest.rest_server import create_universe, get_error, run_server
from tests.universe.domain.samples import a_body, add_star
from universe.service.verification import verify_log
from universe.store.sqlite import SqliteStore

STATE = {"stars": {"x": a_body("x")}, "rootIds": ["x"], "time": 3}
EXPECTED = {400, 404, 409, 422}


class Crowd:
    """Those who ask, and the few universes that they know of."""

    def __init__(self, client: httpx.Client) -> None:
        self.known = [create_universe(client) for _ in range(3)]
        self._client = client
        self._numbers = count()

    def work(self, seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(80):
            answer = self._ask(chance)
            if not answer.is_success:
                reply = get_error(answer, answer.status_code)
                assert answer.status_code in EXPECTED, (answer.request, reply)

    def _ask(self, chance: random.Random) -> httpx.Response:
        """One request of any kind."""
        kind = chance.randrange(14)
        if kind == 0:
            return self._replace_one(chance)
        address = f"/universes/{chance.choice(self.known)}"
        star = f"s{chance.randrange(5)}"
        requests: dict[int, tuple[str, str, Any]] = {
            1: ("PUT", address, {"state": STATE, "name": "y"}),
            2: ("POST", f"{address}/undo", None),
            3: ("POST", f"{address}/restore", {"version": chance.randrange(4)}),
            4: ("GET", f"{address}/history", None),
            5: ("GET", f"{address}/positions", None),
            6: ("GET", f"{address}?version={chance.randrange(4)}", None),
            7: ("GET", address, None),
            8: ("POST", f"{address}/commands", {"type": "removeStar", "id": star}),
            9: ("POST", f"{address}/commands", [add_star(star), {"type": "tick"}]),
        }
        method, path, body = requests.get(kind, ("POST", f"{address}/commands?return=changes", add_star(star)))
        return self._client.request(method, path, json=body)

    def _replace_one(self, chance: random.Random) -> httpx.Response:
        new = f"u{next(self._numbers)}"
        answer = self._client.post("/universes", json={"name": "x", "id": new})
        if answer.is_error:
            return answer
        place = chance.randrange(len(self.known))
        old, self.known[place] = self.known[place], new
        return self._client.delete(f"/universes/{old}")


async def test_concurrent_requests_cause_no_internal_error_and_every_log_is_intact(tmp_path: Path) -> None:
    with run_server(tmp_path, snapshot_every=3) as client, ThreadPoolExecutor(8) as threads:
        crowd = Crowd(client)
        for working in [threads.submit(crowd.work, seed) for seed in range(8)]:
            working.result()
        states = {one: client.get(f"/universes/{one}").json() for one in crowd.known}
    store = SqliteStore(tmp_path / "universes.db")
    await store.open()
    assert len(states) == 3
    for universe_id, record in states.items():
        verdict = await verify_log(store, universe_id)
        assert verdict.is_intact, verdict.problems
        assert verdict.entries == record["version"]
    await store.close()
