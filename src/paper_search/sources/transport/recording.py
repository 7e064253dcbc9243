"""Record searches in folders, and replay them without a network and with the same result."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from paper_search.errors import NotRecordedError, SearchSourceError
from paper_search.sources.interfaces import Request, Response, Transport, forget_answer
from paper_search.sources.transport.answer_cache import (
    AnswerStore,
    Outcome,
    StoredAnswer,
    StoredFailure,
    StoredTimeout,
    format_indented_json_bytes,
)
from uraniborg.kernel.boundary import parse_json
from uraniborg.kernel.clock import Clock, FrozenClock, SystemClock
from uraniborg.kernel.errors import InvalidInput, make_invalid_input
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.store.files import display_path, make_folder, write_atomic

MANIFEST: Final = "recording.json"
_FIELD_LISTS: Final = {"select", "fields"}
_log = get_logger(__name__)


class InvalidRecording(InvalidInput):
    """The folder is not a recording, or not a usable one."""

    code = "invalid_recording"


class RecordedOptions(BaseModel):
    """The options of the recorded search, which its replays use too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sources: list[str] = Field(default_factory=list)
    max_results: int = Field(default=100, ge=1)
    domain: str = "general"
    min_relevance: float | None = Field(default=None, ge=0.0, le=1.0)
    source_deadline_s: float = Field(default=60.0, gt=0)
    model: str = ""
    """The language model of the search, if any."""


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal[1]
    recorded_at: AwareDatetime
    complete: bool = True
    query: str
    options: RecordedOptions = RecordedOptions()


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded search: its query, its time, and the outcome of every request.

    The recorded search runs on `clock` too, so that it and its replays see one time. `create` and `open` block on the
    disk: in a coroutine, call them through `asyncio.to_thread`.
    """

    folder: Path
    query: str
    options: RecordedOptions
    recorded_at: datetime
    outcomes: Mapping[str, tuple[Outcome, ...]] = field(default_factory=dict[str, tuple[Outcome, ...]])
    """Outcomes by the fingerprint of the request (see `_fingerprint_without_field_list`)."""
    sources: tuple[str, ...] = ()
    """The sources whose answers the recording holds."""

    @classmethod
    def create(
        cls, folder: Path, *, query: str, options: RecordedOptions | None = None, clock: Clock | None = None
    ) -> "Recording":
        """Start a recording in a new or empty folder. Raise InvalidRecording for any other folder."""
        recording = cls(folder, query, options or RecordedOptions(), (clock or SystemClock()).now().astimezone(UTC))
        try:
            make_folder(folder)
            if any(folder.iterdir()):
                raise InvalidRecording(
                    f"'{display_path(folder)}' is not empty.",
                    hint="Record into a new folder.",
                    folder=display_path(folder),
                )
            recording.write_manifest(complete=False)
        except OSError as error:
            raise InvalidRecording(
                f"The folder '{display_path(folder)}' cannot be written: {error.strerror}.",
                hint="Record into a folder that can be written.",
                folder=display_path(folder),
            ) from error
        return recording

    @classmethod
    def open(cls, folder: Path) -> "Recording":
        """Open the recording in `folder`. Raise InvalidRecording, or DamagedEntry for an unreadable answer."""
        manifest = _read_manifest(folder)
        entries = AnswerStore(folder).read_entries()
        return cls(
            folder,
            manifest.query,
            manifest.options,
            manifest.recorded_at.astimezone(UTC),
            {_fingerprint_without_field_list(entry.request): entry.outcomes for entry in entries},
            tuple(dict.fromkeys(entry.request.source for entry in entries)),
        )

    @property
    def clock(self) -> Clock:
        """A clock frozen at the time of the recording."""
        return FrozenClock(self.recorded_at)

    def make_recording_transport(self, inner: Transport) -> "RecordingTransport":
        """Return a transport that sends to `inner` and records every outcome; closing it completes the recording."""
        return RecordingTransport(inner, self)

    def make_replay_transport(self) -> "ReplayTransport":
        """Return a transport that answers from this recording only."""
        return ReplayTransport(self)

    def write_manifest(self, *, complete: bool) -> None:
        manifest = _Manifest(
            format=1, recorded_at=self.recorded_at, complete=complete, query=self.query, options=self.options
        )
        write_atomic(self.folder / MANIFEST, format_indented_json_bytes(manifest.model_dump(mode="json")))


class RecordingTransport:
    """A transport that sends requests to another one and records answers, failures and timeouts."""

    def __init__(self, inner: Transport, recording: Recording) -> None:
        self._inner = inner
        self._recording = recording
        self._store = AnswerStore(recording.folder)
        self._ends = defaultdict[Request, list[Response | SearchSourceError | None]](list)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="recording")  # one thread: writes keep their order
        self._writes: list[asyncio.Future[None]] = []
        self._abandoned = False

    def mark_incomplete(self) -> None:
        """Mark the recording as incomplete because the search did not finish."""
        self._abandoned = True

    async def send(self, request: Request) -> Response:
        try:
            response = await self._inner.send(request)
        except SearchSourceError as error:
            self._queue_write_of_outcome(request, error)
            raise
        except asyncio.CancelledError:
            self._queue_write_of_outcome(request, None)
            raise
        self._queue_write_of_outcome(request, response)
        return response

    async def forget_answer(self, request: Request) -> None:
        await forget_answer(self._inner, request)

    async def aclose(self) -> None:
        """Write the pending outcomes, mark the recording complete, and close the inner transport.

        A recording that could not be written stays incomplete and is logged: the search itself did not fail.
        """
        writes, self._writes = self._writes, []
        failures = await asyncio.gather(*writes, return_exceptions=True)
        if not any(failures) and not self._abandoned:
            completed = asyncio.to_thread(self._recording.write_manifest, complete=True)
            failures = await asyncio.gather(completed, return_exceptions=True)
        if failure := next(filter(None, failures), None):
            _log.exception("the recording is incomplete", failure, folder=str(self._recording.folder))
        await self._inner.aclose()

    def _queue_write_of_outcome(self, request: Request, end: Response | SearchSourceError | None) -> None:
        # Nothing is awaited between the end of a request and this call, so no deadline can fall between the two.
        ends = self._ends[request]
        ends.append(end)
        loop = asyncio.get_running_loop()
        self._writes.append(loop.run_in_executor(self._writer, self._write_outcomes, request, list(ends)))

    def _write_outcomes(self, request: Request, ends: list[Response | SearchSourceError | None]) -> None:
        self._store.write_entry(request, [_make_outcome(end) for end in ends])


def _make_outcome(end: Response | SearchSourceError | None) -> Outcome:
    if end is None:
        return StoredTimeout()
    return StoredAnswer.from_response(end) if isinstance(end, Response) else StoredFailure.from_error(end)


class ReplayTransport:
    """A transport that answers from a recording only; repeated requests get their recorded answers in order.

    Raises NotRecordedError for a request that the recording does not hold. Closing it returns it to the start.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._replayed: Counter[str] = Counter()

    @property
    def sources(self) -> tuple[str, ...]:
        return self._recording.sources

    async def send(self, request: Request) -> Response:
        await asyncio.sleep(0)
        question = _fingerprint_without_field_list(request)
        outcomes = self._recording.outcomes.get(question)
        if not outcomes:
            raise NotRecordedError(
                f"The recording does not have this request to {request.source}.",
                hint="Replay with the query and the options of the recording, or record the search again.",
                source=request.source,
                url=request.url,
                calls=0,
            )
        time = self._replayed[question]
        self._replayed[question] += 1
        return outcomes[min(time, len(outcomes) - 1)].replay()

    async def aclose(self) -> None:
        self._replayed.clear()


