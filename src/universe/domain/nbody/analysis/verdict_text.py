"""Say the answers of a run in one paragraph that claims only what the run allows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from universe.domain.names_and_numbers import (
    format_short_duration,
    format_two_digits,
    join_names_with_common_prefix,
    join_words,
)
from universe.domain.nbody.analysis.resonances import CIRCULATES, LIBRATES, PAIR, TRIPLE, Resonance
from universe.domain.nbody.analysis.stability import Chaos
from universe.domain.nbody.integration.error_estimates import TRUSTED_DEGREES
from universe.domain.nbody.integration.methods import COMPOSITIONS
from universe.domain.nbody.osculating_orbits import OPEN_AXIS, OrbitHistory
from universe.domain.orbits.kepler_equation import Floats
from uraniborg.kernel.language.messages import plural

_HILL_STABLE: Final = 2 * math.sqrt(3)
"""Mutual Hill radii beyond which two planets on circles never meet (B. Gladman, Icarus 106, 247, 1993)."""
_LISTED: Final = 4


@dataclass(frozen=True, slots=True)
class Findings:
    """The parts of an answer that the verdict sums up."""

    motion: OrbitHistory
    errors: Floats
    """The largest error of each body along its orbit, in degrees."""
    trustworthy: bool
    resonances: Sequence[Resonance]
    pairs: Sequence[Mapping[str, Any]]
    ejections: Sequence[Mapping[str, Any]]
    encounters: int
    collisions: int
    chaos: Chaos
    notes: Sequence[str]
    method: str
    days: float
    """The duration of the run, which may end after the last sample."""


def compose_verdict(findings: Findings) -> str:
    """Return one paragraph: first whether the run is trustworthy, last its limits."""
    if not findings.trustworthy:
        return _describe_distrust(findings)
    sentences = [
        _describe_events(findings),
        *_describe_resonances(findings),
        *_describe_extremes(findings),
        findings.chaos.meaning,
        *_describe_hill_stability(findings),
        *_describe_limits(findings),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _describe_distrust(findings: Findings) -> str:
    worst = int(np.nan_to_num(findings.errors, nan=180.0).argmax())
    reason = (
        f"the integration of {findings.motion.names[worst]} is accurate to {format_two_digits(findings.errors[worst])} "
        f"degrees of its orbit only, and {TRUSTED_DEGREES:g} degrees is the limit"
        if not findings.errors[worst] < TRUSTED_DEGREES
        else "a second run from almost the same start met other collisions"
    )
    chaos = f" {findings.chaos.meaning}" if findings.chaos.lyapunov_days else ""
    remedy = ", a smaller step or the method gauss" if findings.method in COMPOSITIONS else ""
    return (
        f"This run is not trustworthy: {reason}. Positions, approaches and resonant angles do not follow from it, and "
        f"nothing is claimed about them.{chaos} A shorter run{remedy} may be trustworthy."
    )


def _describe_events(findings: Findings) -> str:
    motion = findings.motion
    moving = [body for body in range(len(motion.ids)) if motion.mean_motions[body] > 0]
    orbits = ""
    if moving:
        fastest = max(moving, key=lambda body: float(motion.mean_motions[body]))
        number = findings.days * float(motion.mean_motions[fastest]) / 360
        orbits = f" ({plural(round(number), 'orbit')} of {motion.names[fastest]})" if number >= 1 else ""
    events = [
        "no two bodies collided" if not findings.collisions else plural(findings.collisions, "collision") + " happened",
        "none left" if not findings.ejections else f"{_join_ejected_names(findings)} became unbound and left",
        *_describe_open_orbits(motion),
    ]
    if findings.encounters:
        events.insert(1, f"{plural(findings.encounters, 'encounter')} within a Hill radius happened")
    return f"During the {format_short_duration(findings.days)} of this run{orbits}, {join_words(events)}."


def _describe_open_orbits(motion: OrbitHistory) -> list[str]:
    """Return the bodies that were unbound from the start, which do not count as having left."""
    names = [
        motion.names[body]
        for body, axis in enumerate(motion.axes[0])
        if motion.parents[body] >= 0 and np.isfinite(motion.eccentricities[0, body]) and not 0 < axis < OPEN_AXIS
    ]
    if not names:
        return []
    subject = join_names_with_common_prefix(names) if len(names) <= _LISTED else f"{len(names)} bodies"
    return [f"{subject} {'was' if len(names) == 1 else 'were'} unbound from the start"]


def _join_ejected_names(findings: Findings) -> str:
    names = dict(zip(findings.motion.ids, findings.motion.names, strict=True))
    return join_names_with_common_prefix([names[one["id"]] for one in findings.ejections])


def _describe_resonances(findings: Findings) -> list[str]:
    motion = findings.motion
    families = [family for family in motion.list_sibling_families() if len(family) > 1]
    if not families:
        return []
    if not findings.resonances:
        wandering = [body for family in families for body in family if not motion.mean_motions[body] > 0]
        if not wandering:
            return ["No two or three neighbours are near a resonance of order 3 or lower."]
        names = join_words([motion.names[body] for body in wandering[:_LISTED]])
        more = f" and {len(wandering) - _LISTED} more" if len(wandering) > _LISTED else ""
        return [f"Resonances are unknown: this run gives no mean period of {names}{more}."]
    triples = [one for one in findings.resonances if one.angle.kind == TRIPLE]
    return [*_describe_triples(findings, triples), *_describe_pairs(findings)]


def _describe_triples(findings: Findings, triples: Sequence[Resonance]) -> list[str]:
    if not triples:
        return []
    librating, circulating = _select_by_behaviour(triples, LIBRATES), _select_by_behaviour(triples, CIRCULATES)
    if len(librating) == len(triples):
        widest = max(triples, key=lambda one: one.behaviour.half_range or 0.0)
        subject = f"All {len(triples)} Laplace angles" if len(triples) > 1 else "The Laplace angle"
        return [
            f"{subject} librated during the whole span: the {'widest swing' if len(triples) > 1 else 'swing'} is "
            f"{widest.behaviour.half_range:.3g} degrees to either side, of {_join_body_names(findings, widest)}."
        ]
    if not librating and not circulating:
        subject = f"all {len(triples)} Laplace angles" if len(triples) > 1 else "the Laplace angle"
        return [f"The run does not show whether {subject} {'librate' if len(triples) > 1 else 'librates'}."]
    unclear = [one for one in triples if one not in librating and one not in circulating]
    kinds = [
        (librating, "librated"),
        (circulating, "circulated"),
        (unclear, "is unclear" if len(unclear) == 1 else "are unclear"),
    ]
    parts = [
        f"{'all' if len(some) == len(triples) else len(some)} {verb} ({_format_body_groups(findings, some)})"
        for some, verb in kinds
        if some
    ]
    return [f"Of {plural(len(triples), 'Laplace angle')}, {join_words(parts)}."]


def _describe_pairs(findings: Findings) -> list[str]:
    near: dict[tuple[int, ...], list[Resonance]] = {}
    for one in findings.resonances:
        if one.angle.kind == PAIR:
            near.setdefault(one.angle.bodies, []).append(one)
    held = [angles[0] for angles in near.values() if _select_by_behaviour(angles, LIBRATES)]
    loose = [angles[0] for angles in near.values() if len(_select_by_behaviour(angles, CIRCULATES)) == len(angles)]
    unclear = [angles[0] for angles in near.values() if angles[0] not in held and angles[0] not in loose]
    sentences = [
        (held, "In resonance during the span, by at least one librating angle: {}."),
        (loose, "Near a resonance, but with circulating angles: {}."),
        (unclear, "Near a resonance, but the run does not show whether in it: {}."),
    ]
    return [sentence.format(_format_ratios(findings, some)) for some, sentence in sentences if some]


def _format_ratios(findings: Findings, some: Sequence[Resonance]) -> str:
    return _join_first_texts([f"{_join_body_names(findings, one)} ({one.angle.ratio})" for one in some])


def _format_body_groups(findings: Findings, some: Sequence[Resonance]) -> str:
    return _join_first_texts([_join_body_names(findings, one) for one in some])


def _join_first_texts(texts: Sequence[str]) -> str:
    """Return the first texts and how many more there are; all if only one more would be left out."""
    if len(texts) <= _LISTED + 1:
        return "; ".join(texts)
    return "; ".join([*texts[:_LISTED], f"and {len(texts) - _LISTED} more"])


def _select_by_behaviour(some: Sequence[Resonance], behaviour: str) -> list[Resonance]:
    return [one for one in some if one.behaviour.behaviour == behaviour]


def _join_body_names(findings: Findings, one: Resonance) -> str:
    return join_names_with_common_prefix([findings.motion.names[body] for body in one.angle.bodies])


def _describe_extremes(findings: Findings) -> list[str]:
    motion = findings.motion
    orbiting = [body for body, parent in enumerate(motion.parents) if parent >= 0]
    sentences: list[str] = []
    peaks = {body: float(np.nanmax(motion.eccentricities[:, body], initial=0.0)) for body in orbiting}
    if peaks:
        worst = max(peaks, key=lambda body: peaks[body])
        sentences.append(f"The largest eccentricity was {peaks[worst]:.2g}, of {motion.names[worst]}.")
    near = [pair for pair in findings.pairs if pair["closest"] and pair["closest"]["hillRadii"] is not None]
    if near:
        least = min(near, key=lambda pair: float(pair["closest"]["hillRadii"]))
        names = [motion.names[motion.ids.index(least[end])] for end in ("inner", "outer")]
        closest = least["closest"]
        sentences.append(
            f"The closest approach, of {join_names_with_common_prefix(names)}, was "
            f"{format_two_digits(closest['hillRadii'])} mutual Hill radii on day {round(closest['day'], 6):.4g}."
        )
    return sentences


def _describe_hill_stability(findings: Findings) -> list[str]:
    """Return the Hill criterion, which holds for two light bodies alone, on orbits that are nearly circles."""
    motion = findings.motion
    families = motion.list_sibling_families()
    if len(motion.ids) != 3 or len(families) != 1 or len(families[0]) != 2:
        return []
    inner, outer = families[0]
    mass, central = float(motion.masses[inner] + motion.masses[outer]), float(motion.central_masses[inner])
    if not 0 < mass < 0.01 * central or findings.collisions or findings.encounters:
        return []
    size = math.cbrt(mass / (3 * central))
    shapes = (motion.eccentricities[:, [inner, outer]], np.radians(motion.tilts[:, [inner, outer]]))
    if not all((one < size).all() for one in shapes):
        return []
    axes = motion.axes[0, [inner, outer]]
    apart = float(axes[1] - axes[0]) / (size * float(axes.mean()))
    if apart < 1:
        return []  # they share an orbit, to which the criterion does not apply
    if apart > _HILL_STABLE:
        return [
            f"The orbits are {apart:.3g} mutual Hill radii apart: two bodies on circles in one plane never meet if "
            f"these are more than {_HILL_STABLE:.3g} (Gladman 1993)."
        ]
    return [
        f"The orbits are {apart:.3g} mutual Hill radii apart, fewer than the {_HILL_STABLE:.3g} (Gladman 1993) that "
        "exclude a meeting of two bodies on circles."
    ]


def _describe_limits(findings: Findings) -> list[str]:
    error = float(np.nanmax(findings.errors, initial=0.0))
    unknown = [note for note in findings.notes if "unknown" in note]
    assumed = "Resonances and approaches are therefore those of an assumed system."
    return [
        "This holds for the span and says nothing about longer times.",
        f"The integration itself is accurate to {error:.1g} degrees; the uncertainty of the masses and orbits it "
        "starts from and the physics that is left out are not included.",
        *([*unknown, assumed] if unknown else []),
    ]
