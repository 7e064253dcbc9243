"""HTTP as bytes on a socket, for what a well-behaved client never sends."""

import json
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

SOON: Final = 25.0
"""The timeout in seconds of everything that a test waits for."""


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        """The error in the one shape, with the id of the request that the header has too."""
        assert self.headers["content-type"] == "application/json"
        body = json.loads(self.body)
        assert body.keys() == {"error"}
        assert body["error"]["request_id"] == self.headers["x-request-id"]
        return body["error"]


@contextmanager
def connected(port: int, *, receive_buffer: int | None = None) -> Generator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
        if receive_buffer is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.settimeout(SOON)
        client.connect(("127.0.0.1", port))
        yield client


def request(path: str = "/", *headers: str, method: str = "GET", body: bytes = b"", host: str = "localhost") -> bytes:
    """Return the bytes of a request. `host` comes first, unless it is empty."""
    lines = [f"{method} {path} HTTP/1.1", *([f"Host: {host}"] if host else []), *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def rest_of(client: socket.socket) -> bytes:
    """Return everything until the server closes the connection."""
    parts: list[bytes] = []
    try:
        while part := client.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def last_answer(client: socket.socket) -> Answer:
    """Return the answer after which the server closes the connection."""
    return parse(rest_of(client))


def one_answer(client: socket.socket) -> Answer:
    """Return the next answer of a connection that stays open. It must have a length."""
    received = b""
    while True:
        _, end, body = received.partition(b"\r\n\r\n")
        if end:
            answer = parse(received)
            if len(body) >= int(answer.headers["content-length"]):
                assert len(body) == int(answer.headers["content-length"])
                return answer
        part = client.recv(65_536)
        assert part, received
        received += part


def parse(received: bytes) -> Answer:
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    assert status.startswith("HTTP/1.1 "), received[:200]
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return Answer(int(status.split()[1]), headers, body)


def ask(port: int, sent: bytes) -> Answer:
    """Return the answer to one request on a connection of its own."""
    with connected(port) as client:
        client.sendall(sent)
        return one_answer(client)
