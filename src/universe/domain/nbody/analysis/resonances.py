"""Resonances among siblings: near-commensurable pairs, Laplace triples, and whether their angles librate."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import numpy as np

from universe.domain.nbody.measurement_replies import AngleBehaviour, ResonanceFacts
from universe.domain.nbody.osculating_orbits import OrbitHistory, iterate_pairs_neighbours_first
from universe.domain.orbits.kepler_equation import Floats

LIBRATES: Final = "librates"
CIRCULATES: Final = "circulates"
UNCLEAR: Final = "unclear"

LEAST_ORBITS: Final = 50
"""Orbits of the outermost body below which a slow drift and a libration look the same."""
_WIDEST: Final = 270.0
"""Degrees between the ends of a swing beyond which a libration is not claimed."""
_WIDE: Final = 180.0
"""Degrees between the ends of a swing beyond which one return is not enough."""
_SMOOTHED: Final = 1 / 40
"""Part of the run over which an angle is averaged, so that only slow changes of direction count."""
_RETURN: Final = 0.05
"""The part of its range that an angle must return for its direction to count as reversed."""
_POINTS: Final = 400
_STILL: Final = 1e-6
_BLURRED: Final = 10.0
"""Degrees of error of an angle beyond which its behaviour is not known."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How an angle moved during a run, in degrees. A circulating angle has no centre."""

    behaviour: str
    centre: float | None
    half_range: float | None
    """The largest distance from the centre."""
    reason: str | None = None
    """Why the behaviour is unclear."""

    def to_plain(self) -> AngleBehaviour:
        """Return the fields of a reply."""
        found: AngleBehaviour = {
            "behaviour": self.behaviour,
            "centre": None if self.centre is None else round(self.centre, 3),
            "halfRange": None if self.half_range is None else round(self.half_range, 3),
        }
        return found if self.reason is None else {**found, "reason": self.reason}


def classify_angle(angle: Floats, *, orbits: float, error: float = 0.0) -> Behaviour:
    """Return how an angle (degrees, with whole turns, evenly sampled) moved.

    `orbits` is how many times the outermost body went around, `error` the degrees to which the angle is known.
    """
    if angle.size < 3 or not np.isfinite(angle).all():
        return Behaviour(UNCLEAR, None, None, "The samples do not determine the angle.")
    if not error <= _BLURRED:
        return Behaviour(UNCLEAR, None, None, f"The arithmetic error of the angle is {error:.3g} degrees.")
    reach = float(np.ptp(angle))
    if reach >= 360:
        return Behaviour(CIRCULATES, None, None)
    mean = float(angle.mean())
    swing = float(np.abs(angle - mean).max())
    if orbits < LEAST_ORBITS:
        reason = f"The run covers {orbits:.3g} orbits of the outermost body, fewer than {LEAST_ORBITS}."
    elif reach < _STILL:
        reason = "The angle did not move: the bodies do not attract each other, or too little."
    elif reach > _WIDEST:
        reason = f"The angle went through {reach:.0f} degrees: neither a full turn nor clearly a swing."
    elif _count_reversals(angle, orbits) < (3 if reach > _WIDE else 1):
        reason = f"The angle drifted by {reach:.3g} degrees and did not come back, or not often enough."
    else:
        reason = None
    return Behaviour(UNCLEAR if reason else LIBRATES, mean % 360, swing, reason)


