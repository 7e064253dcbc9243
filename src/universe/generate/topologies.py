"""Which bodies every system of a universe has, decided and counted before the first of them is made."""

from collections.abc import Sequence
from typing import Final

from universe.generate.comets import comets_between
from universe.generate.config import MOST_BODIES, GenerationConfig
from universe.generate.grammar import Node, expand, grammar_of
from universe.generate.lagrange import points_of, trojans_between
from universe.generate.prng import Prng
from universe.generate.rogues import rogues_between
from uraniborg.kernel.errors import InvalidInput

_STARS: Final = {1: (1.0, 0.0, 0.0), 2: (0.6, 0.4, 0.0), 3: (0.65, 0.25, 0.10)}


def topologies_of(config: GenerationConfig, streams: Sequence[Prng]) -> list[Node]:
    """One for each stream. Raises InvalidInput where there could be more than MOST_BODIES bodies."""
    grammar = grammar_of(
        config.topology_preset,
        stars=_STARS[config.max_stars_per_system if config.enable_nary_systems else 1],
        planet_p=0.8 - 0.6 * config.planet_density,
        moon_p=0.8 - 0.6 * config.moon_density,
    )
    budget = _Budget()
    budget.spend(rogues_between(config)[1])
    made: list[Node] = []
    for stream in streams:
        made.append(expand(grammar, stream.fork("lsystem"), levels=config.max_depth, spend=budget.spend))
        budget.spend(_most_around(config, made[-1]))
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


def _most_around(config: GenerationConfig, topology: Node) -> int:
    """How many comets, Lagrange points and Trojans can join the bodies of a topology."""
    planets = topology.of("planet")
    points, scope = points_of(config), config.lagrange_pair_scope
    pairs = len(planets) if scope != "planetMoon" else 0
    if points and scope != "starPlanet":
        pairs += sum(len(planet.of("moon")) for planet in planets)
    each = len(points) + 2 * trojans_between(config)[1] if points else 0
    return pairs * each + (comets_between(config)[1] if planets else 0)
