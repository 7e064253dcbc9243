"""The allowed clients: origins of web pages and host names."""

from pathlib import Path

import pytest

from paper_library.config import LibraryConfig
from tests.paper_library.mcp.http_client import Caller, make_initialize_request, make_request, serve_library
from tests.requirements import requirement

PING = make_request("ping")
APP = "https://app.example.org"


@requirement("PL-7")
@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        "http://localhost.evil.example",
        "http://localhost:9.evil.example",
        "http://127.0.0.1.evil.example",
        "http://127.0.0.1@evil.example",
        "http://evil.example/http://localhost",
        "http://evil.example#http://localhost",
        "http://localhost:80:80",
        "http://localhost:",
        "http://localhost/",
        "file://localhost",
        "chrome-extension://localhost",
        "localhost",
        "loopback",
        "http://0.0.0.0",
        "http://127.0.0.2",
        "http://localhost, https://evil.example",
    ],
)
@pytest.mark.parametrize("message", [PING, make_initialize_request()])
def test_a_request_from_another_origin_is_refused(library: Caller, origin: str, message: dict[str, object]) -> None:
    response = library.post(message, origin=origin)
    assert response.status_code == 403
    assert response.json()["error"]["code"] == "origin_not_allowed"


@requirement("PL-7")
def test_the_origin_is_checked_before_anything_else(library: Caller) -> None:
    refused = library.post(b"{not json", origin="https://evil.example", mcp_protocol_version="0", accept="text/html")
    assert refused.status_code == 403
    assert library.http.get("/mcp", headers={"origin": "https://evil.example"}).status_code == 403


@requirement("PL-7")
@pytest.mark.parametrize(
    "origin",
    ["http://localhost", "http://localhost:6274", "https://localhost:8443", "http://127.0.0.1:3000", "http://[::1]:80"],
)
def test_local_origins_may_call(library: Caller, origin: str) -> None:
    assert library.post(PING, origin=origin).status_code == 200


@requirement("PL-7")
def test_a_client_without_an_origin_may_call(library: Caller) -> None:
    response = library.post(PING)
    assert "origin" not in response.request.headers
    assert response.status_code == 200


METHODS = ("POST", "GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS")


@requirement("PL-7")
@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp?x=1"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_refuses_another_origin(library: Caller, method: str, path: str) -> None:
    headers = {"origin": "https://evil.example", "accept": "application/json, text/event-stream"}
    refused = library.http.request(method, path, headers=headers, json=PING, follow_redirects=True)
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers
    allowed = library.http.request(method, path, headers={**headers, "origin": "http://localhost"}, json=PING)
    assert allowed.status_code != 403


CALLS = [
    make_request("tools/list"),
    make_request("tools/call", {"name": "search_papers", "arguments": {"query": ""}}),
    make_request("resources/list"),
    make_request("resources/templates/list"),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    [PING, PING],
]


@requirement("PL-7")
@pytest.mark.parametrize("message", CALLS, ids=lambda message: str(message)[:60])
def test_every_message_is_answered_only_to_allowed_origins(rich_shelf: Path, message: dict[str, object]) -> None:
    version = {"mcp_protocol_version": "2025-03-26"}  # which has batches
    with serve_library(LibraryConfig(shelf=rich_shelf, allow_origins=[APP])) as caller:
        without = caller.post(message, **version)
        listed = caller.post(message, origin=APP, **version)
        refused = caller.post(message, origin="https://evil.example", **version)
    assert (listed.status_code, listed.content) == (without.status_code, without.content)
    assert without.status_code in (200, 202)
    assert refused.status_code == 403
    assert refused.json().keys() == {"error"}
    assert refused.json()["error"]["code"] == "origin_not_allowed"
    assert "result" not in refused.text


