"""Units of a universe: scene units and simulation seconds, or AU and days since an epoch."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

Body = Mapping[str, Any]

_ANGLES: Final = frozenset(
    {
        *("inclination", "longitudeOfAscendingNode", "argumentOfPeriapsis", "meanAnomaly", "orbitalPhase"),
        *("orbitRotX", "orbitRotY", "orbitRotZ", "orbitAccuracyDegrees"),
    }
)
_LENGTHS: Final = frozenset(
    {
        *("radius", "orbitalDistance", "semiMajorAxis", "q", "perihelionDistance", "aphelionDistance", "position"),
        *("orbitOffsetX", "orbitOffsetY", "orbitOffsetZ"),
    }
)
_TIMES: Final = frozenset({"period", "osculatingPeriod", "epoch"})
_FIXED: Final = {
    "massKg": "kg",
    "radiusKm": "km",
    "teffKelvin": "K",
    "luminositySolar": "solar luminosities",
    "epochJulianDate": "days (Julian date)",
}


def get_field_unit(field: str, *, astronomical: bool) -> str:
    """Return the unit of a field such as `mass` or `kepler.period`; an empty string for a field without a unit."""
    name = field.rpartition(".")[2]
    length, time = ("AU", "days") if astronomical else ("scene units", "simulation seconds")
    kinds = (
        (_ANGLES, "degrees"),
        (_LENGTHS, length),
        (_TIMES, time),
        ({"mass"}, "solar masses" if astronomical else ""),
        ({"orbitalSpeed"}, f"degrees for each {time.removesuffix('s')}"),
        ({"velocity"}, f"{length} for each {time.removesuffix('s')}"),
    )
    return _FIXED.get(name) or next((unit for names, unit in kinds if name in names), "")


def has_astronomical_body(bodies: Iterable[Body]) -> bool:
    """Return True if a body moves in astronomical units, where one simulation second is one day."""
    return any(_get_block_or_empty(body, "kepler").get("units") == "astronomical" for body in bodies)


def find_epoch_julian_date(bodies: Iterable[Body]) -> float | None:
    """Return the Julian date of time 0; None if no body has it."""
    epochs = (_get_block_or_empty(body, "physical").get("epochJulianDate") for body in bodies)
    return next((float(epoch) for epoch in epochs if isinstance(epoch, (int, float))), None)


def _get_block_or_empty(body: Body, name: str) -> Body:
    block = body.get(name)
    return cast("Body", block) if isinstance(block, dict) else {}
