"""JSON-RPC 2.0: parsing of bodies, and encoding of results and errors."""

import json
import re
from typing import Any, Final, NamedTuple, cast

import orjson
from mcp.types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, ErrorData
from pydantic_core import from_json

from uraniborg.kernel.boundary import is_encodable, make_encodable
from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.json_values import JsonObject, encode_json
from uraniborg.kernel.mcp.protocol import InvalidMessage, UnacceptableParameters
from uraniborg.kernel.mcp.replies import make_error_data

BATCH_LIMIT: Final = 100
BATCHING_VERSION: Final = "2025-03-26"
"""The only version of the protocol that has batches."""

RequestId = str | int


class InvalidJson(InvalidInput):
    code = "invalid_json"
    status = 400

    def __init__(self) -> None:
        super().__init__(
            "The body is not JSON.",
            hint="Send JSON in UTF-8, without a byte order mark, lone surrogates or very deep nesting.",
        )


class RpcAnswer(NamedTuple):
    """The reply to a body: bytes of JSON or none, and the HTTP status."""

    status: int
    body: bytes


NO_ANSWER: Final = RpcAnswer(202, b"")
_ABSENT: Final = object()
_SCANNED: Final = 4_096
_ID: Final = re.compile(r'"id"\s*:\s*(-?\d{1,15}|"[^"\\]{1,200}")\s*(?:,|$)')


class RpcRequest(NamedTuple):
    id: RequestId
    method: str
    params: JsonObject | None


def parse_body(body: bytes) -> Any:
    """Return the JSON value of `body`. Raise ValueError; `answer_unreadable` makes the reply to such a body."""
    return from_json(body)


def answer_unreadable(body: bytes) -> RpcAnswer:
    """Return the reply to a body that `parse_body` cannot parse, with the id of the request if it can be found."""
    message: Any = None
    try:
        message = json.loads(body.decode())
    except RecursionError:
        message = {"jsonrpc": "2.0", "id": find_outermost_id(body.decode()), "method": "a request"}
    except ValueError:
        pass
    request = parse_request(cast("JsonObject", message)) if isinstance(message, dict) else None
    if isinstance(request, RpcRequest) and is_encodable(str(request.id)):
        refusal = UnacceptableParameters(make_encodable(request.method))
        return RpcAnswer(200, encode_refusal(request.id, refusal, INVALID_PARAMS))
    return RpcAnswer(400, encode_refusal(None, InvalidJson(), PARSE_ERROR))


def find_outermost_id(text: str) -> RequestId | None:
    """Return the id of a message that cannot be parsed, if the id is before or after all nested values."""
    before = re.split(r"[\[{]", text[:_SCANNED].lstrip()[1:], maxsplit=1)[0]
    _, *after = re.split(r"[\]}]", text[-_SCANNED:].rstrip()[:-1])
    found = _ID.search(before) or (_ID.search(after[-1]) if after else None)
    return json.loads(found[1]) if found else None


def parse_request(message: JsonObject) -> RpcRequest | RpcAnswer:
    """Return the request in `message`, or the reply to a message that is not a request; empty for notifications."""
    method, params, request_id = message.get("method"), message.get("params"), message.get("id", _ABSENT)
    if message.get("jsonrpc") == "2.0":
        if type(method) is str and (params is None or type(params) is dict):
            if type(request_id) is str or type(request_id) is int:
                return RpcRequest(request_id, method, params)
            if request_id is _ABSENT:
                return NO_ANSWER
        elif "method" not in message and ("result" in message or "error" in message):
            return NO_ANSWER
    return answer_invalid_message(request_id)


def answer_invalid_message(request_id: Any = None, error: InvalidMessage | None = None) -> RpcAnswer:
    """Return the reply to an invalid message, with its id if that is valid."""
    addressed = request_id if type(request_id) in (str, int) else None
    return RpcAnswer(400, encode_refusal(addressed, error or InvalidMessage(), INVALID_REQUEST))


def encode_response(request_id: RequestId, result: bytes) -> bytes:
    """Return the reply to a request with `result`, which is JSON."""
    # orjson cannot write integers beyond 64 bits.
    written = b"%d" % request_id if isinstance(request_id, int) else orjson.dumps(request_id)
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (written, result)


def encode_refusal(request_id: RequestId | None, error: UraniborgError, code: int) -> bytes:
    """Return the reply to a request that failed with `error`."""
    return encode_failure(request_id, make_error_data(error, code))


def encode_failure(request_id: RequestId | None, error: ErrorData) -> bytes:
    """Return the reply to a request that failed with an error of the SDK."""
    return encode_json({"jsonrpc": "2.0", "id": request_id, "error": error.model_dump(exclude_none=True)})


def find_batch_problem(messages: list[Any], version: str) -> InvalidMessage | None:
    """Return the reason why this batch is not allowed in this version of the protocol, or None."""
    if version != BATCHING_VERSION:
        return InvalidMessage(
            f"Version {version} of the protocol does not support batches.",
            hint=f"Send one message at a time, or use version {BATCHING_VERSION} of the protocol.",
        )
    if not messages:
        return InvalidMessage("The batch is empty.", hint="Send a message, or a batch with at least one.")
    if len(messages) > BATCH_LIMIT:
        return InvalidMessage(
            f"The batch has {len(messages):,} messages.", hint=f"Send at most {BATCH_LIMIT} in one batch."
        )
    return None
