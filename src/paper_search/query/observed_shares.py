"""The specificity of concept blocks by the sources' own counts: how many papers match each pair of blocks.

If blocks were independent, the matches of a pair would be the papers of the source times both shares. The shares are
fitted to all counted pairs at once; the estimates before are observations too, so that few counts change little.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from paper_search.models import ConceptBlock, RoundLog, SearchStrategy, SourceReport
from paper_search.query.selection import select_queries

_LEAST_SHARE: Final = 0.0001
_PRIOR_WEIGHT: Final = 0.5
"""How much an estimate counts beside a counted pair: it is often wrong by a factor of 4, a pair by one of 3."""

_Count = tuple[frozenset[str], int]
"""The names of two blocks, and the number of papers that match both."""


def observe_shares(blocks: Sequence[ConceptBlock], searched: RoundLog) -> list[ConceptBlock]:
    """Return the blocks with shares that agree with what the sources counted in a round."""
    estimates = {block.name: block.share for block in blocks if block.share and not block.learned}
    counts = [list(_iterate_pair_counts(searched.strategy, report)) for report in searched.sources]
    shares = _fit_shares(estimates, [found for found in counts if found])
    return [
        block.model_copy(update={"share": shares[block.name]}) if block.name in shares else block for block in blocks
    ]


def describe_new_order(before: Sequence[ConceptBlock], after: Sequence[ConceptBlock]) -> list[str]:
    """Return a sentence if the counts of the sources changed which blocks are more specific."""
    old, new = (_sort_names(blocks) for blocks in (before, after))
    if old == new:
        return []
    names = ", ".join(f"“{name}”" for name in new)
    return [f"By the counts of the sources, the concepts from the most specific one on are: {names}."]


def _sort_names(blocks: Sequence[ConceptBlock]) -> list[str]:
    asked = [block for block in blocks if block.active and not block.learned and block.share]
    return [block.name for block in sorted(asked, key=lambda block: block.share or 1.0)]


def _iterate_pair_counts(strategy: SearchStrategy, report: SourceReport) -> Iterator[_Count]:
    """Yield the counts of the first query for each pair: later ones require only words of the blocks."""
    queries = select_queries("boolean", strategy.queries)
    if [query.rung for query in queries] != [one.rung for one in report.queries]:
        return  # a ranking source received other queries
    seen: set[frozenset[str]] = set()
    for query, one in zip(queries, report.queries, strict=True):
        pair = frozenset(query.blocks)
        if len(pair) == 2 and pair not in seen and one.found is not None:
            seen.add(pair)
            yield pair, one.found


def _fit_shares(estimates: dict[str, float], counts: Sequence[Sequence[_Count]]) -> dict[str, float]:
    """Return shares by least squares of logarithms; {} without counts. Each source has a size of its own."""
    names = list(estimates)
    rows: list[list[float]] = []
    values: list[float] = []
    for source, found in enumerate(counts):
        for pair, count in found:
            if pair <= estimates.keys():
                rows.append([*(float(name in pair) for name in names), *_mark(source, len(counts))])
                values.append(math.log(count + 1))
    if not rows:
        return {}
    weight = math.sqrt(_PRIOR_WEIGHT)
    for position, name in enumerate(names):
        rows.append([weight * one for one in _mark(position, len(names))] + [0.0] * len(counts))
        values.append(weight * math.log(estimates[name]))
    solution = np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0]
    return {
        name: round(min(1.0, max(_LEAST_SHARE, math.exp(log))), 6) for name, log in zip(names, solution, strict=False)
    }


def _mark(position: int, size: int) -> list[float]:
    return [float(index == position) for index in range(size)]
