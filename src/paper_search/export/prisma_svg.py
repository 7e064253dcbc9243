"""Draw the flow of a search as a PRISMA 2020 diagram in SVG."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import Final

from paper_search.domain.source_descriptions import get_source_label
from paper_search.export.prisma_flow import (
    LABELS,
    REMOVED_BY_AUTOMATION,
    PrismaFlow,
    build_prisma_flow,
    count_exclusions_by_description,
    count_included_by_description,
    count_screened_by_judge,
    name_included_papers,
)
from paper_search.models import PaperCollection
from paper_search.recordings import find_offline_notice
from uraniborg.kernel.bibliography.plain_text import to_one_line
from uraniborg.kernel.language.messages import plural

_WIDTH: Final = 860
_BOX_WIDTH: Final = 360
_LEFT: Final = 60
_RIGHT: Final = _WIDTH - _BOX_WIDTH - 20
_LINE: Final = 18
_PADDING: Final = 14
_GAP: Final = 34
_LEAST_HEIGHT: Final = 116
"""A row is high enough for the name of its stage, which is written upwards."""
_LINE_CHARACTERS: Final = 40
_MOST_LINES: Final = 12
_STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#1b2733}"
    ".title{font-weight:600}"
    ".stage{font-weight:600;fill:#fff}"
    ".box{fill:#fff;stroke:#5b6b7b;stroke-width:1.2}"
    ".bar{fill:#2f5d8a}"
    ".arrow{stroke:#5b6b7b;stroke-width:1.2;fill:none;marker-end:url(#tip)}"
)


@dataclass(frozen=True, slots=True)
class _Box:
    title: str
    lines: list[str]

    @property
    def height(self) -> int:
        return (1 + len(self.lines)) * _LINE + 2 * _PADDING

    def draw_at(self, x: int, y: int) -> str:
        lines = [
            f'<text class="{"title" if number == 0 else "line"}" x="{x + _PADDING}" '
            f'y="{y + _PADDING + 13 + number * _LINE}">{escape(text)}</text>'
            for number, text in enumerate([self.title, *self.lines])
        ]
        box = f'<rect class="box" x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{self.height}" rx="4"/>'
        return box + "".join(lines)


def export_prisma_svg(collection: PaperCollection) -> str:
    """Return the flow diagram as SVG: identified, removed before screening, screened, excluded, included."""
    flow = build_prisma_flow(collection)
    rows = _build_rows(flow)
    y, drawn = 50, [_draw_heading(flow)]
    for number, (stage, left, right) in enumerate(rows):
        height = max(_LEAST_HEIGHT, left.height, right.height if right else 0)
        drawn.append(_draw_stage_bar(stage, y, height))
        drawn.append(left.draw_at(_LEFT, y))
        if right:
            middle = y + left.height // 2
            drawn.append(right.draw_at(_RIGHT, y))
            drawn.append(f'<path class="arrow" d="M{_LEFT + _BOX_WIDTH} {middle}H{_RIGHT - 2}"/>')
        if number < len(rows) - 1:
            x = _LEFT + _BOX_WIDTH // 2
            drawn.append(f'<path class="arrow" d="M{x} {y + left.height}V{y + height + _GAP - 2}"/>')
        y += height + _GAP
    tip = '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" width="{_WIDTH}" height="{y}" role="img" '
        f'aria-label="PRISMA 2020 flow diagram"><style>{_STYLE}</style><defs>{tip}<path d="M0 0L8 4L0 8z" '
        'fill="#5b6b7b"/></marker></defs>'
    )
    return f'{head}<rect width="{_WIDTH}" height="{y}" fill="#fff"/>{"".join(drawn)}</svg>\n'


def _build_rows(flow: PrismaFlow) -> list[tuple[str, _Box, _Box | None]]:
    identified = _make_box(
        f"Records identified (n = {sum(flow.identified.values()):,})",
        [(get_source_label(name), count) for name, count in flow.identified.items()],
        {get_source_label(name): count for name, count in flow.matches.items()},
    )
    included = _make_box(f"{name_included_papers(flow)} (n = {flow.included:,})", count_included_by_description(flow))
    if not flow.rounds:
        return [("Identification", identified, None), ("Included", included, None)]
    removed = _make_box(f"Removed before screening (n = {sum(flow.removed.values()):,})", _label_counts(flow.removed))
    screened = _make_box(f"Records screened (n = {flow.screened:,})", count_screened_by_judge(flow))
    reasons = count_exclusions_by_description(flow)
    if flow.removed_by_automation:
        reasons = [(REMOVED_BY_AUTOMATION, flow.removed_by_automation), *reasons]
    excluded = _make_box(f"Records excluded (n = {sum(flow.excluded.values()):,})", reasons)
    return [("Identification", identified, removed), ("Screening", screened, excluded), ("Included", included, None)]


def _label_counts(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(LABELS.get(name, name), count) for name, count in counts.items()]


def _make_box(title: str, counts: Iterable[tuple[str, int]], matches: Mapping[str, int] = MappingProxyType({})) -> _Box:
    """Return a box with one line for each count; more lines than fit are summed up in the last one."""
    listed = list(counts)
    shown = listed if len(listed) <= _MOST_LINES else listed[: _MOST_LINES - 1]
    ends = [f", of {plural(matches[name], 'match', 'matches')}" if name in matches else "" for name, _ in shown]
    lines = [f"{_clip_text(name)} (n = {count:,}){end}" for (name, count), end in zip(shown, ends, strict=True)]
    if rest := listed[len(shown) :]:
        lines.append(f"{len(rest)} others (n = {sum(count for _, count in rest):,})")
    return _Box(title, lines)


def _clip_text(text: str) -> str:
    plain = to_one_line(text)
    return plain if len(plain) <= _LINE_CHARACTERS else plain[: _LINE_CHARACTERS - 1] + "…"


def _draw_heading(flow: PrismaFlow) -> str:
    question = to_one_line(flow.question)
    clipped = question if len(question) <= 110 else question[:109] + "…"
    incomplete = f"Incomplete: {flow.incomplete_because}." if flow.incomplete_because else ""
    notice = " ".join(filter(None, (find_offline_notice(flow.notes), incomplete)))
    below = f'<text class="notice" x="20" y="44">{escape(notice)}</text>' if notice else ""
    return f'<text class="title" x="20" y="28">{escape(clipped)}</text>{below}'


def _draw_stage_bar(stage: str, y: int, height: int) -> str:
    middle = y + height // 2
    return (
        f'<rect class="bar" x="20" y="{y}" width="26" height="{height}" rx="4"/>'
        f'<text class="stage" x="33" y="{middle}" text-anchor="middle" dominant-baseline="central" '
        f'transform="rotate(-90 33 {middle})">{stage}</text>'
    )
