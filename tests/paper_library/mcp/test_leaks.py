"""No reply contains a path or an internal address of the server."""

from pathlib import Path

from paper_library.config import LibraryConfig
from tests.paper_library.mcp import static_server as replies
from tests.paper_library.mcp.all_requests import list_requests
from tests.paper_library.mcp.http_client import Caller, serve_library
from tests.paper_library.mcp.static_server import start_static_server
from tests.requirements import requirement


def find_leaks(caller: Caller, *secrets: str) -> list[str]:
    """Return the requests whose replies or headers contain one of the secrets."""
    found: list[str] = []
    for message in list_requests():
        response = caller.post(message)
        reply = f"{response.headers} {response.text}"
        found += [f"{secret} in the answer to {message}" for secret in secrets if secret in reply]
    return found


@requirement("PL-11", "PL-12", "PL-14")
def test_no_reply_contains_a_path_or_address_of_the_server(rich_shelf: Path, library: Caller) -> None:
    assert (
        find_leaks(library, str(rich_shelf), "static/", "shelf.db", "http://127", "http://localhost", "Traceback") == []
    )


@requirement("PL-11", "PL-14", "PL-16")
def test_no_error_contains_a_path_or_address_of_the_server(shelf_copy: Path) -> None:
    for path in (shelf_copy / "static").rglob("*.*"):
        path.unlink()
    with serve_library(LibraryConfig(shelf=shelf_copy)) as caller:
        assert find_leaks(caller, str(shelf_copy), "static/", "shelf.db", "http://", "Traceback") == []


@requirement("PL-11", "PL-14", "PL-16")
def test_no_reply_contains_the_address_of_the_static_server(shelf_copy: Path) -> None:
    for path in (shelf_copy / "static").rglob("*.*"):
        path.unlink()
    with start_static_server(replies.respond_with_status(500)) as server:
        with serve_library(LibraryConfig(shelf=shelf_copy, static_base_url=server.base)) as caller:
            assert find_leaks(caller, server.base, str(server.server_address[1]), "http://127") == []
        assert server.asked, "nothing was fetched, so nothing was tested"
