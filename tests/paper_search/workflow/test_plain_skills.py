"""Test doubles with only the methods and parameters of the original engine work as skills."""

from typing import Any

import pytest

from paper_search.models import (
    Paper,
    PaperCollection,
    ParsedIntent,
    QueryBuilderInput,
    RawPaper,
    ScoredPaper,
    SearchMetadata,
    SearchStrategy,
)
from paper_search.testing import ScriptedDecisions
from paper_search.workflow import SearchWorkflow
from tests.paper_search.workflow.runs import APPROVE, list_titles, make_edit, make_reject
from tests.paper_search.workflow.samples import make_intent, make_strategy

RECORDS = [
    RawPaper(id="r1", title="Tides of Io", source="plain", year=2020),
    RawPaper(id="r2", title="Tides of Europa", source="plain", year=2021),
]
SCORED = [ScoredPaper(paper=record, relevance_score=0.9, relevance_reason="It fits.") for record in RECORDS]


class PlainIntentParser:
    async def parse(self, user_input: str) -> ParsedIntent:
        return make_intent()


class PlainQueryBuilder:
    def __init__(self) -> None:
        self.inputs: list[QueryBuilderInput] = []

    async def build(self, input: QueryBuilderInput) -> SearchStrategy:  # noqa: A002 - the name users know
        self.inputs.append(input)
        return make_strategy()


class PlainSearcher:
    def __init__(self, records: list[RawPaper]) -> None:
        self._records = records
        self.strategies: list[SearchStrategy] = []

    async def search(self, strategy: SearchStrategy) -> list[RawPaper]:
        self.strategies.append(strategy)
        return list(self._records)


class PlainDeduplicator:
    async def deduplicate(self, papers: list[RawPaper]) -> list[RawPaper]:
        return papers


class PlainScorer:
    async def score(self, papers: list[RawPaper], intent: ParsedIntent) -> list[ScoredPaper]:
        return SCORED[: len(papers)]


class PlainOrganizer:
    async def organize(
        self, papers: list[ScoredPaper], strategy: SearchStrategy, original_query: str
    ) -> PaperCollection:
        listed = [Paper(id=record.id, title=record.title, source="plain", relevance_score=0.9) for record in RECORDS]
        metadata = SearchMetadata(query=original_query, search_strategy=strategy, total_found=len(RECORDS))
        return PaperCollection(metadata=metadata, papers=listed)


def make_plain_workflow(
    handler: ScriptedDecisions | None = None, records: list[RawPaper] = RECORDS, **skills: Any
) -> SearchWorkflow:
    given: dict[str, Any] = {
        "intent_parser": PlainIntentParser(),
        "query_builder": PlainQueryBuilder(),
        "searcher": PlainSearcher(records),
        "deduplicator": PlainDeduplicator(),
        "relevance_scorer": PlainScorer(),
        "result_organizer": PlainOrganizer(),
        **skills,
    }
    return SearchWorkflow(**given, checkpoint_handler=handler, max_iterations=3)


async def test_plain_skills_search_without_a_handler() -> None:
    result = await make_plain_workflow().run("tidal heating")
    assert sorted(list_titles(result)) == ["Tides of Europa", "Tides of Io"]
    assert result.metadata.total_found == 2


async def test_plain_skills_that_find_nothing_give_an_empty_result() -> None:
    result = await make_plain_workflow(records=[]).run("tidal heating")
    assert result.papers == []


async def test_any_source_may_be_named_in_an_edit_if_the_searcher_names_none() -> None:
    searcher = PlainSearcher(RECORDS)
    handler = ScriptedDecisions([make_edit(sources=["elsewhere"]), APPROVE])
    workflow = make_plain_workflow(handler, searcher=searcher)
    assert workflow.available_sources == []
    await workflow.run("tidal heating")
    assert [strategy.sources for strategy in searcher.strategies] == [["elsewhere"]]


@pytest.mark.parametrize("rejected", [make_reject(marked_relevant=["r1"]), make_reject(free_text_feedback="more")])
async def test_a_second_round_of_plain_skills_repeats_no_paper(rejected: Any) -> None:
    builder = PlainQueryBuilder()
    handler = ScriptedDecisions([APPROVE, rejected, APPROVE, APPROVE])
    result = await make_plain_workflow(handler, query_builder=builder).run("tidal heating")
    assert sorted(list_titles(result)) == ["Tides of Europa", "Tides of Io"]
    assert [len(given.previous_strategies) for given in builder.inputs] == [0, 1]
    (first, second) = result.metadata.round_logs
    assert (first.screened, second.screened, second.duplicates_of_earlier_rounds) == (2, 0, 2)
