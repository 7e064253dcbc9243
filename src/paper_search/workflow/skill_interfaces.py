"""What the engine demands of the six skills, and the values they return.

A skill needs only the methods and parameters that are named first in each protocol. `search`, `deduplicate` and `score`
may return plain lists; a list that carries reports, merge reasons or notes makes the search log complete.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict, TypeVar, cast, runtime_checkable

from pydantic import BaseModel, Field

from paper_search.models import (
    PaperCollection,
    ParsedIntent,
    QueryBuilderInput,
    RawPaper,
    RelevanceHints,
    ScoredPaper,
    SearchStrategy,
    SourceRecord,
    SourceReport,
    make_paper_id,
)
from uraniborg.kernel.json_values import JsonObject

Option = TypeVar("Option")


class ProgressFacts(TypedDict, total=False):
    """Facts about a phase of a search; each phase has some of them."""

    iteration: int
    """The number of the round, counted from 0."""
    next_iteration: int
    sources: list[str]
    report: JsonObject
    """The report of a source, as JSON."""
    raw_count: int
    candidate_count: int
    scored_count: int
    paper_count: int
    checkpoint_kind: str
    reason: str


ProgressReporter = Callable[[str, ProgressFacts], None]
"""Called with the name of each phase as it starts, and with a few facts. Its exceptions are logged and ignored."""


class ReportedPapers(list[RawPaper]):
    """The papers of all sources, with one report for each source, in the order of the strategy's sources."""

    def __init__(self, papers: Iterable[RawPaper] = (), reports: Iterable[SourceReport] = ()) -> None:
        super().__init__(papers)
        self.reports = list(reports)


class DistinctPapers(list[RawPaper]):
    """Papers without duplicates, with the number of records merged for each reason.

    `members` holds for each paper the positions of its records in the input.
    """

    def __init__(
        self, papers: Iterable[RawPaper], merged: dict[str, int] | None = None, members: Sequence[list[int]] = ()
    ) -> None:
        super().__init__(papers)
        self.merged = merged or {}
        self.members = list(members)


class ScoredPapers(list[ScoredPaper]):
    """Scored papers in the order of the input, with notes on how they were scored."""

    def __init__(self, papers: Iterable[ScoredPaper] = (), notes: Iterable[str] = ()) -> None:
        super().__init__(papers)
        self.notes = list(notes)


class SearchOutcome(BaseModel):
    """The result of `search` as the journal stores it."""

    papers: list[RawPaper] = Field(default_factory=list[RawPaper])
    reports: list[SourceReport] = Field(default_factory=list[SourceReport])

    @classmethod
    def from_papers(cls, found: list[RawPaper]) -> "SearchOutcome":
        """Return the outcome for a searcher's list, which may lack reports."""
        return cls(papers=list(found), reports=getattr(found, "reports", []))


class MergeOutcome(BaseModel):
    """The result of `deduplicate` as the journal stores it."""

    papers: list[RawPaper]
    merged: dict[str, int]
    members: list[list[int]] = Field(default_factory=list[list[int]])
    """The positions of the records of each paper; empty if the deduplicator or an earlier version did not give them."""

    @classmethod
    def from_papers(cls, distinct: list[RawPaper]) -> "MergeOutcome":
        """Return the outcome for a deduplicator's list, which may lack reasons and positions."""
        return cls(
            papers=list(distinct), merged=getattr(distinct, "merged", {}), members=getattr(distinct, "members", [])
        )


class ScoringOutcome(BaseModel):
    """The result of `score` as the journal stores it."""

    papers: list[ScoredPaper]
    notes: list[str] = Field(default_factory=list)

    @classmethod
    def from_papers(cls, scored: list[ScoredPaper]) -> "ScoringOutcome":
        """Return the outcome for a scorer's list, which may lack notes."""
        return cls(papers=list(scored), notes=getattr(scored, "notes", []))


class IntentParserPort(Protocol):
    """Reads the query of a person."""

    async def parse(self, user_input: str) -> ParsedIntent: ...


class QueryBuilderPort(Protocol):
    """Proposes the strategy of a round."""

    async def build(self, input: QueryBuilderInput) -> SearchStrategy: ...  # noqa: A002 - the name users know


class SearcherPort(Protocol):
    """Searches the sources of a strategy.

    A parameter `on_report` receives the report of each source as it finishes, and a parameter `known` the ids of papers
    that earlier rounds found. A property `available` names the sources that an edited strategy may use; without it any
    name is accepted.
    """

    async def search(self, strategy: SearchStrategy) -> list[RawPaper]: ...


class DeduplicatorPort(Protocol):
    """Merges the records of one paper.

    If it has the methods of `RecordMerger`, papers that reviewers merge are merged by its rules.
    """

    async def deduplicate(self, papers: list[RawPaper]) -> list[RawPaper]: ...


