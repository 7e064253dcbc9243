"""Score candidates by BM25 over title, abstract and venue, with term weights from the pool.

The candidates were found by the query terms, so document frequency alone cannot separate a rare word that the sources
matched from a common one. Three further signs can: a word that names a topic stands in titles, is repeated where it
occurs, and is not one of the words that every field uses.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from paper_search.relevance.candidate_terms import Candidate, Pool
from paper_search.relevance.weighted_query import Query, list_common_terms

FLOOR = 1.0
"""Added to the rarity, which vanishes where every candidate holds the term."""
TITLE_POWER = 0.35
REPEAT_POWER = 0.2
SMOOTHING = 3
"""Pseudo-count for titles and repetition, in candidates: a small pool proves little."""
COMMON_WORD = 0.6


def weigh_terms(pool: Pool, asked_terms: Mapping[str, float]) -> dict[str, float]:
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


def measure_match_strengths(pool: Pool, query: Query, weights: Mapping[str, float]) -> list[float]:
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
