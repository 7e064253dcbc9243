"""Suggest similar words and keywords of the shelf for those that no paper has."""

import re
from typing import Final

import tantivy
from rapidfuzz import fuzz, process

from paper_library.store import index as fields
from paper_library.store.shelf import Shelf
from uraniborg.kernel.words import extract_terms, fold_characters, fold_text

_LIKELY: Final = 75.0
_CANDIDATES: Final = 20
_SHORTEST: Final = 4
_MOST_WORDS: Final = 3
_MOST_KNOWN: Final = 200_000
"""The most words of the index that are compared, to limit the time."""
_MOST_KEYWORDS: Final = 50_000
_SUGGESTIONS: Final = 5


def suggest_keywords(shelf: Shelf, keyword: str) -> list[str]:
    """Return keywords and tags that share words with `keyword` or have a similar spelling, best first."""
    known: dict[str, tuple[str, int]] = {}
    for kind in (fields.KEYWORD, fields.TAG):
        for value, papers in shelf.list_top_facets(kind, _MOST_KEYWORDS):
            known.setdefault(fold_text(value), (value, papers))
    likely = process.extract(
        fold_text(keyword), known.keys(), scorer=fuzz.ratio, limit=_CANDIDATES, score_cutoff=_LIKELY
    )
    alike = {name: score for name, score, _ in likely}
    wanted = set(extract_terms(keyword))
    for name in known:
        if any(word in name for word in wanted) and (shared := wanted & (own := set(extract_terms(name)))):
            alike[name] = max(alike.get(name, 0.0), 100.0 * len(shared) / len(wanted | own))
    best = sorted(alike, key=lambda name: (-alike[name], -known[name][1], name))
    return [known[name][0] for name in best[:_SUGGESTIONS]]


def suggest_correction(searcher: tantivy.Searcher, query: str, missing: list[str]) -> str | None:
    """Return `query` with its unknown words corrected, or None without a suggestion."""
    better = query
    guessable = [word for word in missing if word.isalpha() and len(word) >= _SHORTEST]
    for word in guessable[:_MOST_WORDS]:
        found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", fold_characters(better))
        if found and (meant := _find_nearest_word(searcher, word, any_first_letter=word == guessable[0])):
            better = better[: found.start()] + meant + better[found.end() :]
    return better if better != query else None


def _find_nearest_word(searcher: tantivy.Searcher, word: str, *, any_first_letter: bool) -> str | None:
    """Return the most frequent of the words with nearly the best similarity, or None."""
    for beginning in (word[:1], "") if any_first_letter else (word[:1],):
        known = {
            term: papers
            for where in (fields.EXACT, fields.AUTHOR)
            for term, papers in searcher.terms_with_prefix(where, beginning, limit=_MOST_KNOWN)
        }
        alike = process.extract(word, known.keys(), scorer=fuzz.ratio, limit=_CANDIDATES, score_cutoff=_LIKELY)
        if alike:
            top = max(score for _, score, _ in alike)
            return max((known[term], term) for term, score, _ in alike if score >= top - 4)[1]
    return None
