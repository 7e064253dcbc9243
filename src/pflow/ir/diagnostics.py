"""Diagnostics of the checker: severity, code, path, message, and how to fix the problem."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

Severity = Literal["error", "warning"]
_SHOWN: Final = 20
_SEARCHED: Final = 1_000
_LONGEST: Final = 100
_LEAST: Final = 60.0
_SURE: Final = 75.0
"""How much alike, of 100, words are that are compared at all, and that are taken for each other without a look."""
_COMPARED: Final = 5


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

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnostic as JSON, without empty fields."""
        told: dict[str, Any] = {
            "severity": self.severity,
            "code": self.code,
            "path": self.path,
            "message": self.message,
        }
        optional = {
            "node": self.node,
            "hint": self.hint,
            "available": list(self.available[:_SHOWN]),
            "more_available": self.more_available or None,
            "nearest": self.nearest,
            "example": self.example,
        }
        return told | {name: value for name, value in optional.items() if value not in (None, "", [])}


def error(code: str, path: str, message: str, **more: Any) -> Diagnostic:
    return Diagnostic("error", code, path, message, **more)


def warning(code: str, path: str, message: str, **more: Any) -> Diagnostic:
    return Diagnostic("warning", code, path, message, **more)


def report_unknown_keys(
    told: Iterable[str], known: tuple[str, ...], what: str, path: str, example: Any, *, hint: str = ""
) -> list[Diagnostic]:
    """Return an error for each unknown key of the object at `path`, which messages call `what`."""
    return [
        error(
            "unknown_key",
            f"{path}.{key[:80]}" if path else key[:80],
            f"{what} has no key '{key[:80]}'.",
            hint=hint,
            available=known,
            nearest=nearest(key, known),
            example=example,
        )
        for key in told
        if key not in known
    ]


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant, or None."""
    from rapidfuzz import fuzz, process  # most workflows have nothing misspelt

    words = known if isinstance(known, (list, tuple)) else list(known)
    if len(words) > _SEARCHED:  # among so many, and perhaps for as many, it would take too long
        return None
    more: dict[str, Any] = {"scorer": fuzz.ratio, "processor": str.casefold, "score_cutoff": _LEAST}
    best = process.extractOne(word[:_LONGEST], words, **more)
    if best is None or best[1] >= _SURE:
        return best and best[0]
    found = process.extract(word[:_LONGEST], words, limit=_COMPARED, **more)
    return next((one for one, _, _ in found if _is_slip(word.casefold(), one.casefold())), None)


def _is_slip(word: str, other: str) -> bool:
    """Return whether one may have been written for the other: with few wrong letters, or short for it, as `cmd` is."""
    from rapidfuzz.distance import OSA

    short, long = sorted((word[:_LONGEST], other), key=len)
    if short in long or (short[:1] == long[:1] and _is_subsequence(short, long)):
        return True
    most = max(1, len(long) // 4)
    return OSA.distance(short, long, score_cutoff=most) <= most


def _is_subsequence(short: str, long: str) -> bool:
    """Return whether `short` is `long` without some of its letters."""
    letters = iter(long)
    return all(letter in letters for letter in short)
