"""The check of a plot: drawn again from the repeated run, it must have the same marks at the same places."""

import re
from collections.abc import Sequence
from typing import Any, Final

from universe.jobs.measurement import Measurement
from universe.nbody.reports import find_worst_degrees
from uraniborg.bundle.checks import Check
from uraniborg.kernel.logging import make_printable

_ENERGY: Final = "relative change of energy"
"""The title of the panel that shows rounding errors alone; it is the last one."""
_NOISE: Final = 1e-12
"""The largest relative change of energy that is rounding."""
_PIXELS: Final = 0.05
"""How far a mark may be from where it is drawn again."""
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
    worst = find_worst_degrees(measured.reply) or 0.0 if measured.kind == "nbody" else 0.0
    top = _find_noisy_panel(measured.reply, other)
    main, noisy = (
        _compare_lines([_select(lines, top, is_noisy=part) for lines in (one, other)], worst) for part in (False, True)
    )
    if main:
        error = f"{main}; the error of the run is {worst:.1g} degrees"
        return [Check(path, "not checked", error) if worst > _UNSURE else Check(path, "differs", main)]
    if noisy:
        return [matched, Check(path, "not checked", f"the panel “{_ENERGY}”: it shows rounding errors, which differ")]
    return [matched]


def _find_noisy_panel(reply: dict[str, Any], lines: Sequence[str]) -> float:
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


def _compare_lines(plots: Sequence[Sequence[str]], worst: float) -> str:
    """Return the first difference of the marks of two plots; an empty text if there is none."""
    one, other = plots
    if len(one) != len(other):
        return f"has {len(one)} marks, drawn again {len(other)}"
    for first, second in zip(one, other, strict=True):
        if first == second:
            continue
        tags, texts = zip(*(_split_text(line) for line in (first, second)), strict=True)
        if texts[0] != texts[1]:
            return f"has the text “{make_printable(texts[0])[:60]}”, drawn again “{make_printable(texts[1])[:60]}”"
        if _NUMBER.sub("0", tags[0]) != _NUMBER.sub("0", tags[1]):
            return "has marks of other kinds, colours or numbers of points than drawn again"
        pairs = zip(_NUMBER.findall(tags[0]), _NUMBER.findall(tags[1]), strict=True)
        far = max(abs(float(a) - float(b)) for a, b in pairs)
        if not far <= _PIXELS + 10 * worst:
            return f"has a mark {far:.2g} pixels away from where it is drawn again"
    return ""


def _split_text(line: str) -> tuple[str, str]:
    """Return the tag of a mark and its text."""
    tag, _, text = line.partition(">")
    return tag, text
