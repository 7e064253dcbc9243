"""What a person may have meant by words that no paper has: the index's own words, by likeness and by frequency."""

from typing import Final

import tantivy
from rapidfuzz import fuzz, process

from paper_library.search import fields
from uraniborg.kernel.text import fold_in_place

_LIKELY: Final = 75.0
_CANDIDATES: Final = 20
_SHORTEST: Final = 4


def did_you_mean(searcher: tantivy.Searcher, query: str, missing: list[str]) -> str | None:
    """`query` with its unknown words put right, or None when there is nothing to suggest."""
    better = query
    for word in missing:
        if word.isalpha() and len(word) >= _SHORTEST and (meant := _nearest(searcher, word)):
            start = fold_in_place(better).find(word)
            if start >= 0:
                better = better[:start] + meant + better[start + len(word) :]
    return better if better != query else None


def _nearest(searcher: tantivy.Searcher, word: str) -> str | None:
    """The most frequent of the words that are hardly less like it than the most like one."""
    for beginning in (word[:1], ""):
        known = {
            term: papers
            for where in (fields.EXACT, fields.AUTHOR)
            for term, papers in searcher.terms_with_prefix(where, beginning)
        }
        alike = process.extract(word, known.keys(), scorer=fuzz.ratio, limit=_CANDIDATES, score_cutoff=_LIKELY)
        if alike:
            top = max(score for _, score, _ in alike)
            return max((known[term], term) for term, score, _ in alike if score >= top - 4)[1]
    return None
