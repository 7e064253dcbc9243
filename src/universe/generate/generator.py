"""A universe from a seed: systems one after another, then what they share. The same seed gives the same bytes."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from universe.generate.belts import add_belts, add_kuiper_belt
from universe.generate.bodies import add_stars_and_planets
from universe.generate.comets import add_comets
from universe.generate.config import GenerationConfig, make_preset_config
from universe.generate.disks import add_disk, add_rings
from universe.generate.grammar import Node
from universe.generate.groups import make_groups, place_systems
from universe.generate.lagrange import add_lagrange_points
from universe.generate.names import make_star_name
from universe.generate.nebulae import make_nebulae
from universe.generate.random_numbers import Prng
from universe.generate.rogues import make_rogues
from universe.generate.system import Entity, System
from universe.generate.topologies import draw_topologies

_STEPS: Final[tuple[Callable[[System], None], ...]] = (
    add_belts,
    add_kuiper_belt,
    add_rings,
    add_comets,
    add_lagrange_points,
    add_disk,
)


def generate(preset: str, seed: str | int, **overrides: Any) -> dict[str, Any]:
    """Return the plain state of a universe.

    `preset` is one of TOPOLOGIES or STYLES; `overrides` are settings of GenerationConfig by their JSON names.
    Raises InvalidInput for an unknown preset or setting, and for more than MOST_BODIES bodies.
    """
    return generate_from(make_preset_config(preset, seed, **overrides))


def generate_from(config: GenerationConfig) -> dict[str, Any]:
    """Return the plain state of a universe. Raise InvalidInput if it could have more than MOST_BODIES bodies."""
    master = Prng(config.seed)
    tag = f"{master.fork('ids').word():08x}"
    systems = _make_systems(config, master, tag)
    places = place_systems(systems)
    groups = make_groups(config, master.fork("groups"), tag, [system.key for system in systems])
    nebulae = make_nebulae(config, master.fork("nebulae"), tag, groups, places)
    rogues = make_rogues(config, master.fork("rogue-planets"), tag, places)
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


def _make_systems(config: GenerationConfig, master: Prng, tag: str) -> list[System]:
    turn = master.fork("names").integer(0, 1_000)
    count = config.max_systems
    streams = [master] if count == 1 else [Prng(master.integer(0, 2**31 - 1)) for _ in range(count)]
    return [
        _make_system(config, stream, topology, f"{tag}-s{number + 1}", make_star_name(number, turn))
        for number, (stream, topology) in enumerate(zip(streams, draw_topologies(config, streams), strict=True))
    ]


def _make_system(config: GenerationConfig, stream: Prng, topology: Node, key: str, name: str) -> System:
    system = System(config, stream, key, name)
    add_stars_and_planets(system, topology)
    for step in _STEPS:
        step(system)
    return system


def _index_by_id(entities: Iterable[Entity]) -> dict[str, Entity]:
    return {entity["id"]: entity for entity in entities}
