"""Collect searches, shelves, workflows and runs for a bundle, with decisions, inputs and outputs."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypedDict, cast

from paper_library.service.export import CitedPaper, format_cited_papers
from paper_library.service.library import Library
from paper_library.service.shelf_catalog import find_known_shelf
from paper_search.domain.review_models import ReviewStatus
from paper_search.export import export
from paper_search.export.prisma_flow import build_prisma_flow, count_screened_by_judge
from paper_search.models import PaperCollection
from paper_search.recordings import find_offline_notice
from pflow.config import load_settings
from pflow.errors import WorkflowNotFound
from pflow.service.operations import Service
from pflow.service.run_replies import RunDetails
from uraniborg.bundle.pieces import BundlePiece, Chosen, make_json_file, make_names, make_text_file
from uraniborg.bundle.records import DecisionRecord
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.settings import data_dir
from uraniborg.kernel.store.inbox import Inbox, InboxEntry
from uraniborg.part_services import open_sessions

BIBLIOGRAPHIES = {
    "papers.bib": ("bibtex", "as BibTeX"),
    "papers.ris": ("ris", "as RIS"),
    "papers.csl.json": ("csl-json", "as CSL-JSON"),
}
"""The file, the name of the format, and the description of each bibliography."""
SHELF_RECORD: Final = "shelf.json"
_SEARCH_LOGS = {
    "search-log.md": ("prisma", "the search log after PRISMA 2020"),
    "search-log.json": ("prisma-json", "the search log as JSON"),
    "flow.svg": ("prisma-svg", "the PRISMA flow diagram"),
    "result.json": ("json", "the result of the search with its whole log, from which the other files are made"),
}


async def collect_searches(chosen: Sequence[Chosen]) -> list[BundlePiece]:
    """Return the pieces of these searches. Raise SessionNotFound, or Conflict for a search that has no result yet."""
    if not chosen:
        return []
    pieces: list[BundlePiece] = []
    async with open_sessions() as manager:
        for one, name in zip(chosen, make_names(chosen), strict=True):
            session_id = await manager.resolve_id_prefix(one.id)
            found = await manager.get_result(session_id)
            decisions = await asyncio.to_thread(_list_decisions, session_id)
            pieces.append(await asyncio.to_thread(make_search_piece, found, decisions, f"searches/{name}"))
    return pieces


def make_search_piece(found: PaperCollection, decisions: Sequence[DecisionRecord], folder: str) -> BundlePiece:
    kept = select_kept_papers(found)
    return BundlePiece(
        [
            *(
                make_text_file(f"{folder}/{name}", description, export(found, format_name))
                for name, (format_name, description) in _SEARCH_LOGS.items()
            ),
            *(
                make_text_file(f"{folder}/{name}", f"the kept papers {written}", export(kept, format_name))
                for name, (format_name, written) in BIBLIOGRAPHIES.items()
            ),
            make_json_file(
                f"{folder}/decisions.json", "the decisions: who, through which interface, when, and why", decisions
            ),
        ],
        _describe_search(found, kept, decisions),
        [found.metadata.timestamp, *(str(one["decided_at"]) for one in decisions if one.get("decided_at"))],
    )


def select_kept_papers(found: PaperCollection) -> PaperCollection:
    """Return the collection with the papers that a person included; with all that no person left out if none is."""
    included = [paper for paper in found.papers if paper.status == ReviewStatus.INCLUDE]
    others = [paper for paper in found.papers if paper.status != ReviewStatus.EXCLUDE]
    return found.model_copy(update={"papers": included or others})


def _list_decisions(session_id: str) -> list[DecisionRecord]:
    inbox = Inbox()
    try:
        entries = [one for one in inbox.beginning_with(session_id) if one.decision is not None]
    finally:
        inbox.close()
    return [describe_decision_record(one) for one in entries]


def describe_decision_record(entry: InboxEntry) -> DecisionRecord:
    """Return a decision without the payload of its question."""
    return cast("DecisionRecord", entry.model_dump(mode="json", exclude={"payload"}))


def _describe_search(found: PaperCollection, kept: PaperCollection, decisions: Sequence[DecisionRecord]) -> list[str]:
    flow = build_prisma_flow(found)
    sources = [name for name, count in flow.identified.items() if count] or list(flow.identified)
    queries = [query for part in flow.rounds for query in part.queries]
    notice = find_offline_notice(flow.notes)
    names = Counter(str(one["decided_by"]) for one in decisions if one.get("decided_by"))
    listed = f" ({'; '.join(f'`{query}`' for query in queries)})" if queries else ""
    removed, excluded = sum(flow.removed.values()), sum(flow.excluded.values())
    judged = ", ".join(f"{count} {judge}" for judge, count in count_screened_by_judge(flow))
    searched = "replayed recorded answers of" if notice else "searched"
    sentences = [
        f"{flow.software or 'Uraniborg'} {searched} {', '.join(sources) or 'no source'} on {flow.date[:10]} for "
        f"“{flow.question}” with {plural(len(queries), 'query', 'queries')}{listed}.",
        f"Of {plural(sum(flow.identified.values()), 'record')}, {removed} {'was' if removed == 1 else 'were'} removed "
        f"before screening, {flow.screened} screened{f' ({judged})' if judged else ''} and {excluded} excluded; "
        f"{plural(len(kept.papers), 'paper is', 'papers are')} kept.",
    ]
    if names:
        by = ", ".join(f"{name} ({count})" for name, count in sorted(names.items()))
        sentences.append(f"The search was steered by {plural(len(decisions), 'decision')}: {by}.")
    return [*([notice] if notice else []), *sentences]


class ShelfRecord(TypedDict):
    """A shelf as a bundle records it, from which its bibliographies are made."""

    name: str
    build_id: str
    built_at: str
    papers: list[CitedPaper]


def collect_shelves(chosen: Sequence[Chosen]) -> list[BundlePiece]:
    """Return the bibliographies of these shelves, without the texts of papers. Raise ShelfNotFound."""
    pieces: list[BundlePiece] = []
    for one, name in zip(chosen, make_names(chosen), strict=True):
        shelf = find_known_shelf(one.id)
        library = Library.open(shelf.path)
        try:
            papers = library.list_cited_papers()
        finally:
            library.close()
        facts = shelf.describe()
        record = ShelfRecord(
            name=shelf.name, build_id=str(facts["build_id"]), built_at=str(facts["built_at"]), papers=papers
        )
        pieces.append(make_shelf_piece(record, f"shelves/{name}"))
    return pieces


def make_shelf_piece(shelf: ShelfRecord, folder: str) -> BundlePiece:
    papers = shelf["papers"]
    record = "the shelf and its papers, from which the bibliographies are made"
    return BundlePiece(
        [
            *(
                make_text_file(
                    f"{folder}/{file}", f"the papers on the shelf {written}", format_cited_papers(papers, format_name)
                )
                for file, (format_name, written) in BIBLIOGRAPHIES.items()
            ),
            make_json_file(f"{folder}/{SHELF_RECORD}", record, shelf),
        ],
        [f"The shelf {shelf['name']} has {plural(len(papers), 'paper')} (build {shelf['build_id']})."],
        [shelf["built_at"]],
    )


DATA = "DATA"
"""Stands in runs for the data folder, whose path names a person's account."""


