"""The graph of a workflow: reachable nodes, order, cycles and ancestors."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.domain.ir.graph import Graph
from pflow.domain.ir.model import Edge, Node, Workflow

Pairs = list[tuple[str, str]]

ANY_PAIRS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=24, unique=True)
PAIRS_WITHOUT_CIRCLES = ANY_PAIRS.map(lambda pairs: [(a, b) for a, b in pairs if a < b])


def build_graph(nodes: str | list[str], pairs: Pairs, start: str = "") -> Graph:
    made = {name: Node(name, "echo", {}) for name in nodes}
    return Graph.from_workflow(Workflow(made, tuple(Edge(a, b) for a, b in pairs), start or nodes[0], {}, {}))


def find_ancestors(node: str, pairs: Pairs) -> set[str]:
    """Return all nodes with a path to this one, by a slow search."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        target = waiting.pop()
        for before, after in pairs:
            if after == target and before not in found:
                found.add(before)
                waiting.append(before)
    return found


def test_edges_are_known_by_the_node_they_leave_and_by_the_node_they_enter() -> None:
    graph = build_graph("abc", [("a", "b"), ("a", "c"), ("b", "c")])
    assert [edge.target for edge in graph.leaving["a"]] == ["b", "c"]
    assert [edge.source for edge in graph.entering["c"]] == ["a", "b"]
    assert graph.leaving["c"] == ()


def test_only_nodes_with_a_path_from_the_start_are_reached() -> None:
    graph = build_graph("abcde", [("a", "b"), ("c", "d"), ("d", "b")])
    assert graph.find_reachable() == {"a", "b"}
    assert build_graph("abcde", [("a", "b"), ("c", "d"), ("d", "b")], "c").find_reachable() == {"c", "d", "b"}


def test_a_cycle_is_listed_in_the_order_of_its_edges() -> None:
    (circle,) = build_graph("sabct", [("s", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "t")]).find_cycles()
    assert set(circle) == {"a", "b", "c"}
    pairs = {("a", "b"), ("b", "c"), ("c", "a")}
    assert set(pairwise([*circle, circle[0]])) == pairs


def test_a_node_with_an_edge_to_itself_is_a_cycle() -> None:
    assert list(build_graph("ab", [("a", "b"), ("b", "b")]).find_cycles()) == [["b"]]


def test_all_cycles_that_do_not_share_a_node_are_found() -> None:
    pairs = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "d"), ("d", "c"), ("d", "e"), ("f", "f")]
    assert sorted(sorted(circle) for circle in build_graph("abcdef", pairs).find_cycles()) == [
        ["a", "b"],
        ["c", "d"],
        ["f"],
    ]


@given(ANY_PAIRS)
def test_there_are_cycles_if_and_only_if_not_all_nodes_can_be_sorted(pairs: Pairs) -> None:
    graph = build_graph("abcdefgh", pairs)
    circles = list(graph.find_cycles())
    assert (circles == []) == (len(graph.sort_acyclic_nodes()) == 8)
    diagnostic = [node for circle in circles for node in circle]
    assert len(diagnostic) == len(set(diagnostic))
    for circle in circles:
        assert set(pairwise([*circle, circle[0]])) <= set(pairs)
    without = [(a, b) for a, b in pairs if a not in diagnostic and b not in diagnostic]
    assert list(build_graph("abcdefgh", without).find_cycles()) == []


@given(ANY_PAIRS)
def test_in_order_each_node_is_after_those_it_follows(pairs: Pairs) -> None:
    order = build_graph("abcdefgh", pairs).sort_acyclic_nodes()
    assert len(order) == len(set(order))
    for node in order:
        assert find_ancestors(node, pairs) <= set(order[: order.index(node)])


@given(PAIRS_WITHOUT_CIRCLES)
def test_ancestors_are_all_nodes_with_a_path_to_the_node(pairs: Pairs) -> None:
    graph = build_graph("abcdefgh", pairs)
    order, above = graph.sort_acyclic_nodes(), graph.compute_ancestor_masks()
    assert len(order) == 8
    for node in order:
        assert {other for place, other in enumerate(order) if above[node] >> place & 1} == find_ancestors(node, pairs)


@given(ANY_PAIRS)
def test_a_node_is_reached_if_the_start_is_among_its_ancestors(pairs: Pairs) -> None:
    reached = build_graph("abcdefgh", pairs).find_reachable()
    assert reached == {"a"} | {node for node in "abcdefgh" if "a" in find_ancestors(node, pairs)}


@pytest.mark.parametrize("closed", [True, False])
def test_a_chain_of_ten_thousand_nodes_is_handled(closed: bool) -> None:
    names = [f"n{number}" for number in range(10_000)]
    pairs = [*pairwise(names), *([(names[-1], names[0])] if closed else [])]
    graph = build_graph(names, pairs)
    assert len(graph.find_reachable()) == 10_000
    if closed:
        (circle,) = graph.find_cycles()
        assert len(circle) == 10_000
    else:
        assert graph.sort_acyclic_nodes() == names
        assert graph.compute_ancestor_masks()[names[-1]] == (1 << 9_999) - 1
