"""The step of the bundle: one folder and one zip file with everything, described, with digests to check."""

import asyncio
import hashlib
import json
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from universe.provenance.shelf_texts import make_paper_text_reader
from uraniborg.kernel.files import make_folder, write_atomic
from uraniborg.kernel.inbox import Inbox
from uraniborg.kernel.text import plural
from uraniborg.story.bundle_files import (
    BundleFile,
    list_answer_files,
    list_nbody_files,
    list_search_files,
    list_universe_files,
    list_workflow_files,
)
from uraniborg.story.folder import Plain, StoryFolder
from uraniborg.story.search_steps import open_sessions
from uraniborg.story.steps import Description, Results, Step, StepContext
from uraniborg.story.universe_steps import open_universes
from uraniborg.story.view import QUESTION

DIGESTS: Final = "SHA256SUMS"
CRATE: Final = "ro-crate-metadata.json"
_ZIP_TIME: Final = (1980, 1, 1, 0, 0, 0)
_TYPES: Final = {
    ".md": "text/markdown",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".svg": "image/svg+xml",
    ".bib": "application/x-bibtex",
    ".csv": "text/csv",
    ".py": "text/x-python",
}


async def run_export(context: StepContext, _inputs: Plain) -> Plain:
    """Write the bundle as a folder and as a zip file."""
    results, folder = context.results, context.folder
    async with open_sessions() as manager:
        found = await manager.get_result(results["ask"]["session_id"])
    async with open_universes() as service:
        universe_files = await list_universe_files(service, results, make_paper_text_reader(folder.shelf))

    nbody_files = await list_nbody_files(results)

    def write() -> Plain:
        inbox = Inbox()
        try:
            files = [
                *list_answer_files(results, _list_done_steps(folder)),
                *list_search_files(results, found, inbox),
                *list_workflow_files(results),
                *universe_files,
                *nbody_files,
            ]
        finally:
            inbox.close()
        return write_bundle(folder.bundle, files, results["give"]["given"])

    return await asyncio.to_thread(write)


def _list_done_steps(folder: StoryFolder) -> list[Plain]:
    """Return the steps that have been run, as they were described."""
    view = folder.read_view() or {"steps": []}
    kept = ("id", "title", "sentence", "facts", "inputs", "by", "ended_at")
    return [
        {key: step[key] for key in kept}
        for step in view["steps"]
        if step["status"] == "done" and step["id"] != "export"
    ]


def write_bundle(target: Path, files: Sequence[BundleFile], star_mass: float) -> Plain:
    """Write the files with a README, the metadata of a research object and the digests, and pack them."""
    every = [BundleFile("README.md", "this page", _write_readme(files, star_mass).encode()), *files]
    every.append(BundleFile(CRATE, "the same list for programs, as RO-Crate", _write_crate(every).encode()))
    digests = "".join(f"{hashlib.sha256(one.content).hexdigest()}  {one.path}\n" for one in every)
    every.append(BundleFile(DIGESTS, "the SHA-256 digest of every other file", digests.encode()))
    if target.is_dir():
        shutil.rmtree(target)
    for one in every:
        path = target.joinpath(*PurePosixPath(one.path).parts)
        make_folder(path.parent)
        write_atomic(path, one.content)
    packed = target.with_suffix(".zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in every:
            archive.writestr(zipfile.ZipInfo(f"{target.name}/{one.path}", _ZIP_TIME), one.content)
    return {
        "folder": str(target),
        "zip": str(packed),
        "bytes": sum(len(one.content) for one in every),
        "files": [{"path": one.path, "description": one.description, "bytes": len(one.content)} for one in every],
        "digests": DIGESTS,
    }


def _write_readme(files: Sequence[BundleFile], star_mass: float) -> str:
    rows = [f"| `{one.path}` | {one.description} |" for one in files]
    return "\n".join(
        [
            f"# {QUESTION}",
            "",
            "Everything behind the answer in `answer.md`.",
            "",
            "| file | what it is |",
            "|---|---|",
            *rows,
            f"| `{CRATE}` | the same list for programs, as RO-Crate |",
            f"| `{DIGESTS}` | the SHA-256 digest of every other file |",
            "",
            "## Check it",
            "",
            "The files are those that were exported:",
            "",
            "```sh",
            f"sha256sum --check {DIGESTS}",
            "```",
            "",
            "Repeat a run with another program: `nbody/*/rebound.py` integrates the same start with REBOUND",
            "(`pip install rebound`) and prints the end, to compare with `end` in `run.json`. Repeat the rest:",
            "",
            "```sh",
            "universe import universe/universe.json --id t1",
            "paper-library build search/papers.bib shelf -o ../shelf",
            f"pflow run workflow/masses.json shelf=../shelf star_mass={star_mass:g}",
            "```",
            "",
        ]
    )


def _write_crate(files: Sequence[BundleFile]) -> str:
    """Return the metadata of the bundle after RO-Crate 1.1."""
    entities = [
        {
            "@id": one.path,
            "@type": "File",
            "description": one.description,
            "encodingFormat": _TYPES.get(PurePosixPath(one.path).suffix, "text/plain"),
            "contentSize": str(len(one.content)),
            "sha256": hashlib.sha256(one.content).hexdigest(),
        }
        for one in files
    ]
    graph = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        },
        {"@id": "./", "@type": "Dataset", "name": QUESTION, "hasPart": [{"@id": one.path} for one in files]},
        *entities,
    ]
    return json.dumps({"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}, indent=1) + "\n"


def preview_export(results: Results) -> str:
    return f"{plural(len(results), 'step is', 'steps are')} recorded; the bundle holds what each of them did."


def describe_export(results: Results) -> Description:
    bundle = results["export"]
    count = len(bundle["files"])
    return Description(
        f"The bundle has {plural(count, 'file')} of {bundle['bytes'] / 1e6:.2g} MB in all.",
        [("folder", bundle["folder"]), ("zip", bundle["zip"]), ("check", f"sha256sum --check {bundle['digests']}")],
    )


EXPORT: Final = Step("export", "You export the bundle", "you", "Export", run_export, preview_export, describe_export,
                     can_repeat=True)  # fmt: skip
