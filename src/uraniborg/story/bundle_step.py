"""Step that writes the bundle: one folder and one zip file with everything, described, with digests."""

import asyncio
import shlex
from typing import Final

from universe.provenance.shelf_texts import make_paper_text_reader
from uraniborg.bundle.crate import DIGESTS
from uraniborg.bundle.export import collect_files
from uraniborg.bundle.pieces import BundleFile
from uraniborg.bundle.writer import write_bundle
from uraniborg.connect.servers import format_program
from uraniborg.kernel.text import plural
from uraniborg.story.bundle_files import collect_story_piece, select_work
from uraniborg.story.folder import SHELF, StoryFolder
from uraniborg.story.replies import DoneStep
from uraniborg.story.results import ExportResult, Results, StepInputs
from uraniborg.story.steps import Description, Step, StepContext
from uraniborg.story.view import format_question


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


EXPORT: Final = Step("export", "You export the bundle", "you", "Export", run_export, preview_export, describe_export,
                     can_repeat=True)  # fmt: skip
