"""Check the headers of a request before it is answered: token, host, origin, media type.

UraniborgError
├── Refused
│   ├── HostRefused            421   the Host header is not allowed
│   ├── OriginRefused          403   the Origin header is not allowed
│   ├── CrossSiteRefused       403   a page of another site sent the request
│   └── NotAuthorized          401   the token is missing or wrong
└── InvalidInput
    ├── RepeatedHeader         400   a header that must be single was sent twice
    ├── MethodNotAllowed       405
    ├── BodyTooLarge           413
    └── UnsupportedMediaType   415   the body is not declared as JSON
"""

import hmac
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from uraniborg.kernel.actors import ACTOR, Actor
from uraniborg.kernel.errors import InvalidInput, Refused, UraniborgError
from uraniborg.kernel.http.config import HostRefused, OriginRefused, is_host, is_origin
from uraniborg.kernel.ids import REQUEST_ID, begin_request, identify_error
from uraniborg.kernel.json_values import encode_json
from uraniborg.kernel.logging import register_secret

REQUEST_ID_HEADER: Final = "X-Request-Id"
JSON: Final = "application/json"
Headers = Mapping[bytes, bytes]
_HEADERS: Final = "uraniborg.headers"
"""The key of the headers in the scope of a request."""
_REQUEST_ID_NAME: Final = REQUEST_ID_HEADER.lower().encode()
_SINGLE_HEADERS: Final = frozenset(
    (
        b"authorization",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"host",
        b"mcp-method",
        b"mcp-name",
        b"mcp-protocol-version",
        b"mcp-session-id",
        b"origin",
        b"sec-fetch-site",
    )
)
_SAFE_METHODS: Final = frozenset(("GET", "HEAD", "OPTIONS"))
_OWN_SITES: Final = frozenset((b"same-origin", b"same-site", b"none"))
"""Values of Sec-Fetch-Site for requests from a page of this site, or from a typed address."""


class NotAuthorized(Refused):
    code = "not_authorized"
    status = 401


class CrossSiteRefused(Refused):
    code = "cross_site_not_allowed"

    def __init__(self) -> None:
        super().__init__(
            "Requests from a page of another site are not allowed here.",
            hint="Open the address yourself, or add the origin of the page to the server's allow_origins.",
        )


class RepeatedHeader(InvalidInput):
    code = "repeated_header"
    status = 400

    def __init__(self, name: str) -> None:
        super().__init__(f"The header {name} was sent twice.", hint="Send it once.", header=name)


class MethodNotAllowed(InvalidInput):
    code = "method_not_allowed"
    status = 405


class BodyTooLarge(InvalidInput):
    code = "body_too_large"
    status = 413

    def __init__(self, limit: int) -> None:
        super().__init__(
            "The body is larger than this server accepts.",
            hint=f"Send at most {limit:,} bytes in one request.",
            limit=limit,
        )


class UnsupportedMediaType(InvalidInput):
    code = "unsupported_media_type"
    status = 415


def make_error_response(error: UraniborgError) -> Response:
    """Return `error` as an HTTP response with the id of the request."""
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(error, NotAuthorized) else None
    return Response(encode_json(identify_error(error.body())), error.status, headers, JSON)


def check_json_type(content_type: str, content_encoding: str) -> None:
    """Raise UnsupportedMediaType unless these headers declare an uncompressed JSON body."""
    if not _is_json(content_type):
        raise UnsupportedMediaType("The body must be JSON.", hint=f"Send Content-Type: {JSON}.")
    if content_encoding.strip().lower() not in ("", "identity"):
        raise UnsupportedMediaType("The body must not be compressed.", hint="Do not send Content-Encoding.")


@lru_cache(maxsize=64)
def _is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == JSON


def read_headers(scope: Scope) -> Headers:
    """Return the headers of a request by name, of repeated ones the last. They are read once for all checks."""
    found: Headers | None = scope.get(_HEADERS)
    if found is None:
        found = scope[_HEADERS] = dict(scope["headers"])
    return found


