"""Measure how far each paper leans towards marked papers or the best matches, from -1 to 1.

The order of the papers changes nothing.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from paper_search.relevance.candidate_terms import Candidate, Pool

_BEST_SHARE: Final = 0.07
"""The share of a pool that counts as its best matches."""
_LEAST_BEST: Final = 10
"""A pool whose best matches are fewer teaches nothing."""


def lean_towards_marked(
    pool: Pool, marks: Sequence[bool | None], irrelevant: Sequence[Candidate]
) -> list[float] | None:
    """Return the leanings towards the papers marked relevant; None unless papers of both kinds are marked.

    Papers marked irrelevant are given too, since they are no candidates any more.
    """
    if True not in marks or not (irrelevant or False in marks):
        return None
    from paper_search.relevance.marks_model import fit_marks  # numpy is loaded only where papers are marked

    known = [*zip(pool.candidates, pool.counts, marks, range(len(marks)), strict=True)]
    known += [(one, Counter((*one.title, *one.body)), False, -1) for one in irrelevant]
    known.sort(key=lambda entry: (*entry[0].title, "", *entry[0].body))
    model = fit_marks([counts for _, counts, _, _ in known], [mark for _, _, mark, _ in known])
    if model is None:
        return None
    leanings = [0.0] * len(marks)
    for (_, _, _, position), decision in zip(known, model.decisions, strict=True):
        if position >= 0:
            leanings[position] = max(-1.0, min(1.0, decision))
    return leanings


def lean_towards_best(pool: Pool, scores: Sequence[float]) -> list[float] | None:
    """Return the leanings towards the papers with the best scores and away from the lower half; None for small pools.

    No person has marked these papers: the best matches are taken for relevant, and the lower half for irrelevant.
    """
    best = round(len(scores) * _BEST_SHARE)
    if best < _LEAST_BEST:
        return None
    ranked = sorted(scores, reverse=True)
    high, low = ranked[best - 1], ranked[len(ranked) // 2]
    return lean_towards_marked(
        pool, [True if score >= high else False if score <= low else None for score in scores], ()
    )
