"""Say in words whether a resonant chain holds, computed from the comparison of two N-body runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from universe.domain.names_and_numbers import join_words
from universe.domain.nbody.measurement_replies import ResonanceComparison, RunDifferences, RunReply
from universe.domain.units_and_dates import YEAR_IN_DAYS
from uraniborg.kernel.language.messages import plural

_MULTIPLES: Final = {0.5: "half", 1.0: "just", 2.0: "twice"}
_WIDER: Final = 1.0
"""The smallest change of a swing that is mentioned, in degrees."""
Verdict = Literal["yes", "no", "undecided"]


@dataclass(frozen=True)
class ComparisonAnswer:
    """A verdict and the sentence that states it."""

    verdict: Verdict
    sentence: str


def format_multiple(factor: float) -> str:
    """Return the words before "as heavy" or "as much": `half`, `just`, `twice`, or a number such as `50 times`."""
    return _MULTIPLES.get(factor, f"{factor:g} times")


def answer_question(
    first: RunReply,
    second: RunReply,
    comparison: RunDifferences,
    *,
    planet: str,
    factor: float,
    names: Mapping[str, str],
) -> ComparisonAnswer:
    """Return whether the resonant chain holds in the second run as it does in the first.

    `names` are short names of the bodies by id. The chain holds if every Laplace angle that librates in the first run
    librates in the second, and no body collides or leaves.
    """
    span, shared = (_point_to_span(days) for days in (second["days"], min(first["days"], second["days"])))
    condition = f"with {planet} {format_multiple(factor)} as heavy"
    if not (first["trustworthy"] and second["trustworthy"]):
        return ComparisonAnswer("undecided", f"Nothing can be said {condition}: {comparison['verdict']}")
    if lost := _describe_lost_bodies(second, names):
        return ComparisonAnswer("no", f"No: {condition}, {lost} within {span}.")
    laplace = [row for row in comparison["resonances"] if row["kind"] == "laplace"]
    rows = [row for row in laplace if row["behaviour"][0] in ("librates", "unclear")]
    unclear = [row for row in rows if "unclear" in row["behaviour"]]
    held = [row for row in rows if row["behaviour"] == ["librates", "librates"]]
    broken = [row for row in rows if row not in unclear and row not in held]
    if not rows:
        return ComparisonAnswer(
            "undecided",
            f"There is no chain to compare {condition}: no Laplace resonance holds over {shared} with its own mass.",
        )
    if broken:
        return ComparisonAnswer(
            "no",
            f"No: {condition}, {len(broken)} of {len(rows)} Laplace resonances {_agree(broken, 'breaks', 'break')} "
            f"within {span} ({_list_rows(broken, names)}); {_describe_rest(held, unclear, names)}.",
        )
    if unclear:
        return ComparisonAnswer(
            "undecided",
            f"It cannot be said after {shared}: {condition}, {len(held)} of {len(rows)} Laplace resonances "
            f"{_agree(held, 'holds', 'hold')} and {len(unclear)} {_agree(unclear, 'is', 'are')} unclear; "
            f"{_describe_swings(held, names)}.",
        )
    all_hold = "the only Laplace resonance holds" if len(rows) == 1 else f"all {len(rows)} Laplace resonances hold"
    return ComparisonAnswer("yes", f"Yes, over {shared}: {condition}, {all_hold}; {_describe_swings(held, names)}.")


def format_span(days: float) -> str:
    """Return a duration in years, such as `10 years`."""
    return plural(float(f"{days / YEAR_IN_DAYS:.4g}"), "year")


def _point_to_span(days: float) -> str:
    span = format_span(days)
    return span if span == "1 year" else f"these {span}"


def _describe_lost_bodies(run: RunReply, names: Mapping[str, str]) -> str:
    collided = [join_words([names[body] for body in one["bodies"]]) for one in run["collisions"]]
    left = [names[one["id"]] for one in run["ejections"]]
    facts = [
        *(f"{pair} collide" for pair in collided),
        *([f"{join_words(left)} {_agree(left, 'leaves', 'leave')}"] if left else []),
    ]
    return join_words(facts) if facts else ""


def _describe_rest(
    held: Sequence[ResonanceComparison], unclear: Sequence[ResonanceComparison], names: Mapping[str, str]
) -> str:
    parts = [f"{len(held)} {_agree(held, 'holds', 'hold')}"]
    if unclear:
        parts.append(f"{len(unclear)} {_agree(unclear, 'is', 'are')} unclear ({_list_rows(unclear, names)})")
    return join_words(parts)


def _describe_swings(held: Sequence[ResonanceComparison], names: Mapping[str, str]) -> str:
    """Return how many of the angles that librate in both runs swing wider or less wide, and the largest change."""
    swings = [cast("list[float]", row["halfRange"]) for row in held]  # both have one
    changes = {index: second - first for index, (first, second) in enumerate(swings)}
    wider = [index for index, change in changes.items() if change >= _WIDER]
    narrower = [index for index, change in changes.items() if change <= -_WIDER]
    if not wider and not narrower:
        return f"no swing changes by {_WIDER:g} degree or more"
    most = held[max(changes, key=lambda index: abs(changes[index]))]
    kinds = [
        f"{len(some)} {_agree(some, 'swings', 'swing')} {word}"
        for some, word in ((wider, "wider"), (narrower, "less wide"))
        if some
    ]
    return (
        f"{join_words(kinds)} by {_WIDER:g} degree or more; {_list_rows([most], names)} changes most, from "
        f"{most['halfRange'][0]:.3g} to {most['halfRange'][1]:.3g} degrees to either side"
    )


def _list_rows(rows: Sequence[ResonanceComparison], names: Mapping[str, str]) -> str:
    return join_words(["-".join(names[body] for body in row["bodies"]) for row in rows])


def _agree(rows: Sequence[object], one: str, many: str) -> str:
    return one if len(rows) == 1 else many
