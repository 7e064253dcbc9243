"""Everything at once on a few universes: nobody is told of a fault inside, and every log is whole."""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from tests.universe.domain.samples import a_body, add_star
from tests.universe.rest.serving import error, served
from universe.store.checking import verify
from universe.store.sqlite import SqliteStore

IDS = ("a", "b", "c")
STATE = {"stars": {"x": a_body("x")}, "rootIds": ["x"], "time": 3}
EXPECTED = {400, 404, 409, 422}


def ask(client: httpx.Client, chance: random.Random) -> httpx.Response:
    """One request of any kind."""
    address = f"/universes/{chance.choice(IDS)}"
    star = f"s{chance.randrange(5)}"
    kind = chance.randrange(14)
    asked: dict[int, tuple[str, str, Any]] = {
        0: ("POST", "/universes", {"name": "x", "id": address.removeprefix("/universes/")}),
        2: ("PUT", address, {"state": STATE, "name": "y"}),
        3: ("POST", f"{address}/undo", None),
        4: ("POST", f"{address}/restore", {"version": chance.randrange(4)}),
        5: ("GET", f"{address}/history", None),
        6: ("GET", f"{address}/positions", None),
        7: ("GET", f"{address}?version={chance.randrange(4)}", None),
        8: ("GET", address, None),
        9: ("POST", f"{address}/commands", {"type": "removeStar", "id": star}),
        10: ("POST", f"{address}/commands", [add_star(star), {"type": "tick"}]),
    }
    method, path, body = asked.get(kind, ("POST", f"{address}/commands?return=changes", add_star(star)))
    return client.request(method, path, json=body)


def work(client: httpx.Client, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(80):
        answer = ask(client, chance)
        if not answer.is_success:
            told = error(answer, answer.status_code)
            assert answer.status_code in EXPECTED or told["code"] == "too_busy", (answer.request, told)


async def test_whatever_happens_at_once_no_answer_is_a_fault_and_every_log_is_whole(tmp_path: Path) -> None:
    with served(tmp_path, snapshot_every=3) as client, ThreadPoolExecutor(8) as threads:
        for working in [threads.submit(work, client, seed) for seed in range(8)]:
            working.result()
        served_states = {one: client.get(f"/universes/{one}") for one in IDS}
    store = SqliteStore(tmp_path / "universes.db")
    await store.open()
    for universe_id, answer in served_states.items():
        if answer.status_code == 200:
            verdict = await verify(store, universe_id)
            assert verdict.is_whole, verdict.problems
            assert verdict.entries == answer.json()["version"]
        else:
            assert await store.record(universe_id) is None
    await store.close()
