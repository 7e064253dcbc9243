"""The schedule: which nodes run, which are skipped, and in which order."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pflow.domain.ir.graph import NodeSchedule
from pflow.domain.ir.model import Edge, Node, Workflow

ACTIONS = ["default", "error", "left", "right"]


def build_workflow(edges: list[tuple[str, ...]], start: str = "") -> Workflow:
    names = dict.fromkeys([start or edges[0][0], *(end for edge in edges for end in edge[:2])])
    nodes = {name: Node(name, "echo", {}) for name in names}
    return Workflow(nodes, tuple(Edge(*edge) for edge in edges), next(iter(nodes)), {}, {})


@dataclass(frozen=True)
class Case:
    """A workflow without circles in which all nodes are reached, what each answers, and in which order they end."""

    workflow: Workflow
    answers: dict[str, str]
    turns: list[int]


@st.composite
def draw_cases(draw: st.DrawFn) -> Case:
    size = draw(st.integers(1, 12))
    names = [f"n{number}" for number in range(size)]
    edges: dict[Edge, None] = {}
    for place in range(1, size):
        befores = draw(st.lists(st.integers(0, place - 1), min_size=1, max_size=3))
        for before in befores:
            edges[Edge(names[before], names[place], draw(st.sampled_from(ACTIONS)))] = None
    listed = draw(st.permutations(list(edges)))
    nodes = {name: Node(name, "echo", {}) for name in names}
    answers = {name: draw(st.sampled_from(ACTIONS)) for name in names}
    turns = draw(st.lists(st.integers(0, 100), min_size=size, max_size=size))
    return Case(Workflow(nodes, tuple(listed), names[0], {}, {}), answers, turns)


def play_schedule(case: Case, turns: list[int]) -> tuple[list[str], list[str]]:
    """Return the nodes that ran and those that were skipped, when ready nodes end in the order of `turns`."""
    schedule = NodeSchedule(case.workflow)
    ready = [schedule.start_node]
    ran: list[str] = []
    for turn in turns:
        if not ready:
            break
        node = ready.pop(turn % len(ready))
        assert node not in ran
        settled = {*ran, *schedule.skipped}
        assert all(edge.source in settled for edge in case.workflow.edges if edge.target == node)
        ran.append(node)
        ready += schedule.end_node_and_list_ready(node, case.answers[node])
        assert len(ready) == len(set(ready))
    assert ready == []
    return ran, schedule.skipped


def compute_expected_nodes(case: Case) -> set[str]:
    """Return the nodes that run by definition: the start, and each node with a taken edge to it."""
    running = {case.workflow.start}
    for name in case.workflow.nodes:  # each is listed after those it follows
        for edge in case.workflow.edges:
            if edge.target == name and edge.source in running and case.answers[edge.source] == edge.action:
                running.add(name)
    return running


@settings(max_examples=300)
@given(draw_cases())
def test_every_node_runs_once_after_all_its_edges_are_settled_or_is_skipped_and_never_both(case: Case) -> None:
    ran, skipped = play_schedule(case, case.turns)
    assert len(ran) == len(set(ran))
    assert len(skipped) == len(set(skipped))
    assert set(ran) & set(skipped) == set()
    assert set(ran) | set(skipped) == set(case.workflow.nodes)
    assert set(ran) == compute_expected_nodes(case)


@settings(max_examples=200)
@given(draw_cases(), st.data())
def test_the_order_in_which_nodes_end_does_not_matter(case: Case, data: st.DataObject) -> None:
    size = len(case.workflow.nodes)
    other = data.draw(st.lists(st.integers(0, 100), min_size=size, max_size=size))
    ran, skipped = play_schedule(case, case.turns)
    ran_too, skipped_too = play_schedule(case, other)
    assert (set(ran), set(skipped)) == (set(ran_too), set(skipped_too))


def test_a_single_node_begins_and_that_is_all() -> None:
    schedule = NodeSchedule(build_workflow([], "only"))
    assert schedule.start_node == "only"
    assert schedule.end_node_and_list_ready("only", "default") == []
    assert schedule.skipped == []


def test_several_edges_of_one_action_are_branches_that_begin_together() -> None:
    schedule = NodeSchedule(build_workflow([("a", "b"), ("a", "c"), ("a", "d")]))
    assert schedule.end_node_and_list_ready("a", "default") == ["b", "c", "d"]


def test_a_node_waits_for_all_branches_that_lead_to_it() -> None:
    schedule = NodeSchedule(build_workflow([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]))
    schedule.end_node_and_list_ready("a", "default")
    assert schedule.end_node_and_list_ready("c", "default") == []
    assert schedule.end_node_and_list_ready("b", "default") == ["d"]


def test_the_branch_that_is_not_taken_is_skipped_with_all_nodes_only_it_leads_to() -> None:
    schedule = NodeSchedule(
        build_workflow([("a", "b", "left"), ("a", "c", "right"), ("c", "d"), ("d", "e"), ("b", "f"), ("e", "f")])
    )
    assert schedule.end_node_and_list_ready("a", "left") == ["b"]
    assert schedule.skipped == ["c", "d", "e"]
    assert schedule.end_node_and_list_ready("b", "default") == ["f"]


def test_a_node_runs_if_one_of_its_edges_was_taken() -> None:
    schedule = NodeSchedule(build_workflow([("a", "b"), ("a", "c"), ("b", "d", "error"), ("c", "d")]))
    schedule.end_node_and_list_ready("a", "default")
    assert schedule.end_node_and_list_ready("b", "default") == []
    assert schedule.end_node_and_list_ready("c", "default") == ["d"]


def test_an_action_without_an_edge_ends_the_branch() -> None:
    schedule = NodeSchedule(build_workflow([("a", "b"), ("b", "c")]))
    assert schedule.end_node_and_list_ready("a", "unheard-of") == []
    assert schedule.skipped == ["b", "c"]


def test_two_edges_for_different_actions_between_the_same_nodes_count_as_one() -> None:
    schedule = NodeSchedule(build_workflow([("a", "b"), ("a", "b", "error")]))
    assert schedule.end_node_and_list_ready("a", "error") == ["b"]
    assert schedule.skipped == []


def test_the_edges_that_leave_a_node_are_known_by_their_actions() -> None:
    schedule = NodeSchedule(build_workflow([("a", "b"), ("a", "c", "error")]))
    assert (schedule.has_edge("a", "error"), schedule.has_edge("b", "error")) == (True, False)
    assert list(schedule.iter_edge_actions("a")) == ["default", "error"]


@pytest.mark.parametrize("shape", ["row", "fan", "skipped row"])
def test_ten_thousand_nodes_are_scheduled(shape: str) -> None:
    names = [f"n{number}" for number in range(10_000)]
    edges: list[Any] = list(pairwise(names))
    if shape == "fan":
        edges = [*(("start", name) for name in names), *((name, "end") for name in names)]
    schedule = NodeSchedule(build_workflow(edges))
    ready = [schedule.start_node]
    ran = 0
    while ready:
        ran += 1
        ready += schedule.end_node_and_list_ready(ready.pop(), "other" if shape == "skipped row" else "default")
    assert (ran, len(schedule.skipped)) == {"row": (10_000, 0), "fan": (10_002, 0), "skipped row": (1, 9_999)}[shape]
