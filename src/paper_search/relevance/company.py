"""The company a candidate keeps: how like the best matches it is, itself left out.

Papers on one topic resemble one another, so a paper close to the strongest matches is likelier to be right than its own
query words show, and a strong match that resembles none of the others is likelier to be an accident.
"""

from collections.abc import Sequence

from paper_search.relevance.pool import Pool

BEST = 10
"""How many of the strongest candidates make the company."""
CONSIDERED = 300
"""How many of the strongest may be raised by it: no company makes a weak match a good one."""
SHARE = 0.2
"""The most that company adds, as a share of the strongest match in the pool."""


def with_company(pool: Pool, strengths: Sequence[float]) -> list[float]:
    """The strengths, those of the strongest raised by up to `SHARE` of the highest."""
    raised = [*strengths]
    considered = _strongest(strengths, CONSIDERED)
    if not considered:
        return raised
    highest = max(strengths)
    say = {i: (strengths[i] / highest) ** 2 for i in _strongest(strengths, BEST)}
    total = sum(say.values())
    centre: dict[str, float] = {}
    for i, weight in say.items():
        for term, value in pool.unit_vector(pool.counts[i]).items():
            centre[term] = centre.get(term, 0.0) + weight * value
    likeness: dict[int, float] = {}
    for i, cosine in zip(considered, pool.cosines(centre, considered), strict=True):
        own = say.get(i, 0.0)
        likeness[i] = max(0.0, cosine - own) / (total - own) if total > own else 0.0
    most = max(likeness.values())
    for i, like in likeness.items():
        raised[i] += SHARE * highest * like / most if most > 0 else 0.0
    return raised


def _strongest(strengths: Sequence[float], number: int) -> list[int]:
    """The places of the strongest, in the order given; more than `number` where they are equally strong."""
    bar = sorted(strengths, reverse=True)[:number][-1:] or [0.0]
    return [i for i, strength in enumerate(strengths) if strength >= bar[0] and strength > 0]
