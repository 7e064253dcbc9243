"""Store answers, one readable file per request with its outcomes, and answer repeated requests without a network."""

import asyncio
import base64
import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from paper_search.errors import NonRetryableError, RetryableError, SearchSourceError
from paper_search.sources.interfaces import Request, Response, Transport
from uraniborg.kernel.boundary import make_all_encodable
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.store.files import make_folder, make_private, write_atomic

_ENTRY = re.compile(r"[a-z0-9_-]*-[0-9a-f]{32}\.json")

Pair = tuple[str, str]
Encoding = Literal["json", "text", "base64"]


class DamagedEntry(InvalidInput):
    """A file of the store is damaged."""

    code = "damaged_entry"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StoredAnswer(_Strict):
    """An answer. A JSON body is stored as JSON if that restores the same bytes, else as lines of text."""

    kind: Literal["answer"] = "answer"
    status: int
    headers: dict[str, str] = Field(default_factory=dict)
    seconds: float = Field(default=0.0, ge=0)
    calls: int = Field(default=1, ge=0)
    encoding: Encoding = "json"
    body: Any

    _bytes: bytes = PrivateAttr()

    @model_validator(mode="after")
    def _decode_and_check_body(self) -> "StoredAnswer":
        try:
            self._bytes = _decode_body(self.encoding, self.body)
        except TypeError:
            raise ValueError(f"the body is not {self.encoding}") from None
        return self

    @classmethod
    def from_response(cls, response: Response) -> "StoredAnswer":
        encoding, body = _encode_body(response.body)
        return cls(
            status=response.status,
            headers=dict(response.headers),
            seconds=response.seconds,
            calls=response.calls,
            encoding=encoding,
            body=body,
        )

    def replay(self) -> Response:
        """Return the stored response."""
        return Response(self.status, self._bytes, self.headers, seconds=self.seconds, calls=self.calls)


class StoredFailure(_Strict):
    """A failure, with everything needed to raise it again."""

    kind: Literal["failure"] = "failure"
    code: str
    message: str
    hint: str = ""
    retry_at: datetime | None = None
    rate_limited: bool = False
    retry_after_s: float | None = None
    ids: dict[str, str | int | float | bool | None] = Field(default_factory=dict)

    @classmethod
    def from_error(cls, error: SearchSourceError) -> "StoredFailure":
        return cls(
            code=error.code,
            message=error.message,
            hint=error.hint,
            retry_at=error.retry_at,
            rate_limited=error.rate_limited,
            retry_after_s=error.retry_after_s if isinstance(error, RetryableError) else None,
            ids={name: value for name, value in error.ids.items() if isinstance(value, str | int | float | None)},
        )

    def replay(self) -> NoReturn:
        """Raise the stored failure."""
        kind = {kind.code: kind for kind in _iterate_class_and_subclasses(SearchSourceError)}.get(
            self.code, NonRetryableError
        )
        if issubclass(kind, RetryableError):
            raise kind(
                self.message,
                hint=self.hint,
                rate_limited=self.rate_limited,
                retry_after_s=self.retry_after_s,
                retry_at=self.retry_at,
                **self.ids,
            )
        raise kind(self.message, hint=self.hint, retry_at=self.retry_at, **self.ids)


class StoredTimeout(_Strict):
    """A request whose caller stopped waiting because its deadline had passed."""

    kind: Literal["stopped"] = "stopped"

    def replay(self) -> NoReturn:
        """Raise TimeoutError, as the caller's deadline did."""
        raise TimeoutError


Outcome = Annotated[StoredAnswer | StoredFailure | StoredTimeout, Field(discriminator="kind")]


class _StoredRequest(_Strict):
    source: str
    method: str
    url: str
    params: tuple[Pair, ...] = ()
    headers: tuple[Pair, ...] = ()
    form: tuple[Pair, ...] = ()

    def to_request(self) -> Request:
        return Request(self.source, self.url, self.params, self.headers, self.form)


class StoredExchange(_Strict):
    """One request and its outcomes, one for each time it was sent."""

    format: Literal[1] = 1
    kept_at: AwareDatetime | None = None
    asked: _StoredRequest = Field(alias="request")
    outcomes: tuple[Outcome, ...] = Field(min_length=1)

    @property
    def request(self) -> Request:
        return self.asked.to_request()


