"""A stochastic grammar for the bodies of a system, with six sets of rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from universe.domain.generate.random_numbers import Prng

Topology = Literal["classic", "compact", "multiStarHeavy", "moonRich", "sparseOutpost", "deepHierarchy"]
TOPOLOGIES: Final[tuple[Topology, ...]] = get_args(Topology)

Symbol = Literal["system", "stars", "star", "planets", "planet", "moons", "moon", "submoons", "submoon"]
_BODIES: Final = ("star", "planet", "moon", "submoon")
MOST: Final = 32
"""The largest count that a distribution may return."""

CountSampler = Callable[[Prng], int]


def make_fixed_count_sampler(count: int) -> CountSampler:
    return lambda _: count


def make_uniform_count_sampler(low: int, high: int) -> CountSampler:
    return lambda rng: rng.integer(low, high)


def make_geometric_count_sampler(p: float, low: int = 0, high: int = MOST) -> CountSampler:
    return lambda rng: min(max(rng.geometric(p), low), high)


@dataclass(frozen=True, slots=True)
class Alternative:
    """One expansion of a symbol: the symbols that follow, with their counts."""

    parts: Sequence[tuple[Symbol, CountSampler]]
    weight: float = 1.0


Rules = Mapping[Symbol, Sequence[Alternative]]


@dataclass(frozen=True, slots=True)
class Grammar:
    rules: Rules
    depth: int
    """The depth of the last symbol that is still expanded."""


@dataclass(slots=True)
class GrammarNode:
    symbol: Symbol
    children: list["GrammarNode"] = field(default_factory=list["GrammarNode"])

    def find_children(self, symbol: Symbol) -> list["GrammarNode"]:
        """Return the children with this symbol, including those below its plural."""
        plural = f"{symbol}s"
        gathered = [child for node in self.children if node.symbol == plural for child in node.children]
        return [child for child in (*self.children, *gathered) if child.symbol == symbol]


def expand_grammar(grammar: Grammar, rng: Prng, *, levels: int, reserve_bodies: Callable[[int], None]) -> GrammarNode:
    """Return a system, expanded symbol by symbol, with at most `levels` levels of bodies below the stars.

    `reserve_bodies` is called with the number of bodies before they are made, and may raise.
    """
    root = GrammarNode("system")
    waiting = [(root, 0)]
    while waiting:
        node, level = waiting.pop()
        alternatives = grammar.rules.get(node.symbol)
        if alternatives is None or level > grammar.depth:
            continue
        children_made: list[GrammarNode] = []
        # Levels beyond the limit are drawn too, so that the limit does not change the rest of the system.
        is_in_depth = level < 2 * levels
        for symbol, count in _draw_alternative(alternatives, rng).parts:
            times = count(rng)
            if is_in_depth and symbol in _BODIES:
                reserve_bodies(times)
            children_made.extend(GrammarNode(symbol) for _ in range(times))
        if is_in_depth:
            node.children = children_made
        waiting.extend((child, level + 1) for child in reversed(children_made))
    return root


def _draw_alternative(alternatives: Sequence[Alternative], rng: Prng) -> Alternative:
    if len(alternatives) == 1:
        return alternatives[0]
    return alternatives[rng.draw_weighted_index([alternative.weight for alternative in alternatives])]


def make_grammar(topology: Topology, *, star_count_weights: Sequence[float], planet_p: float, moon_p: float) -> Grammar:
    """Return the rules of a topology.

    `star_count_weights` (weights of one, two and three stars) and both probabilities are for `classic`.
    """
    one = (1.0, 0.0, 0.0)
    match topology:
        case "classic":
            return _make_grammar_from_rules(
                star_count_weights,
                make_geometric_count_sampler(planet_p),
                _make_moon_rules(make_geometric_count_sampler(moon_p)),
            )
        case "compact":
            return _make_grammar_from_rules(
                one, make_uniform_count_sampler(1, 2), _make_moon_rules(make_geometric_count_sampler(0.08, 5, 18))
            )
        case "multiStarHeavy":
            some = Alternative([("moons", make_fixed_count_sampler(1))], 0.7), Alternative([], 0.3)
            return _make_grammar_from_rules(
                (0.05, 0.55, 0.40),
                make_uniform_count_sampler(1, 4),
                {"planet": some, **_make_plural_rules("moons", "moon", make_uniform_count_sampler(1, 3))},
            )
        case "moonRich":
            return _make_grammar_from_rules(
                one, make_uniform_count_sampler(3, 6), _make_moon_rules(make_geometric_count_sampler(0.05, 4, 25))
            )
        case "sparseOutpost":
            seldom = Alternative([], 0.75), Alternative([("moons", make_fixed_count_sampler(1))], 0.25)
            moons = (
                Alternative([("moon", make_fixed_count_sampler(1))], 0.85),
                Alternative([("moon", make_fixed_count_sampler(2))], 0.15),
            )
            return _make_grammar_from_rules(
                one, _make_weighted_count_sampler(0.15, 0.60, 0.25), {"planet": seldom, "moons": moons}, depth=3
            )
        case "deepHierarchy":
            half = Alternative([], 0.5), Alternative([("submoons", make_fixed_count_sampler(1))], 0.5)
            nested: Rules = {
                **_make_moon_rules(make_uniform_count_sampler(2, 6)),
                "moon": half,
                **_make_plural_rules("submoons", "submoon", make_uniform_count_sampler(1, 4)),
            }
            return _make_grammar_from_rules(one, make_uniform_count_sampler(2, 5), nested, depth=6)


def _make_grammar_from_rules(
    star_count_weights: Sequence[float], planets: CountSampler, lower_rules: Rules, *, depth: int = 4
) -> Grammar:
    system = Alternative([("stars", make_fixed_count_sampler(1)), ("planets", make_fixed_count_sampler(1))])
    several = [
        Alternative([("star", make_fixed_count_sampler(n))], weight)
        for n, weight in enumerate(star_count_weights, start=1)
    ]
    return Grammar(
        {"system": [system], "stars": several, **_make_plural_rules("planets", "planet", planets), **lower_rules}, depth
    )


def _make_moon_rules(count: CountSampler) -> Rules:
    return {
        "planet": [Alternative([("moons", make_fixed_count_sampler(1))])],
        **_make_plural_rules("moons", "moon", count),
    }


def _make_plural_rules(plural: Symbol, symbol: Symbol, count: CountSampler) -> Rules:
    return {plural: [Alternative([(symbol, count)])]}


def _make_weighted_count_sampler(*weights: float) -> CountSampler:
    return lambda rng: rng.draw_weighted_index(weights)
