"""Two runs side by side: which answers differ, and the differences in plain words."""

from collections.abc import Iterable, Sequence
from typing import Final

from universe.domain.names_and_numbers import join_words
from universe.domain.nbody.analysis.resonances import CIRCULATES, LIBRATES, TRIPLE, UNCLEAR, compute_circular_difference
from universe.domain.nbody.measurement_replies import (
    ChaosComparison,
    OrbitComparison,
    PairComparison,
    ResonanceComparison,
    RunDifferences,
    RunReply,
)

_WIDER: Final = 1.0
"""The smallest difference of half ranges that is mentioned, in degrees."""
_ABSENT: Final = "not near"
_LISTED: Final = 4


def compare_run_analyses(
    first: RunReply, second: RunReply, names: Sequence[str] = ("the first", "the second")
) -> RunDifferences:
    """Return two answers of `analyse_run` side by side, and a verdict about the differences.

    Each value is a list of two: the first run's and the second's, None where a run does not have it. The verdict
    claims nothing if a run is not trustworthy.
    """
    found: RunDifferences = {
        "verdict": "",
        "resonances": _compare_resonances(first, second),
        "orbits": _compare_orbits(first, second),
        "pairs": _compare_pairs(first, second),
        "ejections": [[one["id"] for one in run["ejections"]] for run in (first, second)],
        "chaos": {
            "megno": [run["chaos"]["megno"] for run in (first, second)],
            "lyapunovDays": [run["chaos"]["lyapunovDays"] for run in (first, second)],
        },
    }
    doubtful = [name for name, run in zip(names, (first, second), strict=True) if run.get("trustworthy") is False]
    for row in found["resonances"]:
        row["changed"] = row["changed"] and not _list_bodies_in_one_run(found, row["bodies"])
    found["verdict"] = _describe_distrust(doubtful) if doubtful else _compose_verdict(found, names)
    return found


def _compare_resonances(first: RunReply, second: RunReply) -> list[ResonanceComparison]:
    """Return every angle of either run with both behaviours, Laplace triples first."""
    runs = [{one["angle"]: one for one in run["resonances"]} for run in (first, second)]
    angles = list(dict.fromkeys([*runs[0], *runs[1]]))
    rows: list[ResonanceComparison] = []
    for angle in angles:
        both = [run.get(angle) for run in runs]
        known = next(one for one in both if one)
        behaviours = [one["behaviour"] if one else None for one in both]
        rows.append(
            {
                "bodies": known["bodies"],
                "kind": known["kind"],
                "ratio": known["ratio"],
                "angle": known["angle"],
                "behaviour": behaviours,
                "centre": [one["centre"] if one else None for one in both],
                "halfRange": [one["halfRange"] if one else None for one in both],
                "changed": behaviours[0] != behaviours[1],
            }
        )
    return sorted(rows, key=lambda row: row["kind"] != TRIPLE)


def _compare_orbits(first: RunReply, second: RunReply) -> dict[str, OrbitComparison]:
    ids = list(dict.fromkeys([*first["orbits"], *second["orbits"]]))
    return {
        body: {
            "meanPeriod": [orbit and orbit["meanPeriod"] for orbit in both],
            "eccentricityMax": [
                orbit["eccentricity"]["max"] if orbit and orbit["eccentricity"] else None for orbit in both
            ],
            "semiMajorAxisMean": [
                orbit["semiMajorAxis"]["mean"] if orbit and orbit["semiMajorAxis"] else None for orbit in both
            ],
        }
        for body, both in ((body, [run["orbits"].get(body) for run in (first, second)]) for body in ids)
    }


def _compare_pairs(first: RunReply, second: RunReply) -> list[PairComparison]:
    runs = [{(pair["inner"], pair["outer"]): pair for pair in run["pairs"]} for run in (first, second)]
    keys = list(dict.fromkeys([*runs[0], *runs[1]]))
    rows: list[PairComparison] = []
    for key in keys:
        both = [run.get(key) for run in runs]
        closest = [one["closest"] if one else None for one in both]
        rows.append(
            {
                "inner": key[0],
                "outer": key[1],
                "periodRatio": [one["periodRatio"] if one else None for one in both],
                "closestHillRadii": [one["hillRadii"] if one else None for one in closest],
                "closestAu": [one["au"] if one else None for one in closest],
            }
        )
    return rows


def _describe_distrust(doubtful: Sequence[str]) -> str:
    runs = "run is" if len(doubtful) == 1 else "runs are"
    return f"Nothing is claimed about the difference: the {runs} not trustworthy ({join_words(doubtful)})."