class AnswerStore:
    """A folder of entries. Its methods block on the disk: call them from a thread, not from the event loop."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get_path(self, request: Request) -> Path:
        source = re.sub(r"[^a-z0-9_-]", "_", request.source.lower())[:40]
        return self.folder / f"{source}-{request.fingerprint}.json"

    def read_entry(self, request: Request) -> StoredExchange | None:
        """Return the entry of the request, or None. Raise DamagedEntry for a file that cannot be read."""
        try:
            entry = read_entry_file(self.get_path(request))
        except FileNotFoundError:
            return None
        return entry if entry.request == request else None

    def write_entry(self, request: Request, outcomes: Sequence[Outcome], kept_at: datetime | None = None) -> None:
        """Write the outcomes in place of earlier ones. Raise OSError if the disk refuses."""
        asked = {
            "source": request.source,
            "method": request.method,
            "url": request.url,
            "params": request.params,
            "headers": request.headers,
            "form": request.form,
        }
        content = {
            "format": 1,
            **({"kept_at": kept_at.isoformat()} if kept_at else {}),
            "request": {name: value for name, value in asked.items() if value},
            "outcomes": [
                {"kind": outcome.kind, **outcome.model_dump(mode="json", exclude_defaults=True)} for outcome in outcomes
            ],
        }
        make_folder(self.folder)
        write_atomic(self.get_path(request), format_indented_json_bytes(content))

    def remove_entry(self, request: Request) -> None:
        """Remove the entry of a request, if there is one."""
        self.get_path(request).unlink(missing_ok=True)

    def iterate_entry_paths(self) -> Iterator[Path]:
        """Yield the files that hold entries. The folder may hold other files too: people choose the folder."""
        return (path for path in self.folder.glob("*.json") if _ENTRY.fullmatch(path.name))

    def read_entries(self) -> list[StoredExchange]:
        """Return every entry in the folder. Raise DamagedEntry for the first that cannot be read."""
        return [read_entry_file(path) for path in sorted(self.iterate_entry_paths())]


def read_entry_file(path: Path) -> StoredExchange:
    """Return the entry in a file. Raise DamagedEntry, or FileNotFoundError if the file does not exist."""
    try:
        return StoredExchange.model_validate(make_all_encodable(json.loads(path.read_bytes())))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedEntry(
            f"The stored answer '{path.name}' cannot be read ({type(error).__name__}).",
            hint="Remove the file, or record the search again.",
            file=path.name,
        ) from error


def format_indented_json_bytes(content: Mapping[str, object]) -> bytes:
    """Return indented JSON that people can read and compare line by line."""
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def _encode_body(body: bytes) -> tuple[Encoding, Any]:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return "base64", base64.b64encode(body).decode()
    try:
        value = json.loads(text)
        if _format_compact_json(value) == text:
            return "json", value
    except (ValueError, RecursionError):
        pass
    return "text", text.splitlines(keepends=True)


def _decode_body(encoding: Encoding, body: Any) -> bytes:
    if encoding == "base64":
        return base64.b64decode(body, validate=True)
    return (_format_compact_json(body) if encoding == "json" else "".join(body)).encode()


def _format_compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _iterate_class_and_subclasses(error_class: type[SearchSourceError]) -> Iterable[type[SearchSourceError]]:
    yield error_class
    for child in error_class.__subclasses__():
        yield from _iterate_class_and_subclasses(child)


_log = get_logger(__name__)


class CachingTransport:
    """A transport that replays answers in `folder` younger than `ttl_s` seconds, and sends other requests to `inner`.

    Only successes are stored. A cache that cannot be read or written is logged and does not fail a search.
    """

    def __init__(self, inner: Transport, folder: Path, *, ttl_s: float, clock: Clock | None = None) -> None:
        self._inner = inner
        self._store = AnswerStore(folder)
        self._lifetime = timedelta(seconds=ttl_s)
        self._clock = clock or SystemClock()
        self._swept = False

    async def send(self, request: Request) -> Response:
        if (stored := await asyncio.to_thread(self._sweep_once_and_find_fresh_answer, request)) is not None:
            return stored
        response = await self._inner.send(request)
        if response.status == 200:
            await asyncio.to_thread(self._try_store_answer, request, response)
        return response

    async def forget_answer(self, request: Request) -> None:
        """Drop a stored answer that turned out to be unusable."""
        with contextlib.suppress(OSError):  # the answer expires instead
            await asyncio.to_thread(self._store.remove_entry, request)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _sweep_once_and_find_fresh_answer(self, request: Request) -> Response | None:
        if not self._swept:
            self._swept = True
            self._delete_old_answers_and_make_rest_private()
        try:
            entry = self._store.read_entry(request)
        except DamagedEntry as error:
            _log.warning("a cached answer cannot be read", file=error.ids["file"])
            return None
        if entry is None or entry.kept_at is None or not isinstance(answer := entry.outcomes[0], StoredAnswer):
            return None
        age = self._clock.now() - entry.kept_at
        if not timedelta(0) <= age < self._lifetime:
            return None
        return replace(answer.replay(), calls=0)

    def _try_store_answer(self, request: Request, response: Response) -> None:
        try:
            self._store.write_entry(request, [StoredAnswer.from_response(response)], kept_at=self._clock.now())
        except OSError as error:
            _log.warning("the cache cannot be written", reason=error.strerror)

    def _delete_old_answers_and_make_rest_private(self) -> None:
        oldest = (self._clock.now() - self._lifetime).timestamp()
        for path in self._store.iterate_entry_paths():
            try:
                if path.stat().st_mtime < oldest:
                    path.unlink()
                else:
                    make_private(path)
            except OSError:
                continue  # another search removed it first
