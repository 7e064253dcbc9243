"""Draw a universe from above as marks: x to the right, z up the page. Pure: nothing is read or written."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from universe.domain.orbits.orrery import Orrery
from universe.domain.plotting.axes import Floats
from universe.domain.plotting.drawing import (
    BACKGROUND,
    DIM,
    PALE,
    Circle,
    Drawing,
    Label,
    Mark,
    Polyline,
    choose_body_colour,
    mix_colours,
)
from universe.domain.plotting.picture_layout import (
    Bodies,
    Box,
    LabelledPage,
    PictureFrame,
    VisibleBodies,
    choose_length_unit,
    clean_and_truncate_text,
    draw_distance_rings,
    draw_footer,
    draw_heading,
    find_visible_bodies,
    format_time,
    is_luminous,
    measure_label,
    place_distance_ring_labels,
    propose_labels_around,
)
from uraniborg.kernel.errors import InvalidInput

_ORBIT_OPACITY: Final = 0.26
_TRAIL_OPACITY: Final = 0.8
_TRAIL_PART: Final = 0.42
_TRAIL_STEPS: Final = 14
SIZES: Final = (200, 8000)
"""The minimum and maximum size of the page, in pixels."""
_MOST_TRAILS: Final = 120
_MOST_LABELS: Final = 60
_GLOW: Final = tuple((1 + 4.2 * (1 - step / 16) ** 1.7, 0.012 + 0.0035 * step) for step in range(16))
"""The circles around luminous bodies: relative radius and opacity."""
_MOST_ORBITS: Final = 240
_SEGMENTS: Final = (480, 120)
"""The segments of an orbit, for few and for many bodies."""
_FEW: Final = 40


def draw_orbit_line(path: Floats, colour: str, width: float) -> Polyline:
    return Polyline(_make_point_tuples(path), colour, width, _ORBIT_OPACITY)


def draw_trail(path: Floats, body: Floats, colour: str, width: float, *, backwards: bool) -> Iterator[Polyline]:
    """Yield the last part of an orbit in fading pieces. `backwards`: the body moves against the path's direction."""
    behind = _trace_back_from_body(path[::-1] if backwards else path, body)
    per_step = max(1, math.ceil(len(path) * _TRAIL_PART / _TRAIL_STEPS))
    for step in range(_TRAIL_STEPS):
        piece = behind[step * per_step : (step + 1) * per_step + 1]
        if len(piece) < 2:
            return
        fading = (1 - step / _TRAIL_STEPS) ** 1.6
        yield Polyline(
            _make_point_tuples(piece), colour, width, _ORBIT_OPACITY + (_TRAIL_OPACITY - _ORBIT_OPACITY) * fading
        )


def _trace_back_from_body(path: Floats, body: Floats) -> Floats:
    """Return the points of a closed path, from the body backwards, the body first."""
    ring = path[:-1]
    offset = ring - body
    nearest = int(np.argmin(np.hypot(offset[:, 0], offset[:, 1])))
    back = np.roll(ring[::-1], nearest + 1, axis=0)
    # The nearest point may be ahead of the body; a trail must start behind it.
    if len(back) > 1 and (back[0] - body) @ (back[1] - body) < 0:
        back = back[1:]
    return np.vstack([body, back])


def _make_point_tuples(path: Floats) -> tuple[tuple[float, float], ...]:
    return tuple((x, y) for x, y in path.tolist())