def _fingerprint_without_field_list(request: Request) -> str:
    """Return the fingerprint of a request without its list of fields.

    Later versions request more fields. A recording of an earlier version still answers such requests.
    """
    asked = tuple((name, value) for name, value in request.params if name not in _FIELD_LISTS)
    return replace(request, params=asked).fingerprint


def _read_manifest(folder: Path) -> _Manifest:
    try:
        manifest = _Manifest.model_validate(parse_json((folder / MANIFEST).read_bytes()))
    except (FileNotFoundError, NotADirectoryError):
        if not folder.exists():
            raise _make_recording_error(folder, "does not exist") from None
        raise _make_recording_error(folder, f"is not a recording: it has no {MANIFEST}") from None
    except ValidationError as error:
        raise _make_recording_error(
            folder, f"cannot be used. {make_invalid_input(error, label=MANIFEST).message}"
        ) from error
    except (OSError, ValueError) as error:
        raise _make_recording_error(folder, f"has a {MANIFEST} that cannot be read ({type(error).__name__})") from error
    if not manifest.complete:
        raise _make_recording_error(folder, "is an unfinished recording")
    return manifest


def _make_recording_error(folder: Path, problem: str) -> InvalidRecording:
    return InvalidRecording(
        f"'{display_path(folder)}' {problem}.",
        hint="Name the folder of a recorded search.",
        folder=display_path(folder),
    )
