"""The http node: build one request, follow its redirects, and turn the response into outputs."""

import asyncio
import re
import time
import zlib
from base64 import b64encode
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast
from urllib.parse import urlencode

import httpx

from pflow.domain.node import NodeContext
from pflow.domain.redaction import cut_masked_start, mask_secrets
from pflow.errors import NodeFailed, NodeTimedOut
from pflow.nodes.child_output import format_size
from pflow.nodes.param_values import format_param_as_text, get_seconds
from uraniborg.kernel.boundary import parse_json

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject


_METHOD: Final = re.compile(r"[A-Z]{1,20}")
_FORM: Final = "application/x-www-form-urlencoded"
BODY_BYTES: Final = 10 << 20
"""The maximum size of a response that becomes a value."""

_COMPLAINT_BYTES: Final = 64 << 10
_QUICK: Final = 1 << 20
_PACKED: Final = ("gzip", "x-gzip", "deflate")
_ANY_HEADER: Final = 32 + zlib.MAX_WBITS


def build_request(client: httpx.AsyncClient, params: "JsonObject", context: NodeContext) -> httpx.Request:
    """Return the request. Raise NodeFailed for invalid parameters."""
    body = params.get("body")
    given = str(params.get("method") or ("GET" if body is None else "POST"))
    method = given.upper()
    if not _METHOD.fullmatch(method):
        raise NodeFailed(
            f"`method` is {cut_masked_start(given, 40, context)!r}.", hint="Use GET, POST, PUT, PATCH, DELETE or HEAD."
        )
    headers = _build_headers(params)
    content = None if body is None else _encode_body_and_set_type(body, headers)
    try:
        return client.build_request(method, _build_url(params, context), headers=headers, content=content)
    except ValueError:  # an encoding error, whose message would repeat the header
        raise NodeFailed(
            "`headers`, `auth_token` or `api_key` contain characters that headers do not allow.",
            hint="Use ASCII, without line breaks.",
        ) from None


def strip_url_secrets(url: httpx.URL) -> str:
    """Return an address for messages: without user, query and fragment."""
    return str(url.copy_with(username=None, password=None, query=None, fragment=None))


def _build_url(params: "JsonObject", context: NodeContext) -> httpx.URL:
    given = str(params["url"]).strip()
    try:
        url = httpx.URL(given)
    except (httpx.InvalidURL, ValueError) as exc:
        raise NodeFailed(
            f"`url` is not a valid address: {exc}.", hint="Use one such as https://example.org/data"
        ) from None
    if url.scheme not in ("http", "https") or not url.host:
        raise NodeFailed(
            f"`url` must begin with http:// or https:// and a host, got {cut_masked_start(given, 12, context)!r}.",
            hint="Use an address such as https://example.org/data",
        )
    if (url.port or 0) > 65_535:
        raise NodeFailed(f"`url` must have a port up to 65535, got {url.port}.", hint="Correct the port.")
    query = cast("JsonObject", params.get("params") or {})
    query_values = {
        name: _format_query_value(value, f"params.{name}") for name, value in query.items() if value is not None
    }
    return url.copy_merge_params(query_values) if query_values else url


def _format_query_value(value: "Json", param_name: str) -> Any:
    if isinstance(value, list):
        return [_format_query_value(item, param_name) for item in value]
    if isinstance(value, str | int | float):
        return value
    raise NodeFailed(f"`{param_name}` is neither text nor a number.", hint="Give text, a number, or a list of those.")


def _build_headers(params: "JsonObject") -> httpx.Headers:
    given = cast("JsonObject", params.get("headers") or {})
    try:
        headers = httpx.Headers({name: format_param_as_text(value, f"headers.{name}") for name, value in given.items()})
        for name, value in _make_credential_headers(params).items():
            if name in headers:
                raise NodeFailed(f"The header {name} is given twice.", hint="Give it in `headers` or by its parameter.")
            headers[name] = value
    except ValueError:
        raise NodeFailed(
            "`headers`, `auth_token` or `api_key` contain characters that headers do not allow.",
            hint="Use ASCII, without line breaks.",
        ) from None
    return headers


def _make_credential_headers(params: "JsonObject") -> dict[str, str]:
    found: dict[str, str] = {}
    if token := params.get("auth_token"):
        found["Authorization"] = f"Bearer {token}"
    if key := params.get("api_key"):
        found[str(params.get("api_key_header") or "X-API-Key")] = str(key)
    return found


