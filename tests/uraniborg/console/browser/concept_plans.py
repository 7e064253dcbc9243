"""Searches whose plans have concept blocks, a ladder of queries and suggested terms, with what each source did."""

from collections.abc import Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Final

import pytest

from paper_search.models import (
    ConceptBlock,
    QueryBuilderInput,
    QueryReport,
    SearchQuery,
    SearchStrategy,
    SourceReport,
    SourceStatus,
    StopReason,
    TermSuggestion,
)
from paper_search.skills.query_builder import QueryBuilder
from paper_search.sources.interfaces import SourceResult
from paper_search.testing import FakeSource
from paper_search.workflow import Decision
from tests.paper_search.service.sessions.helpers import make_moon_papers
from tests.uraniborg.console.browser.agents import store_review

QUESTION: Final = "Does night shift work raise the risk of breast cancer?"
BLOCKS: Final = (
    ConceptBlock(
        name="shift work",
        variants=["shift work", "night work", "rotating shifts", "night shift"],
        share=0.00021,
        reason="from the question",
    ),
    ConceptBlock(
        name="breast cancer",
        variants=["breast cancer", "breast neoplasm", "mammary carcinoma"],
        share=0.0063,
        reason="from the question",
    ),
    ConceptBlock(name="circadian", variants=["circadian"], share=0.02, reason="in 14 of the 20 best papers"),
)
SUGGESTIONS: Final = (
    TermSuggestion(term="light at night", reason="in 9 of the 20 best papers", block="shift work"),
    TermSuggestion(term="melatonin", reason="in 12 of the 20 best papers"),
)
DRY: Final = "2 rungs in a row added no paper."
QUERIES: Final = (
    SearchQuery(
        keywords=["shift work", "breast cancer", "circadian"],
        boolean_query='("shift work" OR "night work") AND ("breast cancer" OR "breast neoplasm") AND circadian',
        blocks=["shift work", "breast cancer", "circadian"],
    ),
    SearchQuery(
        keywords=["shift work"],
        boolean_query="",
        words="shift work breast cancer circadian",
        blocks=["shift work", "breast cancer", "circadian"],
    ),
    SearchQuery(
        keywords=["shift work", "breast cancer"],
        boolean_query='("shift work" OR "night work") AND ("breast cancer" OR "breast neoplasm")',
        rung=1,
        blocks=["shift work", "breast cancer"],
    ),
    *(
        SearchQuery(keywords=[first], boolean_query=f"{first} AND {second}", rung=2)
        for first, second in (("shift", "breast"), ("shift", "cancer"), ("night", "breast"), ("night", "cancer"))
    ),
)


class CountingSource(FakeSource):
    """A source that reports what it did with each query: it stops at the second, and runs no later one."""

    async def search_with_report(self, strategy: SearchStrategy) -> SourceResult:
        """Return its papers, with a report in which the first query is complete and the second has more matches."""
        papers = await self.search_advanced(strategy)
        rest = len(papers) - 1
        counts = ((1, 1, StopReason.COMPLETE), (1204, rest, StopReason.ENOUGH), (None, 0, StopReason.NOT_RUN))
        asked = [query for query in strategy.queries if query.boolean_query]
        queries = [
            QueryReport(
                text=query.boolean_query,
                rung=query.rung,
                found=found,
                fetched=sent,
                added=sent,
                stopped=why,
                reason=DRY if why is StopReason.NOT_RUN else None,
            )
            for query, (found, sent, why) in zip(asked, chain(counts, repeat(counts[-1])), strict=False)
        ]
        report = SourceReport(
            name=self.source_name,
            status=SourceStatus.OK,
            returned=len(papers),
            queries=queries,
            calls=2,
            seconds=1.2,
        )
        return SourceResult(papers, report)


def store_concept_plan(
    home: Path,
    decisions: Sequence[Decision] = (),
    blocks: Sequence[ConceptBlock] = BLOCKS,
    suggestions: Sequence[TermSuggestion] = SUGGESTIONS,
    queries: Sequence[SearchQuery] = QUERIES,
    question: str = QUESTION,
    offline: bool = False,
    **filters: Any,
) -> str:
    """Store a search with such a plan in the data folder of a server; return its id.

    `filters` are limits. If it is `offline`, it continues with the shipped recordings.
    """

    async def build(self: QueryBuilder, given: QueryBuilderInput) -> SearchStrategy:
        return SearchStrategy(
            queries=list(queries),
            sources=["europepmc", "crossref", "arxiv", *([] if offline else ["semantic_scholar", "pubmed"])],
            filters=given.intent.constraints.model_copy(update=filters),
            blocks=list(blocks),
            suggestions=list(suggestions),
        )

    others = [CountingSource(name, make_moon_papers(3, name)) for name in ("crossref", "arxiv", "semantic_scholar")]
    pubmed = FakeSource("pubmed", make_moon_papers(2, "pubmed"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QueryBuilder, "build", build)
        return store_review(
            home,
            question,
            make_moon_papers(4, "europepmc"),
            *others,
            pubmed,
            decisions=decisions,
            name="europepmc",
            offline=offline,
        )
