"""Report a build: counts, merges, problems and changes."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from paper_library.build.entry import Problem
from uraniborg.kernel.actors import Actor

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

Kind = Literal["added", "changed", "replaced", "merged", "pruned"]
_LISTED: Final = 1_000
"""The most merges, problems and changes that are listed; the counts include all."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Entries that were merged into one paper."""

    paper_id: str
    title: str
    origins: list[str]
    reasons: list[str]


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one paper by an update."""

    change: Kind
    paper_id: str
    title: str
    fields: list[str] = field(default_factory=list[str])
    """The fields that differ."""


@dataclass(slots=True)
class BuildReport:
    """The counts and lists of one build."""

    shelf: str = ""
    build_id: str = ""
    actor: Actor | None = None
    """Who built the shelf."""
    files: int = 0
    entries: int = 0
    papers: int = 0
    merged: int = 0
    """The number of entries that were merged into other entries."""
    skipped: int = 0
    broken: int = 0
    with_source: int = 0
    with_abstract: int = 0
    seconds: float = 0.0
    updated: str = ""
    """The updated shelf; the counts below belong to an update."""
    added: int = 0
    changed: int = 0
    """Papers with entries of the old shelf and new entries that change them."""
    replaced: int = 0
    """Papers whose entries of the old shelf were all replaced by different ones."""
    unchanged: int = 0
    merged_papers: int = 0
    """Papers of the old shelf that are part of other papers now."""
    pruned: int = 0
    """Papers of the old shelf that no input has and that were left out."""
    missing_inputs: dict[str, int] = field(default_factory=dict[str, int])
    """The number of retained papers by input that was not read or does not have them any more."""
    titled: int = 0
    """Entries without a title, which got the first sentence of their text."""
    merges: list[Merge] = field(default_factory=list[Merge])
    problems: list[Problem] = field(default_factory=list[Problem])
    changes: list[Change] = field(default_factory=list[Change])
    derived_titles: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def add_problem(self, problem: Problem) -> None:
        """Count and list a problem."""
        if problem.kind == "broken":
            self.broken += 1
        else:
            self.skipped += 1
        if len(self.problems) < _LISTED:
            self.problems.append(problem)

    def add_merge(self, merge: Merge, entries: int) -> None:
        """Count and list a merge of this many entries."""
        self.merged += entries - 1
        if len(self.merges) < _LISTED:
            self.merges.append(merge)

    def add_change(self, change: Kind, paper_id: str, title: str, fields: list[str] | None = None) -> None:
        """Count and list the change of a paper."""
        name = "merged_papers" if change == "merged" else change
        setattr(self, name, getattr(self, name) + 1)
        if len(self.changes) < _LISTED:
            self.changes.append(Change(change, paper_id, title, fields or []))

    def count_paper_of_missing_input(self, file: str) -> None:
        """Count a paper that stays although `file` was not read or does not have it."""
        self.missing_inputs[file] = self.missing_inputs.get(file, 0) + 1

    def add_derived_title(self, origin: str, title: str) -> None:
        """Count and list an entry whose title comes from its text."""
        self.titled += 1
        if len(self.derived_titles) < _LISTED:
            self.derived_titles.append({"origin": origin, "title": title})

    def as_dict(self) -> "JsonObject":
        from dataclasses import asdict

        return asdict(self)
