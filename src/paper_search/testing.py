"""Test programs that use a search: fake and emulated sources, transports, scripted decisions, a clock."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from pydantic import ValidationError

from paper_search.emulated_literature import EmulatedBooleanSource, EmulatedLiterature, EmulatedRankedSource
from paper_search.errors import NotRecordedError
from paper_search.models import RawPaper, SearchStrategy
from paper_search.sources.interfaces import Request, Response, SearchSource
from paper_search.workflow.checkpoints import Checkpoint, Decision, DecisionAction
from uraniborg.kernel.clock import FrozenClock
from uraniborg.kernel.errors import Conflict, make_invalid_input

__all__ = [
    "EmulatedBooleanSource",
    "EmulatedLiterature",
    "EmulatedRankedSource",
    "FakeSource",
    "FakeTransport",
    "FrozenClock",
    "ScriptExhausted",
    "ScriptedDecisions",
    "ScriptedScreen",
]

Answer = Response | Exception
T = TypeVar("T")


class ScriptExhausted(Conflict):
    """The script has fewer decisions, keys or lines than the test needed."""

    code = "script_exhausted"


class FakeSource(SearchSource):
    """A source that returns `papers`, or raises `error`, once the `gate` is set, if there is one.

    `asked` holds the strategies of all searches.
    """

    def __init__(
        self,
        name: str,
        papers: Iterable[RawPaper] = (),
        *,
        error: Exception | None = None,
        gate: asyncio.Event | None = None,
    ) -> None:
        self._name = name
        self._papers = list(papers)
        self._error = error
        self._gate = gate
        self.asked: list[SearchStrategy] = []

    @property
    def source_name(self) -> str:
        return self._name

    async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
        self.asked.append(strategy)
        if self._gate is not None:
            await self._gate.wait()
        if self._error is not None:
            raise self._error
        return [paper.model_copy(deep=True) for paper in self._papers]


class FakeTransport:
    """Answers by address: the longest key that the address of a request starts with selects the answer.

    Several answers of one key are used in turn, the last one repeatedly; an exception is raised. `requests` holds all
    requests. Raises NotRecordedError for an address without a key.
    """

    def __init__(self, answers: Mapping[str, Answer | Sequence[Answer]]) -> None:
        self._answers = {
            start: [given] if isinstance(given, Response | Exception) else list(given)
            for start, given in answers.items()
        }
        self.requests: list[Request] = []
        self.closed = False

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        fitting = [start for start, answers in self._answers.items() if request.url.startswith(start) and answers]
        if not fitting:
            raise NotRecordedError(
                f"There is no answer for {request.url}.",
                hint=f"There are answers for: {', '.join(self._answers) or 'nothing'}.",
                source=request.source,
                calls=0,
            )
        answers = self._answers[max(fitting, key=len)]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def aclose(self) -> None:
        self.closed = True


class ScriptedScreen:
    """A terminal for reviews that returns scripted keys, lines and edited texts, each in order.

    `written` holds the displayed text. Raises ScriptExhausted at the end of the script.
    """

    def __init__(
        self, keys: str = "", lines: Iterable[str | None] = (), edits: Iterable[str] = (), width: int = 80
    ) -> None:
        self._keys = list(keys)
        self._lines = list(lines)
        self._edits = list(edits)
        self.width = width
        self.written = ""

    def write(self, text: str) -> None:
        self.written += text + "\n"

    def discard_typed_keys(self) -> None:
        """Do nothing: a script has no keys typed in advance."""

    def read_key(self) -> str:
        return _pop_first_or_raise(self._keys, "key")

    def read_line(self, prompt: str) -> str | None:
        self.write(prompt)
        return _pop_first_or_raise(self._lines, "line")

    def edit_text(self, text: str) -> str:
        self.write(text)
        return _pop_first_or_raise(self._edits, "edit")


def _pop_first_or_raise(left: list[T], kind: str) -> T:
    if not left:
        raise ScriptExhausted(f"The script has no {kind} left.", hint=f"Add a {kind}.")
    return left.pop(0)


class ScriptedDecisions:
    """A checkpoint handler with scripted decisions; a string such as "approve" stands for a decision.

    `seen` holds all checkpoints. Raises InvalidInput for an unknown action, and ScriptExhausted at the end of the
    script.
    """

    def __init__(self, decisions: Iterable[Decision | DecisionAction | str]) -> None:
        self._decisions = [given if isinstance(given, Decision) else _read_decision(given) for given in decisions]
        self.seen: list[Checkpoint] = []

    @property
    def left(self) -> int:
        """The number of unused decisions."""
        return max(0, len(self._decisions) - len(self.seen))

    async def handle(self, checkpoint: Checkpoint) -> Decision:
        self.seen.append(checkpoint)
        if len(self.seen) > len(self._decisions):
            raise ScriptExhausted(
                f"The script has {len(self._decisions)} decisions, and checkpoint {len(self.seen)} "
                f"({checkpoint.kind.value}) asks for another.",
                hint="Add a decision, or check why the search asks more often than expected.",
            )
        return self._decisions[len(self.seen) - 1]


def _read_decision(action: str) -> Decision:
    try:
        return Decision.model_validate({"action": action})
    except ValidationError as error:
        raise make_invalid_input(error, label="decision") from None
