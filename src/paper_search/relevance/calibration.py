"""Calibrate scores from 0 to 1 so that they mean the same in every pool.

`FAIR` separates papers that match a fair part of the query from papers that match almost nothing. A paper that holds
the main concepts of the query never scores below `FAIR`. A paper that holds none of them, or one word out of many,
never reaches it.
"""

import math
from collections.abc import Mapping, Set

from paper_search.relevance.weighted_query import Query

FAIR = 0.3
FAIR_STRENGTH = 0.2
"""The strength that earns a score of `FAIR`; less for a long query, since no paper holds all of a long query."""
LONG_QUERY = 8
SMALL_PART = 0.38
"""A single word with a smaller share of the query's weight is almost nothing."""
PREFERENCE_STEP = 0.6
"""The share of its distance to 1, scaled by the score itself, that a paper gains by meeting every preference."""
MARK_STEP = 0.35
"""The largest share of the distance to 1 or 0 by which similarity to marked papers moves a score."""
UNJUDGED = 0.5
"""The score of every paper when the query holds nothing to compare them with."""


def calibrate_score(
    strength: float, query: Query, weights: Mapping[str, float], matched_terms: Set[str], wishes_met: int
) -> float:
    """Return the score of a paper with `matched_terms` of the query that meets `wishes_met` author or venue wishes.

    A wish counts like one more word of the query. The score rises with the strength and never reaches 1.
    """
    if query.is_empty:
        return UNJUDGED
    wishes = bool(query.authors) + bool(query.venues)
    strength = (len(query.asked) * strength + wishes_met) / (len(query.asked) + wishes)
    fair_strength = FAIR_STRENGTH * min(1.0, LONG_QUERY / max(1, len(query.asked))) ** 0.5
    risen = 1 - math.exp(strength / fair_strength * math.log(1 - FAIR))
    if _has_main_concepts(query, matched_terms, wishes_met):
        return max(risen, FAIR + 0.1 * risen)
    if _has_almost_nothing(query, weights, matched_terms, wishes_met):
        return min(risen, FAIR * (0.7 + 0.2 * risen))
    return risen


def _has_main_concepts(query: Query, matched_terms: Set[str], wishes_met: int) -> bool:
    if not query.essentials:
        return wishes_met > 0
    return any(essential <= matched_terms for essential in query.essentials)


def _has_almost_nothing(query: Query, weights: Mapping[str, float], matched_terms: Set[str], wishes_met: int) -> bool:
    found = query.distinctive & matched_terms
    if len(found) + wishes_met > 1:
        return False
    return math.fsum(weights[t] for t in found) < SMALL_PART * math.fsum(weights[t] for t in query.distinctive)


def boost_for_preferences(score: float, met_count: int, preference_count: int) -> float:
    """Return the score raised for `met_count` of the preferences; a paper off the topic stays below `FAIR`."""
    if not met_count:
        return score
    raised = score + PREFERENCE_STEP * (met_count / preference_count) * score * (1 - score)
    return raised if score >= FAIR else min(raised, (score + FAIR) / 2)


def adjust_for_feedback(score: float, similarity: float) -> float:
    """Return the score moved by at most `MARK_STEP` of its distance to 1 (similarity 1) or to 0 (similarity -1)."""
    return score + MARK_STEP * similarity * ((1 - score) if similarity > 0 else score)
