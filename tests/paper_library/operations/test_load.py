"""Of a thousand concurrent clients half disconnect; the others get replies, and the server has no leaks."""

import asyncio
import json
import random
from pathlib import Path

from tests.paper_library.operations.command_runs import ServerProcess, start_server, wait_until
from tests.paper_library.operations.shelves import build_titled_shelf

CALLERS = 1_000
GROWTH_MB = 150
CALL = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search_papers", "arguments": {"query": "star"}},
    }
)
REQUESTS = (
    f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
    f"Connection: close\r\nContent-Length: {len(CALL)}\r\n\r\n{CALL}",
    "GET /api/v1/search?q=star&facets=author HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "GET /?q=star HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
)


async def send_request(port: int, number: int, everyone_is_here: asyncio.Barrier) -> bytes | None:
    """Return the reply to one client, or None for a client that disconnects during or after its request."""
    request = REQUESTS[number % len(REQUESTS)].encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await everyone_is_here.wait()
    hangs_up = number % 2 == 0
    cut = random.Random(number).choice([10, len(request) // 2, len(request)]) if hangs_up else len(request)
    writer.write(request[:cut])
    try:
        await writer.drain()
        if hangs_up:
            if number % 4 == 0:
                writer.transport.abort()
            return None
        return await reader.read()
    finally:
        writer.close()


async def send_all_requests(port: int) -> list[bytes | None]:
    here = asyncio.Barrier(CALLERS)
    async with asyncio.timeout(50):
        return await asyncio.gather(*(send_request(port, number, here) for number in range(CALLERS)))


def test_a_thousand_clients_are_answered_although_half_disconnect(tmp_path: Path) -> None:
    build_titled_shelf(tmp_path / "shelf", "Star", "Comet")
    with start_server(tmp_path, tmp_path / "shelf") as served:
        port = int(served.url.rpartition(":")[2])
        before = served.memory_mb
        answers = [answer for answer in asyncio.run(send_all_requests(port)) if answer is not None]
        assert len(answers) == CALLERS // 2
        assert all(answer.startswith(b"HTTP/1.1 200 OK") and b"Star" in answer for answer in answers)
        assert served.client.get("/healthz").json()["status"] == "ok"
        wait_until(lambda: count_open_files(served) < 100)
        assert served.memory_mb - before < GROWTH_MB
        assert served.stderr == ""


def count_open_files(served: ServerProcess) -> int:
    return len(list(Path(f"/proc/{served.child.pid}/fd").iterdir()))