def _count_reversals(angle: Floats, orbits: float) -> int:
    """Return how often the slow part of an angle reversed its direction."""
    window = max(1, round(angle.size * max(_SMOOTHED, 2 / orbits)))
    sums = np.concatenate([[0.0], np.cumsum(angle - angle[0])])
    slow = (sums[window:] - sums[:-window]) / window
    least = _RETURN * float(np.ptp(slow))
    lowest = highest = float(slow[0])
    rising: bool | None = None
    returns = 0
    for value in slow[:: max(1, slow.size // _POINTS)].tolist():
        if rising is not False and value < highest - least:
            returns += rising is not None
            rising, lowest = False, value
        elif rising is not True and value > lowest + least:
            returns += rising is not None
            rising, highest = True, value
        lowest, highest = min(lowest, value), max(highest, value)
    return returns


def compute_circular_difference(first: float, second: float) -> float:
    """Return the degrees from one angle to another, from -180 to 180."""
    return math.remainder(second - first, 360)


PAIR: Final = "mean-motion"
TRIPLE: Final = "laplace"

_HIGHEST_ORDER: Final = 3
_LARGEST_OF_PAIR: Final = 9
"""The largest p + q of a ratio p+q:p."""
_LARGEST_OF_TRIPLE: Final = 5
"""The largest number before a longitude: of larger ones, some angle is slow by chance."""
_NEAR: Final = 0.03
"""The largest relative distance of a period ratio from p+q:p for q = 1; smaller for higher orders."""
_SHARED: Final = 0.02
"""The largest distance from 1 of the period ratio of two bodies that share an orbit."""
_SLOW: Final = 0.01
"""The largest rate of the angle of a triple, in turns per orbit of the outermost body."""
_CIRCULAR: Final = 1e-6
"""Below this eccentricity the direction of a periapsis is noise."""
_MOST_PAIRS: Final = 300
"""The most pairs of a family that are compared."""


@dataclass(frozen=True, slots=True)
class ResonantAngle:
    """A sum of mean longitudes and longitudes of periapses, with whole numbers that add up to 0."""

    kind: str
    bodies: tuple[int, ...]
    longitudes: tuple[int, ...]
    apsides: tuple[int, ...]
    ratio: str | None = None

    def compute_values(self, motion: OrbitHistory) -> Floats:
        """Return the angle at all times of a run, in degrees, with whole turns."""
        bodies = list(self.bodies)
        swept = motion.longitudes[:, bodies] @ np.array(self.longitudes, dtype=np.float64)
        turned = np.unwrap(motion.apsides[:, bodies], period=360, axis=0)
        return swept + turned @ np.array(self.apsides, dtype=np.float64)


def format_angle_formula(
    longitudes: Sequence[int], apsides: Sequence[int], names: Sequence[str], *, is_short: bool = False
) -> str:
    """Return an angle as a formula of λ (mean longitude) and ϖ (longitude of the periapsis), the positive λ first.

    A short one has no space between a number and its longitude.
    """
    terms = sorted(
        ((number, "λ", name) for number, name in zip(longitudes, names, strict=True)),
        key=lambda term: term[0] < 0 and longitudes[0] < 0,  # a triple begins with a positive number: in its order
    )
    terms += [(number, "ϖ", name) for number, name in zip(apsides, names, strict=True)]
    gap = "" if is_short else " "
    parts = [
        f"{'-' if number < 0 else '+'} {'' if abs(number) == 1 else f'{abs(number)}{gap}'}{symbol}({name})"
        for number, symbol, name in terms
        if number
    ]
    return " ".join(parts).removeprefix("+ ")


def format_resonant_angle(resonance: Mapping[str, Any], short_names: Mapping[str, str]) -> str:
    """Return the formula of the angle of a resonance in a reply, with the names of its bodies by id."""
    names = [short_names.get(key, key) for key in resonance["bodies"]]
    return format_angle_formula(resonance["longitudes"], resonance["apsides"], names, is_short=True)


@dataclass(frozen=True, slots=True)
class Resonance:
    """An angle and how it moved during a run."""

    angle: ResonantAngle
    behaviour: Behaviour

    def to_plain(self, motion: OrbitHistory) -> ResonanceFacts:
        """Return the fields of a reply."""
        angle = self.angle
        bodies = [motion.ids[body] for body in angle.bodies]
        return {
            "bodies": bodies,
            "kind": angle.kind,
            "ratio": angle.ratio,
            "angle": format_angle_formula(angle.longitudes, angle.apsides, bodies),
            "longitudes": list(angle.longitudes),
            "apsides": list(angle.apsides),
            **self.behaviour.to_plain(),
        }


def find_resonances(motion: OrbitHistory, errors: Floats | None = None) -> list[Resonance]:
    """Return Laplace triples and pairs near a resonance, each with the behaviour of its angle.

    `errors` are the degrees to which each body's longitude is known. A pair that is not of neighbours is in the list
    only if one of its angles librates.
    """
    unknown = np.zeros(len(motion.ids)) if errors is None else errors
    found: list[Resonance] = []
    for family in motion.list_sibling_families():
        moving = [body for body in family if _is_prograde_and_closed(motion, body)]
        found += [_classify_resonance(motion, angle, unknown) for angle in _list_triple_angles(motion, moving)]
        for inner, outer, are_neighbours in islice(iterate_pairs_neighbours_first(moving), _MOST_PAIRS):
            angles = [_classify_resonance(motion, one, unknown) for one in _list_pair_angles(motion, inner, outer)]
            if are_neighbours or any(one.behaviour.behaviour == LIBRATES for one in angles):
                found += angles
    return sorted(found, key=lambda one: one.angle.kind != TRIPLE)


def compute_angle_series(motion: OrbitHistory, resonance: Mapping[str, Any]) -> Floats:
    """Return the values during a run of an angle from a reply, in degrees from 0 to 360."""
    bodies = tuple(motion.ids.index(body) for body in resonance["bodies"])
    angle = ResonantAngle(resonance["kind"], bodies, tuple(resonance["longitudes"]), tuple(resonance["apsides"]))
    return angle.compute_values(motion) % 360


def _classify_resonance(motion: OrbitHistory, angle: ResonantAngle, errors: Floats) -> Resonance:
    bodies = list(angle.bodies)
    orbits = motion.span * float(np.min(motion.mean_motions[bodies])) / 360
    error = float(np.abs(angle.longitudes) @ errors[bodies])
    return Resonance(angle, classify_angle(angle.compute_values(motion), orbits=orbits, error=error))


def _is_prograde_and_closed(motion: OrbitHistory, body: int) -> bool:
    """Return True if a body stayed on a closed orbit in the direction of its siblings."""
    is_closed = np.isfinite(motion.longitudes[:, body]).all() and motion.mean_motions[body] > 0
    return bool(is_closed and (motion.tilts[:, body] < 90).all())


def _list_pair_angles(motion: OrbitHistory, inner: int, outer: int) -> Iterator[ResonantAngle]:
    """Yield all eccentricity angles of the simplest resonance p+q:p that two bodies are near."""
    ratio = float(motion.mean_motions[inner] / motion.mean_motions[outer])
    if abs(ratio - 1) < _SHARED:
        yield ResonantAngle(PAIR, (inner, outer), (-1, 1), (0, 0), "1:1")
        return
    for order in range(1, _HIGHEST_ORDER + 1):
        p = round(order / (ratio - 1)) if ratio > 1 else 0
        if p < 1 or p + order > _LARGEST_OF_PAIR or math.gcd(p, order) > 1:
            continue
        if abs(ratio * p / (p + order) - 1) > _NEAR / order:
            continue
        for of_outer in range(order + 1):
            apsides = (of_outer - order, -of_outer)
            if all(
                not number or _has_defined_periapsis(motion, body)
                for number, body in zip(apsides, (inner, outer), strict=True)
            ):
                yield ResonantAngle(PAIR, (inner, outer), (-p, p + order), apsides, f"{p + order}:{p}")
        return


def _has_defined_periapsis(motion: OrbitHistory, body: int) -> bool:
    return float(motion.eccentricities[:, body].mean()) > _CIRCULAR


def _list_triple_angles(motion: OrbitHistory, moving: list[int]) -> Iterator[ResonantAngle]:
    """Yield for each three neighbours the slowest angle p λ1 - (p + q) λ2 + q λ3, if it is slow."""
    for first, second, third in zip(moving, moving[1:], moving[2:], strict=False):
        n1, n2, n3 = motion.mean_motions[[first, second, third]]
        rates = [
            (abs(p * n1 - (p + q) * n2 + q * n3) / n3 * (p + q), p, q)
            for p in range(1, _LARGEST_OF_TRIPLE)
            for q in range(1, _LARGEST_OF_TRIPLE - p + 1)
            if math.gcd(p, q) == 1
        ]
        weighted, p, q = min(rates)
        if weighted / (p + q) < _SLOW:
            yield ResonantAngle(TRIPLE, (first, second, third), (p, -p - q, q), (0, 0, 0))
