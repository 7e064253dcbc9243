"""The top view of a universe, composed of marks: x to the right, z up the page. Pure: nothing is read or written."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from universe.plotting.captions import footing, heading, ring_labels, rings, time_text, unit_of
from universe.plotting.colours import BACKGROUND, DIM, PALE, body_colour, mixed
from universe.plotting.drawing import Circle, Drawing, Label, Mark, Polyline
from universe.plotting.labels import Box, Page, around, box_of
from universe.plotting.scale import Floats
from universe.plotting.sight import Bodies, Frame, Sight, look, shines
from universe.plotting.texts import drawable
from universe.plotting.trails import orbit_line, trail
from uraniborg.kernel.errors import InvalidInput

SIZES: Final = (200, 8000)
"""The shortest and the longest a side of the page may be, in pixels."""
_MOST_TRAILS: Final = 120
_MOST_LABELS: Final = 60
_GLOW: Final = tuple((1 + 4.2 * (1 - step / 16) ** 1.7, 0.012 + 0.0035 * step) for step in range(16))
"""Circles around what shines: how many times larger than it, and how bright."""


def top_view(
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
    """The drawing of bodies at their positions, with the orbits in `paths`, all in coordinates of the universe.

    Bodies without a finite position are left out; so are moons that the page cannot tell from their planets, and
    names for which there is no room. Raises InvalidInput for a page or a scale that cannot be had.
    """
    frame = _frame(width, height)
    sight = look(stars, positions, paths, frame, scale)
    unit = unit_of(stars.values())
    head = list(heading(title, time_text(stars.values(), t, unit), frame, width))
    if sight is None:
        marks: list[Mark] = [*head, _nothing(stars, frame)]
    else:
        page = Page(width, height)
        foot = list(footing(sight, frame, unit, width, height))
        for label in (mark for mark in (*head, *foot) if isinstance(mark, Label)):
            page.take(box_of(label))
        marks = [*rings(sight, frame), *_orbits(stars, sight, frame), *_dots(stars, sight, frame, page)]
        marks += [*_names(stars, sight, frame, page), *ring_labels(sight, frame, unit, page), *head, *foot]
    return Drawing(width, height, BACKGROUND, drawable(title, 120) or "A universe", tuple(marks))


def _frame(width: int, height: int) -> Frame:
    shortest, longest = SIZES
    for argument, value in (("width", width), ("height", height)):
        if not shortest <= value <= longest:
            raise InvalidInput(
                f"A page cannot be {value} pixels in {argument}.",
                hint=f"Choose from {shortest} to {longest}.",
                argument=argument,
                allowed=f"{shortest} to {longest}",
            )
    unit = min(width, height) / 1200
    top, bottom = 70 * unit, 60 * unit
    radius = min(width / 2 - 40 * unit, (height - top - bottom) / 2)
    return Frame(width / 2, top + (height - top - bottom) / 2, radius, unit)


def _nothing(stars: Bodies, frame: Frame) -> Label:
    said = "No body of this universe has a position." if stars else "This universe is empty."
    return Label(frame.x, frame.y, said, 20 * frame.unit, DIM, "middle")


def _orbits(stars: Bodies, sight: Sight, frame: Frame) -> Iterator[Polyline]:
    places = {body_id: place for place, body_id in enumerate(sight.ids)}
    shown: list[tuple[str, int]] = []
    for body_id, path in sight.paths.items():
        place = places.get(body_id)
        if place is None or float(np.ptp(path, axis=0).max()) < 4 * sight.dots[place]:
            continue
        shown.append((body_id, place))
    lines = [(sight.paths[body_id], place, body_colour(stars[body_id].get("color"))) for body_id, place in shown]
    width = (1.3 if len(shown) <= _MOST_TRAILS else 0.7) * frame.unit
    for path, _, colour in lines:
        yield orbit_line(path, colour, width)
    if len(shown) > _MOST_TRAILS:
        return
    for (body_id, _), (path, place, colour) in zip(shown, lines, strict=True):
        if sight.hidden[place]:
            continue
        speed = stars[body_id].get("orbitalSpeed")
        backwards = "kepler" not in stars[body_id] and isinstance(speed, (int, float)) and speed < 0
        yield from trail(path, sight.page[place], colour, 1.6 * width, backwards=backwards)


def _dots(stars: Bodies, sight: Sight, frame: Frame, page: Page) -> Iterator[Circle]:
    visible = [place for place in range(len(sight.ids)) if not sight.hidden[place]]
    glows = len(visible) <= _MOST_TRAILS
    # The small ones come last, so that nothing large covers them.
    for place in sorted(visible, key=lambda one: -sight.dots[one]):
        body = stars[sight.ids[place]]
        (x, y), radius = sight.page[place].tolist(), float(sight.dots[place])
        colour = body_colour(body.get("color"))
        page.take(Box(x - radius, y - radius, x + radius, y + radius))
        if glows and shines(body):
            yield from (Circle(x, y, radius * larger, fill=colour, opacity=bright) for larger, bright in _GLOW)
        if body.get("bodyType") == "blackHole":
            yield Circle(x, y, radius, fill="#000000", stroke=mixed(colour, "#ffb45c", 0.5), width=0.3 * radius)
        else:
            edge = None if shines(body) or not glows else BACKGROUND
            yield Circle(x, y, radius, fill=colour, stroke=edge, width=1.2 * frame.unit)


def _names(stars: Bodies, sight: Sight, frame: Frame, page: Page) -> Iterator[Label]:
    """Names where there is room, the largest bodies first."""
    wanted = [place for place in range(len(sight.ids)) if not sight.hidden[place]]
    wanted.sort(key=lambda place: (not shines(stars[sight.ids[place]]), -sight.dots[place]))
    for place in wanted[:_MOST_LABELS]:
        body = stars[sight.ids[place]]
        name = drawable(body.get("name")) or drawable(sight.ids[place])
        if not name:
            continue
        (x, y), radius = sight.page[place].tolist(), float(sight.dots[place])
        gap = radius * (1.8 if shines(body) else 1) + 6 * frame.unit
        size = (15 if shines(body) else 13) * frame.unit
        fill = mixed(body_colour(body.get("color")), PALE, 0.55)
        outwards = (x - frame.x, y - frame.y)
        if label := page.put_first_free(around(x, y, gap, name, size, fill, outwards=outwards)):
            yield label
