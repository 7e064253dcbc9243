"""Count the years, venues, authors and themes of a list of papers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from paper_search.domain.relevance.weighted_terms import list_common_terms
from paper_search.models import Facets, Paper
from uraniborg.kernel.language.words import split_words, stem_word

_TOP_AUTHORS: Final = 10
_KEY_THEMES: Final = 8
_MIN_THEME_CHARS: Final = 3
_CLEARLY_RELEVANT: Final = 0.5

Theme = tuple[str, ...]
"""One stem, or two that follow each other in a title."""


def count_facets(papers: Sequence[Paper]) -> Facets:
    """Return the years, venues and authors of the papers, and the themes of the clearly relevant ones."""
    relevant = [paper for paper in papers if paper.relevance_score >= _CLEARLY_RELEVANT]
    by_year = Counter(paper.year for paper in papers if paper.year is not None)
    authors = _count_names(author.name for paper in papers for author in paper.authors)
    return Facets(
        by_year=dict(sorted(by_year.items())),
        by_venue=dict(_count_names(paper.venue for paper in papers if paper.venue)),
        top_authors=[name for name, _ in authors[:_TOP_AUTHORS]],
        key_themes=_find_themes(relevant),
    )


def _count_names(names: Iterable[str]) -> list[tuple[str, int]]:
    """Count names regardless of case and spacing; return each in its most frequent spelling, most frequent first."""
    spellings: dict[str, Counter[str]] = {}
    for name in names:
        spelled = " ".join(name.split())
        if spelled:
            spellings.setdefault(spelled.casefold(), Counter())[spelled] += 1
    counted = [(_pick_most_frequent(forms), forms.total()) for forms in spellings.values()]
    return sorted(counted, key=lambda pair: (-pair[1], pair[0]))


def _pick_most_frequent(counts: Counter[str]) -> str:
    return min(counts, key=lambda form: (-counts[form], form))


def _find_themes(papers: Sequence[Paper]) -> list[str]:
    """Return the words that titles share, and pairs of words where a pair is as frequent as its words."""
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
    counts = {theme: seen.total() for theme, seen in forms.items() if len(theme) == 1 or seen.total() > 1}
    for theme in [theme for theme in counts if len(theme) > 1]:
        for word in theme:
            if counts.get((word,)) == counts[theme]:
                del counts[(word,)]
    specific = [theme for theme in counts if not list_common_terms().issuperset(theme)]
    best = sorted(specific, key=lambda theme: (-counts[theme], theme))[:_KEY_THEMES]
    return [_pick_most_frequent(forms[theme]) for theme in best]


def _can_be_theme(word: str, root: str) -> bool:
    return len(word) >= _MIN_THEME_CHARS and bool(root) and not word.isdigit()
