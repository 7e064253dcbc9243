"""Turns scored papers into the collection a person sees: the good ones, sorted and counted."""

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
from paper_search.text import STOP_WORDS, words
from uraniborg.kernel.clock import Clock, SystemClock

_TOP_AUTHORS = 10
_KEY_THEMES = 8
_SHORTEST_THEME = 3
_CLEARLY_RELEVANT = 0.5


class ResultOrganizer:
    """Keeps papers of at least `min_relevance`, the best first."""

    def __init__(self, min_relevance: float = 0.3, clock: Clock | None = None) -> None:
        self._min_relevance = min_relevance
        self._clock = clock or SystemClock()

    async def organize(
        self, papers: list[ScoredPaper], strategy: SearchStrategy, original_query: str
    ) -> PaperCollection:
        """The collection of at most `strategy.filters.max_results` papers. `total_found` counts all that came."""
        kept = sorted((scored for scored in papers if scored.relevance_score >= self._min_relevance), key=_order)
        listed = [_paper(scored) for scored in kept[: strategy.filters.max_results]]
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


def _order(scored: ScoredPaper) -> tuple[float, int, int, str, str]:
    paper = scored.paper
    return -scored.relevance_score, -paper.citation_count, -(paper.year or 0), paper.title, paper.id


def _paper(scored: ScoredPaper) -> Paper:
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
    """Words and pairs of words that several titles share, a pair standing for its words where it is as frequent."""
    single: Counter[str] = Counter()
    double: Counter[str] = Counter()
    for paper in papers:
        title = words(paper.title)
        single.update({word for word in title if _tells(word)})
        double.update({f"{first} {second}" for first, second in pairwise(title) if _tells(first) and _tells(second)})
    pairs = {pair: count for pair, count in double.items() if count > 1}
    told = {word for pair, count in pairs.items() for word in pair.split() if single[word] == count}
    counted = {**{word: count for word, count in single.items() if word not in told}, **pairs}
    return sorted(counted, key=lambda theme: (-counted[theme], theme))[:_KEY_THEMES]


def _tells(word: str) -> bool:
    return len(word) >= _SHORTEST_THEME and word not in STOP_WORDS and not word.isdigit()
