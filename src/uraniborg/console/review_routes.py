"""Routes for reviews: papers, marks, the flow of records, exports, and putting papers on a shelf."""

import asyncio
from typing import Annotated

from fastapi import Body, FastAPI, Path, Query, Request
from starlette.responses import Response

from paper_search.review_models import ExclusionReason, PaperDecision, PaperMerge, PaperSplit, ReviewStatus
from paper_search.review_replies import (
    CorrectionList,
    ExclusionList,
    FlowReply,
    MarksReply,
    PaperDetails,
    PaperList,
    ReasonList,
    UndoneMarks,
)
from paper_search.sessions.flow_replies import build_flow_reply
from paper_search.sessions.paper_list import PaperConditions, Sort
from paper_search.sessions.session_review import SessionReview
from uraniborg.console.route_parameters import SessionId, get_reviewer
from uraniborg.console.sign_in import get_actor
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import JsonObject
from uraniborg.search_shelf_replies import ShelfBuildReply, ShelfTargets
from uraniborg.search_shelves import ShelfBuilds, list_shelf_targets

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


def add_review_routes(api: FastAPI, review: SessionReview, shelf_builds: ShelfBuilds) -> None:
    """Add the routes of papers and marks under `/api/searches/{session_id}`."""
    _add_paper_routes(api, review)
    _add_mark_routes(api, review)
    _add_correction_routes(api, review)
    _add_flow_routes(api, review)
    _add_shelf_routes(api, review, shelf_builds)


