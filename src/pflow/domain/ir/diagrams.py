"""Draw a workflow as Mermaid text and as SVG. Pure."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import Final

from pflow.domain.ir.graph import Graph
from pflow.domain.ir.model import DEFAULT_ACTION, ERROR_ACTION, Edge, Node, Workflow
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.logging import make_printable

MOST_NODES: Final = 500
_MOST_BENDS: Final = 10_000
_LONGEST_LABEL: Final = 32
_EACH: Final = "for each item"

_NO_NAME: Final = re.compile(r"\W", re.ASCII)
_SPECIAL: Final = re.compile(r"[^\w .-]")
_RESERVED: Final = re.compile(
    "accdescr|acctitle|call|class|classdef|click|default|direction|end|flowchart|graph|href|interpolate|linkstyle|style"
    "|subgraph|constructor|hasownproperty|isprototypeof|propertyisenumerable|tolocalestring|tostring|valueof",
    re.IGNORECASE,
)
"""Keywords of Mermaid, and properties of every JavaScript object."""


_BOX_HEIGHT: Final = 46.0
_LABEL_HEIGHT: Final = 18.0
_GAP: Final = 26.0
_LAYER_GAP: Final = 30.0
_MARGIN: Final = 20.0
_HEAD: Final = 7.0
_STYLE: Final = """
.pflow text{font-family:system-ui,-apple-system,"Segoe UI",sans-serif;text-anchor:middle;fill:#172033}
.pflow .page{fill:#fff}.pflow .box{fill:#f5f8fd;stroke:#bccadf;stroke-width:1.25}
.pflow .start{stroke:#3f73dd;stroke-width:2}.pflow .id{font-size:13px;font-weight:600}
.pflow .type{font-size:11px;fill:#5c6c86}.pflow .edge{fill:none;stroke:#8797b0;stroke-width:1.5}
.pflow .head{fill:#8797b0}.pflow .action{font-size:11px;fill:#4b5b75}
.pflow .edge.error{stroke:#d04a5c;stroke-dasharray:5 4}.pflow .head.error,.pflow .action.error{fill:#d04a5c}
@media (prefers-color-scheme:dark){.pflow text{fill:#e9eef8}.pflow .page{fill:#0e1421}
.pflow .box{fill:#182136;stroke:#3a4a6b}.pflow .start{stroke:#6f9cf5}.pflow .type{fill:#95a5c1}
.pflow .edge{stroke:#6b7c9b}.pflow .head{fill:#6b7c9b}.pflow .action{fill:#b7c3da}
.pflow .edge.error{stroke:#f17d89}.pflow .head.error,.pflow .action.error{fill:#f17d89}}
"""


class TooLargeToDraw(InvalidInput):
    code = "too_large_to_draw"


def draw_mermaid(workflow: Workflow) -> str:
    """Return a Mermaid flowchart from top to bottom. Ids, types and actions are escaped."""
    names = _make_mermaid_names(workflow.nodes)
    lines = ["flowchart TD"]
    for node in workflow.nodes.values():
        text = f"{_escape_mermaid(node.id)}<br/>{_escape_mermaid(node.type)}"
        box = f'[["{text}<br/>{_EACH}"]]' if node.batch else f'["{text}"]'
        lines.append(f"    {names[node.id]}{box}")
    for edge in workflow.edges:
        arrow = "-.->" if edge.action == ERROR_ACTION else "-->"
        label = "" if edge.action == DEFAULT_ACTION else f'|"{_escape_mermaid(edge.action)}"|'
        lines.append(f"    {names[edge.source]} {arrow}{label} {names[edge.target]}")
    return "\n".join(lines) + "\n"


def _make_mermaid_names(ids: Iterable[str]) -> dict[str, str]:
    """Return a Mermaid name for each id: the id itself if Mermaid accepts it and it is unique, else a number."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for number, node in enumerate(ids, start=1):
        name = _NO_NAME.sub("_", node[:60])
        is_usable = name[:1].isalpha() and not _RESERVED.fullmatch(name) and name not in taken
        names[node] = name if is_usable else str(number)
        taken.add(name)
    return names


def _escape_mermaid(text: str) -> str:
    """Return the text with each character that may have a meaning in Mermaid written as its number."""
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", _cut_and_make_printable(text))


def draw_svg(workflow: Workflow) -> str:
    """Return a drawing with boxes and arrows from top to bottom, for light and dark mode. Raise TooLargeToDraw."""
    layout = _Layout(workflow)
    top, width, height = layout.place_items()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="pflow" role="img" viewBox="0 0 {width:.0f} {height:.0f}"'
        f' width="{width:.0f}" height="{height:.0f}"><title>A workflow of {len(workflow.nodes)} nodes</title>'
        f'<style>{_STYLE}</style><rect class="page" width="100%" height="100%" rx="12"/>'
    ]
    for route in layout.routes:
        parts += _render_route_svg(route, top)
    for node in workflow.nodes.values():
        parts += _render_node_svg(node, layout.boxes[node.id], top, is_start=node.id == workflow.start)
    return "".join([*parts, "</svg>\n"])


@dataclass(slots=True, eq=False)
class _Item:
    """An item of a layer: the box of a node, the label of an edge, or a bend of an edge."""

    layer: int
    width: float
    height: float
    x: float = 0.0
    above: list["_Item"] = field(default_factory=list["_Item"])
    below: list["_Item"] = field(default_factory=list["_Item"])


@dataclass(frozen=True, slots=True)
class _Route:
    """An edge, and the items on its path. An edge of a cycle may lead up."""

    edge: Edge
    items: list[_Item]
    label: _Item | None
    is_upward: bool


class _Layout:
    """Nodes in layers, each below its predecessors, ordered so that few edges cross, and near their neighbours."""

    def __init__(self, workflow: Workflow) -> None:
        if len(workflow.nodes) > MOST_NODES:
            raise _make_too_large_error(f"It has {len(workflow.nodes)} nodes; at most {MOST_NODES} can be drawn.")
        graph = Graph.from_workflow(workflow)
        order = graph.sort_acyclic_nodes()
        order += [node for node in workflow.nodes if node not in set(order)]
        self._place_in_order = {node: place for place, node in enumerate(order)}
        edges = [edge for edge in dict.fromkeys(workflow.edges) if edge.source != edge.target]
        layers = self._assign_layers(order, edges)
        self.boxes = {
            node: _Item(layers[node], _measure_box_width(workflow.nodes[node]), _BOX_HEIGHT) for node in order
        }
        if sum(abs(layers[edge.source] - layers[edge.target]) for edge in edges) > _MOST_BENDS:
            raise _make_too_large_error("Its edges are too many and too long.")
        self.routes = [self._make_route(edge) for edge in edges]
        self._layers: list[list[_Item]] = [[] for _ in range(1 + max(layers.values(), default=-1))]
        for item in [*self.boxes.values(), *(item for route in self.routes for item in route.items[1:-1])]:
            self._layers[item.layer].append(item)

    def _is_upward(self, edge: Edge) -> bool:
        return self._place_in_order[edge.source] > self._place_in_order[edge.target]

    def _assign_layers(self, order: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
        """Return the layer of each node, as high as possible. A label takes a layer, too."""
        following: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for edge in edges:
            upper, lower = (edge.target, edge.source) if self._is_upward(edge) else (edge.source, edge.target)
            following[upper].append((lower, 1 if edge.action == DEFAULT_ACTION else 2))
        layers = dict.fromkeys(order, 0)
        for upper in order:
            for lower, apart in following[upper]:
                layers[lower] = max(layers[lower], layers[upper] + apart)
        return layers

    def _make_route(self, edge: Edge) -> _Route:
        leads_up = self._is_upward(edge)
        source, target = self.boxes[edge.source], self.boxes[edge.target]
        upper, lower = (target, source) if leads_up else (source, target)
        between = [_Item(layer, 4.0, 0.0) for layer in range(upper.layer + 1, lower.layer)]
        label = None
        if edge.action != DEFAULT_ACTION:
            label = between[0]
            label.width, label.height = (
                _estimate_text_width(_cut_and_make_printable(edge.action), 11) + 8,
                _LABEL_HEIGHT,
            )
        items = [upper, *between, lower]
        for one, next_one in pairwise(items):
            one.below.append(next_one)
            next_one.above.append(one)
        return _Route(edge, items, label, leads_up)

    def place_items(self) -> tuple[list[tuple[float, float]], float, float]:
        """Set the x of each item. Return the top and bottom of each layer, and the width and height of the page."""
        for layer in self._layers:
            _place_layer_items(layer, [0.0] * len(layer))
        for _ in range(8):
            for layer in self._layers[1:]:
                layer.sort(key=lambda item: _compute_mean_x(item.above, item))
                _place_layer_items(layer, [_compute_mean_x(item.above, item) for item in layer])
            for layer in self._layers[-2::-1]:
                layer.sort(key=lambda item: _compute_mean_x(item.below, item))
                _place_layer_items(layer, [_compute_mean_x(item.below, item) for item in layer])
        for layer in self._layers * 4:
            _place_layer_items(layer, [_compute_mean_x(item.above + item.below, item) for item in layer])
        for layer in self._layers:
            _place_layer_items(layer, [_compute_aligned_x(item) for item in layer])
        everything = [item for layer in self._layers for item in layer]
        left = min((item.x - item.width / 2 for item in everything), default=0.0) - _MARGIN
        for item in everything:
            item.x -= left
        y, tops = _MARGIN, list[tuple[float, float]]()
        for layer in self._layers:
            height = max(item.height for item in layer)
            tops.append((y, y + height))
            y += height + _LAYER_GAP
        right = max((item.x + item.width / 2 for item in everything), default=0.0)
        return tops, right + _MARGIN, y - _LAYER_GAP + _MARGIN


def _compute_mean_x(neighbours: Sequence[_Item], item: _Item) -> float:
    return sum(one.x for one in neighbours) / len(neighbours) if neighbours else item.x


def _compute_aligned_x(item: _Item) -> float:
    """Return the x of an item that is the only successor of its only predecessor: that of the predecessor."""
    return item.above[0].x if len(item.above) == 1 and len(item.above[0].below) == 1 else item.x


def _place_layer_items(layer: Sequence[_Item], wanted_xs: Sequence[float]) -> None:
    """Place items as near as possible to their wanted x, in this order and without overlap (isotonic regression)."""
    offsets = [0.0]
    for one, next_one in pairwise(layer):
        offsets.append(offsets[-1] + (one.width + next_one.width) / 2 + _GAP)
    blocks: list[tuple[float, int]] = []
    for want, offset in zip(wanted_xs, offsets, strict=True):
        total, count = want - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            before = blocks.pop()
            total, count = total + before[0], count + before[1]
        blocks.append((total, count))
    free = [total / count for total, count in blocks for _ in range(count)]
    for item, x, offset in zip(layer, free, offsets, strict=True):
        item.x = x + offset


def _render_route_svg(route: _Route, layer_spans: Sequence[tuple[float, float]]) -> Iterator[str]:
    kind = " error" if route.edge.action == ERROR_ACTION else ""
    first, *between, last = route.items
    tip = _HEAD - 1 if not route.is_upward else 0.0
    x, y = first.x, layer_spans[first.layer][1] + (0.0 if not route.is_upward else _HEAD - 1)
    path = [f"M{x:.1f} {y:.1f}"]
    for item in [*between, last]:
        top, bottom = layer_spans[item.layer]
        top -= tip if item is last else 0.0
        path.append(f"C{x:.1f} {(y + top) / 2:.1f} {item.x:.1f} {(y + top) / 2:.1f} {item.x:.1f} {top:.1f}")
        x, y = item.x, top
        if item is not last and bottom > top:
            path.append(f"V{bottom:.1f}")
            y = bottom
    yield f'<path class="edge{kind}" d="{"".join(path)}"/>'
    x, y, back = (
        (first.x, layer_spans[first.layer][1], _HEAD)
        if route.is_upward
        else (last.x, layer_spans[last.layer][0], -_HEAD)
    )
    yield f'<path class="head{kind}" d="M{x:.1f} {y:.1f}l-4.5 {back}h9z"/>'
    if label := route.label:
        top, bottom = layer_spans[label.layer]
        box = f'x="{label.x - label.width / 2:.1f}" y="{(top + bottom - _LABEL_HEIGHT) / 2:.1f}"'
        yield f'<rect class="page" {box} width="{label.width:.1f}" height="{_LABEL_HEIGHT}" rx="9"/>'
        yield _render_text_svg(
            f"action{kind}", label.x, (top + bottom) / 2 + 4, _cut_and_make_printable(route.edge.action)
        )


def _render_node_svg(
    node: Node, box: _Item, layer_spans: Sequence[tuple[float, float]], *, is_start: bool
) -> Iterator[str]:
    top, bottom = layer_spans[box.layer]
    y = (top + bottom - _BOX_HEIGHT) / 2
    about = f"{node.id} ({node.type})" + (f": {node.purpose}" if node.purpose else "")
    yield f"<g><title>{escape(_cut_and_make_printable(about, 500))}</title>"
    for away in (4.0, 0.0) if node.batch else (0.0,):
        kind = "box start" if is_start else "box"
        position = f'x="{box.x - box.width / 2 + away:.1f}" y="{y + away:.1f}"'
        yield f'<rect class="{kind}" {position} width="{box.width:.1f}" height="{_BOX_HEIGHT}" rx="10"/>'
    yield _render_text_svg("id", box.x, y + 20, _cut_and_make_printable(node.id))
    yield _render_text_svg("type", box.x, y + 36, _format_type_label(node)) + "</g>"


def _render_text_svg(css_class: str, x: float, y: float, text: str) -> str:
    return f'<text class="{css_class}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _format_type_label(node: Node) -> str:
    return f"{_cut_and_make_printable(node.type)} · {_EACH}" if node.batch else _cut_and_make_printable(node.type)


def _measure_box_width(node: Node) -> float:
    return max(
        96.0,
        28
        + max(
            _estimate_text_width(_cut_and_make_printable(node.id), 13),
            _estimate_text_width(_format_type_label(node), 11),
        ),
    )


def _estimate_text_width(text: str, size: float) -> float:
    """Return the estimated width of a text, rather too large than too small."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return size * (0.58 * len(text) + 0.45 * wide)


def _cut_and_make_printable(text: str, longest: int = _LONGEST_LABEL) -> str:
    """Return a label, cut, without control characters and the characters U+FFFE and U+FFFF, which XML forbids."""
    text = make_printable(text[: longest + 1], keep="").replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _make_too_large_error(why: str) -> TooLargeToDraw:
    return TooLargeToDraw(
        f"The workflow is too large for a picture. {why}", hint="Print Mermaid instead: leave out --output."
    )