def _encode_body_and_set_type(body: "Json | bytes", headers: httpx.Headers) -> bytes:
    if isinstance(body, bytes):
        return body
    if isinstance(body, dict) and headers.get("content-type", "").startswith(_FORM):
        return urlencode(body, doseq=True).encode()
    if not isinstance(body, str):
        headers.setdefault("Content-Type", "application/json")
    return format_param_as_text(body, "body").encode()


async def read_bounded_body(response: httpx.Response) -> bytes:
    """Return the body, or the start of an error body. Raise NodeFailed if it is too large."""
    most = BODY_BYTES if response.is_success else _COMPLAINT_BYTES
    declared = response.headers.get("content-length", "")
    if response.is_success and response.request.method != "HEAD" and declared.isdigit() and int(declared) > most:
        raise _make_too_large_error(response)
    unpacking = _Decompressor() if response.headers.get("content-encoding", "").strip().lower() in _PACKED else None
    body = bytearray()
    async for piece in response.aiter_raw():
        try:
            body += unpacking.decompress(piece, most + 1 - len(body)) if unpacking else piece
        except zlib.error:
            raise _make_damaged_error(response, "The response is not compressed as its header states.") from None
        # Data that decompresses to nothing must end, too.
        if len(body) > most or response.num_bytes_downloaded > 2 * most:
            if response.is_success:
                raise _make_too_large_error(response)
            return bytes(body[:most])
    if unpacking and unpacking.is_unfinished and response.is_success:
        raise _make_damaged_error(response, "The response was cut off: the end of the compressed data is missing.")
    return bytes(body)


class _Decompressor:
    """Decompresses gzip or deflate, of one member or several."""

    def __init__(self) -> None:
        self._part = zlib.decompressobj(_ANY_HEADER)
        self._is_first = True
        self.is_unfinished = False
        """Whether a part has begun and not ended."""

    def decompress(self, piece: bytes, max_bytes: int) -> bytearray:
        """Return at most `max_bytes` decompressed bytes: a few bytes can decompress to very many. Raise zlib.error."""
        found = bytearray()
        while piece and len(found) < max_bytes:
            if not self.is_unfinished and not self._is_first:
                piece = piece.lstrip(b"\0")  # padding after the last member
                self._part = zlib.decompressobj(_ANY_HEADER)
            if piece:
                found += self._part.decompress(piece, max_bytes - len(found))
                self.is_unfinished, self._is_first = not self._part.eof, False
                piece = self._part.unused_data
        return found


class ResponseHead(TypedDict):
    status_code: int
    response_headers: dict[str, str]


class ResponseOutputs(ResponseHead):
    response: "Json"
    response_is_binary: bool
    response_time: float


async def make_response_outputs(response: httpx.Response, body: bytes, seconds: float) -> ResponseOutputs:
    value, is_binary = (
        await asyncio.to_thread(_decode_body, response, body) if len(body) > _QUICK else _decode_body(response, body)
    )
    return {
        "response": value,
        "response_is_binary": is_binary,
        **_make_head_outputs(response),
        "response_time": round(seconds, 3),
    }


def _make_head_outputs(response: httpx.Response) -> ResponseHead:
    return {"status_code": response.status_code, "response_headers": dict(response.headers.items())}


def _decode_body(response: httpx.Response, body: bytes) -> "tuple[Json, bool]":
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and (kind == "application/json" or kind.endswith("+json")):
        try:
            return parse_json(body), False
        except ValueError:  # the header was wrong
            pass
    try:
        return body.decode(response.charset_encoding or "utf-8"), False
    except LookupError:
        return body.decode(errors="replace"), False
    except UnicodeDecodeError as exc:
        if len(body) == _COMPLAINT_BYTES and exc.reason == "unexpected end of data":
            return body[: exc.start].decode(), False  # cut inside a character
        return b64encode(body).decode(), True


def _make_damaged_error(response: httpx.Response, problem: str) -> NodeFailed:
    return NodeFailed(
        problem,
        hint="Try again, or request it uncompressed with the header `Accept-Encoding: identity`.",
        outputs=_make_head_outputs(response),
        status_code=response.status_code,
    )


def _make_too_large_error(response: httpx.Response) -> NodeFailed:
    return NodeFailed(
        f"The response is larger than {format_size(BODY_BYTES)}.",
        hint="Request a part of it, or let a shell node save it to a file: curl -fsSLo FILE URL",
        outputs=_make_head_outputs(response),
        status_code=response.status_code,
    )


