"""Read and write messages of protocol version 2026-07-28, which has neither a handshake nor sessions.

Every request has the version and the capabilities of its client in `_meta`, and headers that repeat the version, the
method and the name of the tool, prompt or resource. Every result names the server and how long clients may cache it.
"""

import base64
import binascii
import re
from typing import Any, Final, cast

from mcp import McpError
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from mcp.types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    ErrorData,
    Implementation,
    InitializeResult,
)

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import JsonObject, encode_json
from uraniborg.kernel.mcp.http_guard import Headers, UnsupportedVersion
from uraniborg.kernel.mcp.jsonrpc import RpcRequest
from uraniborg.kernel.mcp.replies import RESOURCE_NOT_FOUND, make_error_data

ENVELOPE_VERSION: Final = "2026-07-28"
STATELESS_VERSIONS: Final = (*SUPPORTED_PROTOCOL_VERSIONS, ENVELOPE_VERSION)
"""The versions that a server without sessions supports. A server with sessions supports those of the SDK."""

DISCOVER: Final = "server/discover"
REMOVED_METHODS: Final = ("initialize", "ping")
"""Requests of older versions that do not exist in this version."""
HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022
STATUS_OF_CODE: Final = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    METHOD_NOT_FOUND: 404,
}
"""The HTTP status of a JSON-RPC error; 200 for other codes."""

_META_START: Final = b'{"_meta":{'
_PREFIX: Final = "io.modelcontextprotocol/"
_VERSION: Final = f"{_PREFIX}protocolVersion"
_CAPABILITIES: Final = f"{_PREFIX}clientCapabilities"
_SERVER: Final = f"{_PREFIX}serverInfo"
_NAME_PARAMETERS: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_ENCODED: Final = re.compile(r"=\?base64\?(.*)\?=")

_UNTIL_RESTART: Final = {"ttlMs": 300_000, "cacheScope": "public"}
"""For lists that change only with the server: five minutes, so that clients soon notice a new server."""
_NOT_CACHED: Final = {"ttlMs": 0, "cacheScope": "private"}
_CACHE_HINTS: Final = {
    DISCOVER: _UNTIL_RESTART,
    "tools/list": _UNTIL_RESTART,
    "prompts/list": _UNTIL_RESTART,
    "resources/templates/list": _UNTIL_RESTART,
    "resources/list": _NOT_CACHED,
    "resources/read": _NOT_CACHED,
}


class HeaderMismatch(InvalidInput):
    code = "header_mismatch"
    status = 400

    def __init__(self, header: str, source: str) -> None:
        super().__init__(
            f"The {header} header does not equal {source} in the body.",
            hint=f"Send one {header} header with that value.",
            header=header,
        )


def find_version_problem(message: Any, version: str) -> ErrorData | None:
    """Return the error of a message whose header has this version: `_meta` differs, or the version is not supported."""
    named = _get_meta(message).get(_VERSION, version)
    if named != version:
        return _make_mismatch("MCP-Protocol-Version", f"_meta['{_VERSION}']")
    if version in STATELESS_VERSIONS:
        return None
    error = make_error_data(UnsupportedVersion(STATELESS_VERSIONS), UNSUPPORTED_VERSION)
    return _add_data(error, supported=STATELESS_VERSIONS, requested=version)


def check_envelope(request: RpcRequest, headers: Headers) -> None:
    """Raise McpError unless the request has its envelope. `find_version_problem` has compared the versions."""
    meta = _get_meta({"params": request.params})
    if _VERSION not in meta or not isinstance(meta.get(_CAPABILITIES), dict):
        problem = InvalidInput(
            f"The request has no _meta with {_VERSION} and {_CAPABILITIES}.",
            hint=f"Send both in params._meta of every request, or use version {SUPPORTED_PROTOCOL_VERSIONS[-1]}.",
            argument="_meta",
        )
        raise McpError(make_error_data(problem, INVALID_PARAMS))
    if _read_header(headers, b"mcp-method") != request.method:
        raise McpError(_make_mismatch("Mcp-Method", "method"))
    parameter = _NAME_PARAMETERS.get(request.method)
    name = (request.params or {}).get(parameter) if parameter else None
    if name is not None and _read_header(headers, b"mcp-name") != name:
        raise McpError(_make_mismatch("Mcp-Name", f"params.{parameter}"))


def remove_envelope(request: RpcRequest) -> RpcRequest:
    """Return the request as older versions send it."""
    params = {name: value for name, value in (request.params or {}).items() if name != "_meta"}
    return request._replace(params=params or None)


def make_result_start(method: str, server: Implementation) -> bytes:
    """Return the JSON of the fields that the envelope adds to a result, up to the end of its open `_meta`."""
    info = server.model_dump(by_alias=True, mode="json", exclude_none=True)
    fields = {"resultType": "complete", **_CACHE_HINTS.get(method, {}), "_meta": {_SERVER: info}}
    return encode_json(fields)[:-2]


def add_result_start(start: bytes, result: bytes) -> bytes:
    """Return the JSON of `result` after the fields of the envelope; `_meta` of a result is its first field."""
    if result.startswith(_META_START):
        return b"%b,%b" % (start, result[len(_META_START) :])
    return b"%b},%b" % (start, result[1:]) if result != b"{}" else start + b"}}"


def encode_discovery(described: InitializeResult) -> bytes:
    """Return the JSON of the reply to server/discover: the result of initialize, and the versions to choose from."""
    fields = described.model_dump(
        by_alias=True, mode="json", exclude_none=True, exclude={"protocolVersion", "serverInfo"}
    )
    return encode_json({"supportedVersions": STATELESS_VERSIONS, **fields})


def adapt_failure(failure: ErrorData, request: RpcRequest) -> ErrorData:
    """Return the error with the code and data of this version: an unknown resource is an invalid parameter."""
    if failure.code != RESOURCE_NOT_FOUND:
        return failure
    return _add_data(failure.model_copy(update={"code": INVALID_PARAMS}), uri=(request.params or {}).get("uri"))


def _add_data(error: ErrorData, **data: Any) -> ErrorData:
    return error.model_copy(update={"data": {**cast("JsonObject", error.data), **data}})


def _get_meta(message: Any) -> JsonObject:
    for name in ("params", "_meta"):
        message = cast("JsonObject", message).get(name) if isinstance(message, dict) else None
    return cast("JsonObject", message) if isinstance(message, dict) else {}


def _make_mismatch(header: str, source: str) -> ErrorData:
    return make_error_data(HeaderMismatch(header, source), HEADER_MISMATCH)


def _read_header(headers: Headers, name: bytes) -> str | None:
    """Return the value of a header, decoded if it is marked as base64; None for a header without a valid value."""
    value = headers.get(name, b"").strip(b" \t").decode("latin-1")
    encoded = _ENCODED.fullmatch(value)
    try:
        return base64.b64decode(encoded[1], validate=True).decode() if encoded else value
    except (binascii.Error, UnicodeDecodeError):
        return None
