"""The specificity of concept blocks by the sources' own counts: how many papers match each pair of blocks."""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import mean

from paper_search.models import ConceptBlock, RoundLog, SearchStrategy, SourceReport
from paper_search.query.selection import select_queries


def observe_shares(blocks: Sequence[ConceptBlock], searched: RoundLog) -> list[ConceptBlock]:
    """Return the blocks with shares between the estimates and what the sources counted in a round."""
    shares = {block.name: block.share for block in blocks if block.share and not block.learned}
    offsets: defaultdict[str, list[float]] = defaultdict(list)  # of the pairs with a block from the usual pair
    for report in searched.sources:
        counted = _count_pairs(searched.strategy, report).items()
        counts = {pair: math.log(found + 1) for pair, found in counted if pair <= shares.keys()}
        for name in shares:
            offsets[name] += [count - mean(counts.values()) for pair, count in counts.items() if name in pair]
    usual = mean(map(math.log, shares.values())) if shares else 0
    for name, own in offsets.items():
        observed = min(1.0, max(0.0001, math.exp(usual + mean(own)))) if own else shares[name]
        shares[name] = round(math.sqrt(shares[name] * observed), 6)
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
