"""The answer to a request as outputs: JSON as a value, text as text, anything else in base64, and never too much."""

import asyncio
import zlib
from base64 import b64encode
from typing import Any, Final

import httpx
import orjson

from pflow.errors import NodeFailed
from pflow.nodes.child_output import in_words

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
    unpacking = _Unpacking() if response.headers.get("content-encoding", "").strip().lower() in _PACKED else None
    body = bytearray()
    async for piece in response.aiter_raw():
        try:
            body += unpacking.unpacked(piece, most + 1 - len(body)) if unpacking else piece
        except zlib.error:
            raise _damaged(response, "The answer is not packed as it says.") from None
        # What unfolds into nothing must end, too.
        if len(body) > most or response.num_bytes_downloaded > 2 * most:
            if response.is_success:
                raise _too_large(response)
            return bytes(body[:most])
    if unpacking and unpacking.is_within and response.is_success:
        raise _damaged(response, "The answer was cut off: it is packed, and its end is missing.")
    return bytes(body)


class _Unpacking:
    """Unpacks what gzip or deflate has packed, be it of one part or of several, one after another."""

    def __init__(self) -> None:
        self._part = zlib.decompressobj(_ANY_HEADER)
        self._is_first = True
        self.is_within = False
        """Whether a part has begun and not ended."""

    def unpacked(self, piece: bytes, most: int) -> bytearray:
        """So much of it at most: a few bytes can unfold into very many. Raises zlib.error."""
        found = bytearray()
        while piece and len(found) < most:
            if not self.is_within and not self._is_first:
                piece = piece.lstrip(b"\0")  # with which the last part may be filled up
                self._part = zlib.decompressobj(_ANY_HEADER)
            if piece:
                found += self._part.decompress(piece, most - len(found))
                self.is_within, self._is_first = not self._part.eof, False
                piece = self._part.unused_data
        return found


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


def _damaged(response: httpx.Response, problem: str) -> NodeFailed:
    return NodeFailed(
        problem,
        hint="Try again; if it stays so, ask for it unpacked, with the header `Accept-Encoding: identity`.",
        outputs=_head(response),
        status_code=response.status_code,
    )


def _too_large(response: httpx.Response) -> NodeFailed:
    return NodeFailed(
        f"The answer is larger than the {in_words(BODY_BYTES)} that become a value.",
        hint="Ask for less of it, or have a shell node fetch it into a file: curl -fsSLo FILE URL",
        outputs=_head(response),
        status_code=response.status_code,
    )
