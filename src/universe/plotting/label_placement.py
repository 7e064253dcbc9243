"""Place labels so that they cover neither each other nor a body."""

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from universe.plotting.marks import Anchor, Label

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
