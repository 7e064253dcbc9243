"""Describe a problem of a query, with its position and an edit that corrects it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypedDict

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Correction:
    """An edit: the text to write in place of the characters from `start` to before `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class QueryProblem:
    """A problem of a query. An error stops the search; a warning names a part that may not mean what it says."""

    severity: Severity
    start: int
    end: int
    message: str
    hint: str
    correction: Correction | None = None
    """None if only a person can choose."""

    def to_fields(self) -> "ProblemFields":
        edit = self.correction
        return {
            "severity": self.severity,
            "start": self.start,
            "end": self.end,
            "message": self.message,
            "hint": self.hint,
            "correction": edit and {"start": edit.start, "end": edit.end, "text": edit.text},
        }


class CorrectionFields(TypedDict):
    start: int
    end: int
    text: str


class ProblemFields(TypedDict):
    severity: Severity
    start: int
    end: int
    message: str
    hint: str
    correction: CorrectionFields | None


def correct_query(query: str, problems: Iterable[QueryProblem]) -> str:
    """Return the query with the corrections of its errors, or else of its warnings, as far as they do not overlap."""
    listed = list(problems)
    has_errors = any(problem.severity == "error" for problem in listed)
    chosen = [problem for problem in listed if problem.severity == "error" or not has_errors]
    edits = [problem.correction for problem in chosen if problem.correction]
    pieces: list[str] = []
    end = 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if edit.start >= end:
            pieces += [query[end : edit.start], edit.text]
            end = edit.end
    return "".join([*pieces, query[end:]])
