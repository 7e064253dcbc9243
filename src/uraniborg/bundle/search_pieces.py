"""Collect searches and shelves for a bundle: search log, decisions and bibliographies."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Final, TypedDict, cast

from paper_library.export import CitedPaper, format_cited_papers
from paper_library.library import Library
from paper_library.shelf_catalog import find_known_shelf
from paper_search.export import export
from paper_search.export.prisma_flow import build_prisma_flow, count_screened_by_judge
from paper_search.models import PaperCollection
from paper_search.recordings import find_offline_notice
from paper_search.review_models import ReviewStatus
from uraniborg.bundle.pieces import Chosen, Piece, make_json_file, make_names, make_text_file
from uraniborg.bundle.records import DecisionRecord
from uraniborg.kernel.inbox import Entry, Inbox
from uraniborg.kernel.text import plural
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


async def collect_searches(chosen: Sequence[Chosen]) -> list[Piece]:
    """Return the pieces of these searches. Raise SessionNotFound, or Conflict for a search that has no result yet."""
    if not chosen:
        return []
    pieces: list[Piece] = []
    async with open_sessions() as manager:
        for one, name in zip(chosen, make_names(chosen), strict=True):
            session_id = await manager.resolve_id_prefix(one.id)
            found = await manager.get_result(session_id)
            decisions = await asyncio.to_thread(_list_decisions, session_id)
            pieces.append(await asyncio.to_thread(make_search_piece, found, decisions, f"searches/{name}"))
    return pieces


def make_search_piece(found: PaperCollection, decisions: Sequence[DecisionRecord], folder: str) -> Piece:
    kept = select_kept_papers(found)
    return Piece(
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


def describe_decision_record(entry: Entry) -> DecisionRecord:
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


def collect_shelves(chosen: Sequence[Chosen]) -> list[Piece]:
    """Return the bibliographies of these shelves, without the texts of papers. Raise ShelfNotFound."""
    pieces: list[Piece] = []
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


def make_shelf_piece(shelf: ShelfRecord, folder: str) -> Piece:
    papers = shelf["papers"]
    record = "the shelf and its papers, from which the bibliographies are made"
    return Piece(
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
