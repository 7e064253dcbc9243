import json
from typing import Any

import pytest

from tests.uraniborg.kernel.mcp.asgi_client import client_of
from tests.uraniborg.kernel.mcp.enveloped_messages import META, PREFIX, PROBES, VERSION, make_headers, make_message
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZED, request, wire_to, without_request_id
from tests.uraniborg.kernel.mcp.sample_requests import SAMPLE_REQUESTS
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from uraniborg.kernel.mcp import make_stateful_app, make_stateless_app
from uraniborg.kernel.mcp.envelope import ENVELOPE_VERSION, STATELESS_VERSIONS
from uraniborg.kernel.mcp.http_apps import Dispatcher

SERVER_INFO = {"name": "sample", "version": "7.8.9"}
SERVER = sample_server()


async def answer(message: dict[str, Any], version: str = VERSION, **changed: str | None) -> tuple[int, Any]:
    """Return the status and the body of the reply; `changed` headers replace those of the message, None removes one."""
    headers: dict[str, str | None] = {**make_headers(message)}
    headers |= {name.replace("_", "-"): value for name, value in changed.items()}
    given = {name.encode(): value.encode("latin-1") for name, value in headers.items() if value is not None}
    status, body = await Dispatcher(SERVER).answer(json.dumps(message).encode(), version, given)
    return status, json.loads(body) if body else None


async def error_of(message: dict[str, Any], version: str = VERSION, **changed: Any) -> tuple[int, int, str]:
    """Return the status, the code and our code of a reply that is an error to this message."""
    status, body = await answer(message, version, **changed)
    assert (body["jsonrpc"], body["id"]) == ("2.0", message["id"])
    assert body["error"]["data"]["error"]["hint"]
    return status, body["error"]["code"], body["error"]["data"]["error"]["code"]


async def test_discovery_describes_the_server_as_initialize_does() -> None:
    status, body = await answer(make_message("server/discover"))
    result = body["result"]
    described = SERVER.protocol.make_initialize_result("2025-11-25")
    assert (status, result["supportedVersions"]) == (200, list(STATELESS_VERSIONS))
    assert result["capabilities"] == described.capabilities.model_dump(exclude_none=True)
    assert result["instructions"] == described.instructions
    assert result["_meta"] == {f"{PREFIX}serverInfo": SERVER_INFO}
    assert "prompts" not in result["capabilities"]


@pytest.mark.parametrize(
    ("method", "params", "cached"),
    [
        ("server/discover", {}, (300_000, "public")),
        ("tools/list", {}, (300_000, "public")),
        ("resources/templates/list", {}, (300_000, "public")),
        ("resources/list", {}, (0, "private")),
        ("resources/read", {"uri": "sample://about"}, (0, "private")),
        ("resources/read", {"uri": "sample://Ü%20量/text"}, (0, "private")),
        ("tools/call", {"name": "echo", "arguments": {"text": "a"}}, (None, None)),
        ("tools/call", {"name": "lose", "arguments": {"paper_id": "p"}}, (None, None)),
    ],
)
async def test_every_result_is_complete_names_the_server_and_says_how_long_it_holds(
    method: str, params: dict[str, Any], cached: tuple[int | None, str | None]
) -> None:
    status, body = await answer(make_message(method, params))
    result = body["result"]
    assert (status, result["resultType"]) == (200, "complete")
    assert result["_meta"] == {f"{PREFIX}serverInfo": SERVER_INFO}
    assert (result.get("ttlMs"), result.get("cacheScope")) == cached


async def test_results_are_those_of_older_versions_inside_the_envelope() -> None:
    for message in SAMPLE_REQUESTS:
        params: dict[str, Any] = message.get("params") or {}
        if message["method"] in ("initialize", "ping") or not all(
            isinstance(params.get(name, ""), str) for name in ("name", "uri")
        ):
            continue
        enveloped = make_message(message["method"], params, id=message["id"])
        _, body = await answer(enveloped)
        _, older = await answer(without_meta(message), "2025-11-25")
        if "result" in older:
            for name in ("resultType", "ttlMs", "cacheScope", "_meta"):
                body["result"].pop(name, None)
            assert without_request_id(body) == without_request_id(older), message
        else:
            assert body["error"]["data"]["error"]["code"] == older["error"]["data"]["error"]["code"], message


def without_meta(message: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = message.get("params") or {}
    return {**message, "params": {name: value for name, value in given.items() if name != "_meta"}}


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "unheard/of"])
async def test_methods_that_this_version_does_not_have_are_not_found(method: str) -> None:
    status, body = await answer(make_message(method))
    assert (status, body["error"]["code"]) == (404, -32601)
    hint = body["error"]["data"]["error"]["hint"]
    assert "server/discover, " in hint
    assert not {"initialize", "ping"} & set(hint.rstrip(".").replace(":", ",").split(", "))


@pytest.mark.parametrize("missing", [f"{PREFIX}protocolVersion", f"{PREFIX}clientCapabilities"])
async def test_a_request_without_its_envelope_is_refused(missing: str) -> None:
    meta = {name: value for name, value in META.items() if name != missing}
    for params in ({"_meta": meta}, {}, {"_meta": "text"}, None):
        message = {**request("tools/list"), "params": params}
        assert await error_of(message) == (400, -32602, "invalid_argument")


