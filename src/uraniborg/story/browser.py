"""`uraniborg demo` in the browser: a server in the data folder of the story, whose console shows its page."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from uraniborg.connect.server_entries import format_program
from uraniborg.kernel.errors import ErrorFacts, Unavailable, UraniborgError
from uraniborg.kernel.http.serve_command import print_status
from uraniborg.kernel.store.files import make_private_folder
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.styled_text import DIM, StyledText
from uraniborg.servers.process import HOST
from uraniborg.story.folder import StoryFolder, find_story_home

if TYPE_CHECKING:
    from uraniborg.installation.replies import ServedAddresses

PAGE: Final = "/story"
_PORT: Final = 8421
"""The port of the console of the story; another one if it is taken. The next demo then has the same address."""
_FREE_PORTS: Final = {
    "URANIBORG_CONSOLE__SEARCH_PORT": "0",
    "URANIBORG_LIBRARY__PORT": "0",
    "URANIBORG_UNIVERSE__PORT": "0",
}
_END_S: Final = 20.0
_REPLY_S: Final = 60.0
SHIPPED: Final = "trappist-1-as-shipped"
_OUTPUT: Final = Path("demo-output")


def run_demo(
    output: Path | None, *, is_script: bool, is_restart: bool, years: float | None, open_browser: bool, as_json: bool
) -> None:
    """Serve the story for a person at a terminal, else run its steps. Raise the errors of both."""
    is_script = is_script or as_json or output is not None or years is not None or not sys.stdin.isatty()
    if not is_script and has_console():
        serve_story(find_story_home(), is_restart=is_restart, open_browser=open_browser)
        return
    if not is_script:
        print_status("The pages of the console are not built here, so the story runs in the terminal.")
    from uraniborg.story.terminal import run_story_in_terminal

    run_story_in_terminal(output or _OUTPUT, is_script=is_script, is_restart=is_restart, years=years, as_json=as_json)


def has_console() -> bool:
    """Return True if the pages of the console are built and can be served."""
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        return False
    from uraniborg.console.web_files import find_web_folder

    return find_web_folder() is not None


def serve_story(home: Path, *, is_restart: bool, open_browser: bool) -> None:
    """Serve the console of the story's data folder until interrupted.

    Raise Unavailable if the server cannot start or fails later, and KeyboardInterrupt if interrupted before it serves.
    """
    folder = StoryFolder(home)
    make_private_folder(folder.own)
    with _run_server(folder) as (process, served):
        if is_restart:
            _post(served, "/api/story/restart")
        _create_first_universe(served)
        address = served["console"].replace("/#", f"{PAGE}#", 1)
        print_status(f"\nOpen the story:\n  {address}\n")  # as it is: it has the token
        page = Page(sys.stderr)
        page.write_message(
            "No network and no key are needed. You can close the page, stop this command, and continue later."
        )
        page.write_line(StyledText(DIM, f"All steps without a browser: {format_program('uraniborg')} demo --script"))
        page.write_line()
        page.write_line("The story is served. Press Ctrl-C to stop.")
        sys.stderr.flush()
        if open_browser:
            from uraniborg.servers.command import open_in_browser

            open_in_browser(address, folder.own)
        with suppress(KeyboardInterrupt):
            if code := process.wait():
                raise Unavailable(
                    f"The server of the story has failed; it exited with {code}.",
                    hint="The finished steps are stored. Run `uraniborg demo` again to continue.",
                )


@contextmanager
def _run_server(folder: StoryFolder) -> Generator[tuple["subprocess.Popen[str]", "ServedAddresses"]]:
    """Yield the server and what it prints at its start; end it with this process, also on SIGTERM."""
    command = [sys.executable, "-m", "uraniborg", "serve", "--json", "--port", str(_find_port())]
    env = {**folder.make_environment(), **_FREE_PORTS}
    previous = signal.signal(signal.SIGTERM, _raise_exit)
    process = subprocess.Popen(command, env=env, cwd=folder.home, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own program
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise Unavailable(
                f"The server of the story did not start; it exited with {process.wait(_END_S)}.",
                hint="Its message is above. All steps without a browser: uraniborg demo --script.",
            )
        yield process, json.loads(line)
    finally:
        signal.signal(signal.SIGTERM, previous)
        _end_server(process)


def _end_server(process: "subprocess.Popen[str]") -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _raise_exit(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _find_port() -> int:
    """Return the port of the story if it is free, else 0."""
    with socket.socket() as tried:
        if os.name == "posix":
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, _PORT))
        except OSError:
            return 0
        return _PORT


def _create_first_universe(served: "ServedAddresses") -> None:
    """Create the system of the question as it is shipped, so that the first page has something to look at."""
    with suppress(UraniborgError):  # it is there, or the server of universes does not run, which its page says
        _post(served, "/api/universes", {"id": SHIPPED, "name": "TRAPPIST-1, as shipped", "from": "trappist-1"})


def _post(served: "ServedAddresses", path: str, body: Any = None) -> None:
    headers = {"Authorization": f"Bearer {served['token']}", "X-Uraniborg": "1", "Content-Type": "application/json"}
    content = b"" if body is None else json.dumps(body).encode()
    request = Request(f"{served['url']}{path}", content, headers, method="POST")  # noqa: S310 - our own server
    try:
        with urlopen(request, timeout=_REPLY_S):  # noqa: S310
            pass
    except HTTPError as problem:
        error: ErrorFacts = json.loads(problem.read())["error"]
        raise Unavailable(error["message"], hint=error.get("hint") or "") from None
    except OSError as problem:
        raise Unavailable(f"The server of the story does not answer: {problem}", hint="Try again.") from None
