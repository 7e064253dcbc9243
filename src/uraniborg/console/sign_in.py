"""Signing in to the console: a token, exchanged for a cookie; and the checks of every request to the API.

`uraniborg serve` prints the token. Programs send it with each request; a page sends it once and gets a cookie with
another random value. Both are stored in a private file, so that a restarted server accepts them.
"""

import asyncio
import hashlib
import hmac
import secrets
import time
from collections import deque
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Final

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from uraniborg.console.stored_file import StoredFile
from uraniborg.kernel.clock import SystemClock, format_iso
from uraniborg.kernel.errors import InvalidInput, Refused, Unavailable, UraniborgError, as_error
from uraniborg.kernel.files import make_private_folder
from uraniborg.kernel.http_access import NotAuthorized, make_error_response
from uraniborg.kernel.logging import get_logger, register_secret
from uraniborg.kernel.settings import secure_own_folder

CHANGE_HEADER: Final = b"x-uraniborg"
"""The header that every request which changes something must carry: pages of other sites cannot send it."""
DOOR: Final = "console"
"""The name of this interface in decisions."""
PERSON: Final = "uraniborg.person"
"""The key in the scope of a request of the name that the person chose when signing in."""
CLIENT: Final = "uraniborg.client"
"""The key in the scope of a request of its client: the hash of a cookie, or the token."""
MAX_NAME_CHARS: Final = 80
_SAFE_METHODS: Final = frozenset(("GET", "HEAD", "OPTIONS"))
_MAX_SIGN_INS: Final = 100
_ATTEMPTS: Final = 20
_ATTEMPT_WINDOW_S: Final = 60.0

_log = get_logger(__name__)


class ChangeHeaderMissing(Refused):
    code = "change_header_missing"

    def __init__(self) -> None:
        super().__init__("Requests that change something need the header X-Uraniborg: 1.", hint="Send the header.")


class TooManyAttempts(Unavailable):
    code = "too_many_attempts"
    status = 429


class Person(BaseModel):
    """A person who has signed in, by the name that they chose."""

    name: str
    at: str


class StoredSignIns(BaseModel):
    """The contents of the file: the token, and people by the hash of their cookie."""

    token: str = Field(default_factory=lambda: secrets.token_urlsafe(24))
    people: dict[str, Person] = Field(default_factory=dict[str, Person])


class SignIns:
    """The token of the console and the people signed in, in a private file that servers share."""

    def __init__(self, path: Path | None = None) -> None:
        self._stored = StoredSignIns()
        path = path or secure_own_folder("data") / "console" / "sign-ins.json"
        # Without a file all people are signed out, but the token of this server stays valid.
        self._file = StoredFile(path, lambda: StoredSignIns(token=self.token))
        self._failures: deque[float] = deque(maxlen=_ATTEMPTS)
        make_private_folder(self.folder)
        with self._file.change() as stored:
            self._stored = stored
        register_secret(self.token)

    @property
    def folder(self) -> Path:
        """The private folder of the file."""
        return self._file.path.parent

    @property
    def token(self) -> str:
        """The token that lets a person sign in."""
        return self._stored.token

    def sign_in(self, token: str, name: str) -> str:
        """Return the value of a new cookie. Blocks while it writes the file.

        Raise NotAuthorized for a wrong token, TooManyAttempts, or InvalidInput for a name that cannot be displayed.
        """
        now = time.monotonic()
        if len(self._failures) == _ATTEMPTS and now - self._failures[0] < _ATTEMPT_WINDOW_S:
            raise TooManyAttempts("Too many wrong tokens were sent.", hint="Wait a minute, then try again.")
        if not self.is_token(token):
            self._failures.append(now)
            raise _make_sign_in_error()
        name = " ".join(name.split())
        if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
            raise InvalidInput(
                f"A name has 1 to {MAX_NAME_CHARS} printable characters.", hint="Choose another name.", argument="name"
            )
        cookie = secrets.token_urlsafe(24)
        register_secret(cookie)
        with self._file.change() as stored:
            stored.people[_hash_cookie(cookie)] = Person(name=name, at=format_iso(SystemClock().now()))
            for oldest in list(stored.people)[:-_MAX_SIGN_INS]:
                del stored.people[oldest]
        self._stored = stored
        return cookie

    def sign_out(self, cookie: str) -> None:
        """Make the cookie invalid. Blocks while it writes the file."""
        with self._file.change() as stored:
            stored.people.pop(_hash_cookie(cookie), None)
        self._stored = stored

    async def find_person(self, cookie: str) -> str | None:
        """Return the name of the person with this cookie, or None. Another server may have given out the cookie.

        Raise OSError or Locked if the file is needed and cannot be read.
        """
        key = _hash_cookie(cookie)
        if cookie and key not in self._stored.people:
            self._stored = await asyncio.to_thread(self._file.read)
        person = self._stored.people.get(key)
        return person.name if person else None

    def is_token(self, token: str) -> bool:
        """Return True if `token` is the token of the console."""
        return hmac.compare_digest(token.encode(errors="replace"), self.token.encode())


def is_api_path(path: str) -> bool:
    """Return True for addresses of the API; all others are pages and their files."""
    return path == "/api" or path.startswith("/api/")


def get_person(request: Request) -> str:
    """Return the name of the person who sent the request, as claimed."""
    return str(request.scope[PERSON])


class SignInCheck:
    """Middleware that admits requests to `/api` with the cookie, or with the token as a bearer token.

    `open_paths` need neither. A request that changes something must carry CHANGE_HEADER.
    """

    def __init__(self, app: ASGIApp, sign_ins: SignIns, cookie_name: str, *, owner: str, open_paths: set[str]) -> None:
        self._app = app
        self._sign_ins = sign_ins
        self._cookie_name = cookie_name
        self._owner = owner
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                await self._check_request(scope, dict(scope["headers"]))
            except (UraniborgError, OSError) as error:
                if isinstance(error, OSError):
                    _log.exception("the sign-ins cannot be read", exc=error)
                await make_error_response(as_error(error))(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _check_request(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Raise ChangeHeaderMissing or NotAuthorized; store the name of the person in the scope."""
        if scope["method"] not in _SAFE_METHODS and headers.get(CHANGE_HEADER) != b"1":
            raise ChangeHeaderMissing
        if scope["path"] in self._open_paths or not is_api_path(scope["path"]):
            return
        scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        if scheme.lower() == "bearer" and self._sign_ins.is_token(token):
            scope[PERSON], scope[CLIENT] = self._owner, "token"
            return
        cookie = read_cookie(headers, self._cookie_name)
        person = await self._sign_ins.find_person(cookie)
        if person is None:
            raise _make_sign_in_error()
        scope[PERSON], scope[CLIENT] = person, _hash_cookie(cookie)


def read_cookie(headers: dict[bytes, bytes], name: str) -> str:
    """Return the value of a cookie of a request, or an empty text."""
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return ""
    return cookies[name].value if name in cookies else ""


def _hash_cookie(cookie: str) -> str:
    return hashlib.sha256(cookie.encode(errors="replace")).hexdigest()


def _make_sign_in_error() -> NotAuthorized:
    return NotAuthorized(
        "You are not signed in.", hint="Send Authorization: Bearer TOKEN, with the token that `uraniborg serve` prints."
    )
