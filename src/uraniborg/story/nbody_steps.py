"""Steps that integrate and compare two universes, and then a third one with another mass, as jobs of universes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import orjson

from universe.domain.names_and_numbers import format_two_digits, shorten_names
from universe.domain.nbody.analysis import compare_run_analyses, compute_angle_series
from universe.domain.nbody.analysis.resonances import format_resonant_angle
from universe.domain.nbody.initial_conditions import InitialConditions, make_initial_conditions
from universe.domain.nbody.measurement_replies import RunReply
from universe.domain.nbody.osculating_orbits import compute_orbit_history
from universe.domain.nbody.run_reports import START_NOT_INCLUDED
from universe.domain.nbody.runs import RunSamples
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.plotting import Drawing, Panel, Series, draw_chart
from universe.domain.units_and_dates import YEAR_IN_DAYS
from universe.service.jobs.job_service import JobService
from universe.service.jobs.options_and_replies import TrajectoryLayout
from universe.service.universe_files import write_drawing
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.ids import content_id
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.progress_callbacks import ReportFraction
from uraniborg.kernel.store.files import make_folder, write_atomic
from uraniborg.part_services import open_jobs
from uraniborg.story.folder import StoryFolder
from uraniborg.story.resonance_verdicts import answer_question, format_multiple, format_span
from uraniborg.story.results import (
    BreakResult,
    CompareResult,
    IntegrateResult,
    LaplaceAngle,
    NamedResonance,
    Results,
    RunReference,
    StepInputs,
    StoryComparisonFacts,
)
from uraniborg.story.steps import AskedValue, DeclaredStep, Description, StepContext
from uraniborg.story.universe_steps import (
    LEAST_FACTOR,
    MOST_FACTOR,
    PLANET,
    branch_with_other_mass,
    describe_replacement,
    format_branch_title,
    read_universe,
)

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
    motion = compute_orbit_history(start, RunSamples(times, numbers[chosen, :, :3], numbers[chosen, :, 3:]))
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


async def compare_runs(folder: StoryFolder, first: RunReference, second: RunReference, factor: float) -> CompareResult:
    """Return the comparison of two runs with the answer in words, and draw their Laplace angles side by side."""
    return await asyncio.to_thread(_compare_stored_runs, folder, await read_runs([first, second]), factor)


def _compare_stored_runs(folder: StoryFolder, runs: list[StoredRun], factor: float) -> CompareResult:
    found = make_comparison(runs, factor)
    picture = folder.plots / f"laplace-angles-h-times-{factor:g}.svg"
    make_folder(folder.plots)
    write_drawing(draw_comparison(runs, found["answer"]), picture)
    return {**found, "picture": str(picture.relative_to(folder.own))}


def make_comparison(runs: Sequence[StoredRun], factor: float) -> StoryComparisonFacts:
    """Return the comparison of two runs: the answer in words, the resonances, the angles and the errors."""
    base, other = runs
    names = dict(zip(base.start.ids, base.start.names, strict=True))
    labels = [f"{run.about['name']} (version {run.about['version']})" for run in runs]
    comparison = compare_run_analyses(base.reply, other.reply, labels)
    answer = answer_question(
        base.reply, other.reply, comparison, planet=names[PLANET], factor=factor, names=base.short_names
    )
    return {
        "planet": PLANET,
        "factor": factor,
        "verdict": answer.verdict,
        "answer": answer.sentence,
        "comparison": comparison["verdict"],
        "runs": [run.about for run in runs],
        "resonances": [
            {**row, "names": [base.short_names[body] for body in row["bodies"]]}
            for row in comparison["resonances"]
            if row["kind"] == LAPLACE
        ],
        "angles": [{"name": run.about["name"], "days": run.days, "angles": run.angles} for run in runs],
        "errors_degrees": [max(one["degrees"] or 0.0 for one in run.reply["error"].values()) for run in runs],
        "trustworthy": [run.reply["trustworthy"] for run in runs],
        "days": [run.reply["days"] for run in runs],
        "verdicts": [run.reply["verdict"] for run in runs],
        "left_out": base.reply["errors"]["physics"],
    }


async def run_integrate(context: StepContext, inputs: StepInputs) -> IntegrateResult:
    """Integrate the universe and the branch."""
    built, branch = context.results["build"], context.results["branch"]
    universes = [(built["universe_id"], built["version"]), (branch["universe_id"], branch["version"])]
    runs = await integrate_universes(universes, inputs["years"], context.actor, context.progress)
    make_folder(context.folder.plots)
    days: list[float] = []
    for run, stored in zip(runs, await read_runs(runs), strict=True):
        await asyncio.to_thread(write_atomic, context.folder.plots / f"{run['job_id']}.svg", stored.plot)
        days.append(stored.reply["days"])
    return {"years": inputs["years"], "days": days, "runs": runs}


def preview_integrate(results: Results) -> str:
    branch = results["branch"]
    return (
        f"Both universes are integrated, each twice to measure the error: the one with {branch['before']:.4g} and the "
        f"one with {branch['after']['earth_masses']:.4g} Earth masses."
    )


def describe_integrate(results: Results) -> Description:
    done = results["integrate"]
    reused = sum(run["is_reused"] for run in done["runs"])
    return Description(
        f"{plural(len(done['runs']), 'universe')} moved for {_list_spans(done['days'])}"
        f"{f', {reused} of them as stored before' if reused else ''}.",
        [(run["name"], f"version {run['version']}, {run['job_id']}") for run in done["runs"]],
        [f"plots/{run['job_id']}.svg" for run in done["runs"]],
        [(run["name"], f"/universes/{run['universe_id']}?job={run['job_id']}") for run in done["runs"]],
    )


async def run_compare(context: StepContext, _inputs: StepInputs) -> CompareResult:
    """Compare the two runs and answer the question."""
    first, second = context.results["integrate"]["runs"]
    return await compare_runs(context.folder, first, second, context.results["branch"]["factor"])


def preview_compare(results: Results) -> str:
    names = " and ".join(run["name"] for run in results["integrate"]["runs"])
    return f"The runs of {names} are stored; their Laplace angles decide the answer."


def describe_comparison(found: CompareResult, title: str = "", more: Sequence[tuple[str, str]] = ()) -> Description:
    """Return the answer, the swing of each angle in both runs, the errors, and more facts."""
    errors = " and ".join(f"{error:.1g}" for error in found["errors_degrees"])
    return Description(
        found["answer"],
        [
            *(("-".join(row["names"]), _describe_resonance(row)) for row in found["resonances"]),
            ("error", f"The integration itself is accurate to {errors} degrees of each orbit. {START_NOT_INCLUDED}"),
            ("holds for", f"{_list_spans(found['days'])}. {found['comparison'].rpartition('. ')[2]}"),
            ("left out", " ".join(found["left_out"])),
            *more,
        ],
        [found["picture"]],
        [(run["name"], f"/universes/{run['universe_id']}?job={run['job_id']}") for run in found["runs"]],
        title,
    )


def _list_spans(days: list[float]) -> str:
    """Return the spans of runs in words; runs that moved as long as each other have one."""
    return " and ".join(dict.fromkeys(map(format_span, days)))


def _describe_resonance(row: NamedResonance) -> str:
    texts = [
        f"{behaviour or 'not near'}"
        + (f", swing {format_two_digits(swing)} degrees" if behaviour == "librates" and swing is not None else "")
        for behaviour, swing in zip(row["behaviour"], row["halfRange"], strict=True)
    ]
    return f"{texts[0]} → {texts[1]}"


async def run_break(context: StepContext, inputs: StepInputs) -> BreakResult:
    """Set a third mass of the planet on another branch, integrate it, and compare it with the first universe."""
    earlier = context.results["break"]["branch"]["universe_id"] if "break" in context.results else None
    branch = await branch_with_other_mass(context, inputs["factor"], earlier)
    integrated, universes = context.results["integrate"], [(branch["universe_id"], branch["version"])]
    (run,) = await integrate_universes(universes, integrated["years"], context.actor, context.progress)
    compared = await compare_runs(context.folder, integrated["runs"][0], run, inputs["factor"])
    return {"branch": branch, **compared}


def preview_break(results: Results) -> str:
    found = results["compare"]
    return (
        f"With planet h {format_multiple(found['factor'])} as heavy, the answer was “{found['verdict']}”; how does it "
        "change with the mass?"
    )


def describe_break(results: Results) -> Description:
    factor = results["break"]["factor"]
    replaced = ("if run again", describe_replacement(factor))
    return describe_comparison(results["break"], format_branch_title(factor), [replaced])


INTEGRATE: Final = DeclaredStep(
    "integrate", "Both universes move", "computer", "Run N-body", run_integrate, preview_integrate, describe_integrate,
    (AskedValue("years", "number", "The span of the runs in years.", lambda _results: 10.0, 0.1, 100),),
    can_repeat=True,
)  # fmt: skip
COMPARE: Final = DeclaredStep(
    "compare", "Both runs are compared", "computer", "Compare",
    run_compare, preview_compare, lambda results: describe_comparison(results["compare"]), can_repeat=True,
)  # fmt: skip
BREAK: Final = DeclaredStep(
    "break", "You try another mass", "you", "Try it",
    run_break, preview_break,
    describe_break,
    (AskedValue("factor", "number", "How many times as heavy planet h becomes.", lambda _results: 50.0,
           LEAST_FACTOR, MOST_FACTOR),),
    can_repeat=True,
)  # fmt: skip
