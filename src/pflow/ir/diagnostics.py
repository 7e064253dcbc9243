"""What the checker tells: how grave, what, where, what there is instead, and how it would be right."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

Severity = Literal["error", "warning"]
_SHOWN: Final = 20
_SEARCHED: Final = 1_000
_LONGEST: Final = 100


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

    def plain(self) -> dict[str, Any]:
        """As JSON has it. What there is nothing to say of is left out."""
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
            "nearest": self.nearest,
            "example": self.example,
        }
        return told | {name: value for name, value in optional.items() if value not in (None, "", [])}


def error(code: str, path: str, message: str, **more: Any) -> Diagnostic:
    return Diagnostic("error", code, path, message, **more)


def warning(code: str, path: str, message: str, **more: Any) -> Diagnostic:
    return Diagnostic("warning", code, path, message, **more)


def unknown_keys(
    told: Iterable[str], known: tuple[str, ...], what: str, path: str, example: Any, *, hint: str = ""
) -> list[Diagnostic]:
    """An error for each key that `what`, which is at `path`, cannot have."""
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


def nearest(word: str, known: Iterable[str], *, least: float = 60.0) -> str | None:
    """The known word that was probably meant."""
    from rapidfuzz import fuzz, process  # most workflows have nothing misspelt

    words = known if isinstance(known, (list, tuple)) else list(known)
    if len(words) > _SEARCHED:  # among so many, and perhaps for as many, it would take too long
        return None
    found = process.extractOne(word[:_LONGEST], words, scorer=fuzz.ratio, processor=str.casefold, score_cutoff=least)
    return found[0] if found else None
