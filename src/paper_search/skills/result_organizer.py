"""Turns scored papers into the collection a person sees: the good ones, sorted and counted."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from paper_search.models import (
    Facets,
    Paper,
    PaperCollection,
    ScoredPaper,
    SearchMetadata,
    SearchStrategy,
    Work,
)
from paper_search.relevance.common_words import common_terms
from paper_search.text import split_words, stem_word
from uraniborg.kernel.clock import Clock, SystemClock

_AT_ONCE = 50
"""Papers organised without leaving the event loop; more go to a thread."""
_TOP_AUTHORS = 10
_KEY_THEMES = 8
_SHORTEST_THEME = 3
_CLEARLY_RELEVANT = 0.5

Theme = tuple[str, ...]


class ResultOrganizer:
    """Keeps papers of at least `min_relevance`, the best first."""

    def __init__(self, min_relevance: float = 0.3, clock: Clock | None = None) -> None:
        self.min_relevance = min_relevance
        self._clock = clock or SystemClock()

    async def organize(
        self, papers: list[ScoredPaper], strategy: SearchStrategy, original_query: str
    ) -> PaperCollection:
        """The collection of at most `strategy.filters.max_results` papers. `total_found` counts all that came."""
        if len(papers) <= _AT_ONCE:
            return self._organized(papers, strategy, original_query)
        return await asyncio.to_thread(self._organized, papers, strategy, original_query)

    def _organized(self, papers: list[ScoredPaper], strategy: SearchStrategy, original_query: str) -> PaperCollection:
        kept = sorted(
            (scored for scored in papers if scored.relevance_score >= self.min_relevance), key=relevance_order
        )
        listed = [paper_of(scored) for scored in kept[: max(0, strategy.filters.max_results)]]
        metadata = SearchMetadata(
            query=original_query,
            search_strategy=strategy,
            total_found=len(papers),
            timestamp=self._clock.now().isoformat(),
        )
        return PaperCollection(metadata=metadata, papers=listed, facets=facets_of(listed))


def facets_of(papers: Sequence[Paper]) -> Facets:
    """What the papers have in common: years, venues, authors, and the themes of the clearly relevant ones."""
    relevant = [paper for paper in papers if paper.relevance_score >= _CLEARLY_RELEVANT]
    by_year = Counter(paper.year for paper in papers if paper.year is not None)
    return Facets(
        by_year=dict(sorted(by_year.items())),
        by_venue=dict(_grouped(paper.venue for paper in papers if paper.venue)),
        top_authors=[name for name, _ in _grouped(a.name for paper in papers for a in paper.authors)[:_TOP_AUTHORS]],
        key_themes=_themes(relevant),
    )


def relevance_order(scored: ScoredPaper) -> tuple[float, int, int, str, str]:
    """Return the sort key that puts the most relevant papers first, and always in the same order."""
    paper = scored.paper
    return -scored.relevance_score, -paper.citation_count, -(paper.year or 0), paper.title, paper.id


def paper_of(scored: ScoredPaper) -> Paper:
    """Return the paper that a person sees for a scored one."""
    shared = {name: getattr(scored.paper, name) for name in Work.model_fields}
    sources = dict.fromkeys(record.source for record in scored.paper.records) or {scored.paper.source: None}
    return Paper(
        **shared,
        id=scored.paper.id,
        relevance_score=scored.relevance_score,
        relevance_reason=scored.relevance_reason,
        tags=scored.tags,
        sources=sorted(sources),
    )


def _grouped(names: Iterable[str]) -> list[tuple[str, int]]:
    """Names counted without regard to case and spacing, most frequent first, each as it is most often written."""
    spellings: dict[str, Counter[str]] = {}
    for name in names:
        spelled = " ".join(name.split())
        if spelled:
            spellings.setdefault(spelled.casefold(), Counter())[spelled] += 1
    counted = [(_commonest(forms), forms.total()) for forms in spellings.values()]
    return sorted(counted, key=lambda pair: (-pair[1], pair[0]))


def _commonest(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], form))


def _themes(papers: Sequence[Paper]) -> list[str]:
    """What titles share: words in whatever form, and pairs of them where a pair is as frequent as its words."""
    forms: dict[Theme, Counter[str]] = {}
    for paper in papers:
        title = [(word, stem_word(word)) for word in split_words(paper.title)]
        singles = {(root,): word for word, root in title if _can_be_theme(word, root)}
        doubles = {
            (first[1], second[1]): f"{first[0]} {second[0]}"
            for first, second in pairwise(title)
            if (first[1],) in singles and (second[1],) in singles
        }
        for theme, form in (singles | doubles).items():
            forms.setdefault(theme, Counter())[form] += 1
    counted = {theme: seen.total() for theme, seen in forms.items() if len(theme) == 1 or seen.total() > 1}
    for theme in [theme for theme in counted if len(theme) > 1]:
        for word in theme:
            if counted.get((word,)) == counted[theme]:
                del counted[(word,)]
    telling = [theme for theme in counted if not common_terms().issuperset(theme)]
    best = sorted(telling, key=lambda theme: (-counted[theme], theme))[:_KEY_THEMES]
    return [_commonest(forms[theme]) for theme in best]


def _can_be_theme(word: str, root: str) -> bool:
    return len(word) >= _SHORTEST_THEME and bool(root) and not word.isdigit()
