"""Step that writes the bundle: one folder and one zip file with everything, and the files that only the story has."""

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, cast

from paper_library.domain.replies import StoredMetadata
from paper_library.service.shelf_catalog import SAMPLE_PAPERS
from universe.domain.plotting import render_svg
from universe.service.papers import make_paper_text_reader
from uraniborg.bundle.export import ExportSelection, collect_files
from uraniborg.bundle.pieces import BundleFile, BundlePiece, Chosen, make_json_file, make_names, make_text_file
from uraniborg.bundle.ro_crate_files import DIGESTS
from uraniborg.bundle.writer import write_bundle
from uraniborg.connect.server_entries import format_program
from uraniborg.kernel.bibliography.names import cite_paper
from uraniborg.kernel.language.messages import plural
from uraniborg.story.folder import SHELF, StoryFolder
from uraniborg.story.nbody_steps import StoredRun, draw_comparison, read_runs
from uraniborg.story.replies import DoneStep
from uraniborg.story.resonance_verdicts import format_multiple
from uraniborg.story.results import ExportResult, Results, StepInputs, StoryComparisonFacts
from uraniborg.story.steps import DeclaredStep, Description, StepContext, format_question
from uraniborg.story.universe_steps import format_mass_line

DATA_SHEETS: Final = SAMPLE_PAPERS / "data_sheets"


def select_work(results: Results) -> ExportSelection:
    """Return the search, shelf, runs, universes and N-body runs of the story."""
    built, branches = results["build"], [results["branch"], results["break"]["branch"]]
    jobs = [*results["compare"]["runs"], results["break"]["runs"][1]]
    return ExportSelection(
        searches=[Chosen(results["ask"]["session_id"], SHELF)],
        shelves=[Chosen(SHELF)],
        runs=[
            Chosen(results["read"]["run"]["run_id"] or "", "masses-stopped"),
            Chosen(results["give"]["run"]["run_id"] or "", "masses-resumed"),
        ],
        universes=[
            Chosen(built["universe_id"], SHELF),
            *(Chosen(one["universe_id"], _name_factor(one["factor"])) for one in branches),
        ],
        jobs=[
            Chosen(job["job_id"], _name_factor(factor))
            for job, factor in zip(jobs, [1.0, *(one["factor"] for one in branches)], strict=True)
        ],
    )


def _name_factor(factor: float) -> str:
    return f"h-times-{factor:g}"


class StoryComparison(NamedTuple):
    """A comparison as the bundle has it: the name of its files, its facts, and both runs."""

    name: str
    facts: StoryComparisonFacts
    runs: Sequence[StoredRun]


async def collect_story_piece(results: Results, steps: Sequence[DoneStep]) -> BundlePiece:
    compared = [results["compare"], results["break"]]
    base, *others = await read_runs([*compared[0]["runs"], compared[1]["runs"][1]])
    names = make_names([Chosen(_name_factor(found["factor"])) for found in compared])
    comparisons = [
        StoryComparison(
            name,
            cast("StoryComparisonFacts", {key: found[key] for key in found if key not in ("branch", "picture")}),
            [base, other],
        )
        for name, found, other in zip(names, compared, others, strict=True)
    ]
    sheets = results["shelve"]["sheets"]
    return make_story_piece(results, steps, {name: (DATA_SHEETS / name).read_bytes() for name in sheets}, comparisons)


def make_story_piece(
    results: Results, steps: Sequence[DoneStep], sheets: Mapping[str, bytes], comparisons: Sequence[StoryComparison]
) -> BundlePiece:
    """Return the files of the story that no part has, and the sentences about the masses."""
    return BundlePiece(
        [
            make_text_file("answer.md", "the question, the answers, and the masses", _write_answers(results)),
            make_json_file("steps.json", "every step: its sentence, who ran it and when", steps),
            *(
                BundleFile(f"shelves/{SHELF}/texts/{name}", "the data sheet whose table rows state the masses", content)
                for name, content in sheets.items()
            ),
            make_json_file(
                "masses.json", "the masses that the workflow read, with rows and commands", results["give"]["masses"]
            ),
            *(file for one in comparisons for file in _list_comparison_files(one)),
        ],
        _describe_reading(results),
        [str(step["ended_at"]) for step in steps],
    )


def _list_comparison_files(one: StoryComparison) -> list[BundleFile]:
    drawing = draw_comparison(one.runs, one.facts["answer"])
    return [
        make_json_file(
            f"comparisons/{one.name}.json", "the comparison, its answer, and the angles over time", one.facts
        ),
        make_text_file(
            f"comparisons/{one.name}.svg",
            f"the Laplace angles at 1 and {one.facts['factor']:g} times the mass",
            render_svg(drawing),
        ),
    ]


