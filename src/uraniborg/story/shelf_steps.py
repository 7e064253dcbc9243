"""Steps that shelve papers and read masses from their tables, up to one that no row states."""

import asyncio
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final, cast

from paper_library.domain.replies import StoredMetadata
from paper_library.service.build.builder import BuildReport, build_shelf
from paper_library.service.library import Library
from paper_library.service.shelf_catalog import SAMPLE_PAPERS
from paper_search.export import export_json
from pflow.config import load_settings
from pflow.service.engine.results import build_reply_and_write_large_outputs
from pflow.service.operations import Service
from pflow.service.run_replies import EndedRun, RunEnding
from universe.domain.entities import Star
from universe.domain.units_and_dates import convert_unit
from universe.service.initial_states import load_or_generate_state
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.bibliography.names import cite_paper
from uraniborg.kernel.errors import Conflict
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.store.files import write_atomic
from uraniborg.part_services import open_sessions
from uraniborg.story.errors import START_OVER
from uraniborg.story.folder import SHELF, StoryFolder
from uraniborg.story.results import GiveResult, ReadMass, ReadResult, Results, ShelvedText, ShelveResult, StepInputs
from uraniborg.story.review_step import list_kept_ids
from uraniborg.story.steps import AskedValue, DeclaredStep, Description, StepContext

SYSTEM: Final = "trappist-1"
"""The shipped system that gives the orbits."""
STAR: Final = "trappist-1"
WORKFLOW: Final = "masses"
PLANETS: Final = ("b", "c", "d", "e", "f", "g", "h")
READ_NODES: Final = (*PLANETS, "star")
"""The nodes of the workflow that read a mass."""


class NothingKept(Conflict):
    code = "nothing_kept"


def read_workflow() -> Any:
    return json.loads(files("uraniborg.story").joinpath(f"{WORKFLOW}.json").read_bytes())


async def run_shelve(context: StepContext, _inputs: StepInputs) -> ShelveResult:
    """Build a shelf of the kept papers, with the data sheets that the library ships for them."""
    kept = set(list_kept_ids(context.results))
    if not kept:
        raise NothingKept("No paper is kept, so there is nothing to put on a shelf.", hint=START_OVER)
    async with open_sessions() as manager:
        result = await manager.get_result(context.results["ask"]["session_id"])
    chosen = result.model_copy(update={"papers": [paper for paper in result.papers if paper.id in kept]})
    return await asyncio.to_thread(_build_and_describe_shelf, context.folder, export_json(chosen), context.actor)


def _build_and_describe_shelf(folder: StoryFolder, papers: str, actor: Actor) -> ShelveResult:
    write_atomic(folder.papers_file, papers)
    dois = {str(paper["doi"]).lower() for paper in json.loads(papers)["papers"] if paper["doi"]}
    sheets = [
        path for path in sorted((SAMPLE_PAPERS / "data_sheets").glob("*.md")) if _read_doi(path.read_text()) in dois
    ]
    report: BuildReport = build_shelf([folder.papers_file, *sheets], folder.shelf, actor=actor)
    library = Library.open(folder.shelf)
    try:
        found = library.search("", limit=100, sort="year_asc")["results"]
        papers_on_shelf = [library.metadata(one["paper_id"]) for one in found]
    finally:
        library.close()
    return {
        "papers": report.papers,
        "entries": report.entries,
        "merged": report.merged,
        "sheets": [path.name for path in sheets],
        "texts": [_describe_text(paper) for paper in papers_on_shelf if paper["has_source"]],
    }


def _describe_text(paper: StoredMetadata) -> ShelvedText:
    return {
        "paper_id": paper["paper_id"],
        "title": paper["title"],
        "authors": paper["authors"],
        "year": paper["year"],
        "source_chars": paper["source_chars"],
    }


def _read_doi(text: str) -> str:
    """Return the DOI in the header of a data sheet, in lower case."""
    line = next((line for line in text.splitlines() if line.startswith("doi:")), "doi:")
    return line.removeprefix("doi:").strip().lower()


def preview_shelve(results: Results) -> str:
    kept = list_kept_ids(results)
    return f"{plural(len(kept), 'kept paper goes', 'kept papers go')} to a shelf that you and your agent can read."


def describe_shelve(results: Results) -> Description:
    shelf = results["shelve"]
    texts = shelf["texts"]
    return Description(
        f"The shelf has {plural(shelf['papers'], 'paper')}; {len(texts)} of them "
        f"{'has' if len(texts) == 1 else 'have'} a text with tables to read.",
        [
            *(
                ("text", f"{cite_paper(one)}, {plural(one['source_chars'], 'character')}: the data sheet that the "
                 "sample shelf ships, with numbers that the paper states and none of its sentences")
                for one in texts
            ),
            ("merged", f"{plural(shelf['entries'], 'entry', 'entries')} became {plural(shelf['papers'], 'paper')}"),
        ],
        links=[("the shelf", f"/library/{SHELF}")],
    )  # fmt: skip


def _run_workflow(folder: StoryFolder, given: JsonObject, actor: Actor) -> EndedRun:
    service = Service(load_settings(), folder.own)
    service.texts.write_draft(WORKFLOW, read_workflow(), actor=actor)
    result = service.execute(WORKFLOW, {"shelf": str(folder.shelf), **given}, actor=actor)
    return build_reply_and_write_large_outputs(result, service.home)


