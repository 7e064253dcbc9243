"""Write the stored truths of N-body runs: where IAS15 (Rein & Spiegel 2015) of REBOUND ends from the same start.

    python tests/universe/domain/nbody/truth/make.py [CASE ...]

Needs rebound, which comes with the development lock, and heyoka, the extra `nbody`. Nothing of `universe` is imported:
REBOUND makes the starts from the numbers of the papers. `exact` are positions by a Taylor integration in 80-bit numbers
(heyoka), and `uncertainty` is the distance of IAS15 from these in AU. Lengths are AU, times days, masses solar masses;
the barycentre is at rest.
"""

import json
import math
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
G: Final = 0.01720209895**2
EARTH: Final = 3.986_004e14 / 1.327_124_4e20
YEAR: Final = 365.25
VECTORS: Final = HERE.parents[5] / "shared" / "data" / "universe" / "de421_vectors.json"

TRAPPIST: Final = {
    "b": (1.374, 1.510826, 2457257.55044, -0.00215, 0.00217, 89.728),
    "c": (1.308, 2.421937, 2457258.58728, 0.00055, 0.00001, 89.778),
    "d": (0.388, 4.049219, 2457257.06768, -0.00496, 0.00267, 89.896),
    "e": (0.692, 6.101013, 2457257.82771, 0.00433, -0.00461, 89.793),
    "f": (1.039, 9.207540, 2457257.07426, -0.00840, -0.00051, 89.740),
    "g": (1.321, 12.352446, 2457257.71462, 0.00380, 0.00128, 89.742),
    "h": (0.326, 18.772866, 2457249.60676, -0.00365, -0.00002, 89.805),
}
"""Mass (Earth), osculating period (d), transit (BJD), e cos w, e sin w, inclination: Agol et al. 2021, PSJ 2, 1."""
KEPLER_90: Final = {
    "b": (2.27, 7.008151, 2454970.6906, 0.0, 89.4),
    "c": (1.81, 8.719375, 2454972.5687, 0.0, 89.68),
    "i": (2.3, 14.44912, 2455644.3488, 0.0, 89.2),
    "d": (8.6, 59.73667, 2454991.9656, 0.0, 89.71),
    "e": (7.56, 91.93913, 2454967.3127, 0.0, 89.79),
    "f": (8.65, 124.9144, 2455087.704, 0.0, 89.77),
    "g": (15.0, 210.73514, 2454979.97608, 0.0292, 89.8),
    "h": (203.0, 331.60296, 2454973.50056, 0.0276, 89.6),
}
"""Mass (Earth; guesses but g and h), period (d), transit (BJD), e, inclination, of the papers Kepler-90 cites."""


def transiting(simulation: Any, mass: float, period: float, elapsed: float, e: float, w: float, tilt: float) -> None:
    """Add a planet in Jacobi coordinates that crossed its star `elapsed` days ago, at true anomaly 270 degrees - w."""
    half = math.radians(270 - w) / 2
    eccentric = 2 * math.atan2(math.sqrt(1 - e) * math.sin(half), math.sqrt(1 + e) * math.cos(half))
    mean = eccentric - e * math.sin(eccentric) + 2 * math.pi * elapsed / period
    simulation.add(m=mass * EARTH, P=period, e=e, inc=math.radians(tilt), omega=math.radians(w), M=mean)


def trappist(simulation: Any, heavier: float = 1.0) -> Sequence[str]:
    simulation.add(m=0.0898)
    for mass, period, transit, along, across, tilt in TRAPPIST.values():
        e, w = math.hypot(along, across), math.degrees(math.atan2(across, along))
        transiting(simulation, mass * heavier, period, 2457257.93115525 - transit, e, w, tilt)
    return ["trappist-1", *(f"trappist-1-{letter}" for letter in TRAPPIST)]


def kepler_90(simulation: Any) -> Sequence[str]:
    simulation.add(m=1.2)
    for mass, period, transit, e, tilt in KEPLER_90.values():
        transiting(simulation, mass, period, 2454833.0 - transit, e, 0.0, tilt)
    return ["kepler-90", *(f"kepler-90-{letter}" for letter in KEPLER_90)]


