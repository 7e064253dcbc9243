"""The http node: one request, its redirects, and the answer as a value."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final

import httpx

from pflow.errors import NodeFailed, NodeTimedOut
from pflow.node import Context
from pflow.nodes.excerpts import masked
from pflow.nodes.http_request import request_of, without_secrets
from pflow.nodes.http_response import outputs_of, read_body
from pflow.nodes.param_values import seconds_of

_MOST_REDIRECTS: Final = 10
_HARMLESS: Final = {
    *("accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-length"),
    *("content-type", "host", "range", "transfer-encoding", "user-agent"),
}
_HINTS: Final = {
    401: "It wants to know who asks: give `auth_token`, `api_key` or `headers`.",
    403: "Who asks may not do this: look at `auth_token`, `api_key` or `headers`.",
    404: "Look at the `url`.",
    405: "Look at the `method`.",
    429: "It was asked too often: give the node a `retry` with a `wait`.",
}


async def http(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """Send the request. Raises NodeFailed for any answer but 2xx, and when none comes."""
    timeout = seconds_of(params)
    began = time.monotonic()
    if context.keeper:
        kept: _Client = await context.keeper.keep("pflow.nodes.http", _Client.make)
    else:
        kept = await _Client.make()
    try:
        request = request_of(kept.client, params, context)
        async with asyncio.timeout(timeout):
            return await _answer(kept.client, request, context, began)
    except TimeoutError:
        raise NodeTimedOut(
            f"No answer came within {timeout or 0:g} s.",
            hint="Give it more time with `timeout`, or try again later.",
        ) from None
    finally:
        if not context.keeper:
            await kept.close()


@dataclass(frozen=True, slots=True)
class _Client:
    """Connections that all requests of a run share, and nothing else: no cookie goes from one node to another."""

    client: httpx.AsyncClient

    @staticmethod
    async def make() -> "_Client":
        return await asyncio.to_thread(_Client._made)  # reading the certificates takes a while

    @staticmethod
    def _made() -> "_Client":
        none_at_all = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        headers = {"User-Agent": "pflow", "Accept-Encoding": "gzip"}
        return _Client(httpx.AsyncClient(timeout=None, cookies=none_at_all, headers=headers))  # noqa: S113

    async def close(self) -> None:
        await self.client.aclose()


async def _answer(client: httpx.AsyncClient, request: httpx.Request, context: Context, began: float) -> dict[str, Any]:
    asked = f"{request.method} {without_secrets(request.url)}"
    try:
        response = await _send(client, request)
        try:
            body = await read_body(response)
        finally:
            await response.aclose()
    except httpx.LocalProtocolError:  # its message repeats the header, which may be secret
        raise NodeFailed(
            f"{asked} could not be sent: a header cannot be one.",
            hint="Names of headers are letters, digits and -; their values are one line.",
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as exc:
        raise NodeFailed(
            f"{asked} got no answer: {str(exc) or type(exc).__name__}.",
            hint="See that the address is right and the server can be reached from here.",
        ) from exc
    outputs = await outputs_of(response, body) | {"response_time": round(time.monotonic() - began, 3)}
    if not response.is_success:
        status = response.status_code
        raise NodeFailed(
            f"{asked} was answered {status} {response.reason_phrase}".rstrip() + f".{_said(outputs, context)}",
            hint=_HINTS.get(status, "The server failed; it may help to `retry`." if status >= 500 else ""),
            outputs=outputs,
            status_code=status,
        )
    return outputs


async def _send(client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
    cookies = httpx.Cookies()
    for _ in range(_MOST_REDIRECTS + 1):
        response = await client.send(request, stream=True, follow_redirects=False)
        if response.next_request is None:
            return response
        cookies.extract_cookies(response)
        await response.aclose()
        following = _trusted(request, response.next_request)
        cookies.set_cookie_header(following)
        request = following
    raise NodeFailed(f"It was redirected more than {_MOST_REDIRECTS} times.", hint="Look at the `url`.")


def _trusted(request: httpx.Request, following: httpx.Request) -> httpx.Request:
    """The request that follows, without what only the server asked first may know if it goes to another."""
    ours, theirs = _origin(request.url), _origin(following.url)
    if ours == theirs or (ours[1] == theirs[1] and (ours[0], ours[2], theirs[0], theirs[2]) == _MADE_SAFE):
        if "cookie" in request.headers:
            following.headers["cookie"] = request.headers["cookie"]
        return following
    for name in set(following.headers) - _HARMLESS:
        del following.headers[name]
    return following


_MADE_SAFE: Final = ("http", 80, "https", 443)


def _origin(url: httpx.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme, 0)


def _said(outputs: Mapping[str, Any], context: Context) -> str:
    said = outputs["response"]
    if outputs["response_is_binary"] or not said:
        return ""
    told = str(masked(said, context))
    return f" It says: {' '.join(told.split())[:300]}"
