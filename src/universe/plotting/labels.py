"""Places for texts on a page where they cover neither each other nor a body."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from universe.plotting.drawing import Anchor, Label
from universe.plotting.texts import text_width

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


class Page:
    """What is taken of a page, looked up by the squares of a grid."""

    def __init__(self, width: float, height: float, margin: float = 8.0) -> None:
        self._inside = Box(margin, margin, width - margin, height - margin)
        self._taken: dict[tuple[int, int], list[Box]] = {}

    def take(self, box: Box) -> None:
        for cell in _cells(box):
            self._taken.setdefault(cell, []).append(box)

    def is_free(self, box: Box) -> bool:
        inside = self._inside
        if box.left < inside.left or box.right > inside.right or box.top < inside.top or box.bottom > inside.bottom:
            return False
        return not any(box.overlaps(other) for cell in _cells(box) for other in self._taken.get(cell, ()))

    def put_first_free(self, choices: Iterable[Label]) -> Label | None:
        """The first of these texts that has a free place, which it then takes; None if all are in the way."""
        for label in choices:
            box = box_of(label)
            if self.is_free(box):
                self.take(box)
                return label
        return None


def around(x: float, y: float, gap: float, text: str, size: float, fill: str) -> Iterator[Label]:
    """A text at the sides of a point and then at its corners, `gap` pixels off."""
    middle, above, below = y + 0.35 * size, y - gap - 0.25 * size, y + gap + size
    slant = 0.75 * gap
    places: tuple[tuple[float, float, Anchor], ...] = (
        (x + gap, middle, "start"),
        (x - gap, middle, "end"),
        (x, above, "middle"),
        (x, below, "middle"),
        (x + slant, above + 0.3 * gap, "start"),
        (x + slant, below - 0.3 * gap, "start"),
        (x - slant, above + 0.3 * gap, "end"),
        (x - slant, below - 0.3 * gap, "end"),
    )
    for at_x, at_y, anchor in places:
        yield Label(at_x, at_y, text, size, fill, anchor)


def box_of(label: Label) -> Box:
    """The room a text takes, with a little air around it."""
    width = text_width(label.text, label.size)
    left = label.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * width
    return Box(left - 2, label.y - 0.85 * label.size, left + width + 2, label.y + 0.3 * label.size)


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for column in range(int(box.left // _CELL), int(box.right // _CELL) + 1):
        for row in range(int(box.top // _CELL), int(box.bottom // _CELL) + 1):
            yield column, row
