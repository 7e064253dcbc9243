"""Initial states of universes: real systems, systems generated from a seed, and imported ones."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast

from universe.domain.state import Plain
from universe.errors import MalformedRequest
from universe.service.replies import ImportReply, NewUniverse
from universe.service.reply_encoding import describe_record
from universe.service.universes import UniverseService
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import InvalidInput, UraniborgError

if TYPE_CHECKING:
    from universe.domain.exchange.importer import ImportOptions

_NAMES: Final = {
    "solar-system": "Solar System",
    "trappist-1": "TRAPPIST-1",
    "kepler-90": "Kepler-90",
    "alpha-centauri": "Alpha Centauri",
}


def get_default_universe_name(origin: str | None) -> str:
    """Return the name of a universe that was created without one."""
    return "Universe" if origin is None else _NAMES.get(origin.lower(), origin)


async def load_or_generate_state_in_thread(origin: Any, settings: Any = None) -> Plain:
    """Return the state of `load_or_generate_state`, computed in a thread. Errors name the argument `from`."""
    try:
        return await asyncio.to_thread(load_or_generate_state, origin, settings=settings)
    except UraniborgError as exc:
        exc.ids["argument"] = "from" if settings is None else exc.ids.get("argument", "settings")
        raise


def load_or_generate_state(origin: Any, *, at: datetime | float | None = None, settings: Any = None) -> Plain:
    """Return the state named `solar-system`, `trappist-1`, … or `seed:PRESET:SEED`. Raise InvalidInput or NotFound.

    `settings` change the generator, such as `{"maxSystems": 3}`; only a seed takes them.
    """
    from universe.domain import systems
    from universe.domain.generate.generator import generate

    if not isinstance(origin, str):
        raise MalformedRequest(
            "from must be the name of a system, or seed:PRESET:SEED.",
            hint=f"The systems are {', '.join(systems.list_system_names())}.",
            argument="from",
        )
    if settings is not None and not isinstance(settings, Mapping):
        raise MalformedRequest(
            "settings must be an object.", hint='For example {"maxSystems": 3}.', argument="settings"
        )
    if not origin.startswith("seed:"):
        if settings:
            raise MalformedRequest(
                "Only universes from a seed take settings.", hint="For example seed:classic:42.", argument="settings"
            )
        return systems.load_system(origin, at=at)
    _, _, rest = origin.partition(":")
    preset, colon, seed = rest.partition(":")
    if not colon:
        raise MalformedRequest(
            "from must be seed:PRESET:SEED for a seed.", hint="For example seed:classic:42.", argument="from"
        )
    overrides = cast("Mapping[str, Any]", settings or {})
    if "seed" in overrides:
        raise MalformedRequest("The seed is part of from.", hint="Leave seed out of settings.", argument="settings")
    return generate(preset, int(seed) if seed.isascii() and seed.isdigit() else seed, **overrides)


_NAME_CHARS = 200


async def create_imported_universes(
    service: UniverseService,
    contents: Sequence[bytes],
    options: "ImportOptions",
    *,
    each: bool = False,
    name: Any = None,
    universe_id: Any = None,
    actor: Actor | None = None,
    dry_run: bool = False,
) -> ImportReply:
    """Create one universe with all systems of the contents, or with `each` one for every system. Return the report.

    With `dry_run`, create nothing. Raise ImportRefused, or InvalidInput for an id or a name of several universes.
    """
    from universe.domain.exchange.importer import import_systems

    report = await asyncio.to_thread(import_systems, contents, options)
    several = each and len(report.systems) > 1
    if several and (universe_id is not None or name is not None):
        raise InvalidInput(
            f"{len(report.systems)} universes cannot have one id or name.",
            hint="Leave id and name out, or import all systems into one universe.",
            argument="id" if universe_id is not None else "name",
        )
    if not several and len(report.systems) > 1:
        report.note(
            f"The {len(report.systems):,} systems are in one universe at the same place: their distances from each "
            "other are not part of it. Choose bodies of one system for N-body runs, transits and velocities."
        )
    created: list[NewUniverse] = []
    if not dry_run:
        states = (
            [(one.name, one.state) for one in report.systems]
            if several
            else [(_choose_name([one.name for one in report.systems]), await asyncio.to_thread(report.merge_systems))]
        )
        for title, state in states:
            record = await service.create(
                name or title[:_NAME_CHARS], state, universe_id=universe_id, actor=actor, has_own_records=True
            )
            created.append({**describe_record(record), "bodies": len(state["stars"])})
    return {"universes": created, "import": report.describe()}


def _choose_name(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more systems"
