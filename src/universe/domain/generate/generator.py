"""Generate a universe from a seed. The same seed gives the same bytes."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from universe.domain.generate.belts_comets_and_disks import (
    add_belts,
    add_comets,
    add_kuiper_belt,
    add_protoplanetary_disk,
    add_rings,
    get_comet_count_range,
)
from universe.domain.generate.generation_config import MOST_BODIES, GenerationConfig, make_preset_config
from universe.domain.generate.grammar import GrammarNode, expand_grammar, make_grammar
from universe.domain.generate.groups_and_interstellar_objects import (
    get_rogue_planet_count_range,
    make_groups,
    make_nebulae,
    make_rogue_planets,
    place_systems,
)
from universe.domain.generate.lagrange_points import (
    add_lagrange_points_and_trojans,
    choose_lagrange_points,
    get_trojan_count_range,
)
from universe.domain.generate.names_and_colors import make_system_name
from universe.domain.generate.random_numbers import Prng
from universe.domain.generate.stars_and_planets import add_stars_and_planets
from universe.domain.generate.system_draft import Entity, SystemDraft, set_kepler_speeds
from uraniborg.kernel.errors import InvalidInput

if TYPE_CHECKING:
    from universe.domain.state import Plain

_STEPS: Final[tuple[Callable[[SystemDraft], None], ...]] = (
    add_belts,
    add_kuiper_belt,
    add_rings,
    add_comets,
    add_lagrange_points_and_trojans,
    add_protoplanetary_disk,
)
_STARS: Final = {1: (1.0, 0.0, 0.0), 2: (0.6, 0.4, 0.0), 3: (0.65, 0.25, 0.10)}


def generate(preset: str, seed: str | int, **overrides: Any) -> "Plain":
    """Return the plain state of a universe.

    `preset` is one of TOPOLOGIES or STYLES; `overrides` are settings of GenerationConfig by their JSON names.
    Raise InvalidInput for an unknown preset or setting, and for more than MOST_BODIES bodies.
    """
    return generate_from_config(make_preset_config(preset, seed, **overrides))


def generate_from_config(config: GenerationConfig) -> "Plain":
    """Return the plain state of a universe. Raise InvalidInput if it could have more than MOST_BODIES bodies."""
    master = Prng(config.seed)
    tag = f"{master.fork('ids').next_word():08x}"
    systems = _make_systems(config, master, tag)
    positions = place_systems(systems)
    groups = make_groups(config, master.fork("groups"), tag, [system.key for system in systems])
    nebulae = make_nebulae(config, master.fork("nebulae"), tag, groups, positions)
    rogues = make_rogue_planets(config, master.fork("rogue-planets"), tag, positions)
    bodies = [*(body for system in systems for body in system.bodies.values()), *rogues]
    return {
        "stars": _index_by_id(bodies),
        "rootIds": [body["id"] for body in bodies if body["parentId"] is None],
        "groups": _index_by_id(groups),
        "rootGroupIds": [group["id"] for group in groups if group["parentGroupId"] is None],
        "belts": {},
        "smallBodyFields": _index_by_id(field for system in systems for field in system.fields),
        "protoplanetaryDisks": _index_by_id(disk for system in systems for disk in system.disks),
        "nebulae": _index_by_id(nebulae),
        "time": 0,
    }


def _make_systems(config: GenerationConfig, master: Prng, tag: str) -> list[SystemDraft]:
    turn = master.fork("names").integer(0, 1_000)
    count = config.max_systems
    streams = [master] if count == 1 else [Prng(master.integer(0, 2**31 - 1)) for _ in range(count)]
    return [
        _make_system(config, stream, topology, f"{tag}-s{number + 1}", make_system_name(number, turn))
        for number, (stream, topology) in enumerate(zip(streams, draw_topologies(config, streams), strict=True))
    ]


def _make_system(config: GenerationConfig, stream: Prng, topology: GrammarNode, key: str, name: str) -> SystemDraft:
    system = SystemDraft(config, stream, key, name)
    add_stars_and_planets(system, topology)
    set_kepler_speeds(system)
    for step in _STEPS:
        step(system)
    return system


def _index_by_id(entities: Iterable[Entity]) -> dict[str, Entity]:
    return {entity["id"]: entity for entity in entities}


def draw_topologies(config: GenerationConfig, streams: Sequence[Prng]) -> list[GrammarNode]:
    """Return one topology for each stream. Raise InvalidInput if there could be more than MOST_BODIES bodies."""
    grammar = make_grammar(
        config.topology_preset,
        star_count_weights=_STARS[config.max_stars_per_system if config.enable_nary_systems else 1],
        planet_p=0.8 - 0.6 * config.planet_density,
        moon_p=0.8 - 0.6 * config.moon_density,
    )
    budget = _BodyBudget()
    budget.spend(get_rogue_planet_count_range(config)[1])
    topologies: list[GrammarNode] = []
    for stream in streams:
        topologies.append(
            expand_grammar(grammar, stream.fork("lsystem"), levels=config.max_depth, reserve_bodies=budget.spend)
        )
        budget.spend(_count_possible_extras(config, topologies[-1]))
    return topologies


class _BodyBudget:
    def __init__(self) -> None:
        self._left = MOST_BODIES

    def spend(self, bodies: int) -> None:
        self._left -= bodies
        if self._left < 0:
            raise InvalidInput(
                f"This universe could have more than {MOST_BODIES:,} bodies.",
                hint="Set fewer systems (maxSystems), or for fewer Lagrange points and Trojans.",
                argument="maxSystems",
                allowed=f"at most {MOST_BODIES:,} bodies",
            )


def _count_possible_extras(config: GenerationConfig, topology: GrammarNode) -> int:
    """Return the largest number of comets, Lagrange points and Trojans that a topology can get."""
    planets = topology.find_children("planet")
    points, scope = choose_lagrange_points(config), config.lagrange_pair_scope
    pairs = len(planets) if scope != "planetMoon" else 0
    if points and scope != "starPlanet":
        pairs += sum(len(planet.find_children("moon")) for planet in planets)
    each = len(points) + 2 * get_trojan_count_range(config)[1] if points else 0
    return pairs * each + (get_comet_count_range(config)[1] if planets else 0)