def _compose_verdict(found: RunDifferences, names: Sequence[str]) -> str:
    shared = [row for row in found["resonances"] if not _list_bodies_in_one_run(found, row["bodies"])]
    triples = [row for row in shared if row["kind"] == TRIPLE]
    pairs = [row for row in shared if row["kind"] != TRIPLE]
    sentences = [
        f"Of {names[0]} and {names[1]}, each over its own span:",
        *_describe_bodies_in_one_run(found, names),
        *_describe_angles(triples, "Laplace angle"),
        *_describe_angles(pairs, "angle of a pair"),
        *_describe_approaches(found["pairs"], names),
        *_describe_chaos(found["chaos"], names),
        *_describe_ejections(found["ejections"], names),
        "Neither run says anything about longer times.",
    ]
    return " ".join(sentences)


def _list_bodies_in_one_run(found: RunDifferences, ids: Iterable[str], run: int | None = None) -> list[str]:
    """Return the bodies that orbit in only one of the runs: in `run`, or in either."""
    shapes = {body: found["orbits"][body]["eccentricityMax"] for body in ids if body in found["orbits"]}
    lone = {body: one for body, one in shapes.items() if (one[0] is None) != (one[1] is None)}
    return [body for body, one in lone.items() if run is None or one[run] is not None]


def _describe_bodies_in_one_run(found: RunDifferences, names: Sequence[str]) -> list[str]:
    sentences: list[str] = []
    for run, name in enumerate(names):
        if lone := _list_bodies_in_one_run(found, found["orbits"], run):
            more = [f"{len(lone) - _LISTED} more"] if len(lone) > _LISTED else []
            listed = join_words([*lone[:_LISTED], *more])
            sentences.append(
                f"Only {name} has {listed}: {'its' if len(lone) == 1 else 'their'} angles are not compared."
            )
    return sentences


def _describe_angles(rows: Sequence[ResonanceComparison], noun: str) -> list[str]:
    if not rows:
        return []
    plural = noun.replace("angle", "angles", 1)
    changed = [row for row in rows if row["changed"]]
    sentences: list[str] = []
    if not changed:
        held, unclear = (sum(row["behaviour"][0] == one for row in rows) for one in (LIBRATES, UNCLEAR))
        if held == len(rows):
            sentences.append(f"All {len(rows)} {plural} librate in both.")
        elif unclear == len(rows):
            sentences.append(f"All {len(rows)} {plural} are unclear in both.")
        else:
            doubt = f", {unclear} unclear" if unclear else ""
            sentences.append(f"Every {noun} behaves alike in both ({held} of {len(rows)} librate{doubt}).")
    for before in (LIBRATES, CIRCULATES, UNCLEAR, None):
        for after in (LIBRATES, CIRCULATES, UNCLEAR, None):
            some = [row["angle"] for row in changed if row["behaviour"] == [before, after]]
            if some:
                sentences.append(
                    f"{len(some)} {noun if len(some) == 1 else plural} changed from '{before or _ABSENT}' to "
                    f"'{after or _ABSENT}': {join_words(some)}."
                )
    return [*sentences, *_describe_largest_swing_change(rows)]


def _describe_largest_swing_change(rows: Sequence[ResonanceComparison]) -> list[str]:
    """Return the angle that librates in both and whose swing changed most."""
    held = [
        (row, before, after)
        for row in rows
        for before, after in [row["halfRange"]]
        if row["behaviour"] == [LIBRATES, LIBRATES] and before is not None and after is not None
    ]
    if not held:
        return []
    most, before, after = max(held, key=lambda one: abs(one[2] - one[1]))
    if abs(after - before) < _WIDER:
        return []
    first, second = most["centre"]
    moved = 0.0 if first is None or second is None else compute_circular_difference(first, second)
    about = f", about a centre moved by {moved:+.3g} degrees" if abs(moved) >= _WIDER else ""
    return [f"The largest change of a swing: {most['angle']} from {before:.3g} to {after:.3g} degrees{about}."]


def _describe_approaches(pairs: Sequence[PairComparison], names: Sequence[str]) -> list[str]:
    least = [
        min((radii for pair in pairs if (radii := pair["closestHillRadii"][run]) is not None), default=None)
        for run in (0, 1)
    ]
    if least[0] is None or least[1] is None:
        return []
    first, second = (f"{distance:.3g} mutual Hill radii in {name}" for distance, name in zip(least, names, strict=True))
    return [f"The closest approach is {first} and {second}."]


def _describe_chaos(chaos: ChaosComparison, names: Sequence[str]) -> list[str]:
    is_chaotic = [days is not None for days in chaos["lyapunovDays"]]
    if is_chaotic == [False, False]:
        return ["Neither run shows chaos within its span."]
    if is_chaotic == [True, True]:
        return ["Both are chaotic, which is not unstable."]
    return [f"Only {names[is_chaotic.index(True)]} is chaotic within its span, which is not unstable."]


def _describe_ejections(ejections: Sequence[Sequence[str]], names: Sequence[str]) -> list[str]:
    if not any(ejections):
        return ["No body left in either."]
    left = [f"{join_words(ids) if ids else 'no body'} in {name}" for ids, name in zip(ejections, names, strict=True)]
    return [f"Unbound and leaving: {left[0]}; {left[1]}."]
