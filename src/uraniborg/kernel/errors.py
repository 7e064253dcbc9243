"""The one family of errors that all parts raise, and how any exception becomes one of them.

UraniborgError              code, message, hint and the ids concerned
├── InvalidInput            the caller sent something that cannot be accepted       422   exit 2
│   ├── UsageError          the arguments of a command are not valid                422   exit 2
│   ├── MissingExtra        an optional dependency is not installed                 422   exit 2
│   └── UnsupportedPlatform this operating system lacks a function                  422   exit 2
├── NotFound                the named object does not exist                         404   exit 3
├── Conflict                the state of the object does not allow this             409   exit 4
├── Refused                 this caller is not allowed to do this                   403   exit 4
├── Unavailable             an external system did not answer; retry later         503   exit 5
│   ├── OutOfRoom           the machine has no disk, memory or files left           503   exit 5
│   └── ReadOnlyFolder      a folder of ours cannot be written                      503   exit 5
└── InternalError           a bug; the message reveals no details                   500   exit 70

A part derives its own errors from these classes and gives each a stable snake_case `code`.
"""

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeGuard, cast

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

EXIT_CODES: Final = {
    0: "success",
    1: "differs, or usage",
    2: "invalid input",
    3: "not found",
    4: "refused",
    5: "unavailable",
    6: "not all checked",
    70: "internal error",
    130: "interrupted",
}
"""The exit codes of all commands. The errors below have theirs as `exit_code`."""
_DENIED: Final = {errno.EACCES, errno.EPERM, errno.EROFS}
_OUT_OF_ROOM: Final = {errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.ENOMEM}


class ErrorFacts(TypedDict):
    """The fields that every error has."""

    code: str
    message: str
    hint: str


class ErrorBody(TypedDict):
    """The body of every failed request; further keys of `error` name the objects concerned."""

    error: ErrorFacts


class UraniborgError(Exception):
    """The base class. `ids` name the objects concerned and are part of the body."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "", **ids: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.ids = ids

    def body(self) -> ErrorBody:
        """Return the JSON body of this error, which is the same in every reply."""
        facts = {"code": self.code, "message": self.message, "hint": self.hint, **self.ids}
        return {"error": cast("ErrorFacts", facts)}


class InvalidInput(UraniborgError):
    code = "invalid_argument"
    status = 422
    exit_code = 2


class MissingExtra(InvalidInput):
    code = "missing_extra"

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the optional dependencies of the extra '{extra}'.",
            hint=f"Install them with: pip install 'uraniborg[{extra}]'",
            extra=extra,
        )


class UnsupportedPlatform(InvalidInput):
    code = "unsupported_platform"

    def __init__(self, purpose: str, module: str) -> None:
        super().__init__(
            f"{purpose} needs the Python module '{module}', which this platform ({sys.platform}) does not have.",
            hint="Use Linux or macOS; on Windows, use WSL.",
            platform=sys.platform,
        )


class UsageError(InvalidInput):
    code = "usage"


class NotFound(UraniborgError):
    code = "not_found"
    status = 404
    exit_code = 3


class Conflict(UraniborgError):
    code = "conflict"
    status = 409
    exit_code = 4


class Refused(UraniborgError):
    code = "refused"
    status = 403
    exit_code = 4


class Unavailable(UraniborgError):
    code = "unavailable"
    status = 503
    exit_code = 5


class OutOfRoom(Unavailable):
    code = "out_of_room"

    def __init__(self, exc: OSError) -> None:
        super().__init__(
            f"This machine could not continue: {exc.strerror or errno.errorcode[exc.errno or 0]}.",
            hint="Free disk space, memory or open files, and try again.",
        )


READ_ONLY_HINT: Final = (
    "Make the folder writable for your account, or set URANIBORG_HOME to another folder. "
    "`uraniborg doctor` lists the folders."
)


class ReadOnlyFolder(Unavailable):
    code = "read_only_folder"

    def __init__(self, name: str) -> None:
        super().__init__(f"The folder '{name}' is read-only.", hint=READ_ONLY_HINT)


class InternalError(UraniborgError):
    code = "internal_error"
    exit_code = 70


def as_error(exc: BaseException) -> UraniborgError:
    """Return `exc` as a UraniborgError; an exception of another class becomes an InternalError without its text."""
    exc = _unwrap_group(exc)
    if isinstance(exc, UraniborgError):
        return exc
    if is_out_of_room(exc):
        return OutOfRoom(exc)
    if isinstance(exc, OSError) and (folder := _find_read_only_folder(exc)):
        home = Path.home()
        name = f"~/{folder.relative_to(home)}" if home in folder.parents else folder.name
        return ReadOnlyFolder(name)
    # A ValidationError can exist only if pydantic is loaded; do not import it otherwise.
    if (pydantic := sys.modules.get("pydantic")) and isinstance(exc, pydantic.ValidationError):
        refusal = cast("ValidationError", exc)
        return make_invalid_input(refusal, label=refusal.title)
    return InternalError(
        "Something went wrong inside Uraniborg.",
        hint="The log has the details. Trying again is safe.",
        exception=type(exc).__name__,
    )


def describe_exception(exc: BaseException) -> str:
    """Return the message of a UraniborgError, or the class and text of any other exception.

    The text may contain secrets: redact it before it leaves the process.
    """
    error = as_error(exc)
    if not isinstance(error, InternalError) or error is exc:
        return error.message
    inner = _unwrap_group(exc)
    name = type(inner).__name__
    try:
        text = str(inner)
    except Exception:  # a broken __str__ must not hide the class
        return name
    return f"{name}: {text}" if text.strip() else name


def is_out_of_room(exc: BaseException) -> TypeGuard[OSError]:
    """Return True for errors such as ENOSPC, after which the caller can retry once there is space."""
    return isinstance(exc, OSError) and exc.errno in _OUT_OF_ROOM


def _find_read_only_folder(exc: OSError) -> Path | None:
    """Return the folder in which a file could not be written, or None if the error has another reason."""
    if exc.errno not in _DENIED or not isinstance(exc.filename, str):
        return None
    path = Path(exc.filename).absolute()
    folder = next(one for one in (path, *path.parents) if one.is_dir())
    return None if os.access(folder, os.W_OK) else folder


def make_invalid_input(exc: "ValidationError", *, label: str) -> InvalidInput:
    """Return a ValidationError as an InvalidInput that names each invalid field and never repeats its value."""
    problems = [
        {"path": ".".join(str(part) for part in error["loc"]) or "(root)", "problem": _describe_problem(error)}
        for error in exc.errors(include_input=False, include_url=False)
    ]
    listed = "; ".join(f"{p['path']}: {p['problem']}" for p in problems[:5])
    more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
    return InvalidInput(
        f"Invalid {label}: {listed}{more}",
        hint="Correct these fields and try again.",
        problems=problems[:20],
    )


def _describe_problem(error: "ErrorDetails") -> str:
    # The only built-in message that repeats the input.
    if error["type"] == "union_tag_invalid":
        return f"Input should be one of {error.get('ctx', {}).get('expected_tags', 'the known kinds')}"
    return error["msg"]


def _unwrap_group(exc: BaseException) -> BaseException:
    """Return the only exception of a group, or else the group."""
    while isinstance(exc, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", exc)
        if len(group.exceptions) != 1:
            return group
        exc = group.exceptions[0]
    return exc
