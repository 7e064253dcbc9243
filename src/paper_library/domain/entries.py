"""What a build reads and reports: entries, which describe papers, problems, counts, merges and changes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from uraniborg.kernel.actors import Actor

if TYPE_CHECKING:
    from uraniborg.kernel.bibliography.editorial_notices import EditorialNotice
    from uraniborg.kernel.json_values import Json, JsonObject


SEARCH_FIELDS: Final = (
    "editors",
    "sources",
    "records",
    "provenance",
    "citation_count",
    "relevance_score",
    "relevance_reason",
    "status",
    "decisions",
    "found_in_round",
    "other_ids",
)


@dataclass(slots=True)
class Entry:
    """The description of one paper by one input. Only a title or a text is required."""

    title: str = ""
    title_is_derived: bool = False
    """True if the title is the first sentence of the text, because the input has no title."""
    authors: list[str] = field(default_factory=list[str])
    """Full names in order, such as `Ada Lovelace`."""
    year: int | None = None
    month: int | None = None
    venue: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    publisher: str = ""
    abstract: str = ""
    identifiers: dict[str, str] = field(default_factory=dict[str, str])
    """Identifiers as given, by scheme: doi, arxiv, bibkey, pmid, pmcid, isbn, url, …; normalised later."""
    keywords: list[str] = field(default_factory=list[str])
    tags: list[str] = field(default_factory=list[str])
    institutions: list[str] = field(default_factory=list[str])
    kind: str = ""
    """The BibTeX entry type or its equivalent: article, inproceedings, book, …"""
    work_type: str = ""
    """The type of publication as a search names it: preprint, dataset, …"""
    language: str = ""
    notices: "list[EditorialNotice]" = field(default_factory=list)
    """Retractions, concerns and corrections; see `uraniborg.kernel.bibliography.editorial_notices`."""
    search: "JsonObject" = field(default_factory=dict)
    """The `SEARCH_FIELDS` that a search recorded: sources, relevance and decisions."""
    bibtex: str = ""
    """The BibTeX entry as its owner wrote it."""
    source: str = ""
    """The text of the paper, as markdown."""
    translations: dict[str, str] = field(default_factory=dict[str, str])
    """Translations of the text by language, as markdown."""
    summaries: "dict[str, Json]" = field(default_factory=dict)
    """Summaries by template, as JSON values."""
    preferred_summary: str = ""
    origin: str = ""
    """The input file, relative to the given folder, and the line; never an absolute path."""
    keys: list[str] = field(default_factory=list[str])
    """More keys of the paper, for an entry that comes from a shelf."""
    origins: list[str] = field(default_factory=list[str])
    """All inputs of the paper, for an entry that merges several."""
    old_paper_id: str = ""
    """The paper_id on the shelf that the entry comes from."""


@dataclass(frozen=True, slots=True)
class BuildProblem:
    """An input, or an entry of an input, that did not become a paper."""

    origin: str
    kind: Literal["skipped", "broken"]
    """Skipped: not an input for a shelf. Broken: an input that cannot be read."""
    reason: str
    """A sentence for the user, with the remedy."""


Reader = Callable[[Path, str], Iterator[Entry | BuildProblem]]
"""Reads the file at a path; the second argument is its origin. Never raises an exception for the file's contents."""


def strip_line_number(origin: str) -> str:
    """Return the file of an origin without the line: `refs.bib` for `refs.bib:120`."""
    file, separator, line = origin.rpartition(":")
    return file if separator and line.isdecimal() else origin


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
class PaperChange:
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
    problems: list[BuildProblem] = field(default_factory=list[BuildProblem])
    changes: list[PaperChange] = field(default_factory=list[PaperChange])
    derived_titles: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def add_problem(self, problem: BuildProblem) -> None:
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
            self.changes.append(PaperChange(change, paper_id, title, fields or []))

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
