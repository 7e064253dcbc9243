"""Check a plot: drawn again from the repeated run, it must have the same marks at the same places."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, cast

from universe.jobs.measurement import Measurement
from universe.nbody.replies import MeasurementReply, RunReply
from universe.nbody.reports import find_worst_degrees
from uraniborg.bundle.checks import Check, make_statement
from uraniborg.kernel.text import plural

_ENERGY: Final = "relative change of energy"
"""The title of the panel that shows rounding errors alone; it is the last one."""
_NOISE: Final = 1e-12
"""The largest relative change of energy that is rounding."""
_PIXELS: Final = 0.5
"""How far a mark may be from where it is drawn again: less than is visible."""
_STRAYS: Final = 0.01
"""The largest part of the points of a series that rounding moves: passages whose time is between two samples."""
_UNSURE: Final = 1e-3
"""The error of a run in degrees from which on another processor may draw other curves."""
_MARK: Final = re.compile(
    r"<(?:polyline|path|circle|text)(?: (?:points|d|cx|cy|r|x|y|fill|stroke|opacity|font-size|text-anchor|paint-order|"
    r'stroke-(?:width|linejoin|linecap|dasharray))="[^"<>&]*")*(?:/>|>[^<>]*</text>)'
)
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_HEIGHT: Final = re.compile(r'(?: y="| points="-?[\d.]+,| d="M-?[\d.]+ | cy=")(-?[\d.]+)')


def check_plot(path: str, stored: bytes, measured: Measurement) -> list[Check]:
    """Compare a stored plot with that of the repeated measurement."""
    one = stored.decode("utf-8", "replace").splitlines()
    other = measured.render_svg().splitlines()
    matched = Check(path, "matched", "drawn again, with the same marks")
    if one == other:
        return [matched]
    head = other[:3]
    if one[:3] != head or one[-1:] != other[-1:] or not all(map(_MARK.fullmatch, one[3:-1])):
        return [Check(path, "differs", "is not a plot as this program draws it: it has other elements")]
    worst = find_worst_degrees(cast("RunReply", measured.reply)) or 0.0 if measured.kind == "nbody" else 0.0
    top = _find_noisy_panel(measured.reply, other)
    main, noisy = (
        _compare_lines([_select(lines, top, is_noisy=part) for lines in (one, other)], worst) for part in (False, True)
    )
    if main.difference:
        error = f"{main.difference}; the error of the run is {worst:.1g} degrees"
        return [Check(path, "not checked", error) if worst > _UNSURE else Check(path, "differs", main.difference)]
    checks = [matched]
    if main.strays:
        reason = f"{plural(main.strays, 'point is', 'points are')} elsewhere, as rounding moves the time of a passage"
        checks.append(make_statement(path, reason))
    if noisy != _Comparison():
        reason = f"the panel “{_ENERGY}”: it shows rounding errors, which differ"
        checks.append(make_statement(path, reason))
    return checks


def _find_noisy_panel(reply: MeasurementReply, lines: Sequence[str]) -> float:
    """Return the height of the title of the panel with the energy, if that is rounding; else infinity."""
    drift = reply.get("energyDrift")
    if drift is not None and drift["max"] < _NOISE:
        for line in lines:
            if f">{_ENERGY}" in line and (found := _HEIGHT.search(line)):
                return float(found[1])
    return float("inf")


def _select(lines: Sequence[str], top: float, *, is_noisy: bool) -> list[str]:
    """Return the marks below the height `top`, except the last one, the footer; or all others."""
    last = len(lines) - 2
    return [
        line
        for number, line in enumerate(lines)
        if (number != last and (found := _HEIGHT.search(line)) is not None and float(found[1]) >= top) is is_noisy
    ]


class _Comparison(NamedTuple):
    """How the marks of two plots differ."""

    difference: str = ""
    strays: int = 0
    """Points that are elsewhere, so few that rounding explains them."""


def _compare_lines(plots: Sequence[Sequence[str]], worst: float) -> _Comparison:
    """Return how the marks of two plots differ, at the first one that rounding does not explain."""
    one, other = plots
    if len(one) != len(other):
        return _Comparison(f"has {len(one)} marks, drawn again {len(other)}")
    strays = 0
    for first, second in zip(one, other, strict=True):
        if first == second:
            continue
        tags, texts = zip(*(_split_text(line) for line in (first, second)), strict=True)
        if texts[0] != texts[1]:
            shown = [text[:60] for text in texts]
            return _Comparison(f"has the text “{shown[0]}”, drawn again “{shown[1]}”")
        if _NUMBER.sub("0", tags[0]) != _NUMBER.sub("0", tags[1]):
            return _Comparison("has marks of other kinds, colours or numbers of points than drawn again")
        pairs = list(zip(_NUMBER.findall(tags[0]), _NUMBER.findall(tags[1]), strict=True))
        distances = [abs(float(a) - float(b)) for a, b in pairs]
        # A larger error would allow any place: what it explains is named as not checked.
        far = [distance for distance in distances if not distance <= _PIXELS + 10 * min(worst, _UNSURE)]
        if far and not (tags[0].startswith("<path") and len(far) <= _STRAYS * len(pairs)):
            return _Comparison(f"has a mark {max(far):.2g} pixels away from where it is drawn again")
        strays += len(far)
    return _Comparison("", strays)


def _split_text(line: str) -> tuple[str, str]:
    tag, _, text = line.partition(">")
    return tag, text