_MOST_REDIRECTS: Final = 10
_HARMLESS: Final = {
    *("accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-length"),
    *("content-type", "host", "range", "transfer-encoding", "user-agent"),
}
_HINTS: Final = {
    401: "The server requires authentication: give `auth_token`, `api_key` or `headers`.",
    403: "The server denies access: check `auth_token`, `api_key` or `headers`.",
    404: "Check the `url`.",
    405: "Check the `method`.",
    429: "Too many requests: give the node a `retry` with a `wait`.",
}


async def send_request(params: "JsonObject", context: NodeContext) -> ResponseOutputs:
    """Send the request and return the response. Raise NodeFailed for any status but 2xx, or without a response."""
    timeout = get_seconds(params)
    started_at = time.monotonic()
    if context.shared_objects:
        shared: _SharedConnections = await context.shared_objects.get_or_create(
            "pflow.nodes.http", _SharedConnections.open
        )
    else:
        shared = await _SharedConnections.open()
    try:
        request = build_request(shared.client, params, context)
        async with asyncio.timeout(timeout):
            return await _send_and_read_response(shared.client, request, context, started_at)
    except TimeoutError:
        raise NodeTimedOut(
            f"No response after {timeout or 0:g} s.",
            hint="Give it more time with `timeout`, or try again later.",
        ) from None
    finally:
        if not context.shared_objects:
            await shared.close()


@dataclass(frozen=True, slots=True)
class _SharedConnections:
    """Connections that all requests of a run share, and nothing else: no cookie goes from one node to another."""

    client: httpx.AsyncClient

    @staticmethod
    async def open() -> "_SharedConnections":
        return await asyncio.to_thread(_SharedConnections._create)  # reading the certificates takes a while

    @staticmethod
    def _create() -> "_SharedConnections":
        none_at_all = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        headers = {"User-Agent": "pflow", "Accept-Encoding": "gzip"}
        return _SharedConnections(httpx.AsyncClient(timeout=None, cookies=none_at_all, headers=headers))  # noqa: S113

    async def close(self) -> None:
        await self.client.aclose()


async def _send_and_read_response(
    client: httpx.AsyncClient, request: httpx.Request, context: NodeContext, started_at: float
) -> ResponseOutputs:
    summary = f"{request.method} {strip_url_secrets(request.url)}"
    try:
        response = await _send_following_redirects(client, request)
        try:
            body = await read_bounded_body(response)
        finally:
            await response.aclose()
    except httpx.LocalProtocolError:  # its message repeats the header, which may be secret
        raise NodeFailed(
            f"{summary} could not be sent: a header is not valid.",
            hint="Names of headers are letters, digits and -; their values are one line.",
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as exc:
        raise NodeFailed(
            f"{summary} got no response: {str(exc) or type(exc).__name__}.",
            hint="Check that the address is right and that the server can be reached from here.",
        ) from exc
    outputs = await make_response_outputs(response, body, time.monotonic() - started_at)
    if not response.is_success:
        status = response.status_code
        raise NodeFailed(
            f"{summary} returned {status} {response.reason_phrase}".rstrip() + f".{_quote_response(outputs, context)}",
            hint=_HINTS.get(status, "The server failed; a `retry` may help." if status >= 500 else ""),
            outputs=outputs,
            status_code=status,
        )
    return outputs


async def _send_following_redirects(client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
    cookies = httpx.Cookies()
    for _ in range(_MOST_REDIRECTS + 1):
        response = await client.send(request, stream=True, follow_redirects=False)
        if response.next_request is None:
            return response
        cookies.extract_cookies(response)
        await response.aclose()
        following = _prepare_redirect_headers(request, response.next_request)
        cookies.set_cookie_header(following)
        request = following
    raise NodeFailed(f"It was redirected more than {_MOST_REDIRECTS} times.", hint="Check the `url`.")


def _prepare_redirect_headers(request: httpx.Request, following: httpx.Request) -> httpx.Request:
    """Return the next request, without private headers if it goes to another server."""
    ours, theirs = _get_origin(request.url), _get_origin(following.url)
    if ours == theirs or (ours[1] == theirs[1] and (ours[0], ours[2], theirs[0], theirs[2]) == _MADE_SAFE):
        if "cookie" in request.headers:
            following.headers["cookie"] = request.headers["cookie"]
        return following
    for name in set(following.headers) - _HARMLESS:
        del following.headers[name]
    return following


_MADE_SAFE: Final = ("http", 80, "https", 443)


def _get_origin(url: httpx.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme, 0)


def _quote_response(outputs: ResponseOutputs, context: NodeContext) -> str:
    body = outputs["response"]
    if outputs["response_is_binary"] or not body:
        return ""
    text = str(mask_secrets(body, context))
    return f" Response: {' '.join(text.split())[:300]}"
