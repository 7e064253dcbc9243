"""The units of a universe, as its bodies state them: scene units and seconds, or AU and days from a known instant."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

Body = Mapping[str, Any]


def is_astronomical(bodies: Iterable[Body]) -> bool:
    """Return True if a body moves in astronomical units, where one simulation second is one day."""
    return any(_block(body, "kepler").get("units") == "astronomical" for body in bodies)


def epoch_of(bodies: Iterable[Body]) -> float | None:
    """Return the Julian date of time 0, if a body states it."""
    epochs = (_block(body, "physical").get("epochJulianDate") for body in bodies)
    return next((float(epoch) for epoch in epochs if isinstance(epoch, (int, float))), None)


def _block(body: Body, name: str) -> Body:
    block = body.get(name)
    return cast("Body", block) if isinstance(block, dict) else {}
