"""The answer to a request as outputs: JSON as a value, text as text, anything else in base64, and never too much."""

import asyncio
import zlib
from base64 import b64encode
from collections.abc import Callable
from typing import Any, Final

import httpx
import orjson

from pflow.errors import NodeFailed
from pflow.nodes.printed import in_words

BODY_BYTES: Final = 10 << 20
"""The largest answer that becomes a value."""

_COMPLAINT_BYTES: Final = 64 << 10
_QUICK: Final = 1 << 20
_PACKED: Final = ("gzip", "x-gzip", "deflate")
_ANY_HEADER: Final = 32 + zlib.MAX_WBITS


async def read_body(response: httpx.Response) -> bytes:
    """The body; only the beginning of one that tells of a failure. Raises NodeFailed for one that is too large."""
    most = BODY_BYTES if response.is_success else _COMPLAINT_BYTES
    declared = response.headers.get("content-length", "")
    if response.is_success and response.request.method != "HEAD" and declared.isdigit() and int(declared) > most:
        raise _too_large(response)
    unpack = _unpacking(response)
    body = bytearray()
    async for piece in response.aiter_raw():
        body += unpack(piece, most + 1 - len(body))
        if len(body) > most:
            if response.is_success:
                raise _too_large(response)
            return bytes(body[:most])
    return bytes(body)


def _unpacking(response: httpx.Response) -> Callable[[bytes, int], bytes]:
    """Unpacks so much of a piece at most: a few bytes can unfold into very many."""
    if response.headers.get("content-encoding", "").strip().lower() not in _PACKED:
        return lambda piece, _: piece
    unpacker = zlib.decompressobj(_ANY_HEADER)

    def unpack(piece: bytes, most: int) -> bytes:
        try:
            return unpacker.decompress(piece, most)
        except zlib.error:
            raise NodeFailed(
                "The answer is not packed as it says.",
                hint="Ask for it unpacked, with the header `Accept-Encoding: identity`.",
                outputs=_head(response),
            ) from None

    return unpack


async def outputs_of(response: httpx.Response, body: bytes) -> dict[str, Any]:
    value, is_binary = await asyncio.to_thread(_value, response, body) if len(body) > _QUICK else _value(response, body)
    return {"response": value, "response_is_binary": is_binary, **_head(response)}


def _head(response: httpx.Response) -> dict[str, Any]:
    return {"status_code": response.status_code, "response_headers": dict(response.headers.items())}


def _value(response: httpx.Response, body: bytes) -> tuple[Any, bool]:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and (kind == "application/json" or kind.endswith("+json")):
        try:
            return orjson.loads(body), False
        except orjson.JSONDecodeError:  # it only says that it is
            pass
    try:
        return body.decode(response.charset_encoding or "utf-8"), False
    except LookupError:
        return body.decode(errors="replace"), False
    except UnicodeDecodeError as exc:
        if len(body) == _COMPLAINT_BYTES and exc.reason == "unexpected end of data":
            return body[: exc.start].decode(), False  # it was cut within a character
        return b64encode(body).decode(), True


def _too_large(response: httpx.Response) -> NodeFailed:
    return NodeFailed(
        f"The answer is larger than the {in_words(BODY_BYTES)} that become a value.",
        hint="Ask for less of it, or have a shell node fetch it into a file: curl -fsSLo FILE URL",
        outputs=_head(response),
        status_code=response.status_code,
    )
