"""Lay out a picture: which bodies it shows and where, its captions, and labels that do not overlap."""

import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from universe.domain.plotting.axes import Floats, RadialScale, choose_radial_scale
from universe.domain.plotting.drawing import DIM, PALE, RULER, Anchor, Circle, Label, Mark, Polyline

Bodies = Mapping[str, Mapping[str, Any]]

_FARTHEST: Final = 1e150
"""Larger coordinates overflow when squared."""
_EDGE: Final = 1.03
_SMALLEST_DOT, _LARGEST_DOT = 2.8, 13.0
_GROWTH: Final = 0.22
_CROWD: Final = 120
SHINING: Final = ("star", "blackHole")


@dataclass(frozen=True, slots=True)
class VisibleBodies:
    """The bodies with positions, in the order of the universe, as dots and paths on the page."""

    ids: list[str]
    scale: RadialScale
    page: Floats
    """(n, 2) pixels from the left and the top."""
    dots: Floats
    """The radius of each dot in pixels."""
    hidden: NDArray[np.bool_]
    """True for moons that are too close to their planet to be drawn."""
    paths: dict[str, Floats]
    """Orbits as (m, 2) pixels."""


@dataclass(frozen=True, slots=True)
class PictureFrame:
    """The part of the page that the universe is drawn in."""

    x: float
    y: float
    radius: float
    unit: float
    """The size on this page of a pixel on a page of 1200 pixels."""


def find_visible_bodies(
    stars: Bodies,
    positions: Mapping[str, Sequence[float]],
    paths: Mapping[str, Floats],
    frame: PictureFrame,
    scale: Any,
) -> VisibleBodies | None:
    """Return the visible bodies, x to the right and z upwards; None if no body has a position.

    Raise InvalidInput for an unknown scale.
    """
    ids = [body_id for body_id in stars if body_id in positions and _has_drawable_position(positions[body_id])]
    if not ids:
        choose_radial_scale(np.zeros(0), 0.0, frame.radius, scale)
        return None
    flat = np.array([positions[body_id] for body_id in ids], dtype=np.float64)[:, [0, 2]]
    centre = _find_centre(stars, ids, flat)
    flat -= centre
    distances = np.hypot(flat[:, 0], flat[:, 1])
    lines = {body_id: path[:, [0, 2]] - centre for body_id, path in paths.items() if _is_drawable(path)}
    reach = [float(np.hypot(line[:, 0], line[:, 1]).max()) for line in lines.values()]
    radial_scale = choose_radial_scale(distances, max(float(distances.max()), *reach, 0.0) * _EDGE, frame.radius, scale)
    middle = np.array([frame.x, frame.y])
    page = radial_scale.compute_page_offsets(flat) + middle
    dots = _compute_dot_sizes([stars[body_id] for body_id in ids], frame.unit)
    hidden = _find_hidden_moons(stars, ids, page, dots)
    return VisibleBodies(
        ids,
        radial_scale,
        page,
        dots,
        hidden,
        {body_id: radial_scale.compute_page_offsets(line) + middle for body_id, line in lines.items()},
    )


def is_luminous(body: Mapping[str, Any]) -> bool:
    kind = body.get("bodyType")
    return kind in SHINING if kind is not None else body.get("parentId") is None


def _has_drawable_position(position: Iterable[float]) -> bool:
    return all(abs(part) < _FARTHEST for part in position)


def _is_drawable(path: Floats) -> bool:
    return len(path) > 1 and bool((np.abs(path) < _FARTHEST).all())


def _find_centre(stars: Bodies, ids: list[str], flat: Floats) -> Floats:
    """Return the mean position of the bodies without a parent."""
    present = set(ids)
    roots = [index for index, body_id in enumerate(ids) if stars[body_id].get("parentId") not in present]
    return flat[roots or slice(None)].mean(axis=0)


def _compute_dot_sizes(bodies: list[Mapping[str, Any]], unit: float) -> Floats:
    """Return sizes that grow slowly with the radius, so that planets are visible beside their star.

    Smaller for many bodies.
    """
    radii = np.array([_read_radius(body) for body in bodies])
    largest = float(radii.max())
    sizes = _LARGEST_DOT * (radii / largest) ** _GROWTH if largest > 0 else np.full(len(bodies), _LARGEST_DOT / 2)
    crowd = min(1.0, (_CROWD / len(bodies)) ** 0.4)
    return np.maximum(sizes, _SMALLEST_DOT) * unit * crowd


def _read_radius(body: Mapping[str, Any]) -> float:
    radius = body.get("radius")
    if isinstance(radius, bool) or not isinstance(radius, (int, float)):
        return 0.0
    return float(radius) if 0 < radius < _FARTHEST else 0.0


