"""Draw how many of the included papers were found after each screened paper, as SVG."""

from collections.abc import Sequence
from html import escape
from itertools import accumulate
from typing import Final

_WIDTH: Final = 640
_HEIGHT: Final = 420
_LEFT: Final = 64
_TOP: Final = 40
_PLOT_WIDTH: Final = _WIDTH - _LEFT - 24
_PLOT_HEIGHT: Final = _HEIGHT - _TOP - 56
_STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#1b2733}.title{font-weight:600}"
    ".grid{stroke:#d5dde5}.curve{fill:none;stroke:#2f5d8a;stroke-width:2}"
    ".chance{stroke:#8895a3;stroke-dasharray:4 4}.stop{stroke:#b3541e;stroke-width:1.5}"
)


def draw_recall_curve(marks: Sequence[bool], stop: int, title: str) -> str:
    """Return the picture: the share of papers screened to the right, the share of included papers found upwards."""
    total, included = len(marks), sum(marks)
    found = [0, *accumulate(map(int, marks))]
    points = " ".join(f"{_x(n / total):.1f},{_y(count / included):.1f}" for n, count in enumerate(found))
    shares = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    grid = "".join(
        f'<line class="grid" x1="{_LEFT}" x2="{_LEFT + _PLOT_WIDTH}" y1="{_y(share):.1f}" y2="{_y(share):.1f}"/>'
        f'<text x="{_LEFT - 8}" y="{_y(share) + 4:.1f}" text-anchor="end">{share:.0%}</text>'
        f'<text x="{_x(share):.1f}" y="{_HEIGHT - 34}" text-anchor="middle">{share:.0%}</text>'
        for share in shares
    )
    at = _x(stop / total)
    side, anchor = (-6, "end") if stop > total / 2 else (6, "start")
    label = f"stop: {stop:,} papers, {found[stop] / included:.0%} found"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style>"
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>{grid}'
        f'<line class="chance" x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}"/>'
        f'<polyline class="curve" points="{points}"/>'
        f'<line class="stop" x1="{at:.1f}" x2="{at:.1f}" y1="{_y(0)}" y2="{_y(1)}"/>'
        f'<text x="{at + side:.1f}" y="{_y(0) - 10:.1f}" text-anchor="{anchor}">{escape(label)}</text>'
        f'<text class="title" x="{_LEFT}" y="24">{escape(title)}</text>'
        f'<text x="{_LEFT + _PLOT_WIDTH / 2}" y="{_HEIGHT - 12}" text-anchor="middle">papers screened</text>'
        f'<text transform="rotate(-90)" x="{-_TOP - _PLOT_HEIGHT / 2}" y="16" text-anchor="middle">'
        "included papers found</text></svg>\n"
    )


def _x(share: float) -> float:
    return _LEFT + share * _PLOT_WIDTH


def _y(share: float) -> float:
    return _TOP + (1 - share) * _PLOT_HEIGHT
