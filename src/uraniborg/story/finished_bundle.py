"""The bundle of a finished story: find it for `uraniborg export`, and check its own files for `uraniborg verify`."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from universe.claims import PaperTextReader
from universe.domain.nbody.initial_conditions import make_initial_conditions
from universe.domain.nbody.measurement_replies import RunReply
from uraniborg.bundle.command import CHOICES
from uraniborg.bundle.inspection import Check, Inspection, PieceKind, RepeatedRun, Verified, make_statement
from uraniborg.bundle.pieces import BundleFile
from uraniborg.bundle.reader import Bundle, UnreadableBundle
from uraniborg.kernel.errors import UsageError
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.progress_callbacks import ReportItem
from uraniborg.story.bundle_step import DATA_SHEETS, StoryComparison, list_repetitions, make_story_piece
from uraniborg.story.folder import SHELF, find_story_home
from uraniborg.story.nbody_steps import StoredRun, compute_laplace_angles, make_comparison
from uraniborg.story.results import AngleSeries, ReadMass, Results, RunReference, StoryComparisonFacts
from uraniborg.story.service import Story
from uraniborg.story.shelf_steps import list_masses
from uraniborg.story.steps import format_question
from uraniborg.story.universe_steps import PLANET, describe_masses

_TEXTS: Final = f"shelves/{SHELF}/texts/"
_STEPS: Final = "steps.json"
_HUNDREDTHS: Final = 0.0201
"""The difference of angles that are stored in hundredths of a degree, when rounding makes the last digit another."""


def _find_story(bundle: Bundle) -> list[str]:
    names = ("answer.md", _STEPS, "masses.json")
    return ["the story"] if any(map(bundle.has, names)) or bundle.find_documents("comparisons") else []


def verify_story(inspection: Inspection, _item: str) -> Verified:
    """Make the answers, the masses and the comparisons of the story again."""
    bundle, checks = inspection.bundle, list[Check]()
    comparisons: list[StoryComparison] = []
    for path in sorted(bundle.find_documents("comparisons"), key=inspection.find_rank):
        found, comparison = _verify_comparison(inspection, path)
        checks += found
        if comparison is not None:
            comparisons.append(comparison)
    if any(check.result == "differs" for check in checks) or len(comparisons) != 2:
        problem = Check("comparisons", "differs", "the story has two comparisons, each of two runs of the bundle")
        return Verified([*checks, *([] if any(one.result == "differs" for one in checks) else [problem])], None)
    first, second = (one.facts for one in comparisons)
    run = _find_run(bundle)
    sheets = {
        path.removeprefix(_TEXTS): bundle.read(path)
        for path in sorted(bundle.paths, key=inspection.find_rank)
        if path.startswith(_TEXTS)
    }
    checks += _check_sheets(sheets)
    base = inspection.runs[first["runs"][0]["job_id"]]
    outputs = cast("JsonObject", run["outputs"])
    masses = list_masses(outputs)
    # Those of the results that the files are made from.
    made_from = {
        "branch": {"factor": first["factor"]},
        "compare": first,
        "break": second,
        "build": {"masses": describe_masses(base.state, _make_text_reader(sheets))},
        "give": {"masses": masses, "paper": outputs["paper"], "given": cast("JsonObject", run["inputs"])["star_mass"]},
    }
    results = cast("Results", made_from)
    steps: Any = bundle.read_json(_STEPS)
    checks += [*_check_commands(inspection, base, masses), *_check_steps(steps, first, second)]
    return Verified(
        checks,
        make_story_piece(results, steps, sheets, comparisons),
        format_question(first["factor"]),
        tuple(list_repetitions(results)),
    )


def _verify_comparison(inspection: Inspection, path: str) -> tuple[list[Check], StoryComparison | None]:
    """Compare two runs again; their angles are those of the repeated runs, within the rounding of both."""
    stored = cast("StoryComparisonFacts", inspection.bundle.read_object(path))
    missing = [str(run["job_id"]) for run in stored["runs"] if run["job_id"] not in inspection.runs]
    if missing or len(stored["runs"]) != 2:
        shown = missing[0][:80] if missing else "second"
        return [Check(path, "differs", f"the bundle does not have the run {shown}")], None
    runs = [
        _read_run(inspection, about, series) for about, series in zip(stored["runs"], stored["angles"], strict=True)
    ]
    repeated = [inspection.runs[about["job_id"]] for about in stored["runs"]]
    made = make_comparison(runs, stored["factor"])
    problems = [*_list_wrong_runs(stored, repeated), *_list_wrong_facts(stored, made)]
    checks = [Check(path, "differs", problem) for problem in problems]
    checks += [check for one, run in zip(repeated, runs, strict=True) for check in _check_angles(path, one, run)]
    if not any(check.result == "differs" for check in checks):
        checks.append(Check(path, "matched", f"the answer follows from both runs: {made['answer']}"))
        checks.append(make_statement(path, "is_reused: whether a run was stored before; only this record states it"))
    name = path.removeprefix("comparisons/").removesuffix(".json")
    return checks, StoryComparison(name, made, runs)


def _read_run(inspection: Inspection, about: RunReference, series: AngleSeries) -> StoredRun:
    run = inspection.runs[about["job_id"]]
    start = make_initial_conditions(run.state)
    return StoredRun(about, cast("RunReply", run.reply), b"", start, series["angles"], series["days"])


def _list_wrong_runs(stored: StoryComparisonFacts, repeated: Sequence[RepeatedRun]) -> Iterator[str]:
    for about, run in zip(stored["runs"], repeated, strict=True):
        if set(about) != {"universe_id", "version", "name", "job_id", "is_reused"}:
            yield "a run has other fields than those of a run"
        elif (about["universe_id"], about["version"]) != (run.job["universeId"], run.job["version"]):
            yield f"the run {str(about['job_id'])[:80]} is of another universe or version"
        elif about["name"] != run.title:
            yield f"the run {str(about['job_id'])[:80]} is of a universe with another name"
    first, second = (run.state["stars"][PLANET]["mass"] for run in repeated)
    if not abs(second - first * stored["factor"]) <= 1e-9 * abs(second):
        yield f"factor is {stored['factor']:g}, and the masses of {PLANET} have the ratio {second / first:g}"


def _list_wrong_facts(stored: StoryComparisonFacts, made: StoryComparisonFacts) -> Iterator[str]:
    if stored["answer"] != made["answer"] or stored["verdict"] != made["verdict"]:
        yield f"the answer is “{str(stored['answer'])[:200]}”, repeated “{made['answer']}”"
    for name in sorted({*stored, *made} - {"answer", "verdict", "angles"}):
        if stored.get(name) != made.get(name):
            yield f"{name[:40]} is not that of the two runs"


def _check_angles(path: str, repeated: RepeatedRun, run: StoredRun) -> Iterator[Check]:
    name = str(run.about["name"])[:60]
    if repeated.trajectory is None:
        yield Check(path, "not repeated", f"the angles of {name}: the run was not repeated")
        return
    days, angles = compute_laplace_angles(run.reply, run.start, repeated.trajectory.layout, repeated.trajectory.states)
    allowed = _HUNDREDTHS + 10 * max((one["degrees"] or 0.0 for one in run.reply["error"].values()), default=0.0)
    is_same = days == run.days and len(angles) == len(run.angles)
    for one, other in zip(run.angles, angles, strict=False):
        is_same = is_same and {**one, "degrees": 0} == {**other, "degrees": 0}
        is_same = is_same and len(one["degrees"]) == len(other["degrees"])
        is_same = is_same and all(
            abs((a - b + 180) % 360 - 180) <= allowed
            for a, b in zip(one["degrees"], other["degrees"], strict=False)
        )  # fmt: skip
    if not is_same:
        yield Check(path, "differs", f"the angles of {name} are not those of the repeated run")


def _find_run(bundle: Bundle) -> JsonObject:
    """Return the run of the workflow that read all masses. Raise Unreadable."""
    for path in bundle.find_documents("runs"):
        run = bundle.read_object(path)
        outputs = run.get("outputs")
        if run.get("status") == "success" and isinstance(outputs, dict) and "star" in outputs:
            return run
    raise UnreadableBundle("the bundle has no run that read all masses")


def _check_sheets(sheets: Mapping[str, bytes]) -> Iterator[Check]:
    """Yield whether the data sheets are those that this program ships."""
    for name, content in sheets.items():
        shipped = DATA_SHEETS / name
        if "/" not in name and shipped.is_file():
            if shipped.read_bytes() == content:
                yield Check(f"{_TEXTS}{name}", "matched", "as this program ships it")
            else:
                yield Check(f"{_TEXTS}{name}", "differs", "is not the data sheet that this program ships")
        else:
            yield Check(f"{_TEXTS}{name}", "not checked", "this program ships no such data sheet")


def _make_text_reader(sheets: Mapping[str, bytes]) -> PaperTextReader:
    texts = {
        line.removeprefix("doi:").strip().lower(): text
        for text in (content.decode("utf-8", "replace") for content in sheets.values())
        for line in text.splitlines()
        if line.startswith("doi:")
    }
    return lambda source: texts.get(str(source.get("doi") or "").lower())


def _check_commands(inspection: Inspection, base: RepeatedRun, masses: Sequence[ReadMass]) -> Iterator[Check]:
    """Yield whether the commands of the workflow are those in the log of the universe."""
    for history in inspection.histories.values():
        if history.universe_id == base.job["universeId"]:
            if history.commands == [one["command"] for one in masses]:
                yield Check("masses.json", "matched", f"its commands are those in {history.folder}/log.jsonl")
            else:
                yield Check("masses.json", "differs", f"its commands are not those in {history.folder}/log.jsonl")


def _check_steps(steps: Any, *comparisons: StoryComparisonFacts) -> Iterator[Check]:
    """Yield whether the steps have the answers, and that only they state the rest."""
    for step_id, found in zip(("compare", "break"), comparisons, strict=True):
        sentences = [step["sentence"] for step in steps if step["id"] == step_id]
        if sentences != [found["answer"]]:
            yield Check(_STEPS, "differs", f"the sentence of {step_id} is not the answer of the comparison")
    yield make_statement(_STEPS, "what each step says, who ran it, when and with which inputs: only it states them")


STORY: Final = PieceKind(_find_story, verify_story)


async def read_story_bundle(report: ReportItem) -> list[BundleFile]:
    """Rewrite the bundle of the last story and return its files. Raise UsageError if the story is not finished."""
    home = find_story_home()
    story = Story(home)
    if not await asyncio.to_thread(story.folder.state_file.is_file):
        raise UsageError("Nothing is chosen, and there is no story.", hint=CHOICES)
    try:
        report("the story")
        state = await story.get_state()
        if state["next"] not in (None, "export"):
            raise UsageError(
                f"Nothing is chosen, and the story is not finished: its next step is '{state['next']}'.",
                hint=f"Finish it with `uraniborg demo --script`, or choose. {CHOICES}",
            )
        result: Any = (await story.run_step("export"))["result"]
    finally:
        await story.aclose()

    def read() -> list[BundleFile]:
        folder: Path = story.folder.bundle
        return [
            BundleFile(one["path"], one["description"], (folder / one["path"]).read_bytes()) for one in result["files"]
        ]

    return await asyncio.to_thread(read)