def _find_hidden_moons(stars: Bodies, ids: list[str], page: Floats, dots: Floats) -> NDArray[np.bool_]:
    index_of = {body_id: index for index, body_id in enumerate(ids)}
    parents = [stars[body_id].get("parentId") for body_id in ids]
    above = np.array(
        [index_of.get(parent, own) if isinstance(parent, str) else own for own, parent in enumerate(parents)]
    )
    offset = page - page[above]
    apart = np.hypot(offset[:, 0], offset[:, 1])
    return (above != np.arange(len(ids))) & (apart < dots[above] + 0.6 * dots + 1)


_CELL: Final = 48.0


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


class LabelledPage:
    """The occupied boxes of a page, indexed by the cells of a grid."""

    def __init__(self, width: float, height: float, margin: float = 8.0) -> None:
        self._inside = Box(margin, margin, width - margin, height - margin)
        self._taken: dict[tuple[int, int], list[Box]] = {}

    def occupy(self, box: Box) -> None:
        for cell in _list_grid_cells(box):
            self._taken.setdefault(cell, []).append(box)

    def is_free(self, box: Box) -> bool:
        inside = self._inside
        if box.left < inside.left or box.right > inside.right or box.top < inside.top or box.bottom > inside.bottom:
            return False
        return not any(box.overlaps(other) for cell in _list_grid_cells(box) for other in self._taken.get(cell, ()))

    def place_first_free_label(self, choices: Iterable[Label]) -> Label | None:
        """Place the first label with a free position and return it, or None if none is free."""
        for label in choices:
            box = measure_label(label)
            if self.is_free(box):
                self.occupy(box)
                return label
        return None


def propose_labels_around(
    x: float, y: float, gap: float, text: str, size: float, fill: str, *, outwards: tuple[float, float] = (0.0, 0.0)
) -> Iterator[Label]:
    """Yield labels `gap` pixels from a point: at its sides, then its corners, first in the direction `outwards`.

    A label that points outwards rarely crosses the orbit of its body.
    """
    for right, down, anchor in sorted(_SIDES, key=lambda side: -(side[0] * outwards[0] + side[1] * outwards[1])):
        yield Label(x + right * gap, y + down * (gap + 0.3 * size) + 0.35 * size, text, size, fill, anchor)


_SLANT: Final = 0.71
_SIDES: Final[tuple[tuple[float, float, Anchor], ...]] = (
    (1, 0, "start"),
    (-1, 0, "end"),
    (0, -1, "middle"),
    (0, 1, "middle"),
    (_SLANT, -_SLANT, "start"),
    (_SLANT, _SLANT, "start"),
    (-_SLANT, -_SLANT, "end"),
    (-_SLANT, _SLANT, "end"),
)


def measure_label(label: Label) -> Box:
    """Return the box of a label with a small margin."""
    width = estimate_text_width(label.text, label.size)
    left = label.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * width
    return Box(left - 2, label.y - 0.85 * label.size, left + width + 2, label.y + 0.3 * label.size)


def _list_grid_cells(box: Box) -> Iterator[tuple[int, int]]:
    for column in range(int(box.left // _CELL), int(box.right // _CELL) + 1):
        for row in range(int(box.top // _CELL), int(box.bottom // _CELL) + 1):
            yield column, row


_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn")


def clean_and_truncate_text(given: Any, longest: int = 40) -> str:
    """Return `given` without control and format characters, or an empty text if it is not a text."""
    if not isinstance(given, str):
        return ""
    # Invisible characters are removed below, so some more than the limit are read.
    spaced = " ".join(given[: 20 * longest].split())
    shown = "".join(char for char in spaced if unicodedata.category(char) not in _INVISIBLE).strip()
    return shown if len(shown) <= longest else shown[: longest - 1].rstrip() + "…"


def estimate_text_width(text: str, size: float) -> float:
    """Return about how wide a text is in a common sans-serif font, rounded up."""
    return size * sum(map(_estimate_char_width, text))


def _estimate_char_width(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    if char in "iljtfrI.,:;'|!()[] ":
        return 0.36
    return 0.9 if char in "mwMW@%—…" else 0.68 if char.isupper() else 0.58


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


def draw_heading(title: str, when: str, frame: PictureFrame, width: int) -> Iterator[Label]:
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


def draw_distance_rings(visible: VisibleBodies, frame: PictureFrame) -> Iterator[Circle]:
    for radius in _compute_ring_radii(visible):
        yield Circle(frame.x, frame.y, radius, stroke=RULER, width=frame.unit, dash=2.5 * frame.unit)


def place_distance_ring_labels(
    visible: VisibleBodies, frame: PictureFrame, unit: str, page: LabelledPage
) -> Iterator[Label]:
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


def draw_footer(visible: VisibleBodies, frame: PictureFrame, unit: str, width: int, height: int) -> Iterator[Mark]:
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
