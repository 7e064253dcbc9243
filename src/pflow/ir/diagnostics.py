"""Diagnostics of the checker: severity, code, path, message, and how to fix the problem."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from uraniborg.kernel.suggestions import find_nearest_name

if TYPE_CHECKING:
    from pflow.workflow_replies import Diagnostic as DiagnosticReply

Severity = Literal["error", "warning"]
_SHOWN: Final = 20
SCHEDULE_HINT: Final = (
    'A schedule belongs to the system: the person runs `pflow schedule NAME --at "mon 07:00" --install`.'
)
SCHEDULE_PATTERN: Final = r"schedul|cron|\bevery (?:\w*day|hour|week|month|morning|night)\b"
"""A regular expression for requests to run a workflow at fixed times; letters are compared without case."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`path` is where, as `nodes[0].params.url`; `example` is a piece of a workflow that would be right."""

    severity: Severity
    code: str
    path: str
    message: str
    hint: str = ""
    available: tuple[str, ...] = ()
    nearest: str | None = None
    example: Any = None
    node: str | None = None
    more_available: int = 0
    """How many more values there are than `available` lists."""

    def to_dict(self) -> "DiagnosticReply":
        """Return the diagnostic as JSON, without empty fields."""
        found: DiagnosticReply = {
            "severity": self.severity,
            "code": self.code,
            "path": self.path,
            "message": self.message,
        }
        if self.node:
            found["node"] = self.node
        if self.hint:
            found["hint"] = self.hint
        if self.available:
            found["available"] = list(self.available[:_SHOWN])
        if self.more_available:
            found["more_available"] = self.more_available
        if self.nearest:
            found["nearest"] = self.nearest
        if self.example not in (None, "", []):
            found["example"] = self.example
        return found


def make_error(code: str, path: str, message: str, **more: Any) -> Diagnostic:
    return Diagnostic("error", code, path, message, **more)


def make_warning(code: str, path: str, message: str, **more: Any) -> Diagnostic:
    return Diagnostic("warning", code, path, message, **more)


def make_unknown_key_errors(
    keys: Iterable[str], known: tuple[str, ...], object_name: str, path: str, example: Any, *, hint: str = ""
) -> list[Diagnostic]:
    """Return an error for each unknown key of the object at `path`, which messages call `object_name`."""
    return [
        make_error(
            "unknown_key",
            f"{path}.{key[:80]}" if path else key[:80],
            f"{object_name} has no key '{key[:80]}'.",
            hint=SCHEDULE_HINT if mentions_schedule(key) else hint,
            available=known,
            nearest=find_nearest_name(key, known),
            example=example,
        )
        for key in keys
        if key not in known
    ]


def mentions_schedule(text: str) -> bool:
    """Return True if a text asks to run something at fixed times."""
    return re.search(SCHEDULE_PATTERN, text, re.IGNORECASE) is not None
