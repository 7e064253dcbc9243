"""Learn from the sources' own counts how many papers match each pair of concept blocks."""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import mean

from paper_search.models import ConceptBlock, RoundLog, SearchStrategy, SourceReport
from paper_search.query.selection import select_queries


def observe_shares(blocks: Sequence[ConceptBlock], searched: RoundLog) -> list[ConceptBlock]:
    """Return the blocks with estimates moved towards what the sources counted in a round."""
    shares = {block.name: block.share for block in blocks if block.share and not block.learned}
    beyond: defaultdict[str, list[float]] = defaultdict(list)  # how much pairs with a block match beyond the estimates
    for report in searched.sources:
        counts = {pair: n for pair, n in _count_pairs(searched.strategy, report).items() if pair <= shares.keys()}
        logs = {pair: math.log((n + 1) / math.prod(shares[name] for name in pair)) for pair, n in counts.items()}
        for pair, log in logs.items():
            for name in pair:
                beyond[name].append(log - mean(logs.values()))
    for name, own in beyond.items():
        shares[name] = round(min(1.0, max(0.0001, shares[name] * math.exp(mean(own) / 2))), 6)
    return [block.model_copy(update={"share": shares.get(block.name, block.share)}) for block in blocks]


def describe_new_order(before: Sequence[ConceptBlock], after: Sequence[ConceptBlock]) -> list[str]:
    """Return a sentence if the counts of the sources changed which blocks are more specific."""
    old, new = (
        sorted((one for one in blocks if one.active and not one.learned and one.share), key=lambda one: one.share or 0)
        for blocks in (before, after)
    )
    names = ", ".join(f"“{block.name}”" for block in new)
    note = f"By the counts of the sources, the concepts from the most specific one on are: {names}."
    return [] if [one.name for one in old] == [one.name for one in new] else [note]


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