def _add_paper_routes(api: FastAPI, review: SessionReview) -> None:
    @api.get(
        "/api/searches/{session_id}/papers",
        tags=["searches"],
        summary="List the papers of a session",
    )
    async def list_search_papers(  # pyright: ignore[reportUnusedFunction]
        request: Request,
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
        person = get_reviewer(request)
        return await review.list_papers(session_id, person, conditions, sort=sort, offset=offset, limit=limit)

    @api.get(
        "/api/searches/{session_id}/papers/{paper_id}",
        tags=["searches"],
        summary="Return a paper of a session",
    )
    async def get_search_paper(  # pyright: ignore[reportUnusedFunction]
        request: Request, session_id: SessionId, paper_id: PaperId
    ) -> PaperDetails:
        """Return the paper in full: title and abstract with the matched words, and the origin of each field."""
        return await review.get_paper(session_id, paper_id, get_reviewer(request))

    @api.get(
        "/api/searches/{session_id}/exclusions",
        tags=["searches"],
        summary="List the excluded papers",
    )
    async def list_search_exclusions(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        session_id: SessionId,
        reason: Annotated[ExclusionReason | None, Query(description="Only papers with this reason.")] = None,
        offset: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
    ) -> ExclusionList:
        """Return a page of the screened papers that are not in the result, with the reasons.

        `below_threshold` and `over_limit` are the papers that automation removed. An included paper comes back.
        """
        reviewer = get_reviewer(request)
        return await review.list_exclusions(session_id, reviewer, reason=reason, offset=offset, limit=limit)


def _add_mark_routes(api: FastAPI, review: SessionReview) -> None:
    @api.put("/api/searches/{session_id}/marks", tags=["searches"], summary="Mark papers")
    async def mark_papers(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        session_id: SessionId,
        decisions: Annotated[dict[str, PaperDecision | None], Body(embed=True)],
    ) -> MarksReply:
        """Store your marks, by paper id; null removes a mark. The marks are sent with the next decision."""
        return {"marks": await review.mark_papers(session_id, decisions, get_reviewer(request), get_actor(request))}

    @api.post(
        "/api/searches/{session_id}/marks/undo",
        tags=["searches"],
        summary="Undo your last change of marks",
    )
    async def undo_marks(request: Request, session_id: SessionId) -> UndoneMarks:  # pyright: ignore[reportUnusedFunction]
        """Undo one change, also one of several papers, and return the marks of these papers. Can be repeated."""
        return {"undone": await review.undo_marks(session_id, get_reviewer(request), get_actor(request))}

    @api.get(
        "/api/searches/{session_id}/reasons",
        tags=["searches"],
        summary="List the reasons for exclusions",
    )
    async def list_exclusion_reasons(  # pyright: ignore[reportUnusedFunction]
        request: Request, session_id: SessionId
    ) -> ReasonList:
        """Return common reasons and those that you have used, with the number of papers of each."""
        return {"reasons": await review.list_reasons(session_id, get_reviewer(request))}


def _add_correction_routes(api: FastAPI, review: SessionReview) -> None:
    path = "/api/searches/{session_id}/corrections"

    @api.get(path, tags=["searches"], summary="List merges and splits")
    async def list_corrections(session_id: SessionId) -> CorrectionList:  # pyright: ignore[reportUnusedFunction]
        """Return the merges and splits of reviewers: first those that wait for the decision, then those made."""
        return {"corrections": await review.list_corrections(session_id)}

    @api.post(path + "/merge", tags=["searches"], summary="Merge papers")
    async def merge_papers(  # pyright: ignore[reportUnusedFunction]
        request: Request, session_id: SessionId, change: PaperMerge
    ) -> CorrectionList:
        """Store that the papers are one paper. They are merged with the next decision, into the first one."""
        reviewer, actor = get_reviewer(request), get_actor(request)
        return {"corrections": await review.correct_duplicates(session_id, change, reviewer, actor)}

    @api.post(path + "/split", tags=["searches"], summary="Split a paper")
    async def split_paper(  # pyright: ignore[reportUnusedFunction]
        request: Request, session_id: SessionId, change: PaperSplit
    ) -> CorrectionList:
        """Store that records are not the paper they were merged into. They leave it with the next decision."""
        reviewer, actor = get_reviewer(request), get_actor(request)
        return {"corrections": await review.correct_duplicates(session_id, change, reviewer, actor)}

    @api.delete(path + "/{paper_id}", tags=["searches"], summary="Withdraw a change")
    async def withdraw_correction(  # pyright: ignore[reportUnusedFunction]
        request: Request, session_id: SessionId, paper_id: PaperId
    ) -> CorrectionList:
        """Withdraw the merge or split of the paper that waits for the decision."""
        reviewer, actor = get_reviewer(request), get_actor(request)
        return {"corrections": await review.withdraw_correction(session_id, paper_id, reviewer, actor)}


def _add_flow_routes(api: FastAPI, review: SessionReview) -> None:
    @api.get(
        "/api/searches/{session_id}/flow",
        tags=["searches"],
        summary="Return the PRISMA flow",
    )
    async def get_search_flow(request: Request, session_id: SessionId) -> FlowReply:  # pyright: ignore[reportUnusedFunction]
        """Return the counts of the flow with your marks, during the review and after it."""
        return build_flow_reply(*await review.get_flow(session_id, get_reviewer(request)))

    @api.get(
        "/api/searches/{session_id}/export",
        tags=["searches"],
        summary="Export the papers",
        response_class=Response,
        responses={200: {"content": _EXPORT_CONTENT}},
    )
    async def export_search(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        session_id: SessionId,
        format: Annotated[str, Query(max_length=20)] = "markdown",  # noqa: A002 - the name of the parameter
        status: Annotated[ReviewStatus | None, Query(description="Only papers with this status.")] = None,
    ) -> Response:
        """Return the papers, or the search log (`prisma`, `prisma-json`, `prisma-svg`).

        Excluded papers are left out, unless `status` asks for them.
        """
        text = await review.export_papers(session_id, get_reviewer(request), format, status)
        media_type = _TYPES.get(format, "text/plain; charset=utf-8")
        name = f"search-{session_id[:8]}.{_ENDINGS.get(format, 'txt')}"
        return Response(text, media_type=media_type, headers={"Content-Disposition": f'inline; filename="{name}"'})


def _add_shelf_routes(api: FastAPI, review: SessionReview, shelf_builds: ShelfBuilds) -> None:
    @api.get("/api/search-shelves", tags=["searches"], summary="List the shelves for papers")
    async def list_shelves_for_papers() -> ShelfTargets:  # pyright: ignore[reportUnusedFunction]
        """Return the shelves that papers of a search can be put on. A new name makes a new shelf."""
        return {"shelves": await asyncio.to_thread(list_shelf_targets)}

    @api.post(
        "/api/searches/{session_id}/shelf",
        tags=["searches"],
        summary="Put the papers on a shelf",
        status_code=202,
    )
    async def put_papers_on_shelf(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        session_id: SessionId,
        name: Annotated[str, Body(max_length=100, description="A shelf of `/api/search-shelves`, or a new name.")],
        statuses: Annotated[list[ReviewStatus], Body(min_length=1, max_length=4)] = [ReviewStatus.INCLUDE],  # noqa: B006 - copied by the framework
    ) -> ShelfBuildReply:
        """Build or extend a shelf from the papers with these statuses. Follow the build in the event stream."""
        collection = await review.get_visible_collection(session_id, get_reviewer(request))
        papers = [paper for paper in collection.papers if paper.status in statuses]
        if not papers:
            raise InvalidInput(
                "No paper has one of these statuses.",
                hint="Include papers first, or name other statuses.",
                argument="statuses",
            )
        kept = collection.model_copy(update={"papers": papers})
        text = await asyncio.to_thread(lambda: kept.model_dump_json(include={"papers"}))
        return await shelf_builds.start(session_id, name, text, get_actor(request))

    @api.get(
        "/api/searches/{session_id}/shelf",
        tags=["searches"],
        summary="Return the last build of a shelf",
    )
    async def get_shelf_build(session_id: SessionId) -> ShelfBuildReply:  # pyright: ignore[reportUnusedFunction]
        """Return the progress or the outcome of the last build from this session."""
        return shelf_builds.get(session_id)
