"""The company a candidate keeps: how like the best matches it is, itself left out.

Papers on one topic resemble one another, so a paper close to the strongest matches is likelier to be right than its own
query words show, and a strong match that resembles none of the others is likelier to be an accident.
"""

from collections.abc import Sequence

from paper_search.relevance.pool import Pool

BEST = 10
"""How many of the strongest candidates are looked at; more only where they are equally strong."""
SHARE = 0.2
"""The most that company adds, as a share of the strongest match in the pool."""


def with_company(pool: Pool, strengths: Sequence[float]) -> list[float]:
    """The strengths, each raised by up to `SHARE` of the highest one."""
    highest = max(strengths, default=0.0)
    if highest <= 0:
        return [*strengths]
    bar = sorted(strengths, reverse=True)[min(BEST, len(strengths)) - 1]
    say = {i: (s / highest) ** 2 for i, s in enumerate(strengths) if s >= bar and s > 0}
    centre: dict[str, float] = {}
    for index, weight in say.items():
        for term, value in pool.unit_vector(pool.counts[index]).items():
            centre[term] = centre.get(term, 0.0) + weight * value
    total = sum(say.values())
    likeness = [
        max(0.0, product - own) / (total - own) if total > own else 0.0
        for product, own in zip(pool.products(centre), (say.get(i, 0.0) for i in range(len(pool))), strict=True)
    ]
    most = max(likeness)
    return [s + SHARE * highest * like / most if most > 0 else s for s, like in zip(strengths, likeness, strict=True)]
