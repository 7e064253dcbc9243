"""How values and errors look on the wire: one text block of JSON, and the same error body everywhere."""

import asyncio
import json
from typing import Any, Final, NamedTuple, cast

import orjson
from mcp.shared.exceptions import McpError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, ErrorData, TextContent
from pydantic_core import PydanticSerializationError, from_json, to_json, to_jsonable_python

from uraniborg.kernel.errors import InternalError, InvalidInput, NotFound, OutOfRoom, UraniborgError, as_error
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.request_ids import identify_error
from uraniborg.kernel.text import replace_surrogates

RESOURCE_NOT_FOUND: Final = -32002
_LONGEST_TEXT: Final = 1_000
_LONGEST_ITEM: Final = 300
_MOST_ITEMS: Final = 20
_SURELY_SHALLOW: Final = 190
# What only orjson writes, or writes otherwise than pydantic does, is left to pydantic.
_PLAIN_ONLY: Final = (
    orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
)

_log = get_logger(__name__)


class ErrorReply(NamedTuple):
    """What a tool returns that failed, and has more to say of it than an error does."""

    value: Any


class Reply(NamedTuple):
    """What a tool answered: its text, and the JSON of the same as an object where there is structured content."""

    text: str
    structured: bytes | None = None
    is_error: bool = False

    def result(self) -> CallToolResult:
        """The reply as the SDK sends it."""
        return CallToolResult(
            content=[TextContent(type="text", text=self.text)],
            structuredContent=None if self.structured is None else from_json(self.structured),
            isError=self.is_error,
        )

    def result_json(self) -> bytes:
        """The JSON of `result()`, without making one."""
        structured = b"" if self.structured is None else b',"structuredContent":' + self.structured
        is_error = b"true" if self.is_error else b"false"
        return b'{"content":[{"type":"text","text":%b}]%b,"isError":%b}' % (
            orjson.dumps(self.text),
            structured,
            is_error,
        )


def encode_json(value: Any) -> bytes:
    """`value` as compact JSON, with null for NaN. Raises ValueError or RecursionError for what has no JSON form."""
    try:
        return orjson.dumps(value, option=_PLAIN_ONLY)
    except orjson.JSONEncodeError:
        pass
    try:
        return to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:
        # Half characters are one reason, and can be helped; what has no JSON form fails here once more.
        text = json.dumps(value, default=to_jsonable_python, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return replace_surrogates(text).encode()


def as_text(value: Any) -> str:
    """`value` as the text of a reply: a string as it is, anything else as JSON. Raises as `encode_json` does."""
    return replace_surrogates(value) if isinstance(value, str) else encode_json(value).decode()


def success(value: Any, *, structured: bool) -> Reply:
    """The reply of a tool that returned `value`. Raises as `encode_json` does, and for nesting no client could read."""
    if isinstance(value, str):
        return Reply(replace_surrogates(value))
    written = encode_json(value)
    if not structured:
        return Reply(written.decode())
    # The text once more, and not the value: the SDK would write models and None in its own way.
    same = written if written[:1] == b"{" else b'{"result":%b}' % written
    if same.count(b"[") + same.count(b"{") > _SURELY_SHALLOW:
        # In a result in an answer in a batch, which clients with the same parser must be able to read.
        from_json(b"[[[%b]]]" % same)
    return Reply(written.decode(), same)


def failure(error: UraniborgError) -> Reply:
    """The reply of a tool that failed with `error`."""
    return Reply(as_text(error_body(error)), is_error=True)


def protocol_error(error: UraniborgError) -> McpError:
    """`error` as the JSON-RPC error of a request that has no result to put it in."""
    if isinstance(error, NotFound):
        return McpError(error_data(error, RESOURCE_NOT_FOUND))
    return McpError(error_data(error, INVALID_PARAMS if isinstance(error, InvalidInput) else INTERNAL_ERROR))


def error_data(error: UraniborgError, code: int) -> ErrorData:
    """`error` under a JSON-RPC code, with its body as `data`."""
    body = error_body(error)
    return ErrorData(code=code, message=body["error"]["message"], data=body)


def error_body(error: UraniborgError) -> dict[str, Any]:
    """The body of `error` in plain JSON, whatever its ids are; those with no JSON form at all are left out.

    It stays short, also where an error repeats what it was about.
    """
    try:
        body = from_json(encode_json(to_jsonable_python(error.body(), fallback=str, inf_nan_mode="null")))
        return identify_error({"error": {name: _bounded(value) for name, value in body["error"].items()}})
    except ValueError:
        bare = {
            "code": error.code,
            "message": replace_surrogates(error.message),
            "hint": replace_surrogates(error.hint),
        }
        return identify_error({"error": bare})


def _bounded(value: Any, most: int = _LONGEST_TEXT) -> Any:
    if isinstance(value, str):
        return value if len(value) <= most else value[: most - 1] + "…"
    if isinstance(value, list):
        return [_bounded(item, _LONGEST_ITEM) for item in cast("list[Any]", value)[:_MOST_ITEMS]]
    if isinstance(value, dict):
        items = list(cast("dict[str, Any]", value).items())[:_MOST_ITEMS]
        return {name[:_LONGEST_ITEM]: _bounded(item, _LONGEST_ITEM) for name, item in items}
    return value


def ends_the_call(exc: BaseException) -> bool:
    """Whether `exc`, raised by what was called, is not its failure but the end of the call or of the process.

    To be cancelled is the end only of a task that was asked to; what awaits another task that was is not.
    """
    if isinstance(exc, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    return isinstance(exc, KeyboardInterrupt | GeneratorExit)


def noted(exc: BaseException, *, during: str) -> UraniborgError:
    """The member of the error family that stands for `exc`. What is our fault, or the machine's, goes to the log."""
    error = as_error(exc)
    if isinstance(error, InternalError | OutOfRoom):
        _log.exception("unexpected error", exc=exc, during=during)
    return error
