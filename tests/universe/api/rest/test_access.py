"""Access control of the server: tokens, origins and host names; errors for wrong addresses and methods."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.universe.api.rest.rest_server import (
    create_universe,
    get_error,
    make_bearer_headers,
    run_server,
    send_command,
)

TOKEN = "s3cret-tøken"
ALLOWED = "https://app.example.org"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Generator[httpx.Client]:
    folder = tmp_path_factory.mktemp("guarded")
    with run_server(folder, token=TOKEN, allow_origins=[ALLOWED], allow_hosts=["universe.example.org"]) as client:
        yield client


class TestOrigins:
    @pytest.mark.parametrize(
        "origin", ["http://localhost:5173", "http://127.0.0.1", "https://localhost", "http://[::1]:80"]
    )
    def test_a_page_of_this_machine_may_ask_read_and_send(self, rest: httpx.Client, universe: str, origin: str) -> None:
        requests = rest.options(
            f"/universes/{universe}/commands",
            headers={
                "Origin": origin,
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "content-type,idempotency-key,if-match",
            },
        )
        assert requests.status_code in (200, 204)
        assert requests.headers["Access-Control-Allow-Origin"] == origin
        assert {"GET", "POST", "PUT", "DELETE"} <= set(requests.headers["Access-Control-Allow-Methods"].split(", "))
        answer = rest.get(f"/universes/{universe}", headers={"Origin": origin})
        assert answer.headers["Access-Control-Allow-Origin"] == origin
        exposed = {name.lower() for name in answer.headers["Access-Control-Expose-Headers"].split(", ")}
        assert {"etag", "location", "mcp-session-id"} <= exposed
        assert "origin" in answer.headers["Vary"].lower()

    def test_a_page_of_this_machine_may_read_why_it_failed(self, rest: httpx.Client) -> None:
        origin = "http://localhost:5173"
        for answer in (
            rest.get("/universes/u-missing", headers={"Origin": origin}),
            rest.post("/universes", content=b"{", headers={"Origin": origin, "Content-Type": "application/json"}),
            rest.post("/universes", content=b"{}", headers={"Origin": origin}),
            rest.get("/nowhere", headers={"Origin": origin}),
        ):
            assert answer.status_code in (400, 404, 415)
            assert answer.headers["Access-Control-Allow-Origin"] == origin

    @pytest.mark.parametrize(
        "origin",
        [
            "https://evil.example",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "http://evil.example#localhost",
            "null",
            "file://",
            "http://localhost:80:80",
            "ftp://localhost",
            "",
        ],
    )
    def test_a_foreign_page_is_refused_and_changes_nothing(
        self, rest: httpx.Client, universe: str, origin: str
    ) -> None:
        for method, path, content in (
            ("GET", f"/universes/{universe}", None),
            ("POST", f"/universes/{universe}/commands", b'{"type":"tick"}'),
            ("POST", "/universes", b'{"name":"x","id":"foreign"}'),
            ("DELETE", f"/universes/{universe}", None),
            ("GET", f"/universes/{universe}/events", None),
            ("GET", "/", None),
        ):
            headers = {"Origin": origin, "Content-Type": "text/plain"}
            answer = rest.request(method, path, content=content, headers=headers)
            get_error(answer, 403, "origin_not_allowed")
            assert "Access-Control-Allow-Origin" not in answer.headers
        assert rest.get(f"/universes/{universe}").json()["version"] == 0
        get_error(rest.get("/universes/foreign"), 404)

    def test_a_foreign_page_is_not_let_through_by_asking_first(self, rest: httpx.Client) -> None:
        headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
        answer = rest.options("/universes", headers=headers)
        assert answer.status_code >= 400
        assert "Access-Control-Allow-Origin" not in answer.headers

    def test_an_origin_on_the_list_is_let_in_by_its_whole_name(self, guarded: httpx.Client) -> None:
        for origin, status in ((ALLOWED, 200), (f"{ALLOWED}.evil", 403), ("http://app.example.org", 403)):
            assert guarded.get("/health", headers={"Origin": origin}).status_code == status


class TestHosts:
    @pytest.mark.parametrize("host", ["evil.example", "evil.example:3001", "localhost.evil.example", "10.0.0.1", ""])
    def test_another_host_name_is_refused(self, rest: httpx.Client, host: str) -> None:
        for path in ("/health", "/universes", "/", "/docs"):
            get_error(rest.get(path, headers={"Host": host}), 421, "host_not_allowed")

    @pytest.mark.parametrize("host", ["localhost", "localhost:9", "127.0.0.1:1", "[::1]:3001"])
    def test_any_name_of_this_machine_is_accepted(self, rest: httpx.Client, host: str) -> None:
        assert rest.get("/health", headers={"Host": host}).status_code == 200

    def test_a_configured_host_name_is_accepted(self, guarded: httpx.Client) -> None:
        assert guarded.get("/health", headers={"Host": "universe.example.org"}).status_code == 200
        get_error(guarded.get("/health", headers={"Host": "other.example.org"}), 421)


class TestToken:
    @pytest.mark.parametrize(
        "path", ["/universes", "/universes/u", "/universes/u/events", "/", "/docs", "/openapi.json"]
    )
    @pytest.mark.parametrize("given", [None, "Bearer", "Bearer wrong", f"Basic {TOKEN}", TOKEN])
    def test_without_the_token_nothing_is_disclosed(self, guarded: httpx.Client, path: str, given: str | None) -> None:
        headers = make_bearer_headers(given) if given else None
        answer = guarded.get(path, headers=headers)
        get_error(answer, 401, "not_authorized")
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert TOKEN not in answer.text

    def test_without_the_token_nothing_is_changed(self, guarded: httpx.Client) -> None:
        get_error(guarded.post("/universes", json={"name": "x", "id": "sneaked"}), 401)
        allowed = make_bearer_headers(f"Bearer {TOKEN}")
        get_error(guarded.get("/universes/sneaked", headers=allowed), 404)

    def test_with_the_token_all_is_open(self, guarded: httpx.Client) -> None:
        headers = make_bearer_headers(f"bearer {TOKEN}")
        assert guarded.post("/universes", json={"name": "x"}, headers=headers).status_code == 201
        assert len(guarded.get("/universes", headers=headers).json()["universes"]) == 1

    def test_health_needs_no_token(self, guarded: httpx.Client) -> None:
        assert guarded.get("/health").json()["ok"] is True


class TestAddresses:
    @pytest.mark.parametrize(
        "path", ["/nowhere", "/universes/u/nothing", "/universes/u/events/1", "/mcp/x", "/docs/x", "/%00", "/universe"]
    )
    @pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
    def test_an_address_there_is_not_is_404_in_the_one_shape(self, rest: httpx.Client, method: str, path: str) -> None:
        get_error(rest.request(method, path), 404, "no_such_address")

    @pytest.mark.parametrize(
        ("path", "allowed"),
        [
            ("/universes", {"GET", "POST"}),
            ("/universes/{}", {"GET", "PUT", "DELETE"}),
            ("/universes/{}/commands", {"POST"}),
            ("/universes/{}/events", {"GET"}),
            ("/universes/{}/positions", {"GET"}),
            ("/universes/{}/history", {"GET"}),
            ("/universes/{}/undo", {"POST"}),
            ("/universes/{}/restore", {"POST"}),
            ("/universes/{}/branch", {"POST"}),
        ],
    )
    @pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"])
    def test_a_method_there_is_not_is_405_and_reports_which_there_are(
        self, rest: httpx.Client, universe: str, path: str, allowed: set[str], method: str
    ) -> None:
        if method in allowed:
            return
        answer = rest.request(method, path.format(universe))
        reply = get_error(answer, 405, "method_not_allowed")
        printed = {one.strip() for one in answer.headers["Allow"].split(",")} - {"HEAD"}
        assert printed <= allowed
        assert any(one in reply["hint"] for one in allowed)
        assert rest.get(f"/universes/{universe}").status_code == 200

    @pytest.mark.parametrize(
        ("path", "allowed"), [("/universes", {"GET", "POST"}), ("/universes/{}", {"GET", "PUT", "DELETE"})]
    )
    def test_all_methods_there_are_are_named(
        self, rest: httpx.Client, universe: str, path: str, allowed: set[str]
    ) -> None:
        answer = rest.patch(path.format(universe))
        assert allowed <= {one.strip() for one in answer.headers["Allow"].split(",")}

    @pytest.mark.parametrize("path", ["/health", "/", "/docs"])
    def test_a_page_cannot_be_posted_to(self, rest: httpx.Client, path: str) -> None:
        get_error(rest.post(path), 405, "method_not_allowed")

    @pytest.mark.parametrize(
        "path", ["/health", "/universes", "/universes/{}", "/universes/{}/positions", "/", "/docs", "/openapi.json"]
    )
    def test_head_is_get_without_the_body(self, rest: httpx.Client, universe: str, path: str) -> None:
        head, get = rest.head(path.format(universe)), rest.get(path.format(universe))
        assert (head.status_code, head.content) == (200, b"")
        for name in ("Content-Type", "ETag", "Content-Length"):
            assert head.headers.get(name) == get.headers.get(name)

    def test_head_of_an_unknown_address_is_404(self, rest: httpx.Client) -> None:
        assert rest.head("/universes/u-missing").status_code == 404

    def test_head_of_a_stream_ends_and_leaves_the_connection_for_the_next(
        self, rest: httpx.Client, universe: str
    ) -> None:
        with httpx.Client(base_url=rest.base_url, timeout=3, limits=httpx.Limits(max_connections=1)) as client:
            head = client.head(f"/universes/{universe}/events")
            assert (head.status_code, head.headers["Content-Type"].split(";")[0]) == (200, "text/event-stream")
            assert client.get("/health").json()["listeners"] == 0


def test_a_stream_may_be_listened_to_by_a_page_of_this_machine(rest: httpx.Client, universe: str) -> None:
    origin = "http://localhost:5173"
    with rest.stream("GET", f"/universes/{universe}/events", headers={"Origin": origin}) as stream:
        assert stream.headers["Access-Control-Allow-Origin"] == origin


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_others_are_not_served_without_a_token(tmp_path: Path, host: str) -> None:
    command = [sys.executable, "-m", "universe", "serve", "--host", host, "--port", "0", "--json", "--db", "memory:"]
    environment = {**os.environ, "URANIBORG_HOME": str(tmp_path)}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=50, env=environment, check=False)
    assert ended.returncode == 4
    assert json.loads(ended.stdout)["error"]["code"] == "insecure_bind"


def test_nothing_internal_is_disclosed(rest: httpx.Client, tmp_path: Path) -> None:
    universe = create_universe(rest)
    send_command(rest, universe, {"type": "tick"})
    for answer in (rest.get("/universes/x"), rest.post("/universes", content=b"{"), rest.get("/health")):
        assert "Traceback" not in answer.text
        assert str(tmp_path.parent) not in answer.text
        headers: Any = answer.headers
        assert "x-powered-by" not in headers
