"""Steps that integrate and compare two universes, and then a third one with another mass."""

import asyncio
from collections.abc import Sequence
from typing import Final

from universe.nbody.analysis import compare_run_analyses
from universe.nbody.reports import START_NOT_INCLUDED
from universe.nbody.text_formats import format_two_digits
from universe.universe_files import write_drawing
from uraniborg.comparison_answers import answer_question, format_multiple, format_span
from uraniborg.kernel.files import make_folder, write_atomic
from uraniborg.kernel.text import plural
from uraniborg.story.folder import StoryFolder
from uraniborg.story.nbody_runs import LAPLACE, StoredRun, draw_comparison, integrate_universes, read_runs
from uraniborg.story.results import (
    BreakResult,
    CompareResult,
    IntegrateResult,
    NamedResonance,
    Results,
    RunReference,
    StepInputs,
    StoryComparisonFacts,
)
from uraniborg.story.steps import AskedValue, Description, Step, StepContext
from uraniborg.story.universe_steps import (
    LEAST_FACTOR,
    MOST_FACTOR,
    PLANET,
    branch_with_other_mass,
    describe_replacement,
    format_branch_title,
)


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


INTEGRATE: Final = Step(
    "integrate", "Both universes move", "computer", "Run N-body", run_integrate, preview_integrate, describe_integrate,
    (AskedValue("years", "number", "The span of the runs in years.", lambda _results: 10.0, 0.1, 100),),
    can_repeat=True,
)  # fmt: skip
COMPARE: Final = Step(
    "compare", "Both runs are compared", "computer", "Compare",
    run_compare, preview_compare, lambda results: describe_comparison(results["compare"]), can_repeat=True,
)  # fmt: skip
BREAK: Final = Step(
    "break", "You try another mass", "you", "Try it",
    run_break, preview_break,
    describe_break,
    (AskedValue("factor", "number", "How many times as heavy planet h becomes.", lambda _results: 50.0,
           LEAST_FACTOR, MOST_FACTOR),),
    can_repeat=True,
)  # fmt: skip