def identify_request(scope: Scope) -> tuple[bytes, bytes]:
    """Give a request an id, or use a well-formed id of the client, and return the header that sends it back."""
    request_id = begin_request(_decode_header(read_headers(scope), _REQUEST_ID_NAME) or None)
    scope[REQUEST_ID] = request_id
    return (_REQUEST_ID_NAME, request_id.encode())


class RequestIds:
    """Middleware that gives each request an id, or uses a well-formed id of the client, and sends it back."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or REQUEST_ID in scope:
            await self._app(scope, receive, send)
            return
        header = identify_request(scope)

        async def send_identified(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), header]}
            await send(message)

        await self._app(scope, receive, send_identified)


class _Check(ABC):
    """Middleware that passes a request to `app` unless `check` raises, and then responds with the error."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # no server uses websockets
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "http":
            try:
                self.check(scope, read_headers(scope))
            except UraniborgError as error:
                await make_error_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    @abstractmethod
    def check(self, scope: Scope, headers: Headers) -> None:
        """Raise the error to respond with. If a header was sent twice, `headers` has the second value."""


class Gate(_Check):
    """Refuses requests to an unknown host, and requests from pages of other sites.

    `hosts` and `origins` are compared exactly, except LOOPBACK; None allows all. Pages of other sites may link to paths
    that `is_page` accepts; every other path refuses their requests, unless they come from one of `origins`.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str] | None,
        origins: Collection[str] | None = None,
        is_page: Callable[[str], bool] = lambda _path: False,
    ) -> None:
        super().__init__(app)
        self._hosts = hosts
        self._origins = origins
        self._is_page = is_page

    def check(self, scope: Scope, headers: Headers) -> None:
        """Raise RepeatedHeader, HostRefused, OriginRefused or CrossSiteRefused."""
        if len(headers) != len(scope["headers"]):
            _refuse_repeated_headers([name for name, _ in scope["headers"]])
        if self._hosts is not None and not is_host(_decode_header(headers, b"host"), self._hosts):
            raise HostRefused
        if b"origin" in headers:
            if self._origins is not None and not is_origin(_decode_header(headers, b"origin"), self._origins):
                raise OriginRefused
        elif headers.get(b"sec-fetch-site", b"none").lower() not in _OWN_SITES and not (
            scope["method"] in _SAFE_METHODS and self._is_page(scope["path"])
        ):
            raise CrossSiteRefused


def _refuse_repeated_headers(names: list[bytes]) -> None:
    for name in _SINGLE_HEADERS.intersection(names):
        if names.count(name) > 1:
            raise RepeatedHeader(name.decode().title())


class Admission(_Check):
    """Refuses requests without the token, if there is one, and requests with a body that is not JSON.

    Preflight requests have neither: CORS answers them before this check.
    """

    def __init__(self, app: ASGIApp, *, token: str | None, open_paths: Collection[str] = ()) -> None:
        super().__init__(app)
        self._token = token.encode() if token else None
        self._open = frozenset(open_paths)
        if token:
            register_secret(token)

    def check(self, scope: Scope, headers: Headers) -> None:
        """Raise NotAuthorized or UnsupportedMediaType."""
        if self._token and scope["path"] not in self._open:
            if not self._is_token(read_bearer_token(headers)):
                raise NotAuthorized("This server needs a token.", hint="Send the header Authorization: Bearer TOKEN.")
            scope[ACTOR] = Actor(kind="software", name="", authenticated="token")
        if scope["method"] not in _SAFE_METHODS and _has_body(headers):
            check_json_type(_decode_header(headers, b"content-type"), _decode_header(headers, b"content-encoding"))

    def _is_token(self, given: str) -> bool:
        return self._token is not None and hmac.compare_digest(given.encode("latin-1"), self._token)


def read_bearer_token(headers: Headers) -> str:
    """Return the bearer token of a request, or an empty text."""
    scheme, _, token = _decode_header(headers, b"authorization").partition(" ")
    return token if scheme.lower() == "bearer" else ""


def _has_body(headers: Headers) -> bool:
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0").strip() != b"0"


def _decode_header(headers: Headers, name: bytes) -> str:
    return headers.get(name, b"").decode("latin-1")
