"""The unit of a universe's time and the date it stands at, where its bodies state them."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from universe.domain.state import State
from universe.domain.units import epoch_of, is_astronomical

_J2000: Final = 2_451_545.0
_NOON_2000: Final = datetime(2000, 1, 1, 12, tzinfo=UTC)


def time_facts(state: State) -> dict[str, Any]:
    """Return the unit of the time and, in a real system, the date; a Julian date beyond the years 1 to 9999."""
    bodies = state.stars
    if not is_astronomical(bodies.values()):
        return {"timeUnit": "simulation seconds"}
    epoch = epoch_of(bodies.values())
    return {"timeUnit": "days"} | ({} if epoch is None else _date(epoch + state.time))


def _date(julian_date: float) -> dict[str, Any]:
    try:
        moment = _NOON_2000 + timedelta(days=julian_date - _J2000)
    except OverflowError:
        return {"julianDate": julian_date}
    return {"date": moment.isoformat(timespec="minutes").replace("+00:00", "Z")}
