"""What the engine asks of each skill, so that any of them can be replaced."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from paper_search.dedup import Deduplication
from paper_search.models import (
    PaperCollection,
    ParsedIntent,
    QueryBuilderInput,
    RawPaper,
    RelevanceHints,
    ScoredPaper,
    SearchStrategy,
)
from paper_search.skills.relevance_scorer import ScoringOutcome
from paper_search.skills.searcher import SearchOutcome
from paper_search.sources.interfaces import SourceResult

ProgressReporter = Callable[[str, dict[str, Any]], None]
"""Told of each phase as it begins, with a few facts. One that raises is logged and otherwise ignored."""


class IntentParsing(Protocol):
    async def parse(self, user_input: str) -> ParsedIntent: ...


class QueryBuilding(Protocol):
    async def build(self, input: QueryBuilderInput) -> SearchStrategy: ...  # noqa: A002 - the name users know


class Searching(Protocol):
    @property
    def available(self) -> list[str]:
        """The names of the sources that can be searched."""
        ...

    async def run(
        self, strategy: SearchStrategy, on_result: Callable[[SourceResult], None] | None = None
    ) -> SearchOutcome: ...


class Deduplicating(Protocol):
    async def deduplicate_reported(self, papers: Sequence[RawPaper]) -> Deduplication: ...


class Scoring(Protocol):
    async def score_with_notes(
        self, papers: list[RawPaper], intent: ParsedIntent, hints: RelevanceHints | None = None
    ) -> ScoringOutcome: ...


class Organizing(Protocol):
    async def organize(
        self, papers: list[ScoredPaper], strategy: SearchStrategy, original_query: str
    ) -> PaperCollection: ...


@dataclass(frozen=True, slots=True)
class Skills:
    """The six skills of one workflow."""

    intent_parser: IntentParsing
    query_builder: QueryBuilding
    searcher: Searching
    deduplicator: Deduplicating
    relevance_scorer: Scoring
    result_organizer: Organizing
