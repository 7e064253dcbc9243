"""Nothing is lost when many change one universe at once, over HTTP and over MCP.

Claim: 64 clients x 200 commands on one universe, each over its own connection, are all there afterwards, once each, in
an order that all listeners saw alike; and the same through concurrent `tools/call`s of 64 MCP sessions. The reference
whose rules these are kept 1 of 50 concurrent commands in its database adapter; a peer that reads, changes and writes
the state without a version check runs beside, in this process, on the same number of commands.
"""

import asyncio
import json
import subprocess
import sys
import time
from contextlib import AsyncExitStack
from typing import Any, Final

import httpx
from universes import body, folder

CLIENTS: Final = 64
EACH: Final = 200
LISTENERS: Final = 5
ACCEPT: Final = {"Accept": "application/json, text/event-stream"}


def command(client: int, number: int) -> dict[str, Any]:
    payload = {name: value for name, value in body(1).items() if name not in ("id", "children")} | {"parentId": None}
    return {"type": "addStar", "id": f"c{client}-n{number}", "payload": payload}


async def listen(url: str, universe: str, heard: list[str], ready: asyncio.Event) -> None:
    async with (
        httpx.AsyncClient(timeout=None) as http,
        http.stream("GET", f"{url}/universes/{universe}/events") as stream,
    ):
        async for line in stream.aiter_lines():
            ready.set()
            if line.startswith("data: "):
                heard.append(json.loads(line[6:])["command"]["id"])


async def send_by_rest(http: httpx.AsyncClient, url: str, universe: str, client: int) -> None:
    for number in range(EACH):
        answer = await http.post(f"{url}/universes/{universe}/commands?return=events", json=command(client, number))
        answer.raise_for_status()


async def send_by_mcp(http: httpx.AsyncClient, url: str, universe: str, client: int) -> None:
    asked = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    begun = await _rpc(http, url, {}, 0, "initialize", asked)
    session = {"mcp-session-id": begun.headers["mcp-session-id"]}
    for number in range(EACH):
        call = {"universeId": universe, "command": command(client, number), "return": "events"}
        params = {"name": "send_universe_command", "arguments": call}
        answer = await _rpc(http, url, session, number + 1, "tools/call", params)
        assert '"isError":false' in answer.text, answer.text


async def _rpc(
    http: httpx.AsyncClient, url: str, session: dict[str, str], number: int, method: str, params: dict[str, Any]
) -> httpx.Response:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    answer = await http.post(f"{url}/mcp", json=message, headers=ACCEPT | session)
    return answer.raise_for_status()


async def check(url: str, name: str, client: Any) -> None:
    # Connections are given up before the server does, which would cut a request off.
    limits = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS, keepalive_expiry=2)
    heard: list[list[str]] = [[] for _ in range(LISTENERS)]
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(httpx.AsyncClient(timeout=120, limits=limits))
        (await http.post(f"{url}/universes", json={"name": name, "id": name})).raise_for_status()
        ready = [asyncio.Event() for _ in heard]
        listening = [asyncio.create_task(listen(url, name, *pair)) for pair in zip(heard, ready, strict=True)]
        await asyncio.gather(*(event.wait() for event in ready))
        started = time.perf_counter()
        await asyncio.gather(*(client(http, url, name, number) for number in range(CLIENTS)))
        seconds = time.perf_counter() - started
        record = (await http.get(f"{url}/universes/{name}")).json()
        async with asyncio.timeout(60):
            while any(len(one) < CLIENTS * EACH for one in heard):  # noqa: ASYNC110 - five lists, looked at now and then
                await asyncio.sleep(0.05)
        for task in listening:
            task.cancel()
        await asyncio.gather(*listening, return_exceptions=True)
    total = CLIENTS * EACH
    lost = total - len(record["state"]["stars"])
    twice = len(record["state"]["rootIds"]) - len(set(record["state"]["rootIds"]))
    same = all(one == heard[0] == record["state"]["rootIds"] for one in heard)
    print(
        f"  {name}: {total:,} commands, {lost} lost, {twice} duplicated, version {record['version']:,}, "
        f"{LISTENERS} listeners in {'one order, that of the log' if same else 'DIFFERENT ORDERS'}; "
        f"{total / seconds:,.0f} a second"
    )
    assert lost == twice == 0
    assert same
    assert record["version"] == total


async def naive() -> int:
    """Read, change, write, with a turn of the loop between, as a store behind a network has."""
    kept: dict[str, Any] = {}

    async def client(number: int) -> None:
        nonlocal kept
        for one in range(EACH):
            state = dict(kept)
            await asyncio.sleep(0)
            state[f"c{number}-n{one}"] = None
            kept = state

    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return len(kept)


async def run() -> None:
    with folder() as path:
        server = [sys.executable, "-m", "universe", "serve", "--port", "0", "--json", "--db", f"sqlite:///{path}/u.db"]
        with subprocess.Popen(server, stdout=subprocess.PIPE) as process:  # noqa: ASYNC220 - nothing else runs yet
            try:
                assert process.stdout is not None
                url = json.loads(process.stdout.readline())["url"]
                async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(retries=20)) as http:
                    (await http.get(f"{url}/health")).raise_for_status()
                await check(url, "rest", send_by_rest)
                await check(url, "mcp", send_by_mcp)
            finally:
                process.terminate()
    print(f"  read-change-write without versions: {await naive():,} of {CLIENTS * EACH:,} kept")


if __name__ == "__main__":
    asyncio.run(run())
