"""The specificity of concept blocks by the sources' own counts: how many papers match each pair of blocks.

The matches of a pair are taken for the papers of the source times both shares. The estimates before count as well.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from paper_search.models import ConceptBlock, RoundLog, SearchStrategy, SourceReport
from paper_search.query.selection import select_queries

_LEAST_SHARE: Final = 0.0001
_PRIOR_WEIGHT: Final = 0.5  # of an estimate, often wrong by a factor of 4, beside a counted pair, wrong by one of 3


def observe_shares(blocks: Sequence[ConceptBlock], searched: RoundLog) -> list[ConceptBlock]:
    """Return the blocks with shares that agree with what the sources counted in a round."""
    estimates = {block.name: block.share for block in blocks if block.share and not block.learned}
    counts = [
        (source, pair, found)
        for source, report in enumerate(searched.sources)
        for pair, found in _count_pairs(searched.strategy, report).items()
        if pair <= estimates.keys()
    ]
    shares = _fit_shares(estimates, counts) if counts else {}
    return [block.model_copy(update={"share": shares.get(block.name, block.share)}) for block in blocks]


def describe_new_order(before: Sequence[ConceptBlock], after: Sequence[ConceptBlock]) -> list[str]:
    """Return a sentence if the counts of the sources changed which blocks are more specific."""
    names = ", ".join(f"“{name}”" for name in _sort_names(after))
    note = f"By the counts of the sources, the concepts from the most specific one on are: {names}."
    return [] if _sort_names(before) == _sort_names(after) else [note]


def _sort_names(blocks: Sequence[ConceptBlock]) -> list[str]:
    shares = {block.name: block.share for block in blocks if block.active and not block.learned and block.share}
    return sorted(shares, key=lambda name: shares[name])


def _count_pairs(strategy: SearchStrategy, report: SourceReport) -> dict[frozenset[str], int]:
    """Return the matches of the first query for each pair of blocks: later ones require only words of the blocks."""
    queries = select_queries("boolean", strategy.queries)
    if [query.rung for query in queries] != [one.rung for one in report.queries]:
        return {}  # a ranking source received other queries
    counts: dict[frozenset[str], int] = {}
    for query, one in zip(queries, report.queries, strict=True):
        if len(set(query.blocks)) == 2 and one.found is not None:
            counts.setdefault(frozenset(query.blocks), one.found)
    return counts


def _fit_shares(estimates: Mapping[str, float], counts: Sequence[tuple[int, frozenset[str], int]]) -> dict[str, float]:
    """Return shares by least squares of logarithms. Each source has a size of its own."""
    sources = sorted({source for source, _, _ in counts})
    rows = [[*(name in pair for name in estimates), *(source == one for one in sources)] for source, pair, _ in counts]
    prior = np.eye(len(estimates), len(estimates) + len(sources))
    weight = math.sqrt(_PRIOR_WEIGHT)
    values = [math.log(found + 1) for _, _, found in counts]
    values += [weight * math.log(share) for share in estimates.values()]
    logs = np.linalg.lstsq(np.vstack([np.array(rows, float), weight * prior]), np.array(values), rcond=None)[0]
    shares = np.clip(np.exp(logs), _LEAST_SHARE, 1)
    return {name: round(float(share), 6) for name, share in zip(estimates, shares, strict=False)}