def solar(simulation: Any, names: Sequence[str]) -> Sequence[str]:
    """Add bodies of the Solar System at J2000 as DE421 has them; `emb` is the barycentre of Earth and Moon."""
    read = json.loads(VECTORS.read_text(encoding="utf-8"))
    at, gm = dict(read["epochs"]["2451545.0"]), dict(read["gm_au3_per_day2"])
    gm["emb"] = gm["earth"] + gm["moon"]
    at["emb"] = {
        kind: [
            (gm["earth"] * a + gm["moon"] * b) / gm["emb"]
            for a, b in zip(at["earth"][kind], at["moon"][kind], strict=True)
        ]
        for kind in ("position", "velocity")
    }
    for name in names:
        (x, y, z), (vx, vy, vz) = at[name]["position"], at[name]["velocity"]
        simulation.add(m=gm[name] / G, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
    return list(names)


PLANETS: Final = ("sun", "mercury", "venus", "emb", "mars", "jupiter", "saturn", "uranus", "neptune")
GIANTS: Final = ("sun", "jupiter", "saturn", "uranus", "neptune")


def halley_like(simulation: Any) -> Sequence[str]:
    names = solar(simulation, GIANTS)
    tilt, node, w = math.radians(162.3), math.radians(58.4), math.radians(111.3)
    simulation.add(
        m=0.0, a=17.8, e=0.967, inc=tilt, Omega=node, omega=w, M=math.radians(38), primary=simulation.particles[0]
    )
    return [*names, "comet"]


def sungrazer(simulation: Any) -> Sequence[str]:
    names = solar(simulation, ("sun", "jupiter"))
    simulation.add(m=0.0, a=20.0, e=0.9995, inc=1.1, Omega=2.2, omega=0.7, M=math.pi, primary=simulation.particles[0])
    return [*names, "comet"]


def pythagorean(simulation: Any) -> Sequence[str]:
    """Burrau's problem (Szebehely & Peters 1967): masses 3, 4, 5 at rest at the corners of a triangle."""
    for mass, x, y in ((3.0, 1.0, 3.0), (4.0, -2.0, -1.0), (5.0, 1.0, -1.0)):
        simulation.add(m=mass, x=x, y=y)
    return ["three", "four", "five"]


def close_encounter(simulation: Any) -> Sequence[str]:
    """Two Neptunes on neighbouring orbits: the inner passes the outer on day 599, at a twentieth of a Hill radius."""
    simulation.add(m=1.0)
    simulation.add(m=5e-5, a=1.0, M=0.0)
    simulation.add(m=5e-5, a=1.06, inc=0.004, M=0.6)
    return ["star", "inner", "outer"]


def fly_by(simulation: Any) -> Sequence[str]:
    """Add a star with a Jupiter, and a star of half a solar mass that passes on a hyperbola, 15 AU away."""
    simulation.add(m=1.0)
    simulation.add(m=1e-3, a=5.0, e=0.05, M=1.0)
    simulation.add(m=0.5, a=-20.0, e=1.75, inc=0.5, omega=0.3, M=-2.5)
    return ["star", "planet", "passer"]


CASES: Final[dict[str, tuple[Callable[[Any], Sequence[str]], tuple[float, ...]]]] = {
    "trappist-1": (trappist, (60.0, YEAR, 10 * YEAR)),
    "planets": (lambda simulation: solar(simulation, PLANETS), (YEAR, 10 * YEAR, 100 * YEAR)),
    "comet-967": (halley_like, (100 * YEAR,)),
    "comet-9995": (sungrazer, (100 * YEAR,)),
    "earth-moon": (lambda simulation: solar(simulation, ("sun", "earth", "moon")), (YEAR,)),
    "kepler-90": (kepler_90, (YEAR,)),
    "trappist-1-x30": (lambda simulation: trappist(simulation, 30), (50.0, 200.0)),
    "pythagorean": (pythagorean, tuple(units / math.sqrt(G) for units in (10, 40, 70))),
    "close-encounter": (close_encounter, (3 * YEAR,)),
    "fly-by": (fly_by, (100 * YEAR,)),
}


def states(simulation: Any) -> tuple[list[list[float]], list[list[float]]]:
    return [one.xyz for one in simulation.particles], [one.vxyz for one in simulation.particles]


def taylor_positions(masses: list[float], start: Any, days: Sequence[float]) -> list[list[list[float]]]:
    """Return the positions after each of `days` by heyoka in 80-bit numbers, which x86-64 has."""
    heyoka, numpy = import_module("heyoka"), import_module("numpy")
    long = numpy.longdouble
    heavy = [long(mass) for mass in masses if mass]
    equations = heyoka.model.nbody(len(masses), masses=heavy, Gconst=long(G))
    state = numpy.array([[*x, *v] for x, v in zip(*start, strict=True)], dtype=long).ravel()
    integrator = heyoka.taylor_adaptive(equations, state, fp_type=long, compact_mode=True)
    found: list[list[list[float]]] = []
    for time in days:
        integrator.propagate_until(long(time))
        found.append(numpy.array(integrator.state, dtype=float).reshape(-1, 6)[:, :3].tolist())
    return found


def make(name: str, rebound: Any) -> dict[str, Any]:
    build, days = CASES[name]
    simulation = rebound.Simulation()
    simulation.G, simulation.integrator = G, "ias15"
    ids = build(simulation)
    simulation.move_to_com()
    masses, start = [one.m for one in simulation.particles], states(simulation)
    exact = taylor_positions(masses, start, days)
    ends: list[dict[str, Any]] = []
    for place, time in enumerate(days):
        simulation.integrate(time, exact_finish_time=1)
        positions, velocities = states(simulation)
        apart = [math.dist(*pair) for pair in zip(positions, exact[place], strict=True)]
        end = {"days": time, "positions": positions, "velocities": velocities}
        ends.append({**end, "exact": exact[place], "uncertainty": apart})
    return {
        "case": name,
        "madeBy": f"REBOUND {rebound.__version__}, IAS15, default settings",
        "G": G,
        "ids": list(ids),
        "masses": masses,
        "positions": start[0],
        "velocities": start[1],
        "ends": ends,
    }


def main(names: Sequence[str]) -> None:
    rebound = import_module("rebound")
    for name in names or CASES:
        made = make(name, rebound)
        (HERE / f"{name}.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        worst = [max(end["uncertainty"]) for end in made["ends"]]
        print(name, *(f"{end['days']:.6g} d: {error:.1e} AU" for end, error in zip(made["ends"], worst, strict=True)))


if __name__ == "__main__":
    main(sys.argv[1:])
