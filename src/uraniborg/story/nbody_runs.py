"""Compute the N-body runs of the story as jobs of its universes, with their Laplace angles over time."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import orjson

from universe.jobs.replies import TrajectoryLayout
from universe.jobs.service import JobService
from universe.nbody.analysis import compute_angle_series
from universe.nbody.analysis.orbit_history import compute_orbit_history
from universe.nbody.body_names import shorten_names
from universe.nbody.initial_conditions import InitialConditions, make_initial_conditions
from universe.nbody.replies import RunReply
from universe.nbody.runs import Samples
from universe.nbody.terminal_summary import format_resonant_angle
from universe.orbits.kepler_equation import Floats
from universe.orbits.units import YEAR_IN_DAYS
from universe.plotting import Drawing, Panel, Series, draw_chart
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.ids import content_id
from uraniborg.kernel.progress import ReportFraction
from uraniborg.part_services import open_jobs
from uraniborg.story.results import LaplaceAngle, RunReference
from uraniborg.story.universe_steps import read_universe

LAPLACE: Final = "laplace"
_ALL: Final = 10_000_000
_SAMPLES: Final = 800
"""About the number of points of an angle for plots."""
_COLOURS: Final = ("#8fb8de", "#ff9d5c")


class RunFailed(Unavailable):
    code = "run_failed"


@dataclass(frozen=True)
class StoredRun:
    """A run with its result."""

    about: RunReference
    """The universe, its version, its name and the job."""
    reply: RunReply
    plot: bytes
    start: InitialConditions
    angles: list[LaplaceAngle]
    """The Laplace angles: bodies, names, formula and degrees."""
    days: list[float]
    """The times of the angles."""

    @property
    def short_names(self) -> dict[str, str]:
        """The short names of the bodies by id."""
        return dict(zip(self.start.ids, shorten_names(self.start.names), strict=True))


async def integrate_universes(
    universes: Sequence[tuple[str, int]], years: float, actor: Actor, progress: ReportFraction
) -> list[RunReference]:
    """Integrate these versions of universes side by side, and return the jobs; a job that is done is not repeated."""
    done = [0.0] * len(universes)

    async def integrate(jobs: JobService, index: int) -> RunReference:
        universe_id, version = universes[index]
        options = {"kind": "nbody", "days": years * YEAR_IN_DAYS, "version": version}
        job_id = f"job_{content_id(universe_id, str(version), repr(years))[:32]}"
        job = await jobs.create(universe_id, options, actor=actor, job_id=job_id)
        is_reused = job.state == "done"
        if not is_reused and not job.is_active:  # it failed when an earlier step was interrupted
            await jobs.delete(universe_id, job_id, actor=actor)
            await jobs.create(universe_id, options, actor=actor, job_id=job_id)
        async for one in jobs.watch(universe_id, job_id):
            if one is not None:
                job, done[index] = one, one.progress
                progress(sum(done) / len(done))
        if job.state != "done":
            raise RunFailed(
                f"The N-body run {job.state}: {(job.error or {}).get('message', 'no reason is known')}",
                hint="Run the step again.",
                job_id=job_id,
            )
        name = (await jobs.universes.read_record(universe_id)).name
        return {
            "universe_id": universe_id,
            "version": version,
            "name": name,
            "job_id": job_id,
            "is_reused": is_reused,
        }

    async with open_jobs() as jobs:
        return list(await asyncio.gather(*(integrate(jobs, index) for index in range(len(universes)))))


async def read_runs(runs: Sequence[RunReference]) -> list[StoredRun]:
    """Return the results of these jobs."""
    async with open_jobs() as jobs:
        return [await _read_run(jobs, run) for run in runs]


async def _read_run(jobs: JobService, run: RunReference) -> StoredRun:
    universe_id, job_id = run["universe_id"], run["job_id"]
    _, state = await read_universe(jobs.universes, universe_id, run["version"])
    reply: RunReply = orjson.loads(await jobs.read_result(universe_id, job_id))
    layout, states = await jobs.read_trajectory(universe_id, job_id, first=0, limit=_ALL)
    start = await asyncio.to_thread(make_initial_conditions, state)
    days, angles = await asyncio.to_thread(compute_laplace_angles, reply, start, layout, states)
    return StoredRun(run, reply, await jobs.read_plot(universe_id, job_id), start, angles, days)


def compute_laplace_angles(
    reply: RunReply, start: InitialConditions, layout: TrajectoryLayout, states: bytes
) -> tuple[list[float], list[LaplaceAngle]]:
    """Return times in days and the Laplace angles at these times, from the stored trajectory."""
    numbers = np.frombuffer(states, dtype="<f4").reshape(layout["count"], len(layout["ids"]), 6).astype(np.float64)
    chosen = np.arange(0, layout["count"], max(1, layout["count"] // _SAMPLES), dtype=np.int64)
    times: Floats = np.asarray(layout["firstDay"] + layout["stepDays"] * chosen, dtype=np.float64)
    motion = compute_orbit_history(start, Samples(times, numbers[chosen, :, :3], numbers[chosen, :, 3:]))
    names = dict(zip(start.ids, shorten_names(start.names), strict=True))
    return times.tolist(), [
        {
            "bodies": one["bodies"],
            "names": [names[body] for body in one["bodies"]],
            "formula": format_resonant_angle(one, names),
            "degrees": np.round(compute_angle_series(motion, one), 2).tolist(),
        }
        for one in reply["resonances"]
        if one["kind"] == LAPLACE
    ]


def draw_comparison(runs: Sequence[StoredRun], answer: str) -> Drawing:
    """Return one panel for each Laplace angle of the first run, with the angle in all runs."""
    panels: list[Panel] = []
    for one in runs[0].angles:
        series: list[Series] = []
        for run, colour in zip(runs, _COLOURS, strict=True):
            found = next((angle for angle in run.angles if angle["bodies"] == one["bodies"]), None)
            if found is not None:
                years = [day / YEAR_IN_DAYS for day in run.days]
                series.append(Series(run.about["name"], years, found["degrees"], colour, is_points=True))
        title = f"{'-'.join(one['names'])}: {one['formula']}, degrees"
        panels.append(Panel(title, series, y_range=(0.0, 360.0), is_angle=True, height=150))
    return draw_chart(panels, title="Laplace angles", subtitle=answer, x_label="years since the start", width=880)
