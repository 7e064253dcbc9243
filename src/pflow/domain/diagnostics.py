"""Diagnostics of the checker: severity, code, path, message and remedy; texts and values shortened for messages."""

import re
from collections.abc import Iterable, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from uraniborg.kernel.language.messages import find_nearest_name

if TYPE_CHECKING:
    from pflow.service.workflow_replies import Diagnostic as DiagnosticReply
    from uraniborg.kernel.json_values import JsonObject


Severity = Literal["error", "warning"]
_SHOWN: Final = 20
SCHEDULE_HINT: Final = (
    'A schedule belongs to the system: the person runs `pflow schedule NAME --at "mon 07:00" --install`.'
)
SCHEDULE_PATTERN: Final = r"schedul|cron|\bevery (?:\w*day|hour|week|month|morning|night)\b"
"""A regular expression for requests to run a workflow at fixed times; letters are compared without case."""


@dataclass(frozen=True, slots=True)
class CheckerDiagnostic:
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


def make_error(code: str, path: str, message: str, **more: Any) -> CheckerDiagnostic:
    return CheckerDiagnostic("error", code, path, message, **more)


def make_warning(code: str, path: str, message: str, **more: Any) -> CheckerDiagnostic:
    return CheckerDiagnostic("warning", code, path, message, **more)


def make_unknown_key_errors(
    keys: Iterable[str], known: tuple[str, ...], object_name: str, path: str, example: Any, *, hint: str = ""
) -> list[CheckerDiagnostic]:
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


LONGEST: Final = 500
"""Characters of one text."""
MOST: Final = 100
"""Items of one list, or names in one object."""


def shorten_text(text: str, max_chars: int = 120) -> str:
    """Return the text, or its first `max_chars` characters with a mark."""
    return text if len(text) <= max_chars else f"{text[:max_chars]}…"


def shorten_value(value: Any, *, max_chars: int = LONGEST, max_items: int = MOST) -> Any:
    """Return the value with long texts, lists and objects cut.

    A list or object of texts gets one more text with the number of those left out. Others do not, as it would be of
    another type than the rest.
    """
    if isinstance(value, str):
        return value if len(value) <= max_chars else f"{value[:max_chars]}… ({len(value):,} characters)"
    if isinstance(value, dict):
        items = list(cast("JsonObject", value).items())
        shortened = {
            shorten_value(key, max_chars=100): shorten_value(item, max_chars=max_chars, max_items=max_items)
            for key, item in items[:max_items]
        }
        return (
            {**shortened, "…": f"{len(items) - max_items:,} more"}
            if _needs_cut_note(items, shortened.values(), max_items)
            else shortened
        )
    if isinstance(value, list):
        listed = cast("list[Any]", value)
        shortened_items = [shorten_value(item, max_chars=max_chars, max_items=max_items) for item in listed[:max_items]]
        return (
            [*shortened_items, f"… {len(listed) - max_items:,} more"]
            if _needs_cut_note(listed, shortened_items, max_items)
            else shortened_items
        )
    return value


def _needs_cut_note(items: Sized, kept: Iterable[Any], max_items: int) -> bool:
    """Return True if items were left out and the rest are texts."""
    return len(items) > max_items and all(isinstance(one, str) for one in kept)
