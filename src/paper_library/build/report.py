"""What a build did: what went in, what became one, what was left out and why."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from paper_library.build.entry import Problem

Progress = Callable[[str, int, int], None]
"""Called with the phase, how much of it is done, and of how much."""
Kind = Literal["added", "changed", "replaced", "merged", "pruned"]
_LISTED: Final = 1_000
"""Of merges, problems and changes; the counts are always whole."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Entries that turned out to be one paper."""

    paper_id: str
    title: str
    origins: list[str]
    reasons: list[str]


@dataclass(frozen=True, slots=True)
class Change:
    """What an update did to one paper."""

    change: Kind
    paper_id: str
    title: str
    fields: list[str] = field(default_factory=list[str])
    """What of it is different."""


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
    updated: str = ""
    """The shelf that was updated; the counts below are of an update."""
    added: int = 0
    changed: int = 0
    """Papers of which the old shelf's entries stay and new ones say more or something else."""
    replaced: int = 0
    """Papers of which the inputs say something else than the old shelf, whose entries are gone."""
    unchanged: int = 0
    merged_papers: int = 0
    """Papers of the old shelf that are part of others now."""
    pruned: int = 0
    """Papers of the old shelf that no input has any more and that were left out."""
    missing_inputs: dict[str, int] = field(default_factory=dict[str, int])
    """Inputs that were not read and entries that are gone from them: how many papers stay all the same, by input."""
    titled: int = 0
    """Entries that had no title and got the first sentence of their text."""
    merges: list[Merge] = field(default_factory=list[Merge])
    problems: list[Problem] = field(default_factory=list[Problem])
    changes: list[Change] = field(default_factory=list[Change])
    derived_titles: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

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

    def note_change(self, change: Kind, paper_id: str, title: str, fields: list[str] | None = None) -> None:
        name = "merged_papers" if change == "merged" else change
        setattr(self, name, getattr(self, name) + 1)
        if len(self.changes) < _LISTED:
            self.changes.append(Change(change, paper_id, title, fields or []))

    def note_missing(self, file: str) -> None:
        self.missing_inputs[file] = self.missing_inputs.get(file, 0) + 1

    def note_title(self, origin: str, title: str) -> None:
        self.titled += 1
        if len(self.derived_titles) < _LISTED:
            self.derived_titles.append({"origin": origin, "title": title})

    def as_dict(self) -> dict[str, Any]:
        from dataclasses import asdict

        return asdict(self)
