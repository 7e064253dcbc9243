"""A small static server with configurable faults."""

import gzip
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

Answer = Callable[["Handler"], None]
_LONGEST_S = 20


class StaticServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.asked: list[str] = []
        self.was_asked = threading.Event()
        self.leaving = threading.Event()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/papers"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore disconnected clients, which the tests expect."""


class Handler(BaseHTTPRequestHandler):
    server: StaticServer  # pyright: ignore[reportIncompatibleVariableOverride] - only it makes handlers

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.was_asked.set()
        self.server.answer(self)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the standard library
        """Print nothing."""

    def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def start_static_server(answer: Answer) -> Generator[StaticServer]:
    with StaticServer(answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.leaving.set()
            server.shutdown()
            thread.join(_LONGEST_S)


def serve_files(folder: Path) -> Answer:
    """Serve the files below `folder`."""

    def answer(handler: Handler) -> None:
        path = folder / handler.path.removeprefix("/papers/")
        handler.reply(200, path.read_bytes()) if path.is_file() else handler.reply(404)

    return answer


def respond_with_status(code: int, **headers: str) -> Answer:
    return lambda handler: handler.reply(code, b"no", **headers)


def send_garbage(handler: Handler) -> None:
    handler.reply(200, b"<html>not the paper</html>")


def send_nothing(handler: Handler) -> None:
    """Send no reply."""
    handler.server.leaving.wait(_LONGEST_S)


def send_slowly(handler: Handler) -> None:
    """Send a reply that never stalls and never ends."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.leaving.wait(0.02):
        handler.wfile.write(b"x")
        handler.wfile.flush()


def send_bomb(unfolded: int, *, folds: int = 1) -> Answer:
    """Send a small reply that decompresses to a very large one."""
    body = b"\0" * unfolded
    for _ in range(folds):
        body = gzip.compress(body, 1)
    return lambda handler: handler.reply(200, body, Content_Encoding=", ".join(["gzip"] * folds))


def send_broken_compression(handler: Handler) -> None:
    handler.reply(200, b"this is not gzip", Content_Encoding="gzip")


def send_partial_reply(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"only this")


def send_endless_reply(handler: Handler) -> None:
    """Send bytes without end as fast as possible."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.leaving.is_set():
        handler.wfile.write(b"x" * 65_536)