def collect_workflows(workflows: Sequence[Chosen], runs: Sequence[Chosen], folder: Path) -> list[BundlePiece]:
    """Return the pieces of workflows and runs; the workflow of a run is exported with it.

    Raise WorkflowNotFound or RunNotFound.
    """
    if not workflows and not runs:
        return []
    service = Service(load_settings(), folder)
    with closing(service.history.open_log()) as log:
        found = [log.get_run(one.id) for one in runs]
    pieces = [make_run_piece(_hide_data_folder(run), name) for run, name in zip(found, make_names(runs), strict=True)]
    named = {one.id for one in workflows}
    more = [Chosen(name) for name in dict.fromkeys(str(run["workflow"]) for run in found) if name not in named]
    every = [*workflows, *more]
    for one, name in zip(every, make_names(every), strict=True):
        try:
            document = service.find_workflow(one.id).stored.ir
        except WorkflowNotFound:
            if one.id in named:
                raise
            continue  # deleted since it ran; the run has its nodes
        pieces.append(make_workflow_piece(document, name))
    return pieces


def make_workflow_piece(document: Any, name: str) -> BundlePiece:
    description = f"the workflow {name}, to run with `pflow run`"
    return BundlePiece([make_json_file(f"workflows/{name}.json", description, document)])


def _hide_data_folder(run: RunDetails) -> RunDetails:
    public: JsonObject = json.loads(json.dumps(run).replace(json.dumps(str(data_dir()))[1:-1], DATA))
    public.pop("pid", None)
    return cast("RunDetails", public)


def make_run_piece(run: RunDetails, name: str) -> BundlePiece:
    nodes = run["nodes"]
    reused = sum(node["status"] == "reused" for node in nodes)
    ended = f"ended with {run['status']}" + (f" at the node {run['failed_node']}" if run["failed_node"] else "")
    resumed = f" resumed the run {run['resumed_from']}," if run["resumed_from"] else ""
    return BundlePiece(
        [make_json_file(f"runs/{name}.json", f"a run of {run['workflow']}: its nodes with inputs and outputs", run)],
        [
            f"The workflow {run['workflow']} (run {run['id']}){resumed} used {plural(len(nodes), 'node')}, of which "
            f"{reused} {'was' if reused == 1 else 'were'} reused, and {ended}."
        ],
        [str(run["ended_at"] or run["started_at"])],
    )
