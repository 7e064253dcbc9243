"""Score candidates by BM25 with term weights from the pool, calibrated to mean the same in every pool.

The candidates were found by the query terms, so document frequency alone cannot separate a rare word that the sources
matched from a common one. Three further signs can: a word that names a topic stands in titles, is repeated where it
occurs, and is not one of the words that every field uses.

`FAIR` separates papers that match a fair part of the query from papers that match almost nothing. A paper that holds
the main concepts of the query never scores below `FAIR`. A paper that holds none of them, or one word out of many,
never reaches it.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set

from paper_search.domain.relevance.weighted_terms import Candidate, CandidatePool, WeightedQuery, list_common_terms

FLOOR = 1.0
"""Added to the rarity, which vanishes where every candidate holds the term."""
TITLE_POWER = 0.35
REPEAT_POWER = 0.2
SMOOTHING = 3
"""Pseudo-count for titles and repetition, in candidates: a small pool proves little."""
COMMON_WORD = 0.6


def weigh_terms(pool: CandidatePool, asked_terms: Mapping[str, float]) -> dict[str, float]:
    """Return the weight of each asked term, above zero in any pool."""
    in_titles = dict.fromkeys(asked_terms, 0)
    for candidate in pool.candidates:
        for term in in_titles.keys() & set(candidate.title):
            in_titles[term] += 1
    occurrences = dict.fromkeys(asked_terms, 0)
    for counts in pool.counts:
        for term in occurrences.keys() & counts.keys():
            occurrences[term] += counts[term]
    common = list_common_terms()
    weights: dict[str, float] = {}
    for term, times in asked_terms.items():
        # A term that no candidate holds cannot be judged; it counts like one that every other candidate holds.
        holders = pool.document_frequency[term] or len(pool) / 2
        title_share = (in_titles[term] + 1) / (holders + SMOOTHING)
        repeats = (max(holders, occurrences[term]) + SMOOTHING) / (holders + SMOOTHING)
        weight = (FLOOR + pool.compute_rarity(holders)) * title_share**TITLE_POWER * repeats**REPEAT_POWER
        weights[term] = times * weight * (COMMON_WORD if term in common else 1.0)
    return weights


K1 = 1.5
B = 0.75
TITLE_WEIGHT = 2.5
"""The weight of one occurrence in the title, in occurrences in the abstract."""
VENUE_WEIGHT = 0.5
PAIR_SHARE = 0.3
"""The gain for two neighbouring query terms found side by side, as a share of the lighter term's weight."""
PHRASE_SHARE = 0.5
"""The gain for a quoted phrase found word for word, as a share of its terms' weights; its absence lowers the score."""
LENGTH_RATIO = (0.2, 4.0)
"""Texts count as at least and at most this many times as long as the average one."""


def measure_match_strengths(pool: CandidatePool, query: WeightedQuery, weights: Mapping[str, float]) -> list[float]:
    """Return for each candidate 0 if it holds no query term, up to about 1 if it holds all, often and side by side."""
    lengths = [len(c.body) + TITLE_WEIGHT * len(c.title) for c in pool.candidates]
    average = sum(lengths) / max(1, len(lengths)) or 1.0
    pairs = {pair: PAIR_SHARE * min(weights[pair[0]], weights[pair[1]]) for pair in query.pairs}
    phrases = {phrase: PHRASE_SHARE * sum(weights[term] for term in phrase) for phrase in query.phrases}
    most = sum(weights.values()) + sum(phrases.values()) or 1.0
    shortest, longest = LENGTH_RATIO
    strengths: list[float] = []
    for candidate, counts, length in zip(pool.candidates, pool.counts, lengths, strict=True):
        half = K1 * (1 - B + B * min(longest, max(shortest, length / average)))
        found = _count_occurrences(candidate, counts, weights)
        strength = sum([weights[term] * n / (n + half) for term, n in found.items()])
        if len(found) > 1:
            title, body = _join_terms(candidate.title), _join_terms(candidate.body)
            for pair, weight in pairs.items():
                if pair[0] in found and pair[1] in found:
                    sought = _join_terms(pair)
                    n = TITLE_WEIGHT * title.count(sought) + body.count(sought)
                    strength += weight * n / (n + half)
            for phrase, weight in phrases.items():
                sought = _join_terms(phrase)
                strength += weight * (sought in title or sought in body)
        strengths.append(strength / most)
    return strengths


def _count_occurrences(candidate: Candidate, counts: Counter[str], weights: Mapping[str, float]) -> dict[str, float]:
    # In the order of `weights`, because a sum of floats depends on its order and a set has none.
    found = {term: counts[term] + 0.0 for term in weights if term in counts}
    for term in candidate.title:
        if term in found:
            found[term] += TITLE_WEIGHT - 1
    for term in candidate.venue:
        if term in weights:
            found[term] = found.get(term, 0.0) + VENUE_WEIGHT
    return found


def _join_terms(run: Sequence[str]) -> str:
    # Every term has its own space on either side, so that runs that follow one another are both counted.
    return f" {'  '.join(run)} "


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
    strength: float, query: WeightedQuery, weights: Mapping[str, float], matched_terms: Set[str], wishes_met: int
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


def _has_main_concepts(query: WeightedQuery, matched_terms: Set[str], wishes_met: int) -> bool:
    if not query.essentials:
        return wishes_met > 0
    return any(essential <= matched_terms for essential in query.essentials)


def _has_almost_nothing(
    query: WeightedQuery, weights: Mapping[str, float], matched_terms: Set[str], wishes_met: int
) -> bool:
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
