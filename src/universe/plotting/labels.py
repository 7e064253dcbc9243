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


def around(
    x: float, y: float, gap: float, text: str, size: float, fill: str, *, outwards: tuple[float, float] = (0.0, 0.0)
) -> Iterator[Label]:
    """A text `gap` pixels off a point: at its sides and then its corners, first where `outwards` points, if anywhere.

    A name that leads away from the middle of the page crosses its body's own orbit least.
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


def box_of(label: Label) -> Box:
    """The room a text takes, with a little air around it."""
    width = text_width(label.text, label.size)
    left = label.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * width
    return Box(left - 2, label.y - 0.85 * label.size, left + width + 2, label.y + 0.3 * label.size)


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for column in range(int(box.left // _CELL), int(box.right // _CELL) + 1):
        for row in range(int(box.top // _CELL), int(box.bottom // _CELL) + 1):
            yield column, row