def draw_top_view(
    stars: Bodies,
    positions: Mapping[str, Sequence[float]],
    paths: Mapping[str, Floats],
    *,
    t: float,
    title: str,
    width: int = 1200,
    height: int = 1200,
    scale: Any = "auto",
) -> Drawing:
    """Return the drawing of bodies at their positions with the orbits in `paths`, all in coordinates of the universe.

    Bodies without a finite position are left out; so are moons too close to their planets, and names without
    free space. Raise InvalidInput for an invalid page size or scale.
    """
    frame = _make_frame(width, height)
    visible = find_visible_bodies(stars, positions, paths, frame, scale)
    unit = choose_length_unit(stars.values())
    head = list(draw_heading(title, format_time(stars.values(), t, unit), frame, width))
    if visible is None:
        marks: list[Mark] = [*head, _draw_empty_note(stars, frame)]
    else:
        page = LabelledPage(width, height)
        foot = list(draw_footer(visible, frame, unit, width, height))
        for label in (mark for mark in (*head, *foot) if isinstance(mark, Label)):
            page.occupy(measure_label(label))
        marks = [
            *draw_distance_rings(visible, frame),
            *_draw_orbits(stars, visible, frame),
            *_draw_and_occupy_dots(stars, visible, frame, page),
        ]
        marks += [
            *_place_body_names(stars, visible, frame, page),
            *place_distance_ring_labels(visible, frame, unit, page),
            *head,
            *foot,
        ]
    return Drawing(width, height, BACKGROUND, clean_and_truncate_text(title, 120) or "A universe", tuple(marks))


def _make_frame(width: int, height: int) -> PictureFrame:
    shortest, longest = SIZES
    for argument, value in (("width", width), ("height", height)):
        if not shortest <= value <= longest:
            raise InvalidInput(
                f"{argument} is {value} pixels.",
                hint=f"Choose from {shortest} to {longest}.",
                argument=argument,
                allowed=f"{shortest} to {longest}",
            )
    unit = min(width, height) / 1200
    top, bottom = 70 * unit, 60 * unit
    radius = min(width / 2 - 40 * unit, (height - top - bottom) / 2)
    return PictureFrame(width / 2, top + (height - top - bottom) / 2, radius, unit)


def _draw_empty_note(stars: Bodies, frame: PictureFrame) -> Label:
    text = "No body of this universe has a position." if stars else "This universe is empty."
    return Label(frame.x, frame.y, text, 20 * frame.unit, DIM, "middle")


def _draw_orbits(stars: Bodies, visible: VisibleBodies, frame: PictureFrame) -> Iterator[Polyline]:
    index_of = {body_id: index for index, body_id in enumerate(visible.ids)}
    shown: list[tuple[str, int]] = []
    for body_id, path in visible.paths.items():
        index = index_of.get(body_id)
        if index is None or float(np.ptp(path, axis=0).max()) < 4 * visible.dots[index]:
            continue
        shown.append((body_id, index))
    lines = [
        (visible.paths[body_id], index, choose_body_colour(stars[body_id].get("color"))) for body_id, index in shown
    ]
    width = (1.3 if len(shown) <= _MOST_TRAILS else 0.7) * frame.unit
    for path, _, colour in lines:
        yield draw_orbit_line(path, colour, width)
    if len(shown) > _MOST_TRAILS:
        return
    for (body_id, _), (path, index, colour) in zip(shown, lines, strict=True):
        if visible.hidden[index]:
            continue
        speed = stars[body_id].get("orbitalSpeed")
        backwards = "kepler" not in stars[body_id] and isinstance(speed, (int, float)) and speed < 0
        yield from draw_trail(path, visible.page[index], colour, 1.6 * width, backwards=backwards)


def _draw_and_occupy_dots(
    stars: Bodies, visible: VisibleBodies, frame: PictureFrame, page: LabelledPage
) -> Iterator[Circle]:
    drawn = [index for index in range(len(visible.ids)) if not visible.hidden[index]]
    glows = len(drawn) <= _MOST_TRAILS
    # Small bodies come last, so that large ones do not cover them.
    for index in sorted(drawn, key=lambda one: -visible.dots[one]):
        body = stars[visible.ids[index]]
        (x, y), radius = visible.page[index].tolist(), float(visible.dots[index])
        colour = choose_body_colour(body.get("color"))
        page.occupy(Box(x - radius, y - radius, x + radius, y + radius))
        if glows and is_luminous(body):
            yield from (Circle(x, y, radius * larger, fill=colour, opacity=bright) for larger, bright in _GLOW)
        if body.get("bodyType") == "blackHole":
            yield Circle(x, y, radius, fill="#000000", stroke=mix_colours(colour, "#ffb45c", 0.5), width=0.3 * radius)
        else:
            edge = None if is_luminous(body) or not glows else BACKGROUND
            yield Circle(x, y, radius, fill=colour, stroke=edge, width=1.2 * frame.unit)


