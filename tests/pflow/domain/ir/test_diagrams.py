"""Drawings show every node and edge, and are valid for any names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given
from hypothesis import strategies as st

from pflow.domain.ir.diagrams import TooLargeToDraw, draw_mermaid, draw_svg
from pflow.domain.ir.model import BatchSettings, Edge, Node, Workflow

MOST_NODES = 500

Pairs = list[tuple[str, ...]]

HOSTILE = {
    '"]; click a "javascript:x"': '"]; click a "javascript:x"',
    "</text><script>x</script>": "</text><script>x</script>",
    "a&b": "a&b",
    "end": "end",
    "`md`": "`md`",
    "#quot;": "#quot;",
    "%%{init: {}}%%": "%%{init: {}}%%",
    "a\nb --> c": r"a\nb --> c",
    "\x00\x1b[31m\u202e\ud800": r"\x00\x1b[31m\u202e\ud800",
    "\ufffe\uffff": "\ufffd\ufffd",
    "-->|x|": "-->|x|",
    "日本語🎉": "日本語🎉",
    "x" * 100: "x" * 31 + "…",
}
"""Names, and how they are shown."""
MEANINGFUL = ["end", "End", "subgraph", "style", "classDef", "click", "default", "graph", "constructor", "toString"]
NODE_LINE = re.compile(r'    (\w+)(\["([^"]*)"\]|\[\["([^"]*)<br/>for each item"\]\])', re.ASCII)
EDGE_LINE = re.compile(r'    (\w+) (-->|-\.->)(?:\|"([^"]*)"\|)? (\w+)', re.ASCII)
LABEL = re.compile(r"(?:[\w .-]|#\d+;)*")


def build_workflow(
    nodes: list[str] | dict[str, str], edges: Sequence[tuple[str, ...]] = (), batch: tuple[str, ...] = ()
) -> Workflow:
    types = nodes if isinstance(nodes, dict) else dict.fromkeys(nodes, "echo")
    made = {
        name: Node(
            name, kind, {}, purpose=f"what {name} is for", batch=BatchSettings("${xs}") if name in batch else None
        )
        for name, kind in types.items()
    }
    return Workflow(made, tuple(Edge(*edge) for edge in edges), next(iter(types), ""), {}, {})


SMALL = build_workflow(
    {"fetch-all": "http", "save": "write-file", "tell": "shell"},
    [("fetch-all", "save"), ("fetch-all", "tell", "error"), ("save", "tell", "unchanged")],
    batch=("save",),
)


ANY_TEXT = st.text(st.characters(), max_size=50)


@st.composite
def draw_workflows(draw: st.DrawFn, names: st.SearchStrategy[str] = ANY_TEXT) -> Workflow:
    ids = draw(st.lists(names, min_size=1, max_size=12, unique=True))
    places = st.integers(0, len(ids) - 1)
    action = st.one_of(st.just("default"), st.just("error"), ANY_TEXT)
    ends = draw(st.lists(st.tuples(places, places, action), max_size=20))
    edges: Pairs = [(ids[min(a, b)], ids[max(a, b)], act) for a, b, act in ends if a != b]
    types = {name: draw(ANY_TEXT) for name in ids}
    return build_workflow(
        types, list(dict.fromkeys(edges)), batch=tuple(draw(st.lists(st.sampled_from(ids), max_size=2)))
    )


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def parse_svg(workflow: Workflow) -> Element:
    text = draw_svg(workflow)
    assert text.encode().decode() == text
    return fromstring(text)


def get_tag_name(element: Element) -> str:
    return element.tag.removeprefix("{http://www.w3.org/2000/svg}")


def find_marks(picture: Element, kind: str) -> list[Element]:
    return [element for element in picture.iter() if kind in element.get("class", "").split()]


def parse_box(rect: Element) -> Box:
    x, y, width, height = (float(rect.get(name, "")) for name in ("x", "y", "width", "height"))
    return Box(x, y, x + width, y + height)


def find_boxes(picture: Element, workflow: Workflow) -> dict[str, Box]:
    """Return the box of each node; of a batch, the one in front."""
    groups = [element for element in picture if get_tag_name(element) == "g"]
    return {
        name: parse_box([one for one in group if get_tag_name(one) == "rect"][-1])
        for name, group in zip(workflow.nodes, groups, strict=True)
    }


def test_mermaid_shows_ids_types_batches_actions_and_errors() -> None:
    assert draw_mermaid(SMALL).splitlines() == [
        "flowchart TD",
        '    fetch_all["fetch-all<br/>http"]',
        '    save[["save<br/>write-file<br/>for each item"]]',
        '    tell["tell<br/>shell"]',
        "    fetch_all --> save",
        '    fetch_all -.->|"error"| tell',
        '    save -->|"unchanged"| tell',
    ]


def parse_mermaid(workflow: Workflow) -> dict[str, str]:
    """Return the Mermaid name of each node, and check that every line is a node or an edge."""
    first, *lines = draw_mermaid(workflow).split("\n")[:-1]
    assert first == "flowchart TD"
    assert len(lines) == len(workflow.nodes) + len(workflow.edges)
    names: dict[str, str] = {}
    for node, line in zip(workflow.nodes.values(), lines, strict=False):
        found = NODE_LINE.fullmatch(line)
        assert found
        assert bool(node.batch) == (found[4] is not None)
        for part in (found[4] or found[3]).split("<br/>"):
            assert LABEL.fullmatch(part)
        names[node.id] = found[1]
    assert len(set(names.values())) == len(names)
    for edge, line in zip(workflow.edges, lines[len(workflow.nodes) :], strict=True):
        found = EDGE_LINE.fullmatch(line)
        assert found
        assert (found[1], found[4]) == (names[edge.source], names[edge.target])
        assert found[2] == ("-.->" if edge.action == "error" else "-->")
        assert LABEL.fullmatch(found[3] or "")
    return names


@given(draw_workflows())
def test_no_name_breaks_out_of_mermaid(workflow: Workflow) -> None:
    parse_mermaid(workflow)


@pytest.mark.parametrize(("hostile", "shown"), HOSTILE.items())
def test_a_hostile_name_is_displayed_literally_by_mermaid(hostile: str, shown: str) -> None:
    workflow = build_workflow({hostile: hostile, "b": "echo"}, [(hostile, "b", hostile)])
    parse_mermaid(workflow)
    lines = draw_mermaid(workflow).split("\n")
    label, action = (re.sub(r"#(\d+);", lambda code: chr(int(code[1])), lines[at].split('"')[1]) for at in (1, 3))
    assert (label, action) == (f"{shown}<br/>{shown}", shown)


def test_keywords_of_mermaid_are_not_used_as_node_names() -> None:
    names = parse_mermaid(build_workflow([*MEANINGFUL, "ending", "Graph1", "a-b", "a.b", "a_b", "1", "é"]))
    assert {names[word].isdigit() for word in MEANINGFUL} == {True}
    assert (names["ending"], names["Graph1"], names["a-b"]) == ("ending", "Graph1", "a_b")
    assert (names["a.b"], names["a_b"], names["1"]) == ("14", "15", "16")


def test_long_names_are_cut_and_mermaid_text_has_ten_thousand_nodes() -> None:
    ids = [f"{'x' * 200}{number}" for number in range(10_000)]
    workflow = build_workflow(ids, list(pairwise(ids)))
    names = parse_mermaid(workflow)
    assert max(map(len, names.values())) <= 60
    assert max(map(len, draw_mermaid(workflow).splitlines())) < 200


def test_an_svg_shows_ids_types_batches_actions_and_errors() -> None:
    picture = parse_svg(SMALL)
    assert [text.text for text in find_marks(picture, "id")] == ["fetch-all", "save", "tell"]
    assert [text.text for text in find_marks(picture, "type")] == ["http", "write-file · for each item", "shell"]
    assert [text.text for text in find_marks(picture, "action")] == ["error", "unchanged"]
    assert [len(find_marks(picture, kind)) for kind in ("edge", "head", "error", "start")] == [3, 3, 3, 1]
    assert len(find_marks(picture, "box")) == 4
    titles = [element.text for element in picture.iter() if get_tag_name(element) == "title"]
    assert titles[1] == "fetch-all (http): what fetch-all is for"


def test_an_svg_dashes_error_edges_and_has_colours_for_light_and_dark() -> None:
    (style,) = [element.text or "" for element in parse_svg(SMALL) if get_tag_name(element) == "style"]
    light, dark = style.split("@media (prefers-color-scheme:dark)")
    assert re.search(r"\.edge\.error\{[^}]*stroke-dasharray", light)
    for kind in ("text", ".page", ".box", ".edge", ".head", ".action", ".type", ".start"):
        assert f".pflow {kind}{{" in light
        assert f".pflow {kind}{{" in dark


@given(draw_workflows())
def test_an_svg_is_well_formed_for_any_names_and_contains_only_shapes(workflow: Workflow) -> None:
    picture = parse_svg(workflow)
    assert {get_tag_name(element) for element in picture.iter()} <= {
        "svg",
        "title",
        "style",
        "rect",
        "path",
        "g",
        "text",
    }
    allowed = {"class", "role", "viewBox", "width", "height", "x", "y", "rx", "d"}
    assert {name for element in picture.iter() for name in element.keys()} <= allowed  # noqa: SIM118 - not a mapping
    assert len(find_marks(picture, "id")) == len(workflow.nodes)
    assert len(find_marks(picture, "edge")) == len(workflow.edges)


@pytest.mark.parametrize(("hostile", "shown"), HOSTILE.items())
def test_a_hostile_name_is_displayed_literally_by_the_svg(hostile: str, shown: str) -> None:
    picture = parse_svg(build_workflow({hostile: hostile, "b": "echo"}, [(hostile, "b", hostile)]))
    assert [find_marks(picture, kind)[0].text for kind in ("id", "type", "action")] == [shown, shown, shown]


@given(draw_workflows(st.text("abcdefghij", min_size=1, max_size=40)))
def test_each_node_is_below_those_it_follows_and_nothing_overlaps_or_leaves_the_page(workflow: Workflow) -> None:
    picture = parse_svg(workflow)
    placed = find_boxes(picture, workflow)
    for edge in workflow.edges:
        assert placed[edge.source].bottom < placed[edge.target].top
    labels = [parse_box(rect) for rect in find_marks(picture, "page") if rect.get("x")]
    for one, other in combinations([*placed.values(), *labels], 2):
        assert not one.meets(other)
    width, height = float(picture.get("width", "")), float(picture.get("height", ""))
    for box in placed.values():
        assert 0 < box.left < box.right < width
        assert 0 < box.top < box.bottom < height


def test_a_chain_is_drawn_as_a_straight_line_and_branches_side_by_side() -> None:
    chain = build_workflow(["a", "b", "c"], [("a", "b"), ("b", "c", "next")])
    assert len({(box.left + box.right) / 2 for box in find_boxes(parse_svg(chain), chain).values()}) == 1
    fork = build_workflow(["a", "b", "c", "d"], [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    placed = find_boxes(parse_svg(fork), fork)
    assert placed["b"].top == placed["c"].top
    assert placed["b"].right < placed["a"].right < placed["c"].right
    assert placed["a"].left == pytest.approx(placed["d"].left, abs=1)


def test_edges_that_cross_in_the_file_do_not_cross_in_the_picture() -> None:
    workflow = build_workflow(["a", "b", "c", "x", "y"], [("a", "b"), ("a", "c"), ("b", "y"), ("c", "x")])
    placed = find_boxes(parse_svg(workflow), workflow)
    assert (placed["b"].left < placed["c"].left) == (placed["y"].left < placed["x"].left)


def test_an_invalid_cycle_is_drawn_all_the_same() -> None:
    workflow = build_workflow(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "b", "again"), ("c", "c")])
    picture = parse_svg(workflow)
    assert len(find_marks(picture, "edge")) == 3
    assert [text.text for text in find_marks(picture, "action")] == ["again"]


def test_the_same_workflow_is_always_the_same_picture() -> None:
    assert draw_svg(SMALL) == draw_svg(SMALL)


def test_as_many_nodes_as_can_be_drawn_are_drawn() -> None:
    ids = [f"n{number}" for number in range(MOST_NODES)]
    for edges in (list(pairwise(ids)), [(ids[0], other) for other in ids[1:]]):
        assert len(find_marks(parse_svg(build_workflow(ids, edges)), "id")) == MOST_NODES


@pytest.mark.parametrize("count", [MOST_NODES + 1, 10_000])
def test_more_nodes_than_an_svg_can_show_are_refused_with_a_hint(count: int) -> None:
    ids = [f"n{number}" for number in range(count)]
    with pytest.raises(TooLargeToDraw, match=f"{count} nodes; at most {MOST_NODES} can be drawn") as caught:
        draw_svg(build_workflow(ids, list(pairwise(ids))))
    assert "Mermaid" in caught.value.hint


def test_edges_that_would_bend_too_often_are_refused() -> None:
    ids = [f"n{number}" for number in range(200)]
    edges: Any = [*pairwise(ids), *((ids[0], other, "error") for other in ids[1:])]
    with pytest.raises(TooLargeToDraw, match="edges"):
        draw_svg(build_workflow(ids, edges))
