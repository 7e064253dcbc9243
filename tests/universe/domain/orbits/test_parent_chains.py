"""Sums along parents equal those of a simple walk, at any depth and in cycles."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from universe.domain.orbits.parent_chains import NO_PARENT, ParentChains, find_parent_indices


def walked(parents: list[int], local: list[int], start: int) -> int:
    visited: set[int] = set()
    at = start
    while at != NO_PARENT and at not in visited:
        visited.add(at)
        at = parents[at]
    return sum(local[place] for place in visited)


@given(
    st.integers(1, 40).flatmap(
        lambda n: st.lists(st.tuples(st.integers(NO_PARENT, n - 1), st.integers(-99, 99)), min_size=n, max_size=n)
    )
)
def test_a_sum_equals_that_of_a_walk_for_any_parents(bodies: list[tuple[int, int]]) -> None:
    parents, local = [parent for parent, _ in bodies], [value for _, value in bodies]
    rows = np.array(local, dtype=np.float64)[:, None]
    summed = ParentChains(np.array(parents, dtype=np.intp)).sum_along_parents(rows)
    assert summed[:, 0].tolist() == [walked(parents, local, start) for start in range(len(parents))]
    assert rows[:, 0].tolist() == local


def test_a_ring_of_a_hundred_thousand_and_a_chain_hanging_from_it_are_summed() -> None:
    size = 100_000
    ring = [(place + 1) % size for place in range(size)]
    hanging = [0, *range(size, 2 * size - 1)]
    summed = ParentChains(np.array([*ring, *hanging], dtype=np.intp)).sum_along_parents(np.ones((2 * size, 1)))[:, 0]
    assert (summed[:size] == size).all()
    assert summed[-1] == 2 * size


def test_parents_that_are_absent_null_unknown_or_no_text_are_none() -> None:
    stars = {
        "a": {},
        "b": {"parentId": None},
        "c": {"parentId": "gone"},
        "d": {"parentId": 7},
        "e": {"parentId": ["a"]},
        "f": {"parentId": "a"},
        "": {"parentId": ""},
    }
    assert find_parent_indices(stars).tolist() == [NO_PARENT] * 5 + [0, 6]
    assert ParentChains(find_parent_indices({})).sum_along_parents(np.zeros((0, 3))).shape == (0, 3)
