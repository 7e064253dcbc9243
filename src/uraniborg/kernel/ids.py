"""Make ids that cannot be guessed, derive ids from content, and give every request an id for its logs and errors."""

import contextvars
import hashlib
import os
import re
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Final, ParamSpec, TypeVar, cast

_DRAWN_AT_ONCE: Final = 64
_drawn: list[bytes] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drawn.clear)  # no two processes use the same bytes


def new_id(prefix: str = "") -> str:
    """Return a new id of 128 random bits, safe in URLs and file names; `prefix` names its kind: `ses_3f…`."""
    random = _draw_random_bytes().hex()
    return f"{prefix}_{random}" if prefix else random


def _draw_random_bytes() -> bytes:
    """Return 16 random bytes from the system, as `secrets` does, which takes longer to load. One read serves many."""
    try:
        return _drawn.pop()
    except IndexError:
        pool = os.urandom(16 * _DRAWN_AT_ONCE)
        _drawn.extend(pool[start : start + 16] for start in range(16, len(pool), 16))
        return pool[:16]


def match_id_prefix(given: str, ids: Iterable[str]) -> list[str]:
    """Return the id that equals `given`, or else all ids that begin with it, in order; none for ""."""
    found = sorted(one for one in ids if given and one.startswith(given))
    return [given] if given in found else found


def content_id(*parts: str | bytes) -> str:
    """Return the digest of these parts in this order. The boundaries between the parts count."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()[:32]


REQUEST_ID: Final = "uraniborg.request_id"
"""The key of the id in the scope of an HTTP request, for tasks that outlive the task of the request."""
_WELL_FORMED: Final = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII)
_current: contextvars.ContextVar[str | None] = contextvars.ContextVar("request id", default=None)

P = ParamSpec("P")
T = TypeVar("T")


def get_request_id() -> str | None:
    """Return the id of the request being answered, or None outside of requests."""
    return _current.get()


def begin_request(given: str | None = None) -> str:
    """Set the id of this task's request for the rest of the task, and return the id.

    `given` is used if it has 8 to 64 letters, digits, dots, underscores and hyphens; otherwise the id is new. The id is
    never reset: a server logs the failure of a request after the application has returned.
    """
    request_id = given if given is not None and _WELL_FORMED.fullmatch(given) else new_id()
    _current.set(request_id)
    return request_id


@contextmanager
def start_request() -> Generator[None]:
    """Use a new request id within the block, for events without a task."""
    reset = _current.set(new_id())
    try:
        yield
    finally:
        _current.reset(reset)


def identify_error(body: T) -> T:
    """Return `body` with `request_id` in its `error` object, if there is such an object and a request."""
    value: object = body
    fields = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    request_id, error = get_request_id(), fields.get("error")
    if request_id is None or not isinstance(error, dict):
        return body
    return cast("T", {**fields, "error": {**cast("dict[str, object]", error), "request_id": request_id}})


def bind_context(function: Callable[P, T]) -> Callable[P, T]:
    """Return `function` bound to the context of the caller, for a thread that would start without a request id."""
    context = contextvars.copy_context()

    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.run(function, *args, **kwargs)

    return run
