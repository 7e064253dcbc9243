"""Caption a picture: title, time, scale and the number of hidden bodies."""

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

import numpy as np

from universe.plotting.colours import DIM, PALE, RULER
from universe.plotting.label_placement import Page, clean_and_truncate_text, estimate_text_width
from universe.plotting.marks import Circle, Label, Mark, Polyline
from universe.plotting.visible_bodies import Frame, VisibleBodies

_J2000: Final = 2451545.0
_FARTHEST_DAY: Final = 1e9
_RING_ANGLES: Final = (-45, -20, -70, 135, 110, 160, 45, 20, 70, -135, -110, -160)


def choose_length_unit(bodies: Iterable[Mapping[str, Any]]) -> str:
    """Return the unit of lengths: AU if a body has an orbit in AU."""
    return (
        "AU"
        if any(_get_mapping_or_empty(body, "kepler").get("units") == "astronomical" for body in bodies)
        else "units"
    )


def draw_heading(title: str, when: str, frame: Frame, width: int) -> Iterator[Label]:
    unit = frame.unit
    size = 26 * unit
    shown = clean_and_truncate_text(title, 120)
    while shown and estimate_text_width(shown, size) > width - 80 * unit:
        shown = clean_and_truncate_text(shown, max(2, len(shown) - 4))
    if shown:
        yield Label(40 * unit, 58 * unit, shown, size, PALE)
    yield Label(40 * unit, 84 * unit, when, 14 * unit, DIM)


def format_time(bodies: Iterable[Mapping[str, Any]], t: float, unit: str) -> str:
    """Return the simulation time, and the date if all bodies have the same epoch."""
    seconds = f"t = {t:,.10g} {'days' if unit == 'AU' else 's'}"
    epochs = {_read_epoch(body) for body in bodies}
    epoch = epochs.pop() if len(epochs) == 1 else None
    if epoch is None or unit != "AU":
        return seconds
    try:
        instant = datetime(2000, 1, 1, 12, tzinfo=UTC) + timedelta(days=epoch + t - _J2000)
    except OverflowError:
        return seconds
    return f"{instant:%Y-%m-%d %H:%M} TDB  ·  {seconds}"


def _read_epoch(body: Mapping[str, Any]) -> float | None:
    epoch = _get_mapping_or_empty(body, "physical").get("epochJulianDate")
    return float(epoch) if isinstance(epoch, (int, float)) and abs(epoch) < _FARTHEST_DAY else None


def _get_mapping_or_empty(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    block = body.get(name)
    return cast("Mapping[str, Any]", block) if isinstance(block, Mapping) else {}


def draw_distance_rings(visible: VisibleBodies, frame: Frame) -> Iterator[Circle]:
    for radius in _compute_ring_radii(visible):
        yield Circle(frame.x, frame.y, radius, stroke=RULER, width=frame.unit, dash=2.5 * frame.unit)


def place_distance_ring_labels(visible: VisibleBodies, frame: Frame, unit: str, page: Page) -> Iterator[Label]:
    """Yield the radius of each ring as a label at a free position of the ring."""
    size = 11 * frame.unit
    for distance, radius in zip(visible.scale.list_ring_distances(), _compute_ring_radii(visible), strict=True):
        text = f"{distance:,.6g} {unit}"
        choices = (
            Label(
                frame.x + radius * math.cos(math.radians(angle)),
                frame.y - radius * math.sin(math.radians(angle)) + 0.35 * size,
                text,
                size,
                DIM,
                "middle",
            )
            for angle in _RING_ANGLES
        )
        if label := page.place_first_free_label(choices):
            yield label


def draw_footer(visible: VisibleBodies, frame: Frame, unit: str, width: int, height: int) -> Iterator[Mark]:
    """Yield the scale on the left and the number of bodies on the right."""
    size, bottom = 12 * frame.unit, height - 30 * frame.unit
    left = 40 * frame.unit
    if visible.scale.is_log:
        yield Label(left, bottom, "distance from the centre: logarithmic", size, DIM)
    else:
        length, pixels = visible.scale.list_ring_distances()[0], _compute_ring_radii(visible)[0]
        tick = 4 * frame.unit
        bar = ((left, bottom - tick), (left, bottom), (left + pixels, bottom), (left + pixels, bottom - tick))
        yield Polyline(bar, DIM, 1.2 * frame.unit)
        yield Label(left, bottom - 2.5 * tick, f"{length:,.6g} {unit}", size, DIM)
    count, hidden = len(visible.ids), int(visible.hidden.sum())
    text = f"{count:,} {'body' if count == 1 else 'bodies'}"
    if hidden:
        text += f", {hidden:,} too close to {'its' if hidden == 1 else 'their'} parent to be shown"
    yield Label(width - left, bottom, text, size, DIM, "end")


def _compute_ring_radii(visible: VisibleBodies) -> list[float]:
    return visible.scale.compute_page_distance(np.array(visible.scale.list_ring_distances())).tolist()
