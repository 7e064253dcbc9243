"""The bodies of every system of a universe, chosen and counted before the first of them is made."""

from collections.abc import Sequence
from typing import Final

from universe.generate.comets import comet_count_range
from universe.generate.config import MOST_BODIES, GenerationConfig
from universe.generate.grammar import Node, expand_grammar, make_grammar
from universe.generate.lagrange import choose_lagrange_points, trojan_count_range
from universe.generate.random_numbers import Prng
from universe.generate.rogues import rogue_count_range
from uraniborg.kernel.errors import InvalidInput

_STARS: Final = {1: (1.0, 0.0, 0.0), 2: (0.6, 0.4, 0.0), 3: (0.65, 0.25, 0.10)}


def draw_topologies(config: GenerationConfig, streams: Sequence[Prng]) -> list[Node]:
    """Return one topology for each stream. Raise InvalidInput if there could be more than MOST_BODIES bodies."""
    grammar = make_grammar(
        config.topology_preset,
        stars=_STARS[config.max_stars_per_system if config.enable_nary_systems else 1],
        planet_p=0.8 - 0.6 * config.planet_density,
        moon_p=0.8 - 0.6 * config.moon_density,
    )
    budget = _Budget()
    budget.spend(rogue_count_range(config)[1])
    made: list[Node] = []
    for stream in streams:
        made.append(expand_grammar(grammar, stream.fork("lsystem"), levels=config.max_depth, spend=budget.spend))
        budget.spend(_count_possible_extras(config, made[-1]))
    return made


class _Budget:
    def __init__(self) -> None:
        self._left = MOST_BODIES

    def spend(self, bodies: int) -> None:
        self._left -= bodies
        if self._left < 0:
            raise InvalidInput(
                f"This universe could have more than {MOST_BODIES:,} bodies.",
                hint="Ask for fewer systems (maxSystems), or for fewer Lagrange points and Trojans.",
                argument="maxSystems",
                allowed=f"at most {MOST_BODIES:,} bodies",
            )


def _count_possible_extras(config: GenerationConfig, topology: Node) -> int:
    """Return how many comets, Lagrange points and Trojans can join the bodies of a topology."""
    planets = topology.find_children("planet")
    points, scope = choose_lagrange_points(config), config.lagrange_pair_scope
    pairs = len(planets) if scope != "planetMoon" else 0
    if points and scope != "starPlanet":
        pairs += sum(len(planet.find_children("moon")) for planet in planets)
    each = len(points) + 2 * trojan_count_range(config)[1] if points else 0
    return pairs * each + (comet_count_range(config)[1] if planets else 0)
