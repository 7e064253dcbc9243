"""The endpoint at the level of HTTP: methods, addresses, types, versions, sizes."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from paper_library.config import LibraryConfig
from tests.paper_library.mcp.http_client import (
    NEWEST,
    SESSION,
    VERSION,
    Caller,
    make_initialize_request,
    make_request,
    serve_library,
)
from tests.requirements import requirement

PING = make_request("ping")
JSON = {"content-type": "application/json"}
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
ASKED: list[tuple[str, Any]] = [
    ("ping", None),
    ("tools/list", None),
    ("resources/list", None),
    ("resources/templates/list", None),
    ("tools/call", {"name": "search_papers", "arguments": {"query": "rain"}}),
    ("tools/call", {"name": "get_paper_source", "arguments": {"paper_id": "nobody"}}),
    ("resources/read", {"uri": "paper://oztuerk2021attention/source"}),
    ("resources/read", {"uri": "paper://nobody/source"}),
    ("nothing/known", None),
]


@requirement("PL-1", "PL-2", "PL-4")
@pytest.mark.parametrize(("method", "params"), ASKED)
@pytest.mark.parametrize("accept", ["application/json, text/event-stream", "text/event-stream, */*;q=0.1"])
def test_every_reply_is_one_json_document_without_a_session(
    library: Caller, method: str, params: Any, accept: str
) -> None:
    response = library.post(make_request(method, params, id="x"), accept=accept, mcp_session_id="made-up")
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert SESSION not in response.headers
    assert response.json()["id"] == "x"


@requirement("PL-2")
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])
def test_both_spellings_of_the_address_accept_only_post(library: Caller, method: str, path: str) -> None:
    response = library.http.request(method, path, headers={"accept": "text/event-stream"})
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert response.headers["content-type"] == "application/json"
    assert SESSION not in response.headers


@requirement("PL-1", "PL-4")
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_neither_spelling_of_the_address_is_redirected(library: Caller, path: str) -> None:
    response = library.post(make_initialize_request(), path)
    assert response.status_code == 200
    assert response.json()["result"]["serverInfo"]["name"]


@requirement("PL-1", "PL-5")
def test_initialize_offers_tools_and_resources_and_nothing_else(library: Caller) -> None:
    result = library.post(make_initialize_request()).json()["result"]
    assert result["capabilities"].keys() == {"tools", "resources"}
    assert result["capabilities"]["resources"].get("subscribe", False) is False


@requirement("PL-5")
@pytest.mark.parametrize(
    "method", ["prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "resources/subscribe"]
)
def test_features_that_are_not_offered_are_refused(library: Caller, method: str) -> None:
    answer = library.post(make_request(method, {"name": "x", "uri": "paper://x/source", "level": "info"})).json()
    assert answer["error"]["code"] == -32601


def test_the_instructions_explain_the_steps_from_search_to_source(library: Caller) -> None:
    instructions = library.post(make_initialize_request()).json()["result"]["instructions"]
    order = ["search_papers", "get_paper_metadata", "get_paper_summary", "get_paper_source"]
    places = [instructions.index(name) for name in order]
    assert places == sorted(places)


@requirement("PL-3")
@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_that_both_sides_support_is_negotiated(library: Caller, version: str) -> None:
    response = library.post(make_initialize_request(version), mcp_protocol_version=version)
    assert response.status_code == 200
    assert response.json()["result"]["protocolVersion"] == version


@pytest.mark.parametrize("version", ["2099-01-01", "1.0.0", "2026-07-28", ""])
def test_a_client_that_asks_for_an_unknown_version_is_offered_the_newest(library: Caller, version: str) -> None:
    response = library.post(make_initialize_request(version))
    assert response.status_code == 200
    assert response.json()["result"]["protocolVersion"] == NEWEST


@requirement("PL-3")
@pytest.mark.parametrize("message", [make_initialize_request(), PING, make_request("tools/list")])
@pytest.mark.parametrize("version", ["1999-01-01", "draft", "", "2025-11-25, 2025-06-18"])
def test_an_unsupported_version_header_is_refused_with_the_list_of_supported_ones(
    library: Caller, version: str, message: dict[str, Any]
) -> None:
    response = library.post(message, mcp_protocol_version=version)
    assert response.status_code == 400
    body = response.json()
    assert (body["jsonrpc"], body["id"], body["error"]["code"]) == ("2.0", message["id"], -32022)
    assert body["error"]["data"]["error"]["code"] == "unsupported_protocol_version"
    assert body["error"]["data"]["supported"] == body["error"]["data"]["error"]["allowed"] == [*VERSIONS, "2026-07-28"]
    assert body["error"]["data"]["requested"] == version


@requirement("PL-3")
def test_without_a_version_header_the_version_with_batches_is_assumed(library: Caller) -> None:
    batch = [make_request("ping", id=1), make_request("tools/list", id="two")]
    answers = library.post(batch)
    assert answers.status_code == 200
    assert [answer["id"] for answer in answers.json()] == [1, "two"]
    assert library.post(batch, mcp_protocol_version="2025-03-26").json() == answers.json()


@requirement("PL-3")
@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_versions_without_batches_refuse_them(library: Caller, version: str) -> None:
    response = library.post([PING], mcp_protocol_version=version)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == -32600


@pytest.mark.parametrize(
    "accept",
    [None, "*/*", "application/json", "application/*", "text/event-stream, application/json", "text/html, */*;q=0.1"],
)
def test_a_client_that_accepts_json_gets_it(library: Caller, accept: str | None) -> None:
    with httpx.Client(base_url=library.url, timeout=20) as client:
        del client.headers["accept"]
        response = client.post("/mcp", json=PING, headers={"accept": accept} if accept else {})
    assert (response.status_code, response.json()["result"]) == (200, {})


@pytest.mark.parametrize("accept", ["text/html", "text/event-stream", "application/json;q=0"])
def test_a_client_that_does_not_accept_json_is_refused(library: Caller, accept: str) -> None:
    response = library.post(PING, accept=accept)
    assert response.status_code == 406
    assert response.json()["error"]["code"] == "not_acceptable"


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
def test_the_content_type_may_have_parameters_and_any_case(library: Caller, content_type: str) -> None:
    assert library.post(PING, content_type=content_type).status_code == 200


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""])
def test_a_body_without_a_json_content_type_is_refused(library: Caller, content_type: str) -> None:
    response = library.post(PING, content_type=content_type)
    assert response.status_code in (400, 415)
    assert response.json()["error"]["code"] == "unsupported_media_type"


def test_a_body_beyond_the_limit_is_refused_whether_or_not_its_length_is_declared(rich_shelf: Path) -> None:
    fits = make_request("tools/call", {"name": "search_papers", "arguments": {"query": "rain"}})
    with serve_library(LibraryConfig(shelf=rich_shelf, body_limit=1_000)) as caller:
        message = caller.post(make_request("ping", {"padding": "x" * 1_000}))
        untold = caller.http.post("/mcp", content=iter([b" " * 600, b" " * 600]), headers=JSON)
        assert (message.status_code, untold.status_code) == (413, 413)
        assert message.json()["error"]["code"] == untold.json()["error"]["code"] == "body_too_large"
        assert caller.post(fits).status_code == 200


def test_a_huge_body_is_refused_by_default(library: Caller) -> None:
    assert library.post(make_request("ping", {"padding": "x" * 5_000_000})).status_code == 413
    assert library.post(PING).status_code == 200


def test_the_version_header_ignores_case(library: Caller) -> None:
    response = library.http.post("/mcp", json=PING, headers={VERSION.upper(): "0"})
    assert response.status_code == 400