@runtime_checkable
class RecordMerger(Protocol):
    """Merges records of which a reviewer knows that they are one paper."""

    def merge_as_one(
        self, papers: Sequence[RawPaper], reason: str, known: Mapping[tuple[str, str], str]
    ) -> RawPaper: ...

    def assign_distinct_ids(self, papers: Sequence[RawPaper]) -> list[RawPaper]: ...

    def name_records(self, paper: RawPaper) -> list[SourceRecord]: ...


class PlainRecordMerger:
    """Merges records without a deduplicator's help: the first one stands for all."""

    def merge_as_one(self, papers: Sequence[RawPaper], reason: str, known: Mapping[tuple[str, str], str]) -> RawPaper:
        """Return the first paper with the records of all."""
        named = [(paper, name) for paper in papers for name in self.name_records(paper)]
        records = {
            (name.source, name.record_id): name
            if paper is papers[0]
            else name.model_copy(update={"reason": known.get((name.source, name.record_id), reason)})
            for paper, name in reversed(named)
        }
        return papers[0].model_copy(update={"records": list(records.values())[::-1]})

    def assign_distinct_ids(self, papers: Sequence[RawPaper]) -> list[RawPaper]:
        """Return the papers; of several with one id the later ones get ids of their own."""
        taken: set[str] = set()
        distinct: list[RawPaper] = []
        for paper in papers:
            own, number = paper.id, 1
            while own in taken:
                number += 1
                own = make_paper_id({}, None, f"{paper.id} {number}", [], None)
            taken.add(own)
            distinct.append(paper if own == paper.id else paper.model_copy(update={"id": own}))
        return distinct

    def name_records(self, paper: RawPaper) -> list[SourceRecord]:
        """Return the source records of the paper, or one that is named by the paper's id."""
        return paper.records or [SourceRecord(source=paper.source, record_id=f"id:{paper.id}")]


class RelevanceScorerPort(Protocol):
    """Scores papers against an intent. A parameter `hints` receives the feedback of earlier rounds."""

    async def score(self, papers: list[RawPaper], intent: ParsedIntent) -> list[ScoredPaper]: ...


class ResultOrganizerPort(Protocol):
    """Chooses and sorts the papers of a result. An attribute `min_relevance` states the score that it requires."""

    async def organize(
        self, papers: list[ScoredPaper], strategy: SearchStrategy, original_query: str
    ) -> PaperCollection: ...


@dataclass(frozen=True, slots=True)
class Skills:
    """The six skills of one workflow, called by their required and optional parameters."""

    intent_parser: IntentParserPort
    query_builder: QueryBuilderPort
    searcher: SearcherPort
    deduplicator: DeduplicatorPort
    relevance_scorer: RelevanceScorerPort
    result_organizer: ResultOrganizerPort

    @property
    def available_sources(self) -> list[str]:
        """The names of the sources that an edited strategy may use; empty if the searcher does not name them."""
        names: object = getattr(self.searcher, "available", ())
        return list(cast("list[str]", names)) if isinstance(names, list) else []

    @property
    def min_relevance(self) -> float | None:
        """The relevance that the organizer requires, or None if it does not state one."""
        required = getattr(self.result_organizer, "min_relevance", None)
        return required if isinstance(required, float) else None

    async def search(
        self,
        strategy: SearchStrategy,
        on_report: Callable[[SourceReport], None],
        known: frozenset[str] = frozenset(),
    ) -> SearchOutcome:
        """Search the sources of the strategy. `known` are the ids of papers that earlier rounds found."""
        search = self.searcher.search
        options = select_supported_options(search, on_report=on_report, known=known)
        return SearchOutcome.from_papers(await search(strategy, **options))

    async def deduplicate(self, papers: list[RawPaper]) -> MergeOutcome:
        """Merge the records that describe the same paper."""
        return MergeOutcome.from_papers(await self.deduplicator.deduplicate(papers))

    @property
    def record_merger(self) -> RecordMerger:
        """The deduplicator if it can merge given records, or else a plain replacement."""
        return self.deduplicator if isinstance(self.deduplicator, RecordMerger) else PlainRecordMerger()

    async def score(self, papers: list[RawPaper], intent: ParsedIntent, hints: RelevanceHints) -> ScoringOutcome:
        """Score the papers against the intent."""
        score = self.relevance_scorer.score
        return ScoringOutcome.from_papers(await score(papers, intent, **select_supported_options(score, hints=hints)))


def select_supported_options(method: Callable[..., object], **options: Option) -> dict[str, Option]:
    """Return the options that are named parameters of the method."""
    names = inspect.signature(method).parameters
    return {name: value for name, value in options.items() if name in names}