def _write_answers(results: Results) -> str:
    """Return the page as Markdown."""
    lines = [
        f"# {format_question(results['branch']['factor'])}",
        "",
        *(
            f"- **Planet h {format_multiple(found['factor'])} as heavy**: {found['answer']}"
            for found in (results["compare"], results["break"])
        ),
        "",
        "`methods.md` describes how this was found.",
        "",
        "## What the runs leave out",
        "",
        *(f"- {sentence}" for sentence in results["compare"]["left_out"]),
        "",
        "## The masses",
        "",
        *(f"- {one['name']}: {format_mass_line(one)}" for one in results["build"]["masses"]),
        "",
    ]
    return "\n".join(lines)


def _describe_reading(results: Results) -> list[str]:
    """Return how the masses were read, and how the answers follow from the runs."""
    given = results["give"]
    paper = cast("StoredMetadata", given["paper"])  # the story ends with all masses
    with_row = sum(bool(one["location"]) for one in given["masses"])
    without = [one for one in given["masses"] if not one["location"]]
    return [
        f"Of {len(given['masses'])} masses, {with_row} are from table rows of the data sheet of "
        f"{cite_paper(paper)}, doi:{paper['identifiers'].get('doi', '')}.",
        *(
            f"A person gave the mass of {one['body']}, {one['stated']}; no row on the shelf states it."
            for one in without
        ),
        "The orbits are those of the shipped system; `values.csv` of each universe names the sources of its values.",
        "A resonance holds if its Laplace angle librates during the whole span of the run.",
    ]


async def run_export(context: StepContext, _inputs: StepInputs) -> ExportResult:
    """Write the bundle as a folder and as a zip file."""
    results, folder = context.results, context.folder
    steps = await asyncio.to_thread(_list_done_steps, folder)
    files = await collect_files(
        select_work(results),
        title=format_question(results["branch"]["factor"]),
        folder=folder.own,
        text_of=make_paper_text_reader(folder.shelf),
        more=await collect_story_piece(results, steps),
        steps=list_repetitions(results),
    )
    return await asyncio.to_thread(_write_both, folder, files)


def _write_both(folder: StoryFolder, files: list[BundleFile]) -> ExportResult:
    packed = folder.bundle.with_suffix(".zip")
    for target in (folder.bundle, packed):
        write_bundle(target, files, replace=True)
    return {
        "folder": str(folder.bundle),
        "zip": str(packed),
        "bytes": sum(len(one.content) for one in files),
        "files": [{"path": one.path, "description": one.description, "bytes": len(one.content)} for one in files],
        "digests": DIGESTS,
        "check": f"{format_program('uraniborg')} verify {shlex.quote(str(packed))}",
    }


def _list_done_steps(folder: StoryFolder) -> list[DoneStep]:
    """Return the steps that have been run, as they were described."""
    view = folder.read_view() or {"steps": []}
    return [
        {
            "id": step["id"],
            "title": step["title"],
            "sentence": step["sentence"],
            "facts": step["facts"],
            "inputs": step["inputs"],
            "by": step["by"],
            "ended_at": step["ended_at"],
        }
        for step in view["steps"]
        if step["status"] == "done" and step["id"] != "export"
    ]


def list_repetitions(results: Results) -> list[str]:
    """Return lines of the page of the bundle that repeat the work in other data folders and programs."""
    return [
        "",
        "Repeat a run with another program: `measurements/*/rebound.py` integrates the same start with REBOUND",
        "(`pip install rebound`) and prints the end, to compare with `end` in `result.json`. Repeat the rest:",
        "",
        "```sh",
        f"universe import universes/{SHELF}/universe.json --id t1",
        f"paper-library build shelves/{SHELF}/papers.bib shelves/{SHELF}/texts -o ../shelf",
        f"pflow run workflows/masses.json shelf=../shelf star_mass={results['give']['given']:g}",
        "```",
    ]


def preview_export(results: Results) -> str:
    return f"{plural(len(results), 'step is', 'steps are')} recorded; the bundle holds what each of them did."


def describe_export(results: Results) -> Description:
    bundle = results["export"]
    count = len(bundle["files"])
    return Description(
        f"The bundle has {plural(count, 'file')} of {bundle['bytes'] / 1e6:.2g} MB in all.",
        [("folder", bundle["folder"]), ("zip", bundle["zip"]), ("check", bundle["check"])],
    )


EXPORT: Final = DeclaredStep(
    "export", "You export the bundle", "you", "Export", run_export, preview_export, describe_export, can_repeat=True,
)  # fmt: skip
