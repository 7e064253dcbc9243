"""The http node: one request, its redirects, and the response as a value."""

import asyncio
import time
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Final

import httpx

from pflow.errors import NodeFailed, NodeTimedOut
from pflow.node import Context
from pflow.nodes.http_messages import (
    ResponseOutputs,
    build_request,
    make_response_outputs,
    read_bounded_body,
    strip_url_secrets,
)
from pflow.nodes.masked_excerpts import mask_secrets
from pflow.nodes.param_values import get_seconds

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

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


async def send_request(params: "JsonObject", context: Context) -> ResponseOutputs:
    """Send the request and return the response. Raise NodeFailed for any status but 2xx, or without a response."""
    timeout = get_seconds(params)
    started_at = time.monotonic()
    if context.shared_objects:
        shared: _Client = await context.shared_objects.get_or_create("pflow.nodes.http", _Client.open)
    else:
        shared = await _Client.open()
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
class _Client:
    """Connections that all requests of a run share, and nothing else: no cookie goes from one node to another."""

    client: httpx.AsyncClient

    @staticmethod
    async def open() -> "_Client":
        return await asyncio.to_thread(_Client._create)  # reading the certificates takes a while

    @staticmethod
    def _create() -> "_Client":
        none_at_all = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        headers = {"User-Agent": "pflow", "Accept-Encoding": "gzip"}
        return _Client(httpx.AsyncClient(timeout=None, cookies=none_at_all, headers=headers))  # noqa: S113

    async def close(self) -> None:
        await self.client.aclose()


async def _send_and_read_response(
    client: httpx.AsyncClient, request: httpx.Request, context: Context, started_at: float
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


def _quote_response(outputs: ResponseOutputs, context: Context) -> str:
    body = outputs["response"]
    if outputs["response_is_binary"] or not body:
        return ""
    text = str(mask_secrets(body, context))
    return f" Response: {' '.join(text.split())[:300]}"
