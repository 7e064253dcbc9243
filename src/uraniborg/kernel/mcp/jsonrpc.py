"""JSON-RPC 2.0 in bytes: a body becomes messages, results and errors become answers."""

import json
from typing import Any, Final, NamedTuple, cast

import orjson
from mcp.types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, ErrorData
from pydantic_core import from_json

from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.mcp.protocol import InvalidMessage, UnacceptableParameters
from uraniborg.kernel.mcp.reply import as_json, error_data
from uraniborg.kernel.text import whole_text

RequestId = str | int


class InvalidJson(InvalidInput):
    code = "invalid_json"
    status = 400

    def __init__(self) -> None:
        super().__init__(
            "The body is not JSON.",
            hint="Send JSON in UTF-8, without a byte order mark, half characters or very deep nesting.",
        )


class Answer(NamedTuple):
    """What a body is answered with: bytes of JSON or none, and the HTTP status they go under."""

    status: int
    body: bytes


NO_ANSWER: Final = Answer(202, b"")
_ABSENT: Final = object()


class Request(NamedTuple):
    id: RequestId
    method: str
    params: dict[str, Any] | None


def read(body: bytes) -> Any:
    """The JSON value in `body`. Raises ValueError for what `unreadable` has an answer to."""
    return from_json(body)


def unreadable(body: bytes) -> Answer:
    """The answer to a body that `read` does not take; one with an id if a more patient parser finds it."""
    try:
        message: Any = json.loads(body.decode())
    except (ValueError, RecursionError):
        message = None
    request = request_in(cast("dict[str, Any]", message)) if isinstance(message, dict) else None
    if isinstance(request, Request) and whole_text(str(request.id)) == str(request.id):
        return Answer(200, refusal(request.id, UnacceptableParameters(whole_text(request.method)), INVALID_PARAMS))
    return Answer(400, refusal(None, InvalidJson(), PARSE_ERROR))


def request_in(message: dict[str, Any]) -> Request | Answer:
    """The request that `message` is, or else the answer to it, which for notifications and responses is none."""
    method, params, request_id = message.get("method"), message.get("params"), message.get("id", _ABSENT)
    if message.get("jsonrpc") == "2.0":
        if type(method) is str and (params is None or type(params) is dict):
            if type(request_id) is str or type(request_id) is int:
                return Request(request_id, method, params)
            if request_id is _ABSENT:
                return NO_ANSWER
        elif "method" not in message and ("result" in message or "error" in message):
            return NO_ANSWER
    return invalid_message(request_id)


def invalid_message(request_id: Any = None, error: InvalidMessage | None = None) -> Answer:
    """The answer to what is no message, or may not be sent, under the id it came with if that is one."""
    addressed = request_id if type(request_id) in (str, int) else None
    return Answer(400, refusal(addressed, error or InvalidMessage(), INVALID_REQUEST))


def response(request_id: RequestId, result: bytes) -> bytes:
    """The answer to a request with `result`, which is JSON."""
    # orjson knows no integers beyond 64 bits.
    written = b"%d" % request_id if isinstance(request_id, int) else orjson.dumps(request_id)
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (written, result)


def refusal(request_id: RequestId | None, error: UraniborgError, code: int) -> bytes:
    """The answer to a request that failed with `error`."""
    return failed(request_id, error_data(error, code))


def failed(request_id: RequestId | None, error: ErrorData) -> bytes:
    """The answer to a request that failed with an error of the SDK."""
    return as_json({"jsonrpc": "2.0", "id": request_id, "error": error.model_dump(exclude_none=True)})
