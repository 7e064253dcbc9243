"""Errors that universes, imports and jobs raise.

UraniborgError
├── InvalidInput
│   ├── MalformedCommand        400 malformed_command: a field is missing, wrong or unknown; `path` names it
│   ├── UnknownCommand          400 unknown_command, with all commands
│   ├── MalformedState          400 malformed_state: the value is not a state
│   ├── MalformedRequest        400 malformed_request: the body or a parameter of an HTTP request
│   ├── BadNumber               400 bad_number: NaN, an infinity, or a number too large
│   ├── (the kernel's BodyTooLarge: 413 body_too_large)
│   ├── KeyReused               422 idempotency_key_reused: the key belongs to another command
│   ├── CommandRefused          422 well formed, but not possible in this universe; `event` is the event of the reducer
│   │   ├── StarNotFound, GroupNotFound, SmallBodyFieldNotFound, ProtoplanetaryDiskNotFound, NebulaNotFound,
│   │   │   RingNotFound        …_not_found
│   │   ├── HierarchyRefused    hierarchy_refused: it would make a cycle, or nest too deep
│   │   ├── TimeOverflow        time_overflow: the time would be too large for a number
│   │   ├── NotAttached         not_attached
│   │   ├── ChildAlreadyInGroup child_already_in_group
│   │   └── ChildNotInGroup     child_not_in_group
│   ├── ImportRefused           422 import_refused: nothing can be imported; `format` and `skipped` say more
│   └── JobFailed               job_failed: the job ended without a result; `reason` is the code of its error
├── NotFound
│   ├── UniverseNotFound        universe_not_found
│   ├── VersionNotFound         version_not_found
│   └── JobNotFound             job_not_found
├── Conflict
│   ├── NothingToUndo           nothing_to_undo
│   ├── VersionConflict         version_conflict: another change came first; `version` is the current one
│   ├── LogDamaged              503 log_damaged: an entry differs from what was written; `sequence` is its version
│   ├── JobNotDone              job_not_done: the job has no result, or not yet; `state` is its state
│   ├── JobEnded                job_ended: only an active job can be cancelled
│   └── JobActive               job_active: only a job that has ended can be deleted
└── Unavailable
    ├── StoreUnavailable        store_unavailable: the database does not answer
    ├── TooBusy                 too_busy: too many requests are waiting
    └── TooManyJobs             too_many_jobs: too many jobs are waiting
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NotRequired, TypeVar

from typing_extensions import TypedDict

from uraniborg.kernel.errors import Conflict, InvalidInput, NotFound, Unavailable
from uraniborg.kernel.json_values import Json
from uraniborg.kernel.language.messages import format_did_you_mean

_NOT_COMMANDS = ("undo", "redo", "revert", "restore", "branch", "fork", "history", "nbody", "n-body", "createuniverse")
ELSEWHERE = (
    "Creation, undo, restore, branches, history, positions and N-body runs are not commands: use REST (POST "
    "/universes, /universes/{id}/undo, /restore, /branch, GET /history, /positions) or the command line (universe new, "
    "undo, restore, branch, nbody, history). To go back over MCP, read an earlier version with get_universe_state and "
    "version, and send its values again. "
)
"""The operations that are not commands, and where they are."""
_PATH_HINTS = {
    "dt": "dt is a number of simulation seconds, which are days in real systems: a year is 365.25. ",
    "kepler": "A kepler block is replaced as a whole: read it with get_universe_state and fields, and send all of "
    "semiMajorAxis, eccentricity, inclination, longitudeOfAscendingNode, argumentOfPeriapsis, meanAnomaly, epoch and "
    "units. ",
}
"""Hints for fields, by a part of the path."""
_COMMAND_HINTS: dict[tuple[Any, str], str] = {
    ("attachStar", "parentId"): "To make a body a root, send detachStar with its childId. ",
}
"""Hints for fields that mean something else in one command, by the command and the path."""

Malformed = TypeVar("Malformed", bound=InvalidInput)

_SHOWN = 100
_NUMBER_SHOWN = 11
_MESSAGE_CHARS = 500
_PATHS_BYTES = 1_000
_REFERENCE = "`universe commands`, list_universe_commands and /docs show every command with its fields."


def _find_field_hint(path: str, command: Any) -> str:
    """Return the hint for a field of a command, or for a command whose fields are often mistaken; with a space."""
    if hint := _COMMAND_HINTS.get((command, path)):
        return hint
    names = [*path.split("."), *(["dt"] if command == "tick" else [])]
    return next((hint for name, hint in _PATH_HINTS.items() if name in names), "")


class ProblemFacts(TypedDict):
    """A problem of a value: its path, the values allowed instead, and similar names that are allowed."""

    path: str
    problem: str
    allowed: NotRequired[Json]
    nearest: NotRequired[list[str]]


class MalformedCommand(InvalidInput):
    code = "malformed_command"
    status = 400

    def __init__(self, path: str, problem: str, *, allowed: Any = None, **ids: Any) -> None:
        super().__init__(
            f"{path[:200] or 'the command'} {problem}.",
            hint=_find_field_hint(path, ids.get("command")) + _REFERENCE,
            path=path[:200],
            **({} if allowed is None else {"allowed": allowed}),
            **ids,
        )

    @classmethod
    def from_problems(cls, problems: list[ProblemFacts], **ids: Any) -> "MalformedCommand":
        """Return the error for these problems, of which the first gives `path` and `allowed`."""
        first, *more = problems
        error = cls(first["path"], first["problem"], allowed=first.get("allowed"), **ids)
        return _add_problems(error, problems, "the command") if more or first.get("nearest") else error


class UnknownCommand(InvalidInput):
    code = "unknown_command"
    status = 400

    def __init__(self, given: str, allowed: list[str], nearest: list[str], example: Any = None) -> None:
        elsewhere = ELSEWHERE if given.lower().startswith(_NOT_COMMANDS) else ""
        super().__init__(
            f"There is no command '{given[:80]}'.",
            hint=elsewhere + format_did_you_mean(nearest) + _REFERENCE,
            path="type",
            allowed=", ".join(allowed),
            **({"nearest": nearest, "example": example} if nearest else {}),
        )


class MalformedState(InvalidInput):
    code = "malformed_state"
    status = 400

    def __init__(self, path: str, problem: str, *, allowed: Any = None) -> None:
        super().__init__(
            f"{path or 'the state'} {problem}.",
            hint="The reference of commands and entities lists the fields of a state.",
            path=path,
            **({} if allowed is None else {"allowed": allowed}),
        )

    @classmethod
    def from_problems(cls, problems: list[ProblemFacts]) -> "MalformedState":
        """Return the error for these problems, of which the first gives `path` and `allowed`."""
        first, *more = problems
        error = cls(first["path"], first["problem"], allowed=first.get("allowed"))
        return _add_problems(error, problems, "the state") if more or first.get("nearest") else error


def _add_problems(error: Malformed, problems: list[ProblemFacts], subject: str) -> Malformed:
    """Add all problems to the message, hint and ids of an error that has the first; long paths leave out some."""
    sizes = accumulate(len(one["path"].encode()) for one in problems)
    problems = [one for one, size in zip(problems, sizes, strict=True) if size <= _PATHS_BYTES or one is problems[0]]
    sentences = [f"{one['path'] or subject} {one['problem']}" for one in problems]
    named = [
        one for one, size in zip(sentences, accumulate(map(len, sentences)), strict=True) if size <= _MESSAGE_CHARS
    ]
    named = named or sentences[:1]
    more = f" (and {len(sentences) - len(named)} more)" if len(sentences) > len(named) else ""
    error.message = f"{'; '.join(named)}{more}."
    error.args = (error.message,)
    error.hint = (
        format_did_you_mean(dict.fromkeys(name for one in problems for name in one.get("nearest", ())[:1])) + error.hint
    )
    if len(problems) > 1:
        error.ids["problems"] = problems
    return error


class MalformedRequest(InvalidInput):
    code = "malformed_request"
    status = 400


class BadNumber(InvalidInput):
    code = "bad_number"
    status = 400

    def __init__(self, written: str, problem: str) -> None:
        shown = written if len(written) <= _NUMBER_SHOWN else f"{written[: _NUMBER_SHOWN - 1]}…"
        super().__init__(f"{shown} {problem}.", hint="Send a finite number with at most 308 digits.", number=shown)


class KeyReused(InvalidInput):
    code = "idempotency_key_reused"


class CommandRefused(InvalidInput):
    """The command is well formed and not possible in this universe; `event` is the event of the reducer."""

    code = "command_refused"


class StarNotFound(CommandRefused):
    code = "star_not_found"


class GroupNotFound(CommandRefused):
    code = "group_not_found"


class SmallBodyFieldNotFound(CommandRefused):
    code = "small_body_field_not_found"


class ProtoplanetaryDiskNotFound(CommandRefused):
    code = "protoplanetary_disk_not_found"


class NebulaNotFound(CommandRefused):
    code = "nebula_not_found"


class RingNotFound(CommandRefused):
    code = "ring_not_found"


class HierarchyRefused(CommandRefused):
    code = "hierarchy_refused"


class TimeOverflow(CommandRefused):
    code = "time_overflow"


class NotAttached(CommandRefused):
    code = "not_attached"


class ChildAlreadyInGroup(CommandRefused):
    code = "child_already_in_group"


class ChildNotInGroup(CommandRefused):
    code = "child_not_in_group"


class UniverseNotFound(NotFound):
    code = "universe_not_found"

    def __init__(self, universe_id: str, known: list[str] | None = None, nearest: list[str] | None = None) -> None:
        """Make the error; `known` are ids of some universes, `nearest` are similar ids."""
        super().__init__(
            f"Universe not found: {universe_id[:_SHOWN]}",
            hint=format_did_you_mean(nearest or ())
            + "`universe list`, GET /universes and the MCP resources list the universes; "
            "`universe new` and POST /universes create one.",
            universeId=universe_id[:_SHOWN],
            **({"known": known} if known is not None else {}),
            **({"nearest": nearest} if nearest else {}),
        )


class VersionNotFound(NotFound):
    code = "version_not_found"


class NothingToUndo(Conflict):
    code = "nothing_to_undo"


class VersionConflict(Conflict):
    code = "version_conflict"

    def __init__(self, universe_id: str, expected: int, version: int) -> None:
        super().__init__(
            f"Universe {universe_id[:_SHOWN]} is at version {version}, not {expected}.",
            hint="Read the state again and repeat the change, or leave out the expected version.",
            universeId=universe_id[:_SHOWN],
            expectedVersion=expected,
            version=version,
        )


class LogDamaged(Conflict):
    code = "log_damaged"
    status = 503


class StoreUnavailable(Unavailable):
    code = "store_unavailable"


class TooBusy(Unavailable):
    code = "too_busy"


class ImportRefused(InvalidInput):
    code = "import_refused"
    status = 422


class JobFailed(InvalidInput):
    code = "job_failed"


class JobNotFound(NotFound):
    code = "job_not_found"

    def __init__(self, universe_id: str | None, job_id: str, nearest: Sequence[str] = ()) -> None:
        """Make the error; with None, no universe has the job. `nearest` are similar ids."""
        super().__init__(
            f"{'There is' if universe_id is None else f'Universe {universe_id[:100]} has'} no job {job_id[:100]}.",
            hint=f"{format_did_you_mean(nearest)}GET /universes/{{id}}/jobs, the resource "
            "universe://universes/{id}/jobs and `universe jobs` list the jobs.",
            jobId=job_id[:100],
            **({} if universe_id is None else {"universeId": universe_id[:100]}),
            **({"nearest": list(nearest)} if nearest else {}),
        )


class JobNotDone(Conflict):
    code = "job_not_done"


class JobEnded(Conflict):
    code = "job_ended"


class JobActive(Conflict):
    code = "job_active"


class TooManyJobs(Unavailable):
    code = "too_many_jobs"
