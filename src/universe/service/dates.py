"""The unit of a universe's time and the date it stands at, where its bodies state them."""

from datetime import timedelta
from typing import Any

from universe.domain.state import State
from universe.domain.units import epoch_of, is_astronomical
from universe.systems.time_scales import convert_tdb_to_utc


def time_facts(state: State) -> dict[str, Any]:
    """Return the unit of the time and, in a real system, the date in UTC; a Julian date beyond the years 1 to 9999."""
    bodies = state.stars
    if not is_astronomical(bodies.values()):
        return {"timeUnit": "simulation seconds"}
    epoch = epoch_of(bodies.values())
    return {"timeUnit": "days"} | ({} if epoch is None else _date(epoch + state.time))


def _date(julian_date: float) -> dict[str, Any]:
    try:
        moment = convert_tdb_to_utc(julian_date) + timedelta(seconds=30)
    except OverflowError:
        return {"julianDate": julian_date}
    return {"date": moment.isoformat(timespec="minutes").replace("+00:00", "Z")}
