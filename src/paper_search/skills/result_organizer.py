"""Skill: select the relevant papers of a round and sort them."""

from paper_search.domain.facets import count_facets
from paper_search.domain.large_work import call_in_thread_if_large
from paper_search.models import Paper, PaperCollection, ScoredPaper, SearchMetadata, SearchStrategy
from uraniborg.kernel.clock import Clock, SystemClock


class ResultOrganizer:
    """Selects the best papers, of at least the relevance that the strategy asks for.

    `min_relevance` is the least relevance for strategies that ask for none; None selects papers of any relevance.
    """

    def __init__(self, min_relevance: float | None = None, clock: Clock | None = None) -> None:
        self.min_relevance = min_relevance
        self._clock = clock or SystemClock()

    async def organize(
        self, papers: list[ScoredPaper], strategy: SearchStrategy, original_query: str
    ) -> PaperCollection:
        """Return at most `strategy.filters.max_results` papers with facets. `total_found` counts all papers given."""
        return await call_in_thread_if_large(len(papers), self._build_collection, papers, strategy, original_query)

    def _build_collection(
        self, papers: list[ScoredPaper], strategy: SearchStrategy, original_query: str
    ) -> PaperCollection:
        asked = strategy.filters.min_relevance
        least = (self.min_relevance if asked is None else asked) or 0.0
        relevant = [scored for scored in papers if scored.relevance_score >= least]
        best = sorted(relevant, key=lambda scored: scored.sort_key)[: max(0, strategy.filters.max_results)]
        listed = [Paper.from_scored(scored) for scored in best]
        found, now = len(papers), self._clock.now().isoformat()
        metadata = SearchMetadata(query=original_query, search_strategy=strategy, total_found=found, timestamp=now)
        return PaperCollection(metadata=metadata, papers=listed, facets=count_facets(listed))
