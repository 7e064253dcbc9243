"""What default N-body runs answer about shipped systems, against papers and JPL's ephemeris.

Claims: the last transits of TRAPPIST-1's seven planets within 0.5 minutes after 4 years (Agol et al. 2021, forecasts);
the means of its five Laplace angles within 3 degrees of what IAS15 gives; all five librate over 10 years, also with h
twice as heavy, and at least two circulate with h fifty times as heavy. The Solar System from DE421 at J2000 to 2010:
Mercury within 10 arcsec by Newton's law, all planets within 0.1 arcsec with the 1PN term of the Sun.
`--long` follows h at 1, 2, 10 and 50 times its mass for 300 years, which takes more than an hour.
"""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Final

import numpy as np
from nbody_cases import DATA, YEAR, Floats, line

from universe.domain.nbody.initial_conditions import InitialConditions, make_initial_conditions
from universe.domain.nbody.runs import run_nbody
from universe.domain.systems import load_system

LAST_TRANSITS: Final = {
    "trappist-1-b": 2458718.572281,
    "trappist-1-c": 2458716.513300,
    "trappist-1-d": 2458714.931677,
    "trappist-1-e": 2458715.591807,
    "trappist-1-f": 2458711.723146,
    "trappist-1-g": 2458715.412937,
    "trappist-1-h": 2458713.536461,
}
LAPLACE: Final = {"bcd": 166.0, "cde": 52.7, "def": 208.3, "efg": 280.5, "fgh": 178.2}
PLANETS: Final = ("mercury", "venus", "earth", "mars", "jupiter", "saturn", "uranus", "neptune")
ARCSEC: Final = 3600.0
H: Final = "trappist-1-h"


class Home:
    """A folder with universes, asked over the command line as a user asks."""

    def __init__(self, folder: str) -> None:
        self._environment = {**os.environ, "URANIBORG_HOME": folder}

    def ask(self, *arguments: str) -> Any:
        command = [sys.executable, "-m", "universe", *arguments, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, env=self._environment, check=False)
        assert done.returncode in (0, 4), done.stdout + done.stderr
        return json.loads(done.stdout)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="bench-nbody-") as folder:
        home = Home(folder)
        home.ask("new", "--from", "trappist-1", "--id", "t")
        report_transits(home)
        report_laplace_means(home)
        for heavier in (1, 2, 50):
            report_chain(home, heavier, 10)
        if "--long" in sys.argv:
            for heavier in (1, 2, 10, 50):
                report_chain(home, heavier, 300)
    if DATA.is_file():
        report_solar_system()
    else:
        print("  skipped: the vectors of DE421 are not beside this checkout")


def report_transits(home: Home) -> None:
    reply = home.ask("transits", "t", "--days", str(4 * YEAR + 5))
    for planet, expected in LAST_TRANSITS.items():
        times = np.array([one["time"] for one in reply["planets"][planet]["transits"]])
        apart = float((times[np.abs(times - expected).argmin()] - expected) * 24 * 60)
        line(f"{planet}, transit after 4 years", f"{apart:+.2f} min", "0.5 min", passed=abs(apart) <= 0.5)


def report_laplace_means(home: Home) -> None:
    found = compute_laplace_angles(home.ask("nbody", "t", "--days", str(4 * YEAR)))
    for letters, expected in LAPLACE.items():
        centre = found[letters]["centre"]
        apart = (centre - expected + 180) % 360 - 180
        line(
            f"Laplace angle {letters}, mean of 4 years", f"{centre:.1f} deg", f"{expected} +- 3", passed=abs(apart) <= 3
        )


def compute_laplace_angles(reply: Any) -> dict[str, Any]:
    """Return the Laplace angles of a reply of `universe nbody`, by the letters of the planets."""
    return {"".join(body[-1] for body in one["bodies"]): one for one in reply["resonances"] if len(one["bodies"]) == 3}


def report_chain(home: Home, heavier: int, years: int) -> None:
    name = f"h{heavier}y{years}"
    home.ask("new", "--from", "trappist-1", "--id", name)
    mass = home.ask("show", name)["stars"][H]["mass"]
    home.ask("send", name, json.dumps({"type": "updateStar", "id": H, "payload": {"mass": mass * heavier}}))
    found = compute_laplace_angles(home.ask("nbody", name, "--days", str(years * YEAR)))
    behaviours = [found[letters]["behaviour"] for letters in LAPLACE]
    swings = "/".join(
        f"{one['halfRange']:.0f}" if one.get("halfRange") else "-" for one in map(found.get, LAPLACE) if one
    )
    circulating = behaviours.count("circulates")
    if heavier <= 2:
        target, passed = "all librate", behaviours.count("librates") == len(LAPLACE)
    else:
        least = 1 if heavier == 10 else 2
        target, passed = f"at least {least} circulate", circulating >= least
    line(
        f"h x{heavier}, {years} years: librate", f"{behaviours.count('librates')} of 5, {swings}", target, passed=passed
    )


def report_solar_system() -> None:
    vectors = json.loads(DATA.read_text(encoding="utf-8"))
    there = vectors["epochs"]["2455197.5"]
    start = make_initial_conditions(load_system("solar-system"), ["sun", *PLANETS, "moon", "pluto"])
    for relativity in (False, True):
        done = run_nbody(start, 2455197.5 - 2451545.0, relativity=relativity)
        apart = arcseconds(start, done.positions, there, vectors["gm_au3_per_day2"])
        if relativity:
            worst = max(apart, key=lambda planet: apart[planet])
            value, passed = f"{worst} {apart[worst]:.3f} arcsec", apart[worst] <= 0.1
            line("DE421, 10 years, with 1PN: worst planet", value, "0.1 arcsec", passed=passed)
        else:
            value = f"{apart['mercury']:.1f} arcsec"
            line("DE421, 10 years, Newton: Mercury", value, "10 arcsec", passed=apart["mercury"] <= 10)


def arcseconds(start: InitialConditions, positions: Floats, there: Any, gm: dict[str, float]) -> dict[str, float]:
    """Return the angle at the Sun between where each planet is and where the ephemeris has it; Earth with its Moon."""
    ours = dict(zip(start.ids, positions, strict=True))
    theirs = {one: np.array(there[one]["position"]) for one in ours}
    share = gm["moon"] / (gm["earth"] + gm["moon"])
    for states in (ours, theirs):
        states["earth"] = states["earth"] + share * (states["moon"] - states["earth"])
    found: dict[str, float] = {}
    for planet in PLANETS:
        a, b = ours[planet] - ours["sun"], theirs[planet] - theirs["sun"]
        found[planet] = float(np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)) * ARCSEC)
    return found


if __name__ == "__main__":
    main()