def _place_body_names(
    stars: Bodies, visible: VisibleBodies, frame: PictureFrame, page: LabelledPage
) -> Iterator[Label]:
    """Yield names with free space, the largest bodies first."""
    wanted = [index for index in range(len(visible.ids)) if not visible.hidden[index]]
    wanted.sort(key=lambda index: (not is_luminous(stars[visible.ids[index]]), -visible.dots[index]))
    for index in wanted[:_MOST_LABELS]:
        body = stars[visible.ids[index]]
        name = clean_and_truncate_text(body.get("name")) or clean_and_truncate_text(visible.ids[index])
        if not name:
            continue
        (x, y), radius = visible.page[index].tolist(), float(visible.dots[index])
        gap = radius * (1.8 if is_luminous(body) else 1) + 6 * frame.unit
        size = (15 if is_luminous(body) else 13) * frame.unit
        fill = mix_colours(choose_body_colour(body.get("color")), PALE, 0.55)
        outwards = (x - frame.x, y - frame.y)
        if label := page.place_first_free_label(propose_labels_around(x, y, gap, name, size, fill, outwards=outwards)):
            yield label


def draw_universe(
    stars: Bodies, *, t: float, title: str, width: int = 1200, height: int = 1200, scale: Any = "auto"
) -> Drawing:
    """Return the top view of the bodies at simulation time `t`. For very many bodies only some orbits are drawn.

    `scale` is `linear`, `log`, or `auto` to choose by the distances. Raise InvalidInput for a time that is not
    finite, and for an invalid page size or scale.
    """
    orrery = Orrery(stars)
    found = orrery.compute_positions(t)
    return draw_top_view(
        stars,
        dict(zip(orrery.ids, found.tolist(), strict=True)),
        _compute_paths(stars, orrery, found),
        t=t,
        title=title,
        width=width,
        height=height,
        scale=scale,
    )


def _compute_paths(stars: Bodies, orrery: Orrery, positions: Floats) -> dict[str, Floats]:
    """Return the orbits to draw, as points of the universe."""
    index_of = {body_id: index for index, body_id in enumerate(orrery.ids)}
    centres: dict[str, Floats] = {}
    for body_id, body in stars.items():
        parent = body.get("parentId")
        if isinstance(parent, str) and parent in index_of:
            centres[body_id] = positions[index_of[parent]]
        elif not body.get("isRoguePlanet"):  # its path may not be closed
            centres[body_id] = np.zeros(3)
    orbiting = list(centres)
    # Positions may overflow; the view leaves them out.
    with np.errstate(over="ignore", invalid="ignore"):
        if len(orbiting) > _MOST_ORBITS:
            offsets = positions[[index_of[body_id] for body_id in orbiting]] - np.array(list(centres.values()))
            orbiting = [
                orbiting[index] for index in _sample_indices_by_size(np.nan_to_num(np.abs(offsets).max(axis=1)))
            ]
        segments = _SEGMENTS[0] if len(orbiting) <= _FEW else _SEGMENTS[1]
        return {body_id: orrery.compute_path(body_id, segments) + centres[body_id] for body_id in orbiting}


def _sample_indices_by_size(sizes: Floats) -> list[int]:
    order = np.argsort(-sizes, kind="stable")
    seen = order[sizes[order] >= 0.01 * sizes.max()]
    return seen[:: math.ceil(len(seen) / _MOST_ORBITS)].tolist()
