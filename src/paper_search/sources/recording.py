"""A search kept in a folder, to be run again without a network and with the very same result."""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from paper_search.errors import NotRecordedError, SearchSourceError
from paper_search.sources.answer_store import AnswerStore, KeptAnswer, KeptFailure, KeptStop, Outcome, readable_json
from paper_search.sources.interfaces import Request, Response, Transport, forget
from uraniborg.kernel.clock import Clock, FrozenClock, SystemClock
from uraniborg.kernel.errors import InvalidInput, invalid
from uraniborg.kernel.files import make_folder, shown, write_atomic
from uraniborg.kernel.logging import get_logger

MANIFEST: Final = "recording.json"
_FIELD_LISTS: Final = {"select", "fields"}
_log = get_logger(__name__)


class InvalidRecording(InvalidInput):
    """The folder is no recording, or not one that can be used."""

    code = "invalid_recording"


class RecordedOptions(BaseModel):
    """How the recorded search was set up; its replays are set up the same way."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sources: list[str] = Field(default_factory=list)
    max_results: int = Field(default=100, ge=1)
    domain: str = "general"
    min_relevance: float = Field(default=0.3, ge=0.0, le=1.0)
    source_deadline_s: float = Field(default=60.0, gt=0)
    model: str = ""
    """The language model that was asked, if one was."""


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal[1]
    recorded_at: AwareDatetime
    complete: bool = True
    query: str
    options: RecordedOptions = RecordedOptions()


@dataclass(frozen=True, slots=True)
class Recording:
    """A search as it went: what was asked, when, and how every request ended.

    The search that is being recorded runs on `clock` too, so that it and its replays see one time. `create` and `open`
    touch the disk: in a coroutine, call them through `asyncio.to_thread`.
    """

    folder: Path
    query: str
    options: RecordedOptions
    recorded_at: datetime
    outcomes: Mapping[str, tuple[Outcome, ...]] = field(default_factory=dict[str, tuple[Outcome, ...]])
    """By the question (see `_question`) of the request."""
    sources: tuple[str, ...] = ()
    """Whose answers it holds."""

    @classmethod
    def create(
        cls, folder: Path, *, query: str, options: RecordedOptions | None = None, clock: Clock | None = None
    ) -> "Recording":
        """Starts a recording in a new or empty folder. Raises InvalidRecording for any other, or one not writable."""
        recording = cls(folder, query, options or RecordedOptions(), (clock or SystemClock()).now().astimezone(UTC))
        try:
            make_folder(folder)
            if any(folder.iterdir()):
                raise InvalidRecording(
                    f"'{shown(folder)}' is not empty.", hint="Record into a new folder.", folder=shown(folder)
                )
            recording.write_manifest(complete=False)
        except OSError as error:
            raise InvalidRecording(
                f"'{shown(folder)}' cannot be recorded into: {error.strerror}.",
                hint="Record into a folder that can be written.",
                folder=shown(folder),
            ) from error
        return recording

    @classmethod
    def open(cls, folder: Path) -> "Recording":
        """The recording in `folder`. Raises InvalidRecording, or DamagedEntry for an answer that cannot be read."""
        manifest = _manifest(folder)
        entries = AnswerStore(folder).entries()
        return cls(
            folder,
            manifest.query,
            manifest.options,
            manifest.recorded_at.astimezone(UTC),
            {_question(entry.request): entry.outcomes for entry in entries},
            tuple(dict.fromkeys(entry.request.source for entry in entries)),
        )

    @property
    def clock(self) -> Clock:
        """A clock that stands at the time of the recording."""
        return FrozenClock(self.recorded_at)

    def record(self, inner: Transport) -> "RecordingTransport":
        """A transport that asks `inner` and keeps how every request ended; closing it completes the recording."""
        return RecordingTransport(inner, self)

    def replay(self) -> "ReplayTransport":
        """A transport that answers from this recording alone."""
        return ReplayTransport(self)

    def write_manifest(self, *, complete: bool) -> None:
        manifest = _Manifest(
            format=1, recorded_at=self.recorded_at, complete=complete, query=self.query, options=self.options
        )
        write_atomic(self.folder / MANIFEST, readable_json(manifest.model_dump(mode="json")))


class RecordingTransport:
    """Passes requests on and keeps the answers, the failures, and where the caller stopped waiting."""

    def __init__(self, inner: Transport, recording: Recording) -> None:
        self._inner = inner
        self._recording = recording
        self._store = AnswerStore(recording.folder)
        self._ends = defaultdict[Request, list[Response | SearchSourceError | None]](list)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="recording")  # one thread: writes keep their order
        self._writes: list[asyncio.Future[None]] = []
        self._abandoned = False

    def abandon(self) -> None:
        """The search did not come to its end: what was recorded stays, marked as incomplete."""
        self._abandoned = True

    async def send(self, request: Request) -> Response:
        try:
            response = await self._inner.send(request)
        except SearchSourceError as error:
            self._note(request, error)
            raise
        except asyncio.CancelledError:
            self._note(request, None)
            raise
        self._note(request, response)
        return response

    async def forget(self, request: Request) -> None:
        await forget(self._inner, request)

    async def aclose(self) -> None:
        """Writes what is not yet written and marks the recording complete, then closes the inner transport.

        A recording that could not be written stays incomplete, which is logged: the search itself did not fail.
        """
        writes, self._writes = self._writes, []
        failures = await asyncio.gather(*writes, return_exceptions=True)
        if not any(failures) and not self._abandoned:
            completed = asyncio.to_thread(self._recording.write_manifest, complete=True)
            failures = await asyncio.gather(completed, return_exceptions=True)
        if failure := next(filter(None, failures), None):
            _log.exception("the recording is incomplete", failure, folder=str(self._recording.folder))
        await self._inner.aclose()

    def _note(self, request: Request, end: Response | SearchSourceError | None) -> None:
        # Nothing is awaited between the end of a request and its note, so a deadline cannot fall between the two.
        ends = self._ends[request]
        ends.append(end)
        loop = asyncio.get_running_loop()
        self._writes.append(loop.run_in_executor(self._writer, self._write, request, list(ends)))

    def _write(self, request: Request, ends: list[Response | SearchSourceError | None]) -> None:
        self._store.write(request, [_outcome(end) for end in ends])


def _outcome(end: Response | SearchSourceError | None) -> Outcome:
    if end is None:
        return KeptStop()
    return KeptAnswer.of(end) if isinstance(end, Response) else KeptFailure.of(end)


class ReplayTransport:
    """Answers from a recording and never from the network. Each repetition of a request gets the answer it got then.

    Raises NotRecordedError for a request the recording does not hold. Closing it takes it back to the start.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._replayed: Counter[str] = Counter()

    @property
    def sources(self) -> tuple[str, ...]:
        return self._recording.sources

    async def send(self, request: Request) -> Response:
        await asyncio.sleep(0)
        question = _question(request)
        outcomes = self._recording.outcomes.get(question)
        if not outcomes:
            raise NotRecordedError(
                f"The recording holds no answer of {request.source} to this request.",
                hint="Replay with the query and the options of the recording, or record it again.",
                source=request.source,
                url=request.url,
                calls=0,
            )
        time = self._replayed[question]
        self._replayed[question] += 1
        return outcomes[min(time, len(outcomes) - 1)].given_back()

    async def aclose(self) -> None:
        self._replayed.clear()


def _question(request: Request) -> str:
    """Return the fingerprint of a request without its list of fields.

    Later versions read more fields of the same answers. A recording of an earlier version still answers them.
    """
    asked = tuple((name, value) for name, value in request.params if name not in _FIELD_LISTS)
    return replace(request, params=asked).fingerprint


def _manifest(folder: Path) -> _Manifest:
    try:
        manifest = _Manifest.model_validate(json.loads((folder / MANIFEST).read_bytes()))
    except (FileNotFoundError, NotADirectoryError):
        if not folder.exists():
            raise _refused(folder, "does not exist") from None
        raise _refused(folder, f"is not a recording: it has no {MANIFEST}") from None
    except ValidationError as error:
        raise _refused(folder, f"cannot be used. {invalid(error, what=MANIFEST).message}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise _refused(folder, f"has a {MANIFEST} that cannot be read ({type(error).__name__})") from error
    if not manifest.complete:
        raise _refused(folder, "is a recording that was never finished")
    return manifest


def _refused(folder: Path, problem: str) -> InvalidRecording:
    return InvalidRecording(
        f"'{shown(folder)}' {problem}.", hint="Name a folder made by recording a search.", folder=shown(folder)
    )