@requirement("PL-7")
def test_every_allowed_origin_may_call_and_none_is_allowed_by_default(rich_shelf: Path, library: Caller) -> None:
    listed = [APP, "https://second.example.org:8443", "chrome-extension://abcdef", "http://10.0.0.7:3000"]
    with serve_library(LibraryConfig(shelf=rich_shelf, allow_origins=listed)) as caller:
        for origin in listed:
            assert caller.post(PING, origin=origin).json()["result"] == {}, origin
            assert caller.post(PING, origin=origin.upper()).status_code == 403, origin
            assert library.post(PING, origin=origin).status_code == 403, origin
        assert caller.post(PING, origin=f"{listed[0]}, {listed[1]}").status_code == 403
        assert caller.post(PING, origin=f"{listed[0]} {listed[1]}").status_code == 403


@requirement("PL-7")
def test_a_star_in_the_list_is_not_a_wildcard(rich_shelf: Path) -> None:
    with serve_library(LibraryConfig(shelf=rich_shelf, allow_origins=["*", "https://*.example.org"])) as caller:
        for origin in (APP, "https://evil.example"):
            assert caller.post(PING, origin=origin).status_code == 403


@requirement("PL-7")
def test_the_allowlist_admits_exactly_its_origins(rich_shelf: Path) -> None:
    with serve_library(LibraryConfig(shelf=rich_shelf, allow_origins=[APP])) as caller:
        assert caller.post(PING, origin=APP).status_code == 200
        assert caller.post(PING, origin="http://localhost:5173").status_code == 200
        for near in (f"{APP}.evil.example", f"{APP}:443", f"{APP}/", "http://app.example.org", "https://example.org"):
            assert caller.post(PING, origin=near).status_code == 403, near


@requirement("PL-7")
def test_a_browser_can_read_the_reply_only_from_an_allowed_origin(rich_shelf: Path) -> None:
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "mcp-protocol-version"}
    with serve_library(LibraryConfig(shelf=rich_shelf, allow_origins=[APP])) as caller:
        assert caller.post(PING, origin=APP).headers["access-control-allow-origin"] == APP
        preflight = caller.http.options("/mcp", headers={"origin": APP, **asked})
        assert preflight.headers["access-control-allow-origin"] == APP
        assert "mcp-protocol-version" in preflight.headers["access-control-allow-headers"].lower()
        stranger = caller.http.options("/mcp", headers={"origin": "https://evil.example", **asked})
        assert "access-control-allow-origin" not in stranger.headers


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8421",
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "localhost:1.evil.example",
        "a",
    ],
)
def test_a_rebound_host_name_is_refused(library: Caller, host: str) -> None:
    response = library.post(PING, host=host)
    assert response.status_code in (403, 421)
    assert response.json()["error"]["code"] == "host_not_allowed"


@pytest.mark.parametrize("host", ["localhost", "localhost:8421", "127.0.0.1:1", "[::1]:8421"])
def test_every_local_host_name_is_accepted(library: Caller, host: str) -> None:
    assert library.post(PING, host=host).status_code == 200


def test_configured_host_names_of_a_proxy_are_accepted(rich_shelf: Path) -> None:
    with serve_library(LibraryConfig(shelf=rich_shelf, allow_hosts=["papers.example.org"])) as caller:
        assert caller.post(PING, host="papers.example.org").status_code == 200
        assert caller.post(PING, host="papers.example.org.evil.example").status_code == 421


def test_with_a_token_only_requests_that_send_it_are_answered(rich_shelf: Path) -> None:
    with serve_library(LibraryConfig.model_validate({"shelf": rich_shelf, "token": "correct horse"})) as caller:
        for wrong in ("Bearer wrong", "Bearer correct", "correct horse", "Basic correct horse"):
            assert caller.post(PING, authorization=wrong).status_code == 401, wrong
        without = caller.post(PING)
        assert without.status_code == 401
        assert without.headers["www-authenticate"].startswith("Bearer")
        assert caller.post(PING, authorization="Bearer correct horse").status_code == 200
