"""What earlier runs of a workflow left, as the next one is given it."""

from typing import Final, NamedTuple

from pflow.engine.journals import Key, Result

_KEPT: Final = 20
"""Results of one node with other fingerprints that are kept."""


class Past(NamedTuple):
    """What runs before this one left. `lineage` is the first of them."""

    results: dict[Key, Result]
    fingerprints: dict[str, set[str]]
    uncertain: set[Key]
    lineage: str | None
    notices: list[str]
    is_waiting: bool = False
    """Whether the last of them ended with a question to a person, which may take its time."""


def past_of(
    results: dict[Key, Result], uncertain: set[Key], lineage: str | None, notices: list[str] | None = None
) -> Past:
    """The past that has these results."""
    fingerprints: dict[str, set[str]] = {}
    for node, fingerprint in results:
        fingerprints.setdefault(node, set()).add(fingerprint)
    return Past(results, fingerprints, uncertain, lineage, notices or [])


def latest_of(results: dict[Key, Result]) -> list[Result]:
    """The newest results of each node; all of those that had effects, which must not be had again."""
    counts: dict[str, int] = {}
    kept: list[Result] = []
    for result in reversed(list(results.values())):
        counts[result.node] = counts.get(result.node, 0) + 1
        if counts[result.node] <= _KEPT or result.effect == "effectful":
            kept.append(result)
    return kept[::-1]
