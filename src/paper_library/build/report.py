"""What a build did: what went in, what became one, what was left out and why."""

from dataclasses import dataclass, field
from typing import Any, Final

from paper_library.build.entry import Problem

_LISTED: Final = 1_000
"""Of merges and problems; the counts are always whole."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Entries that turned out to be one paper."""

    paper_id: str
    title: str
    origins: list[str]
    reasons: list[str]


@dataclass(slots=True)
class Report:
    shelf: str = ""
    build_id: str = ""
    files: int = 0
    entries: int = 0
    papers: int = 0
    merged: int = 0
    """How many entries fewer papers there are because of merging."""
    skipped: int = 0
    broken: int = 0
    with_source: int = 0
    with_abstract: int = 0
    seconds: float = 0.0
    merges: list[Merge] = field(default_factory=list[Merge])
    problems: list[Problem] = field(default_factory=list[Problem])

    def note(self, problem: Problem) -> None:
        if problem.kind == "broken":
            self.broken += 1
        else:
            self.skipped += 1
        if len(self.problems) < _LISTED:
            self.problems.append(problem)

    def note_merge(self, merge: Merge, entries: int) -> None:
        self.merged += entries - 1
        if len(self.merges) < _LISTED:
            self.merges.append(merge)

    def as_dict(self) -> dict[str, Any]:
        from dataclasses import asdict

        return asdict(self)
