"""The request that the parameters of an http node mean."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import urlencode

import httpx

from pflow.errors import NodeFailed
from pflow.node import Context
from pflow.nodes.excerpts import beginning
from pflow.nodes.param_values import text_of

_METHOD: Final = re.compile(r"[A-Z]{1,20}")
_FORM: Final = "application/x-www-form-urlencoded"


def request_of(client: httpx.AsyncClient, params: Mapping[str, Any], context: Context) -> httpx.Request:
    """Raises NodeFailed for parameters that make no request."""
    body = params.get("body")
    given = str(params.get("method") or ("GET" if body is None else "POST"))
    method = given.upper()
    if not _METHOD.fullmatch(method):
        raise NodeFailed(
            f"`method` is {beginning(given, 40, context)!r}.", hint="Use GET, POST, PUT, PATCH, DELETE or HEAD."
        )
    headers = _headers(params)
    content = None if body is None else _content(body, headers)
    try:
        return client.build_request(method, _url(params, context), headers=headers, content=content)
    except ValueError:  # an encoding error, whose message would repeat the header
        raise NodeFailed(
            "`headers`, `auth_token` or `api_key` hold characters that no header can carry.",
            hint="Use ASCII, without line breaks.",
        ) from None


def without_secrets(url: httpx.URL) -> str:
    """An address as it may be told: without user, query or fragment."""
    return str(url.copy_with(username=None, password=None, query=None, fragment=None))


def _url(params: Mapping[str, Any], context: Context) -> httpx.URL:
    given = str(params["url"]).strip()
    try:
        url = httpx.URL(given)
    except (httpx.InvalidURL, ValueError) as exc:
        raise NodeFailed(f"`url` is no address: {exc}.", hint="Use one such as https://example.org/data") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise NodeFailed(
            f"`url` must begin with http:// or https:// and a host; this one begins {beginning(given, 12, context)!r}.",
            hint="Use an address such as https://example.org/data",
        )
    if (url.port or 0) > 65_535:
        raise NodeFailed(f"`url` has the port {url.port}, which cannot be.", hint="Ports go up to 65535.")
    query = cast("Mapping[str, Any]", params.get("params") or {})
    asked = {name: _plain(value, f"params.{name}") for name, value in query.items() if value is not None}
    return url.copy_merge_params(asked) if asked else url


def _plain(value: Any, what: str) -> Any:
    if isinstance(value, list):
        return [_plain(item, what) for item in cast("list[Any]", value)]
    if isinstance(value, str | int | float):
        return value
    raise NodeFailed(f"`{what}` is no text or number.", hint="Give text, a number, or a list of those.")


def _headers(params: Mapping[str, Any]) -> httpx.Headers:
    given = cast("Mapping[str, Any]", params.get("headers") or {})
    try:
        headers = httpx.Headers({name: text_of(value, f"headers.{name}") for name, value in given.items()})
        for name, value in _credentials(params).items():
            if name in headers:
                raise NodeFailed(f"The header {name} is given twice.", hint="Give it in `headers` or by its parameter.")
            headers[name] = value
    except ValueError:
        raise NodeFailed(
            "`headers`, `auth_token` or `api_key` hold characters that no header can carry.",
            hint="Use ASCII, without line breaks.",
        ) from None
    return headers


def _credentials(params: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    if token := params.get("auth_token"):
        found["Authorization"] = f"Bearer {token}"
    if key := params.get("api_key"):
        found[str(params.get("api_key_header") or "X-API-Key")] = str(key)
    return found


def _content(body: Any, headers: httpx.Headers) -> bytes:
    if isinstance(body, bytes):
        return body
    if isinstance(body, dict) and headers.get("content-type", "").startswith(_FORM):
        return urlencode(cast("dict[str, Any]", body), doseq=True).encode()
    if not isinstance(body, str):
        headers.setdefault("Content-Type", "application/json")
    return text_of(body, "body").encode()