async def run_read(context: StepContext, _inputs: StepInputs) -> ReadResult:
    """Run the workflow without the mass of the star."""
    reply = await asyncio.to_thread(_run_workflow, context.folder, {}, context.actor)
    done = reply["checkpoint"]["completed_nodes"] if reply["checkpoint"] else list(READ_NODES)
    return {"run": reply, "masses_read": [name for name in READ_NODES if name in done]}


def preview_read(results: Results) -> str:
    workflow = read_workflow()
    texts = results["shelve"]["texts"]
    place = f"the tables of {cite_paper(texts[0])}" if texts else "the tables of the shelf"
    return f"The workflow “{workflow['name']}” has {len(workflow['ir']['nodes'])} nodes and reads masses from {place}."


def describe_read(results: Results) -> Description:
    run, read = results["read"]["run"], results["read"]["masses_read"]
    if run["success"]:
        return Description(
            f"The workflow read {plural(len(read), 'mass', 'masses')}, each from a table row.", links=_link_run(run)
        )
    point, error = run["checkpoint"], run["error"]
    assert point is not None  # a run that failed has both
    assert error is not None
    return Description(
        f"The workflow read {plural(len(read), 'mass', 'masses')} and stopped at the node {point['failed_node']}; the "
        f"results of {plural(len(point['completed_nodes']), 'node')} are stored as a resume point.",
        [
            ("done", ", ".join(point["completed_nodes"])),
            ("stopped at", f"{point['failed_node']}: {error['message']}"),
            ("why", error.get("hint", "")),
            ("run", f"{run['run_id']}, {'can be resumed' if point['resumable'] else 'cannot be resumed'}"),
        ],
        links=_link_run(run),
    )


def find_shipped_star() -> Star:
    """Return the star of the shipped system, with its sources."""
    return cast("Star", load_or_generate_state(SYSTEM)["stars"][STAR])


async def run_give(context: StepContext, inputs: StepInputs) -> GiveResult:
    """Give the missing mass and run the workflow again, which resumes it."""
    reply = await asyncio.to_thread(_run_workflow, context.folder, {"star_mass": inputs["mass"]}, context.actor)
    outputs: Any = reply["outputs"]  # as the workflow declares them
    return {
        "run": cast("RunEnding", {key: value for key, value in reply.items() if key != "outputs"}),
        "given": inputs["mass"],
        "paper": outputs.get("paper"),
        "masses": list_masses(outputs),
    }


def list_masses(outputs: Mapping[str, Any]) -> list[ReadMass]:
    """Return the masses that a run of the workflow read, with their rows and commands."""
    return [
        {
            "node": node,
            "body": outputs[node]["id"],
            "command": outputs[node],
            "stated": outputs[f"{node}_stated"],
            "location": outputs[f"{node}_location"],
        }
        for node in READ_NODES
        if node in outputs
    ]


def preview_give(results: Results) -> str:
    star = find_shipped_star()
    source = next(one for one in star.get("sources") or () if "mass" in (one.get("fields") or ()))
    point = results["read"]["run"]["checkpoint"]
    missing = point["failed_node"] if point else "no node"
    return (
        f"The workflow waits at {missing}: the shipped system gives the mass of the star {star['name']} as "
        f"{star['mass']:g} solar masses and cites {cite_paper(source)}."
    )


def describe_give(results: Results) -> Description:
    done = results["give"]
    run, masses = done["run"], done["masses"]
    with_row = [one for one in masses if one["location"]]
    if not run["success"]:
        reason = run["error"]["message"] if run["error"] else ""
        return Description(f"The workflow stopped again: {reason}", links=_link_run(run))
    return Description(
        f"You gave {done['given']:g} solar masses; the run resumed, reused {plural(len(run['reused_nodes']), 'node')} "
        f"and ended with {plural(len(masses), 'mass', 'masses')}, {len(with_row)} of them with a table row.",
        [
            *((name_body(one["body"]), _describe_mass(one)) for one in masses),
            ("reused", ", ".join(run["reused_nodes"])),
            ("ran", ", ".join(run.get("not_reused") or ())),
        ],
        links=_link_run(run),
    )


def _link_run(run: RunEnding) -> list[tuple[str, str]]:
    return [("the run", f"/runs/{run['run_id']}")]


def _describe_mass(mass: ReadMass) -> str:
    location = mass["location"]
    if not location:
        return mass["stated"]
    return f"{mass['stated']}, row “{' | '.join(map(str, location.get('row') or ()))}” of “{location.get('section')}”"


def name_body(body: str) -> str:
    """Return the name of a body of the shipped system."""
    return str(load_or_generate_state(SYSTEM)["stars"][body]["name"])


def to_earth_masses(mass: float) -> float:
    """Return a mass of the universe, in solar masses, in Earth masses."""
    return convert_unit(mass, "solar_mass", "earth_mass")


STEPS: Final = (
    DeclaredStep(
        "shelve", "Kept papers go to a shelf", "you", "Build the shelf", run_shelve, preview_shelve, describe_shelve,
    ),
    DeclaredStep(
        "read", "A workflow looks for the masses", "workflow", "Run the workflow",
        run_read, preview_read, describe_read,
    ),
    DeclaredStep(
        "give", "You give the mass of the star", "you", "Give it and resume", run_give, preview_give, describe_give,
        (AskedValue("mass", "number", "The mass of the star in solar masses.",
               lambda _results: find_shipped_star()["mass"], 1e-6, 1e3),),
    ),
)  # fmt: skip
