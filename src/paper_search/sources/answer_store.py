"""What sources answered, kept as one readable file per request: for the cache and for recordings alike."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from paper_search.errors import NonRetryableError, RetryableError, SearchSourceError
from paper_search.sources.interfaces import Request, Response
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.files import make_folder, write_atomic

_ENTRY = re.compile(r"[a-z0-9_-]*-[0-9a-f]{32}\.json")

Pair = tuple[str, str]
Encoding = Literal["json", "text", "base64"]


class DamagedEntry(InvalidInput):
    """A file in the folder is not what was once written there."""

    code = "damaged_entry"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KeptAnswer(_Strict):
    """An answer. A JSON body is kept as such when that gives back the very same bytes, else as lines of text."""

    kind: Literal["answer"] = "answer"
    status: int
    headers: dict[str, str] = Field(default_factory=dict)
    seconds: float = Field(default=0.0, ge=0)
    calls: int = Field(default=1, ge=0)
    encoding: Encoding = "json"
    body: Any

    _bytes: bytes = PrivateAttr()

    @model_validator(mode="after")
    def _can_be_given_back(self) -> "KeptAnswer":
        try:
            self._bytes = _decoded(self.encoding, self.body)
        except TypeError:
            raise ValueError(f"the body is not {self.encoding}") from None
        return self

    @classmethod
    def of(cls, response: Response) -> "KeptAnswer":
        encoding, body = _encoded(response.body)
        return cls(
            status=response.status,
            headers=dict(response.headers),
            seconds=response.seconds,
            calls=response.calls,
            encoding=encoding,
            body=body,
        )

    def given_back(self) -> Response:
        return Response(self.status, self._bytes, self.headers, seconds=self.seconds, calls=self.calls)


class KeptFailure(_Strict):
    """A failure, with all that it takes to raise it again."""

    kind: Literal["failure"] = "failure"
    code: str
    message: str
    hint: str = ""
    retry_at: datetime | None = None
    rate_limited: bool = False
    retry_after_s: float | None = None
    ids: dict[str, str | int | float | bool | None] = Field(default_factory=dict)

    @classmethod
    def of(cls, error: SearchSourceError) -> "KeptFailure":
        return cls(
            code=error.code,
            message=error.message,
            hint=error.hint,
            retry_at=error.retry_at,
            rate_limited=error.rate_limited,
            retry_after_s=error.retry_after_s if isinstance(error, RetryableError) else None,
            ids={name: value for name, value in error.ids.items() if isinstance(value, str | int | float | None)},
        )

    def given_back(self) -> Response:
        """Raises the failure that was kept."""
        kind = {kind.code: kind for kind in _family(SearchSourceError)}.get(self.code, NonRetryableError)
        limits = {"rate_limited": self.rate_limited, "retry_after_s": self.retry_after_s}
        extra: dict[str, Any] = {**self.ids, **(limits if issubclass(kind, RetryableError) else {})}
        raise kind(self.message, hint=self.hint, retry_at=self.retry_at, **extra)


class KeptStop(_Strict):
    """The caller went away before the answer came: its deadline had passed."""

    kind: Literal["stopped"] = "stopped"

    def given_back(self) -> Response:
        """Raises TimeoutError, as the caller's deadline did."""
        raise TimeoutError


Outcome = Annotated[KeptAnswer | KeptFailure | KeptStop, Field(discriminator="kind")]


class _KeptRequest(_Strict):
    source: str
    method: str
    url: str
    params: tuple[Pair, ...] = ()
    headers: tuple[Pair, ...] = ()
    form: tuple[Pair, ...] = ()

    def request(self) -> Request:
        return Request(self.source, self.url, self.params, self.headers, self.form)


class Entry(_Strict):
    """One request and how it ended, each time it was made."""

    format: Literal[1] = 1
    kept_at: AwareDatetime | None = None
    asked: _KeptRequest = Field(alias="request")
    outcomes: tuple[Outcome, ...] = Field(min_length=1)

    @property
    def request(self) -> Request:
        return self.asked.request()


class AnswerStore:
    """A folder of entries. Its methods touch the disk: call them from a thread, not from the event loop."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, request: Request) -> Path:
        source = re.sub(r"[^a-z0-9_-]", "_", request.source.lower())[:40]
        return self.folder / f"{source}-{request.fingerprint}.json"

    def read(self, request: Request) -> Entry | None:
        """What is kept of the request, if anything. Raises DamagedEntry for a file that cannot be read."""
        try:
            entry = read_entry(self.path(request))
        except FileNotFoundError:
            return None
        return entry if entry.request == request else None

    def write(self, request: Request, outcomes: Sequence[Outcome], kept_at: datetime | None = None) -> None:
        """Keeps the outcomes in the place of earlier ones. Raises OSError when the disk refuses."""
        asked = {
            "source": request.source,
            "method": request.method,
            "url": request.url,
            "params": request.params,
            "headers": request.headers,
            "form": request.form,
        }
        content: dict[str, Any] = {
            "format": 1,
            **({"kept_at": kept_at.isoformat()} if kept_at else {}),
            "request": {name: value for name, value in asked.items() if value},
            "outcomes": [
                {"kind": outcome.kind, **outcome.model_dump(mode="json", exclude_defaults=True)} for outcome in outcomes
            ],
        }
        make_folder(self.folder)
        write_atomic(self.path(request), readable_json(content))

    def remove(self, request: Request) -> None:
        self.path(request).unlink(missing_ok=True)

    def paths(self) -> Iterator[Path]:
        """The files that hold entries. Others may lie beside them: people choose the folder."""
        return (path for path in self.folder.glob("*.json") if _ENTRY.fullmatch(path.name))

    def entries(self) -> list[Entry]:
        """Every entry in the folder. Raises DamagedEntry for the first that cannot be read."""
        return [read_entry(path) for path in sorted(self.paths())]


def read_entry(path: Path) -> Entry:
    """The entry in one file. Raises DamagedEntry, or FileNotFoundError when there is none."""
    try:
        return Entry.model_validate(json.loads(path.read_bytes()))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError, ValidationError) as error:
        raise DamagedEntry(
            f"The kept answer '{path.name}' cannot be read ({type(error).__name__}).",
            hint="Remove the file, or make the recording again.",
            file=path.name,
        ) from error


def readable_json(content: Mapping[str, Any]) -> bytes:
    """JSON that people can read and compare line by line."""
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "surrogatepass")


def _encoded(body: bytes) -> tuple[Encoding, Any]:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return "base64", base64.b64encode(body).decode()
    try:
        value = json.loads(text)
        if _compact(value) == text:
            return "json", value
    except (ValueError, RecursionError):
        pass
    return "text", text.splitlines(keepends=True)


def _decoded(encoding: Encoding, body: Any) -> bytes:
    if encoding == "base64":
        return base64.b64decode(body, validate=True)
    return (_compact(body) if encoding == "json" else "".join(body)).encode()


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _family(kind: type[SearchSourceError]) -> Iterable[type[SearchSourceError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _family(child)
