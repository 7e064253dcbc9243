"""Build the request of an http node from its parameters."""

import re
from typing import TYPE_CHECKING, Any, Final, Required, TypedDict
from urllib.parse import urlencode

import httpx

from pflow.errors import NodeFailed
from pflow.node import Context
from pflow.nodes.masked_excerpts import cut_masked_start
from pflow.nodes.param_values import format_param_as_text

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

_METHOD: Final = re.compile(r"[A-Z]{1,20}")
_FORM: Final = "application/x-www-form-urlencoded"


class RequestParams(TypedDict, total=False):
    url: Required[str]
    method: str | None
    body: "Json | bytes"
    headers: "JsonObject | None"
    params: "JsonObject | None"
    timeout: float | None
    auth_token: str | None
    api_key: str | None
    api_key_header: str | None


def build_request(client: httpx.AsyncClient, params: RequestParams, context: Context) -> httpx.Request:
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


def _build_url(params: RequestParams, context: Context) -> httpx.URL:
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
    query = params.get("params") or {}
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


def _build_headers(params: RequestParams) -> httpx.Headers:
    given = params.get("headers") or {}
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


def _make_credential_headers(params: RequestParams) -> dict[str, str]:
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
