"""The bodies of each topology, on average and at most."""

from collections import Counter
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain.generate.grammar import TOPOLOGIES, GrammarNode, Topology, expand_grammar, make_grammar
from universe.domain.generate.random_numbers import Prng

MOST = 32

SYSTEMS = 600


def nothing_spent(_: int) -> None:
    return None


def systems(topology: Topology, *, planet_p: float = 0.44, moon_p: float = 0.38, levels: int = 3) -> list[GrammarNode]:
    grammar = make_grammar(topology, star_count_weights=(0.65, 0.25, 0.10), planet_p=planet_p, moon_p=moon_p)
    return [expand_grammar(grammar, Prng(seed), levels=levels, reserve_bodies=nothing_spent) for seed in range(SYSTEMS)]


def stars(made: list[GrammarNode]) -> Counter[int]:
    return Counter(len(system.find_children("star")) for system in made)


def planets(made: list[GrammarNode]) -> list[GrammarNode]:
    return [planet for system in made for planet in system.find_children("planet")]


def moons(made: list[GrammarNode]) -> list[GrammarNode]:
    return [moon for planet in planets(made) for moon in planet.find_children("moon")]


def shares(counts: Counter[int]) -> dict[int, float]:
    return {value: count / counts.total() for value, count in sorted(counts.items())}


def test_classic_follows_the_chances_it_is_given() -> None:
    made = systems("classic")
    assert shares(stars(made)) == {
        1: pytest.approx(0.65, abs=0.06),
        2: pytest.approx(0.25, abs=0.06),
        3: pytest.approx(0.10, abs=0.04),
    }
    assert len(planets(made)) / SYSTEMS == pytest.approx(0.56 / 0.44, abs=0.2)
    assert len(moons(made)) / len(planets(made)) == pytest.approx(0.62 / 0.38, abs=0.25)


def test_compact_has_one_or_two_planets_with_many_moons() -> None:
    made = systems("compact")
    assert set(stars(made)) == {1}
    assert shares(Counter(len(system.find_children("planet")) for system in made)) == {
        1: pytest.approx(0.5, abs=0.07),
        2: pytest.approx(0.5, abs=0.07),
    }
    counts = Counter(len(planet.find_children("moon")) for planet in planets(made))
    assert (min(counts), max(counts)) == (5, 18)


def test_multi_star_heavy_is_mostly_two_and_three_stars() -> None:
    made = systems("multiStarHeavy")
    assert shares(stars(made)) == {
        1: pytest.approx(0.05, abs=0.03),
        2: pytest.approx(0.55, abs=0.07),
        3: pytest.approx(0.40, abs=0.07),
    }
    assert set(Counter(len(system.find_children("planet")) for system in made)) == {1, 2, 3, 4}
    counts = shares(Counter(len(planet.find_children("moon")) for planet in planets(made)))
    assert set(counts) == {0, 1, 2, 3}
    assert counts[0] == pytest.approx(0.3, abs=0.05)


def test_moon_rich_has_up_to_25_moons_for_each_of_its_planets() -> None:
    made = systems("moonRich")
    assert set(stars(made)) == {1}
    assert set(Counter(len(system.find_children("planet")) for system in made)) == {3, 4, 5, 6}
    counts = [len(planet.find_children("moon")) for planet in planets(made)]
    assert (min(counts), max(counts)) == (4, 25)
    assert 12 < fmean(counts) < 16


def test_sparse_outpost_has_few_planets_and_fewer_moons() -> None:
    made = systems("sparseOutpost")
    assert shares(Counter(len(system.find_children("planet")) for system in made)) == {
        0: pytest.approx(0.15, abs=0.05),
        1: pytest.approx(0.60, abs=0.07),
        2: pytest.approx(0.25, abs=0.06),
    }
    assert shares(Counter(len(planet.find_children("moon")) for planet in planets(made))) == {
        0: pytest.approx(0.75, abs=0.06),
        1: pytest.approx(0.25 * 0.85, abs=0.06),
        2: pytest.approx(0.25 * 0.15, abs=0.03),
    }


def test_deep_hierarchy_gives_half_of_the_moons_moons_of_their_own() -> None:
    made = systems("deepHierarchy")
    assert set(Counter(len(system.find_children("planet")) for system in made)) == {2, 3, 4, 5}
    assert set(Counter(len(planet.find_children("moon")) for planet in planets(made))) == {2, 3, 4, 5, 6}
    counts = shares(Counter(len(moon.find_children("submoon")) for moon in moons(made)))
    assert set(counts) == {0, 1, 2, 3, 4}
    assert counts[0] == pytest.approx(0.5, abs=0.03)


def test_levels_that_are_not_wanted_are_cut_off_and_change_nothing_above() -> None:
    def shape(made: list[GrammarNode]) -> list[list[int]]:
        return [[len(planet.find_children("moon")) for planet in system.find_children("planet")] for system in made]

    deep, shallow, flat = (systems("deepHierarchy", levels=levels) for levels in (3, 2, 1))
    assert shape(deep) == shape(shallow)
    assert not any(moon.find_children("submoon") for moon in moons(shallow))
    assert [len(system.find_children("planet")) for system in flat] == [
        len(system.find_children("planet")) for system in deep
    ]
    assert moons(flat) == []


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_every_body_is_announced_before_it_is_made(topology: Topology) -> None:
    spent: list[int] = []
    grammar = make_grammar(topology, star_count_weights=(0.65, 0.25, 0.10), planet_p=0.3, moon_p=0.3)
    system = expand_grammar(grammar, Prng("counted"), levels=3, reserve_bodies=spent.append)
    below = moons([system])
    submoons = [submoon for moon in below for submoon in moon.find_children("submoon")]
    assert sum(spent) == len(system.find_children("star")) + len(planets([system])) + len(below) + len(submoons) > 0


@given(st.sampled_from(TOPOLOGIES), st.integers(), st.floats(0, 1), st.floats(0, 1))
def test_no_count_exceeds_its_bound_for_any_probability(topology: Topology, seed: int, p: float, q: float) -> None:
    grammar = make_grammar(topology, star_count_weights=(0.2, 0.3, 0.5), planet_p=p, moon_p=q)
    system = expand_grammar(grammar, Prng(seed), levels=3, reserve_bodies=nothing_spent)
    assert 1 <= len(system.find_children("star")) <= 3
    assert len(planets([system])) <= MOST
    assert all(len(planet.find_children("moon")) <= MOST for planet in planets([system]))


def test_refusing_a_body_ends_the_expansion() -> None:
    def refuse(_: int) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        expand_grammar(
            make_grammar("compact", star_count_weights=(1.0,), planet_p=0.5, moon_p=0.5),
            Prng(1),
            levels=3,
            reserve_bodies=refuse,
        )
