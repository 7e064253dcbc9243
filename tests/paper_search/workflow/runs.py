"""Workflows for tests: the real skills, fake sources and scripted decisions."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from paper_search.models import PaperCollection, RawPaper, SearchStrategy
from paper_search.service.llm.provider import LLMProvider
from paper_search.skills.deduplicator import Deduplicator
from paper_search.skills.intent_parser import IntentParser
from paper_search.skills.query_builder import QueryBuilder
from paper_search.skills.relevance_scorer import RelevanceScorer
from paper_search.skills.result_organizer import ResultOrganizer
from paper_search.skills.searcher import Searcher
from paper_search.sources.interfaces import SearchSource
from paper_search.testing import FakeSource, ScriptedDecisions
from paper_search.workflow import Decision, DecisionAction, ResultPayload, SearchWorkflow, StrategyPayload
from tests.paper_search.workflow.samples import make_record
from uraniborg.kernel.clock import Clock, FrozenClock

CLOCK = FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))
QUERY = "tidal heating of icy moons"
APPROVE = Decision(action=DecisionAction.APPROVE)
REJECT = Decision(action=DecisionAction.REJECT)
EDIT = Decision(action=DecisionAction.EDIT)

MOONS = [
    make_record("Tidal heating of icy moons", doi="10.1000/moons.1"),
    make_record("Icy moons and their tidal heating budgets", doi="10.1000/moons.2"),
    make_record("Tidal heating in the icy moon Europa", doi="10.1000/moons.3"),
]


def make_workflow(
    handler: Any = None,
    sources: Sequence[SearchSource] | None = None,
    clock: Clock = CLOCK,
    llm: LLMProvider | None = None,
    **options: Any,
) -> SearchWorkflow:
    searched = list(sources) if sources is not None else [FakeSource("alpha", MOONS)]
    return SearchWorkflow(
        IntentParser(clock=CLOCK),
        QueryBuilder(llm, available_sources=[source.source_name for source in searched], clock=CLOCK),
        Searcher(searched),
        Deduplicator(),
        RelevanceScorer(clock=CLOCK),
        ResultOrganizer(clock=CLOCK),
        checkpoint_handler=handler,
        clock=clock,
        **options,
    )


class RoundsSource(FakeSource):
    """A source with other papers, or an error, in each round."""

    def __init__(self, name: str, rounds: Sequence[Sequence[RawPaper] | Exception]) -> None:
        super().__init__(name)
        self._rounds = rounds

    async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
        await super().search_advanced(strategy)
        answer = self._rounds[len(self.asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return list(answer)


def list_titles(collection: PaperCollection) -> list[str]:
    return [paper.title for paper in collection.papers]


def list_kinds(handler: ScriptedDecisions) -> list[str]:
    return [checkpoint.kind.value for checkpoint in handler.seen]


def get_review(handler: ScriptedDecisions, index: int) -> PaperCollection:
    payload = handler.seen[index].payload
    assert isinstance(payload, ResultPayload)
    return payload.collection


def get_strategy(handler: ScriptedDecisions, index: int) -> SearchStrategy:
    payload = handler.seen[index].payload
    assert isinstance(payload, StrategyPayload)
    return payload.strategy


def make_edit(**changes: Any) -> Decision:
    return Decision(action=DecisionAction.EDIT, revised_data=changes)


def make_reject(**feedback: Any) -> Decision:
    return Decision(action=DecisionAction.REJECT, revised_data=feedback)
