"""A universe from a seed: systems one after another, then what they share. The same seed gives the same bytes."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from universe.generate.belts import add_belts, add_kuiper_belt
from universe.generate.bodies import add_stars_and_planets
from universe.generate.comets import add_comets
from universe.generate.config import GenerationConfig, config_for
from universe.generate.disks import add_disk
from universe.generate.grammar import Node
from universe.generate.groups import make_groups
from universe.generate.lagrange import add_lagrange_points
from universe.generate.layout import place_systems
from universe.generate.names import star_name
from universe.generate.nebulae import make_nebulae
from universe.generate.prng import Prng
from universe.generate.rings import add_rings
from universe.generate.rogues import make_rogues
from universe.generate.system import Entity, System
from universe.generate.topologies import topologies_of

_STEPS: Final[tuple[Callable[[System], None], ...]] = (
    add_belts,
    add_kuiper_belt,
    add_rings,
    add_comets,
    add_lagrange_points,
    add_disk,
)


def generate(preset: str, seed: str | int, **overrides: Any) -> dict[str, Any]:
    """The plain state of a universe.

    `preset` is one of TOPOLOGIES or STYLES; `overrides` are settings of GenerationConfig by their JSON names.
    Raises InvalidInput for an unknown preset or setting, and for more than MOST_BODIES bodies.
    """
    return generate_from(config_for(preset, seed, **overrides))


def generate_from(config: GenerationConfig) -> dict[str, Any]:
    """The plain state of a universe. Raises InvalidInput where it could have more than MOST_BODIES bodies."""
    master = Prng(config.seed)
    tag = f"{master.fork('ids').word():08x}"
    systems = _systems(config, master, tag)
    places = place_systems(systems)
    groups = make_groups(config, master.fork("groups"), tag, [system.key for system in systems])
    nebulae = make_nebulae(config, master.fork("nebulae"), tag, groups, places)
    rogues = make_rogues(config, master.fork("rogue-planets"), tag, places)
    bodies = [*(body for system in systems for body in system.bodies.values()), *rogues]
    return {
        "stars": _by_id(bodies),
        "rootIds": [body["id"] for body in bodies if body["parentId"] is None],
        "groups": _by_id(groups),
        "rootGroupIds": [group["id"] for group in groups if group["parentGroupId"] is None],
        "belts": {},
        "smallBodyFields": _by_id(field for system in systems for field in system.fields),
        "protoplanetaryDisks": _by_id(disk for system in systems for disk in system.disks),
        "nebulae": _by_id(nebulae),
        "time": 0,
    }


def _systems(config: GenerationConfig, master: Prng, tag: str) -> list[System]:
    turn = master.fork("names").integer(0, 1_000)
    count = config.max_systems
    streams = [master] if count == 1 else [Prng(master.integer(0, 2**31 - 1)) for _ in range(count)]
    return [
        _system(config, stream, topology, f"{tag}-s{number + 1}", star_name(number, turn))
        for number, (stream, topology) in enumerate(zip(streams, topologies_of(config, streams), strict=True))
    ]


def _system(config: GenerationConfig, stream: Prng, topology: Node, key: str, name: str) -> System:
    system = System(config, stream, key, name)
    add_stars_and_planets(system, topology)
    for step in _STEPS:
        step(system)
    return system


def _by_id(entities: Iterable[Entity]) -> dict[str, Entity]:
    return {entity["id"]: entity for entity in entities}
