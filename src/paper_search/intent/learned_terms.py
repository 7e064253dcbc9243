"""Learn terms from papers: frequent in the best or the included papers, and rare elsewhere."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from paper_search.intent.topic_words import estimate_share, is_teachable
from paper_search.models import TermSuggestion
from paper_search.relevance.marks_model import fit_marks
from uraniborg.kernel.words import extract_terms, split_words

BEST_PAPERS: Final = 20
"""The number of best papers whose terms are suggested."""
MOST_TERMS: Final = 12
_MOST_SEPARATING: Final = 40  # the planner uses the best, and then those that earlier rounds have not used
_LEAST_PAPERS, _LEAST_MARKED = 3, 2
_MANY_MARKS: Final = 50  # with fewer marked papers, many words separate them by chance
_LIKELY, _SHORTEST = 0.2, 3


def suggest_terms(
    best: Sequence[str], others: Sequence[str], known: Iterable[str], group: str = "best papers"
) -> list[TermSuggestion]:
    """Return terms of the best papers' texts that are rare in papers of all fields and among the other results.

    `known` are texts whose words are not suggested: the question and the blocks of the plan.
    """
    counts, elsewhere = _count_texts(best), _count_texts(others)
    weights: dict[str, float] = {}
    for stem, count in counts.items():
        share = count / len(best)
        if count >= min(_LEAST_PAPERS, len(best)) and share > (elsewhere[stem] + 1) / (len(others) + 2):
            weights[stem] = share * math.log(share / max(estimate_share(stem), 1e-6))
    terms = _rank_teachable(weights, best, known)[:MOST_TERMS]
    return [TermSuggestion(term=term, reason=f"in {counts[stem]} of the {len(best)} {group}") for stem, term in terms]


def separate_terms(included: Sequence[str], excluded: Sequence[str], known: Iterable[str]) -> list[TermSuggestion]:
    """Return the terms that best separate the texts of included papers from those of excluded ones, the best first.

    Without excluded papers, return the terms that are frequent in the included ones.
    """
    if not (included and excluded):
        return suggest_terms(included, (), known, "included papers") if included else []
    texts = [*included, *excluded]
    marks = [True] * len(included) + [False] * len(excluded)
    model = fit_marks([Counter(extract_terms(text)) for text in texts], marks)
    assert model is not None
    held, refused = _count_texts(included), _count_texts(excluded)
    weights = {
        stem: weight
        for stem, weight in model.weights.items()
        if weight > 0
        and held[stem] >= min(_LEAST_MARKED, len(included))
        and held[stem] / len(included) > refused[stem] / len(excluded)
        and not (len(texts) < _MANY_MARKS and _is_likely_chance(held[stem], refused[stem], len(included), len(texts)))
    }
    terms = _rank_teachable(weights, included, known)[:_MOST_SEPARATING]
    reason = f"in {{}} of {len(included)} included papers and {{}} of {len(excluded)} excluded"
    return [TermSuggestion(term=term, reason=reason.format(held[stem], refused[stem])) for stem, term in terms]


def _is_likely_chance(held: int, refused: int, included: int, marked: int) -> bool:
    """Return True if a word of as many papers would often be in as many included ones if marks said nothing."""
    having = held + refused
    ways = sum(math.comb(included, n) * math.comb(marked - included, having - n) for n in range(held, having + 1))
    return ways > _LIKELY * math.comb(marked, having)


def _count_texts(texts: Iterable[str]) -> Counter[str]:
    return Counter(stem for text in texts for stem in set(extract_terms(text)))


def _rank_teachable(weights: dict[str, float], texts: Iterable[str], known: Iterable[str]) -> list[tuple[str, str]]:
    """Return the stems that may be taught with their most frequent spelling in the texts, by falling weight."""
    taken = {stem for text in known for stem in extract_terms(text)}
    counts = Counter(word for text in texts for word in split_words(text))
    rarest_first = sorted(counts, key=lambda word: (-counts[word], word), reverse=True)
    spelled = {stem: word for word in rarest_first for stem in extract_terms(word)[:1]}
    ranked = sorted(weights.keys() - taken, key=lambda stem: (-weights[stem], stem))
    plain = [stem for stem in ranked if len(stem) >= _SHORTEST and not stem[0].isdigit() and stem.isalnum()]
    return [(stem, spelled[stem]) for stem in plain if is_teachable(spelled[stem])]
