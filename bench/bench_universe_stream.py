"""How fast one command reaches 500 listeners, and what one that takes nothing does to the others.

Claims: the commands of eight clients, each of which waits for its answers, reach 500 listeners at no less than 65 % of
the rate at which a bare ASGI loop writes the same bytes to as many, though ours checks, logs to disk and answers each
command first; and with listeners that never read, the others are as fast as without them (within the noise).
"""

import json
import re
import selectors
import socket
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from ratios import record_ratio
from universes import change, folder, state

LISTENERS: Final = 500
COMMANDS: Final = 200
CLIENTS: Final = 8
BODIES: Final = 100
ROUNDS: Final = 3
UNIVERSE: Final = "bench"


def bare_app() -> Any:
    """Every listener gets the frames one by one, from memory, once somebody says go."""
    import asyncio

    from universe.service.universe_feed import format_frame
    from universe.store.interface import StoredEntry

    frames = [
        format_frame(
            StoredEntry(
                n + 2, "command", json.dumps(change(n, BODIES)).encode(), b'[{"type":"starUpdated","id":"x"}]', ""
            )
        )
        for n in range(COMMANDS)
    ]
    go = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        headers = [(b"content-type", b"text/event-stream")]
        if scope["method"] == "POST":
            go.set()
            length = [(b"content-length", b"2")]
            await send({"type": "http.response.start", "status": 200, "headers": length})
            await send({"type": "http.response.body", "body": b"{}"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b": connected\n\n", "more_body": True})
        await go.wait()
        for one in frames:
            await send({"type": "http.response.body", "body": one, "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass

    return app


def our_app(path: str) -> Any:
    from pydantic import SecretStr

    from universe.api.app import make_app
    from universe.config import UniverseConfig

    return make_app(UniverseConfig(db=SecretStr(f"sqlite:///{path}")))


def serve(app: Any) -> None:
    import uvicorn

    with socket.create_server(("127.0.0.1", 0), backlog=2_048) as listener:
        print(listener.getsockname()[1], flush=True)
        config = uvicorn.Config(app, loop="uvloop", http="httptools", log_level="error", access_log=False)
        uvicorn.Server(config).run(sockets=[listener])


class Listeners:
    """Many connections that count the events they are sent."""

    def __init__(self, port: int, count: int, stack: ExitStack) -> None:
        self._selector = stack.enter_context(selectors.DefaultSelector())
        self._counts: dict[int, int] = {}
        self._connections: dict[int, socket.socket] = {}
        self._ends: dict[int, bytes] = {}
        for _ in range(count):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            connection.sendall(f"GET /universes/{UNIVERSE}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            self._counts[connection.fileno()] = 0
            self._connections[connection.fileno()] = connection
            self._ends[connection.fileno()] = b""
            self._selector.register(connection, selectors.EVENT_READ)
        self.wait_for(1)

    def wait_for(self, events: int) -> None:
        """Until every connection has been sent this many events in all."""
        waiting = sum(count < events for count in self._counts.values())
        while waiting:
            ready = self._selector.select(timeout=30)
            if not ready:
                raise TimeoutError(f"{waiting} listeners wait for event {events}")
            for key, _ in ready:
                data = self._connections[key.fd].recv(1 << 20)
                before = self._counts[key.fd]
                joined = self._ends[key.fd] + data
                self._counts[key.fd] = before + joined.count(b"\n\n")
                self._ends[key.fd] = b"" if joined.endswith(b"\n\n") else joined[-1:]
                if before < events <= self._counts[key.fd]:
                    waiting -= 1


def post(connection: socket.socket, path: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
    answer = b""
    while not (parts := answer.partition(b"\r\n\r\n"))[1] or len(parts[2]) < length_in(parts[0]):
        answer += connection.recv(1 << 20)
    return answer


def length_in(head: bytes) -> int:
    found = re.search(rb"content-length: (\d+)", head)
    return int(found[1]) if found else 0


def publish(port: int) -> None:
    """Several clients post commands, each one after the other as they are answered."""

    def client() -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            for number in range(COMMANDS // CLIENTS):
                body = json.dumps(change(number, BODIES)).encode()
                answer = post(connection, f"/universes/{UNIVERSE}/commands?return=events", body)
                assert answer.startswith(b"HTTP/1.1 200"), answer

    with ThreadPoolExecutor(CLIENTS) as clients:
        for done in [clients.submit(client) for _ in range(CLIENTS)]:
            done.result()


def rate(command: list[str], *, ours: bool, stalled: int = 0) -> float:
    """Events delivered a second."""
    with ExitStack() as stack:
        process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE))
        stack.callback(process.kill)
        assert process.stdout is not None
        port = int(process.stdout.readline())
        if ours:
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                made = json.dumps({"name": UNIVERSE, "id": UNIVERSE, "state": state(BODIES)}).encode()
                assert b" 201 " in post(connection, "/universes", made)[:20]
        for _ in range(stalled):
            deaf = stack.enter_context(socket.socket())
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            deaf.connect(("127.0.0.1", port))
            deaf.sendall(f"GET /universes/{UNIVERSE}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        listeners = Listeners(port, LISTENERS, stack)
        started = time.perf_counter()
        publisher = None
        if ours:
            publisher = stack.enter_context(subprocess.Popen([sys.executable, __file__, "publish", str(port)]))
        else:
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                post(connection, "/go", b"{}")
        if publisher is not None:
            listeners.wait_for(2)  # the publisher's own start is not counted
            started = time.perf_counter()
        listeners.wait_for(1 + COMMANDS)
        sent = LISTENERS * (COMMANDS - 1 if ours else COMMANDS)
        return sent / (time.perf_counter() - started)


def main() -> None:
    bare: list[float] = []
    ours: list[float] = []
    deaf: list[float] = []
    for number in range(ROUNDS):
        with folder() as path:
            bare.append(rate([sys.executable, __file__, "bare"], ours=False))
            ours.append(rate([sys.executable, __file__, "ours", str(path / f"{number}.db")], ours=True))
            deaf.append(
                rate([sys.executable, __file__, "ours", str(path / f"{number}-deaf.db")], ours=True, stalled=20)
            )
        print(
            f"  round {number + 1}: bare {bare[-1]:,.0f}, ours {ours[-1]:,.0f}, with 20 deaf {deaf[-1]:,.0f} a second"
        )
    middle = statistics.median(ours)
    print(f"  {LISTENERS} listeners: {middle / statistics.median(bare):.2f} of a bare ASGI loop (claim 0.65)")
    record_ratio(f"{LISTENERS} listeners to a bare ASGI loop", middle / statistics.median(bare))
    print(f"  with 20 that never read: {statistics.median(deaf) / middle:.2f} of the rate without them")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["bare"]:
            serve(bare_app())
        case ["ours", path]:
            serve(our_app(str(Path(path))))
        case ["publish", port]:
            publish(int(port))
        case _:
            main()
