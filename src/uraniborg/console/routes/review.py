"""Routes for reviews: papers, marks, the flow of records, exports, and putting papers on a shelf."""

import asyncio
from typing import Annotated

from fastapi import Body, Path, Query
from starlette.responses import Response

from paper_search.domain.review_models import ExclusionReason, PaperDecision, PaperMerge, PaperSplit, ReviewStatus
from paper_search.service.review.paper_list import PaperConditions, Sort
from paper_search.service.review.review_replies import (
    CorrectionList,
    ExclusionList,
    FlowReply,
    MarksReply,
    PaperDetails,
    PaperList,
    ReasonList,
    UndoneMarks,
)
from paper_search.service.review.session_review import build_flow_reply
from uraniborg.console.api import Reviewer, Sender, SessionId, make_router
from uraniborg.console.workers.search_services import Searches
from uraniborg.console.workers.shelf_builds import ShelfBuildReply, ShelfTargets, list_shelf_targets
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import JsonObject

_TYPES = {
    "json": "application/json",
    "csl-json": "application/json",
    "prisma-json": "application/json",
    "prisma-svg": "image/svg+xml",
}
"""The media types of the formats that are not plain text."""
_EXPORT_CONTENT: JsonObject = {
    "text/plain": {"schema": {"type": "string"}},
    "image/svg+xml": {"schema": {"type": "string"}},
    "application/json": {"schema": {"type": ["object", "array"]}},
}
_ENDINGS = {
    "bibtex": "bib",
    "json": "json",
    "markdown": "md",
    "ris": "ris",
    "csl-json": "csl.json",
    "prisma": "prisma.md",
    "prisma-json": "prisma.json",
    "prisma-svg": "prisma.svg",
}
PaperId = Annotated[str, Path(max_length=100, description="The id of a paper.")]


_CORRECTIONS = "/api/searches/{session_id}/corrections"
router = make_router("searches")


@router.get(
    "/api/searches/{session_id}/papers",
    summary="List the papers of a session",
)
async def list_search_papers(
    searches: Searches,
    reviewer: Reviewer,
    session_id: SessionId,
    q: Annotated[str, Query(max_length=500, description="Words of title, abstract, authors or venue.")] = "",
    status: ReviewStatus | None = None,
    source: Annotated[str | None, Query(max_length=50)] = None,
    year_from: Annotated[int | None, Query(ge=0, le=9_999)] = None,
    year_to: Annotated[int | None, Query(ge=0, le=9_999)] = None,
    score_from: Annotated[float | None, Query(ge=0, le=1)] = None,
    score_to: Annotated[float | None, Query(ge=0, le=1)] = None,
    round: Annotated[int | None, Query(ge=1, le=1_000, description="The round, from 1.")] = None,  # noqa: A002 - the name of the parameter
    sort: Sort = "rank",
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=2_000)] = 50,
) -> PaperList:
    """Return a page of the papers under review, or of the result, with the papers that people have excluded.

    `status` is yours; the decisions of other reviewers about a paper are hidden until you have decided.
    """
    conditions = PaperConditions(
        words=q,
        status=status,
        source=source,
        year_from=year_from,
        year_to=year_to,
        score_from=score_from,
        score_to=score_to,
        round=round,
    )
    return await searches.review.list_papers(session_id, reviewer, conditions, sort=sort, offset=offset, limit=limit)


@router.get(
    "/api/searches/{session_id}/papers/{paper_id}",
    summary="Return a paper of a session",
)
async def get_search_paper(
    searches: Searches, reviewer: Reviewer, session_id: SessionId, paper_id: PaperId
) -> PaperDetails:
    """Return the paper in full: title and abstract with the matched words, and the origin of each field."""
    return await searches.review.get_paper(session_id, paper_id, reviewer)


