"""Initial states of universes: real systems, and systems generated from a seed."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, cast

from universe.domain.state import Plain
from universe.errors import MalformedRequest
from uraniborg.kernel.errors import UraniborgError

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
    from universe import systems
    from universe.generate.generator import generate

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
