"""Forgeries of measurements: results, options, starts, plots and scripts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import orjson

from tests.uraniborg.bundle.forging import edit_json, remove_files, replace, tell_edits, tell_replacements, tells
from universe.service.jobs.measurement import measure
from universe.service.jobs.options_and_replies import parse_job_options

NBODY: Final = "measurements/nbody"
TRANSITS: Final = "measurements/transits"
VELOCITIES: Final = "measurements/rv"
METHODS: Final = "methods.md"
PLANET: Final = "trappist-1-b"


def edit_result(folder: Path, measurement: str, change: Callable[[Any], object]) -> None:
    edit_json(folder, f"{measurement}/result.json", change)


def edit_job(folder: Path, measurement: str, change: Callable[[Any], object]) -> None:
    edit_json(folder, f"{measurement}/job.json", change)


def measure_again(folder: Path, measurement: str, change: Callable[[Any], object]) -> None:
    """Change the universe of a measurement of velocities, and make every file that follows from it anew."""
    path = f"{measurement}/universe.json"
    edit_json(folder, path, lambda document: change(document["state"]["stars"]))
    document = orjson.loads((folder / path).read_bytes())
    job = orjson.loads((folder / measurement / "job.json").read_bytes())
    options = parse_job_options({"kind": job["kind"], **job["options"]})
    found = measure(
        document["state"], options, universe_id=job["universeId"], version=job["version"], title=document["name"]
    )
    replace(folder, METHODS, job["summary"]["headline"], found.summary["headline"])
    edit_job(folder, measurement, lambda one: one.update(summary=found.summary))
    edit_result(folder, measurement, lambda one: (one.clear(), one.update(found.reply)))
    (folder / measurement / "plot.svg").write_text(found.render_svg())


tell_edits(
    "measurements",
    {
        f"{NBODY}/result.json": {
            "another velocity at the end": lambda run: run["end"][PLANET].update(velocity=[0.0, 0.0, 0.0]),
            "another velocity at the start": lambda run: run["start"][PLANET].update(velocity=[0.0, 0.0, 0.0]),
            "an angle that swings less than it does": lambda run: run["resonances"][0].update(
                halfRange=1.5, centre=180.0
            ),
            "an angle of other bodies": lambda run: run["resonances"][0].update(ratio="3:2", angle="3 λ(c) - 2 λ(b)"),
            "an orbit with another eccentricity": lambda run: run["orbits"][PLANET]["eccentricity"].update(max=0.31),
            "a closest approach that was not as close": lambda run: run["pairs"][0]["closest"].update(hillRadii=20.0),
            "an energy drift a million times smaller": lambda run: run["energyDrift"].update(max=1e-21, final=1e-21),
            "another measure of chaos": lambda run: run["chaos"].update(megno=8.2, lyapunovDays=12.0),
            "an encounter that did not happen": lambda run: run.update(encounterCount=3),
            "a collision that did not happen": lambda run: run["collisions"].append(
                {"bodies": [PLANET, "trappist-1-c"], "day": 4.0}
            ),
            "more steps than were made": lambda run: run.update(steps=4_000_000, step=2e-6, shortestStep=2e-6),
            "other units of the velocities": lambda run: run["frame"]["units"].update(velocity="km/s"),
            "another epoch": lambda run: run.update(epochJulianDate=2451545.0),
        },
        f"{NBODY}/job.json": {
            "a job that failed and has a result": lambda job: job.update(
                state="failed", error={"message": "The disk was full."}
            ),
            "a measurement that ended before it started": lambda job: job.update(endedAt="2020-01-01T00:00:00.000000Z"),
        },
        f"{TRANSITS}/result.json": {
            "an error of a transit time a thousand times smaller": lambda found: found["planets"][PLANET].update(
                errorSeconds=1.4e-11
            ),
            "transits confirmed by an observatory": lambda found: found.update(confirmedBy="a large telescope"),
        },
        f"{VELOCITIES}/result.json": {
            "a semi-amplitude changed": lambda found: found["planets"][PLANET].update(semiAmplitude=38.18),
            "a mass of the velocities changed by less than the smallest change that is looked for": lambda found: found[
                "planets"
            ]["trappist-1-h"].update(massSinI=1.9e-6),
        },
    },
)
tell_replacements(
    "measurements",
    {
        METHODS: {
            "methods.md names another integrator": ("by the method gauss", "by the method heyoka"),
            "methods.md states a longer run": ("for 0.0219 years", "for 219 years"),
            "methods.md without the sentence about what is not included": (
                "The uncertainty of the masses and orbits it starts from is not included. ",
                "",
            ),
        },
        f"{NBODY}/result.json": {
            "a key twice in a result, first with another verdict": (
                '"verdict": ',
                '"verdict": "Stable for ever.",\n "verdict": ',
            )
        },
        f"{VELOCITIES}/plot.svg": {"a number of a plot changed": ("to 7.167 m/s", "to 71.67 m/s")},
        f"{NBODY}/rebound.py": {
            "rebound.py with another integrator": ('"ias15"', '"leapfrog"'),
            "rebound.py that runs a program": ("import json\n", "import json, os\n\nos.system('true')\n"),
            "rebound.py with another mass": ("4.1267943653209906e-06", "4.2267943653209906e-06"),
        },
        f"{NBODY}/start.csv": {
            "start.csv with another mass": ("4.1267943653209906e-06", "4.2267943653209906e-06"),
            "start.csv with other units": ("units: AU, days", "units: km, seconds"),
        },
    },
)
tell_edits(
    "measurements",
    {
        f"{NBODY}/job.json": {
            "a measurement by another person": lambda job: job.update(
                author="Grace", actor={**job["actor"], "name": "Grace"}
            ),
            "a measurement under the id of another job": lambda job: job.update(id="job_" + "0" * 32),
        },
    },
    expected="unproven",
)


@tells("a verdict of chaos where the run shows none", "measurements", f"{NBODY}/result.json")
def _(folder: Path) -> None:
    for name in ("result.json", "job.json"):
        replace(folder, f"{NBODY}/{name}", "No chaos appeared", "Chaos appeared", every=True)


@tells("a limit of time so low that the run is not repeated, with another end", "measurements", NBODY)
def _(folder: Path) -> None:
    edit_job(folder, NBODY, lambda job: job["options"].update(maxSeconds=1e-9))
    edit_result(folder, NBODY, lambda run: run["end"][PLANET].update(position=[1.0, 1.0, 1.0]))


@tells("options that no program accepts, with another end", "measurements", NBODY)
def _(folder: Path) -> None:
    edit_job(folder, NBODY, lambda job: job["options"].update(days=-1e12))
    edit_result(folder, NBODY, lambda run: run["end"][PLANET].update(position=[1.0, 1.0, 1.0]))


@tells("a body that the universe does not have, so that the run is not repeated", "measurements", NBODY)
def _(folder: Path) -> None:
    edit_job(folder, NBODY, lambda job: job["options"]["bodies"].append("trappist-1-i"))
    edit_result(folder, NBODY, lambda run: run["end"][PLANET].update(position=[1.0, 1.0, 1.0]))


@tells("physics that was left out said to be included", "measurements", f"{NBODY}/result.json")
def _(folder: Path) -> None:
    lines = orjson.loads((folder / NBODY / "result.json").read_bytes())["errors"]["physics"]
    said = next(line for line in lines if line.startswith("General relativity is left out"))
    for path in (f"{NBODY}/result.json", METHODS):
        replace(folder, path, said, "General relativity is included.")


@tells("another integrator in the result and in methods.md", "measurements", NBODY)
def _(folder: Path) -> None:
    edit_result(folder, NBODY, lambda run: run.update(method="heyoka"))
    replace(folder, METHODS, "by the method gauss", "by the method heyoka")


@tells("a summary of the job that is not that of its result", "measurements", NBODY)
def _(folder: Path) -> None:
    edit_job(folder, NBODY, lambda job: job["summary"].update(errorDegrees=1e-30, headline="8 days: stable for ever"))


@tells("a job of an earlier version than the universe it starts from", "measurements", NBODY)
def _(folder: Path) -> None:
    edit_job(folder, NBODY, lambda job: job.update(version=5))
    edit_result(folder, NBODY, lambda run: run.update(version=5))
    edit_json(folder, f"{NBODY}/universe.json", lambda document: document.update(version=5))
    replace(folder, METHODS, "TRAPPIST-1 (version 9) was integrated", "TRAPPIST-1 (version 5) was integrated")
    for name in ("start.csv", "rebound.py"):
        replace(folder, f"{NBODY}/{name}", "version 9" if name == "start.csv" else "VERSION = 9",
                "version 5" if name == "start.csv" else "VERSION = 5")  # fmt: skip


@tells(
    "a measurement of another state than the universe had, with all that follows from it", "measurements", VELOCITIES
)
def _(folder: Path) -> None:
    measure_again(folder, VELOCITIES, lambda stars: stars[PLANET].update(mass=stars[PLANET]["mass"] * 3))


@tells("velocities of another universe", "measurements", VELOCITIES)
def _(folder: Path) -> None:
    edit_result(folder, VELOCITIES, lambda found: found.update(id="solar-system", version=4))


@tells("transits that are early by half a second", "measurements", f"{TRANSITS}/result.json")
def _(folder: Path) -> None:
    def change(found: Any) -> None:
        for transit in found["planets"][PLANET]["transits"]:
            transit["time"] += 0.5 / 86_400

    edit_result(folder, TRANSITS, change)


@tells("not-a-number as a velocity", "measurements", VELOCITIES)
def _(folder: Path) -> None:
    replace(folder, f"{VELOCITIES}/result.json", '"least": -5.8', '"least": NaN, "old": -5.8')


@tells("the plot of another measurement", "measurements", f"{VELOCITIES}/plot.svg")
def _(folder: Path) -> None:
    (folder / VELOCITIES / "plot.svg").write_bytes((folder / TRANSITS / "plot.svg").read_bytes())


@tells("a curve of a plot moved", "measurements", f"{NBODY}/plot.svg")
def _(folder: Path) -> None:
    text = (folder / NBODY / "plot.svg").read_text()
    curve = max((line for line in text.splitlines() if line.startswith("<polyline")), key=len)
    (folder / NBODY / "plot.svg").write_text(
        text.replace(curve, curve.replace("<polyline", '<polyline transform="scale(1,0.9)"'))
    )


@tells("a plot left out", "measurements", f"{NBODY}/plot.svg")
def _(folder: Path) -> None:
    remove_files(folder, f"{NBODY}/plot.svg")


@tells("rebound.py with another time step", "measurements", f"{NBODY}/rebound.py")
def _(folder: Path) -> None:
    replace(folder, f"{NBODY}/rebound.py", "1e-3", "1e3", every=True)
