"""List the real systems, declare the format of their data, and start the state of a universe with one of them."""

import json
from datetime import date, datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Final, cast

from universe.domain.units_and_dates import convert_to_tdb_in_range
from uraniborg.kernel.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from universe.domain.state import Plain

from universe.domain.systems.shipped_data import SystemData

_NAMES: Final = ("solar-system", "trappist-1", "kepler-90", "alpha-centauri")


class SystemNotFound(NotFound):
    code = "system_not_found"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is no system '{name[:80]}'.",
            hint=f"Choose {', '.join(_NAMES)}, or an invented system such as seed:classic:42.",
            argument="name",
            allowed=list(_NAMES),
        )


def list_system_names() -> list[str]:
    """Return the names that `load_system` takes."""
    return list(_NAMES)


def load_system(name: str, *, at: date | datetime | float | None = None) -> "Plain":
    """Return the state of a universe that holds one real system: 9 keys, time 0, in AU, days and solar masses.

    The case of the name does not matter. Time 0 is J2000.0 for the Solar System, or the date `at` from 1800
    to 2050: a UTC date (a date is its midnight) or a number, the Julian date in TDB. The other systems have the
    instant their paper chose. `physical.epochJulianDate` of every body states time 0 in TDB. The same arguments always
    give an equal state.

    Raise SystemNotFound for an unknown name, and InvalidInput for a date that is not available.
    """
    if name.lower() not in _NAMES:
        raise SystemNotFound(name)
    name = name.lower()
    system = read_system_data(name)
    julian_date = _choose_julian_date(name, system, at)
    from universe.domain.systems.bodies import make_bodies  # imports numpy, which the list of names does not need

    bodies = make_bodies(system, julian_date)
    return {
        "stars": bodies,
        "rootIds": [body_id for body_id, body in bodies.items() if body["parentId"] is None],
        "groups": {},
        "rootGroupIds": [],
        "belts": {},
        "smallBodyFields": {},
        "protoplanetaryDisks": {},
        "nebulae": {},
        "time": 0,
    }


def read_system_data(name: str) -> "SystemData":
    text = (files("universe") / "systems" / "data" / f"{name}.json").read_text(encoding="utf-8")
    return cast("SystemData", json.loads(text))


def _choose_julian_date(name: str, system: "SystemData", at: date | datetime | float | None) -> float:
    if at is None:
        return system["epochJd"]
    if "firstDay" not in system or "lastDay" not in system:
        raise InvalidInput(
            f"{name} does not take a date: its data hold at one instant, that of the observations.",
            hint="""Leave --at out. A tick lets days pass: universe send ID '{"type": "tick", "dt": 30}'""",
            argument="at",
            allowed="none",
        )
    return convert_to_tdb_in_range(at, date.fromisoformat(system["firstDay"]), date.fromisoformat(system["lastDay"]))