async def test_a_client_need_not_name_itself() -> None:
    meta = {name: value for name, value in META.items() if not name.endswith("clientInfo")}
    status, _ = await answer({**request("tools/list"), "params": {"_meta": meta}})
    assert status == 200


@pytest.mark.parametrize(
    "changed",
    [
        {"mcp_method": None},
        {"mcp_method": "tools/list"},
        {"mcp_method": "TOOLS/CALL"},
        {"mcp_name": None},
        {"mcp_name": "Echo"},
        {"mcp_name": "=?base64?ZWNobw?="},
        {"mcp_name": "=?base64?!!!!?="},
        {"mcp_name": "=?base64?/w==?="},
        {"mcp_name": "echo, echo"},
    ],
)
async def test_headers_that_differ_from_the_body_are_refused(changed: dict[str, Any]) -> None:
    message = make_message("tools/call", {"name": "echo", "arguments": {"text": "a"}})
    assert await error_of(message, **changed) == (400, -32020, "header_mismatch")


@pytest.mark.parametrize("name", ["echo", "  echo\t", "=?base64?ZWNobw==?="])
async def test_a_name_may_be_padded_or_encoded(name: str) -> None:
    message = make_message("tools/call", {"name": "echo", "arguments": {"text": "a"}})
    assert (await answer(message, mcp_name=name))[0] == 200


@pytest.mark.parametrize("version", ["2025-11-25", "2025-03-26", "v999.0.0", ""])
async def test_a_version_in_the_header_must_be_that_of_the_body(version: str) -> None:
    assert await error_of(make_message("tools/list"), version) == (400, -32020, "header_mismatch")


@pytest.mark.parametrize("version", ["v999.0.0", "2027-01-01", "", "2026-07-28, 2026-07-28"])
@pytest.mark.parametrize("enveloped", [True, False])
async def test_an_unknown_version_is_refused_with_the_known_ones(version: str, enveloped: bool) -> None:
    meta = {"_meta": {**META, f"{PREFIX}protocolVersion": version}} if enveloped else {}
    status, body = await answer({**request("server/discover", id="a"), "params": meta}, version)
    assert (status, body["id"], body["error"]["code"]) == (400, "a", -32022)
    assert body["error"]["data"]["supported"] == list(STATELESS_VERSIONS)
    assert body["error"]["data"]["requested"] == version


@pytest.mark.parametrize(
    ("uri", "ours"), [("sample://abc/fail/missing", "not_found"), ("other://nowhere/Ü", "resource_not_found")]
)
async def test_an_unknown_resource_is_an_invalid_parameter_with_its_uri(uri: str, ours: str) -> None:
    message = make_message("resources/read", {"uri": uri})
    status, body = await answer(message)
    assert (status, body["error"]["code"], body["error"]["data"]["uri"]) == (400, -32602, uri)
    assert body["error"]["data"]["error"]["code"] == ours
    _, older = await answer(request("resources/read", {"uri": uri}), "2025-11-25")
    assert older["error"]["code"] == -32002
    assert "uri" not in older["error"]["data"]


async def test_a_failure_of_the_server_is_not_the_fault_of_the_request() -> None:
    assert await error_of(make_message("resources/read", {"uri": "sample://a/fail/error"})) == (
        200,
        -32603,
        "internal_error",
    )


async def test_notifications_are_accepted_and_batches_are_not() -> None:
    assert await answer(INITIALIZED, mcp_method=None) == (202, None)
    status, body = await Dispatcher(SERVER).answer(json.dumps([make_message("tools/list")]).encode(), VERSION)
    assert (status, json.loads(body)["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES.keys())
class TestClientsOfBothKindsOfVersions:
    async def test_find_the_version_on_a_server_without_sessions(self, probe: Any) -> None:
        async with client_of(make_stateless_app(SERVER)) as client:
            discovered = await client.post(probe.discover, **rename(probe.headers))
        (body,) = discovered.messages
        assert discovered.status == 200
        assert ENVELOPE_VERSION in body["result"]["supportedVersions"]

    async def test_fall_back_on_a_server_with_sessions(self, probe: Any) -> None:
        async with client_of(make_stateful_app(SERVER)) as client:
            refused = await client.post(probe.discover, **rename(probe.headers))
            # An error code of JSON-RPC is a number; -32022 would mark a server that is too new for the client.
            assert (refused.status, refused.error["code"]) == (400, "unsupported_protocol_version")
            begun = await client.post(probe.initialize)
        assert begun.messages[0]["result"]["protocolVersion"] == "2025-11-25"

    async def test_fall_back_on_a_server_over_stdio(self, probe: Any) -> None:
        async with wire_to(SERVER, initialized=False) as wire:
            refused = await wire.ask(probe.discover)
            assert refused["id"] == json.loads(probe.discover)["id"]
            assert refused["error"]["code"] == -32601
            begun = await wire.ask(probe.initialize)
            assert begun["result"]["protocolVersion"] == "2025-11-25"
            await wire.send(INITIALIZED)
            assert (await wire.ask(request("tools/list")))["result"]["tools"]


def rename(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("-", "_"): value for name, value in headers.items()}