@router.get(
    "/api/searches/{session_id}/exclusions",
    summary="List the excluded papers",
)
async def list_search_exclusions(
    searches: Searches,
    reviewer: Reviewer,
    session_id: SessionId,
    reason: Annotated[ExclusionReason | None, Query(description="Only papers with this reason.")] = None,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> ExclusionList:
    """Return a page of the screened papers that are not in the result, with the reasons.

    `below_threshold` and `over_limit` are the papers that automation removed. An included paper comes back.
    """
    return await searches.review.list_exclusions(session_id, reviewer, reason=reason, offset=offset, limit=limit)


@router.put("/api/searches/{session_id}/marks", summary="Mark papers")
async def mark_papers(
    searches: Searches,
    actor: Sender,
    reviewer: Reviewer,
    session_id: SessionId,
    decisions: Annotated[dict[str, PaperDecision | None], Body(embed=True)],
) -> MarksReply:
    """Store your marks, by paper id; null removes a mark. The marks are sent with the next decision."""
    return {"marks": await searches.review.mark_papers(session_id, decisions, reviewer, actor)}


@router.post(
    "/api/searches/{session_id}/marks/undo",
    summary="Undo your last change of marks",
)
async def undo_marks(searches: Searches, actor: Sender, reviewer: Reviewer, session_id: SessionId) -> UndoneMarks:
    """Undo one change, also one of several papers, and return the marks of these papers. Can be repeated."""
    return {"undone": await searches.review.undo_marks(session_id, reviewer, actor)}


@router.get(
    "/api/searches/{session_id}/reasons",
    summary="List the reasons for exclusions",
)
async def list_exclusion_reasons(searches: Searches, reviewer: Reviewer, session_id: SessionId) -> ReasonList:
    """Return common reasons and those that you have used, with the number of papers of each."""
    return {"reasons": await searches.review.list_reasons(session_id, reviewer)}


@router.get(_CORRECTIONS, summary="List merges and splits")
async def list_corrections(searches: Searches, session_id: SessionId) -> CorrectionList:
    """Return the merges and splits of reviewers: first those that wait for the decision, then those made."""
    return {"corrections": await searches.review.list_corrections(session_id)}


@router.post(f"{_CORRECTIONS}/merge", summary="Merge papers")
async def merge_papers(
    searches: Searches, actor: Sender, reviewer: Reviewer, session_id: SessionId, change: PaperMerge
) -> CorrectionList:
    """Store that the papers are one paper. They are merged with the next decision, into the first one."""
    return {"corrections": await searches.review.correct_duplicates(session_id, change, reviewer, actor)}


@router.post(f"{_CORRECTIONS}/split", summary="Split a paper")
async def split_paper(
    searches: Searches, actor: Sender, reviewer: Reviewer, session_id: SessionId, change: PaperSplit
) -> CorrectionList:
    """Store that records are not the paper they were merged into. They leave it with the next decision."""
    return {"corrections": await searches.review.correct_duplicates(session_id, change, reviewer, actor)}


@router.delete(_CORRECTIONS + "/{paper_id}", summary="Withdraw a change")
async def withdraw_correction(
    searches: Searches, actor: Sender, reviewer: Reviewer, session_id: SessionId, paper_id: PaperId
) -> CorrectionList:
    """Withdraw the merge or split of the paper that waits for the decision."""
    return {"corrections": await searches.review.withdraw_correction(session_id, paper_id, reviewer, actor)}


@router.get(
    "/api/searches/{session_id}/flow",
    summary="Return the PRISMA flow",
)
async def get_search_flow(searches: Searches, reviewer: Reviewer, session_id: SessionId) -> FlowReply:
    """Return the counts of the flow with your marks, during the review and after it."""
    return build_flow_reply(*await searches.review.get_flow(session_id, reviewer))


@router.get(
    "/api/searches/{session_id}/export",
    summary="Export the papers",
    response_class=Response,
    responses={200: {"content": _EXPORT_CONTENT}},
)
async def export_search(
    searches: Searches,
    reviewer: Reviewer,
    session_id: SessionId,
    format: Annotated[str, Query(max_length=20)] = "markdown",  # noqa: A002 - the name of the parameter
    status: Annotated[ReviewStatus | None, Query(description="Only papers with this status.")] = None,
) -> Response:
    """Return the papers, or the search log (`prisma`, `prisma-json`, `prisma-svg`).

    Excluded papers are left out, unless `status` asks for them.
    """
    text = await searches.review.export_papers(session_id, reviewer, format, status)
    media_type = _TYPES.get(format, "text/plain; charset=utf-8")
    name = f"search-{session_id[:8]}.{_ENDINGS.get(format, 'txt')}"
    return Response(text, media_type=media_type, headers={"Content-Disposition": f'inline; filename="{name}"'})


@router.get("/api/search-shelves", summary="List the shelves for papers")
async def list_shelves_for_papers() -> ShelfTargets:
    """Return the shelves that papers of a search can be put on. A new name makes a new shelf."""
    return {"shelves": await asyncio.to_thread(list_shelf_targets)}


@router.post(
    "/api/searches/{session_id}/shelf",
    summary="Put the papers on a shelf",
    status_code=202,
)
async def put_papers_on_shelf(
    searches: Searches,
    actor: Sender,
    reviewer: Reviewer,
    session_id: SessionId,
    name: Annotated[str, Body(max_length=100, description="A shelf of `/api/search-shelves`, or a new name.")],
    statuses: Annotated[list[ReviewStatus], Body(min_length=1, max_length=4)] = [ReviewStatus.INCLUDE],  # noqa: B006 - copied by the framework
) -> ShelfBuildReply:
    """Build or extend a shelf from the papers with these statuses. Follow the build in the event stream."""
    collection = await searches.review.get_visible_collection(session_id, reviewer)
    papers = [paper for paper in collection.papers if paper.status in statuses]
    if not papers:
        raise InvalidInput(
            "No paper has one of these statuses.",
            hint="Include papers first, or name other statuses.",
            argument="statuses",
        )
    kept = collection.model_copy(update={"papers": papers})
    text = await asyncio.to_thread(lambda: kept.model_dump_json(include={"papers"}))
    return await searches.shelf_builds.start(session_id, name, text, actor)


@router.get(
    "/api/searches/{session_id}/shelf",
    summary="Return the last build of a shelf",
)
async def get_shelf_build(searches: Searches, session_id: SessionId) -> ShelfBuildReply:
    """Return the progress or the outcome of the last build from this session."""
    return searches.shelf_builds.get(session_id)
