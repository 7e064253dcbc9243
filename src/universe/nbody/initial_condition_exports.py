"""Write the start of a run for other programs: a REBOUND script and a CSV table, exact to the last bit.

Texts of the universe are written as quoted data, in ASCII in the script, so that a name cannot add code.
"""

import csv
import io
from collections.abc import Iterator
from typing import Final

from universe.nbody.initial_conditions import InitialConditions
from universe.orbits.units import G
from uraniborg.kernel.csv_cells import neutralize_formulas

FRAME: Final = "barycentric; x and y in the reference plane of the system, z towards its pole, right-handed"
UNITS: Final = "AU, days, solar masses"
_COLUMNS: Final = ("id", "name", "mass", "x", "y", "z", "vx", "vy", "vz")

_HEAD: Final = '''\
#!/usr/bin/env python3
"""Integrate these bodies with REBOUND (pip install rebound) and print where they end, as JSON.

Units: {units}. Frame: {frame}.
{physics}
"""

import json

import rebound

UNIVERSE = {universe}
VERSION = {version}
TIME = {time}  # of the start, in days
DAYS = {days}
G = {constant}  # AU^3 / (solar mass day^2)
BODIES = [  # id, name, mass, position, velocity
'''
_TAIL: Final = """\
]

sim = rebound.Simulation()
sim.G = G
for _, _, mass, (x, y, z), (vx, vy, vz) in BODIES:
    sim.add(m=mass, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
sim.integrator = "ias15"
sim.dt = 1e-3 if DAYS >= 0 else -1e-3
sim.integrate(DAYS)
end = {
    key: {"mass": mass, "position": [p.x, p.y, p.z], "velocity": [p.vx, p.vy, p.vz]}
    for (key, _, mass, _, _), p in zip(BODIES, sim.particles)
}
print(json.dumps({"days": sim.t, "energy": sim.energy(), "end": end}))
"""


def render_rebound_script(
    start: InitialConditions, *, days: float, universe_id: str, version: int, time: float, relativity: bool
) -> str:
    """Return a Python script that integrates the same start with REBOUND's IAS15 for `days` days."""
    physics = "Point masses, Newton's gravity." + (
        "\nThe run included relativity; this script does not." if relativity else ""
    )
    head = _HEAD.format(
        units=UNITS, frame=FRAME, physics=physics, universe=ascii(universe_id), version=int(version),
        time=repr(float(time)), days=repr(float(days)), constant=repr(float(G)),
    )  # fmt: skip
    lines = (
        f"    ({key!a}, {name!a}, {mass!r}, {tuple(position)!r}, {tuple(velocity)!r}),\n"
        for key, name, mass, position, velocity in _list_body_rows(start)
    )
    return "".join([head, *lines, _TAIL])


def render_start_csv(start: InitialConditions, *, universe_id: str, version: int, time: float) -> str:
    """Return the start as CSV with a header in comments, one row for each body."""
    out = io.StringIO(newline="")
    out.write(f"# start of an N-body run of universe {universe_id!a}, version {int(version)}, day {time!r}\n")
    out.write(f"# units: {UNITS} (velocities in AU a day); G = {G!r}\n")
    out.write(f"# frame: {FRAME}\n")
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for key, name, mass, position, velocity in _list_body_rows(start):
        rows.writerow([*neutralize_formulas([key, name]), repr(mass), *map(repr, position), *map(repr, velocity)])
    return out.getvalue()


def _list_body_rows(start: InitialConditions) -> Iterator[tuple[str, str, float, list[float], list[float]]]:
    return zip(
        start.ids, start.names, start.masses.tolist(), start.positions.tolist(), start.velocities.tolist(), strict=True
    )
