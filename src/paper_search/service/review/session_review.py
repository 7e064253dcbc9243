"""Review the papers of a session: marks are stored one by one and sent with the decision; the flow counts them."""

import asyncio
from collections import Counter
from collections.abc import Mapping

from paper_search.domain.review_models import (
    BY_REVIEWER,
    ExclusionReason,
    PaperDecision,
    PaperMerge,
    PaperSplit,
    ReviewStatus,
)
from paper_search.errors import SessionComplete, make_paper_id_hint
from paper_search.export import check_format, export
from paper_search.export.prisma_flow import LABELS, PrismaFlow, build_prisma_flow, count_exclusions_by_description
from paper_search.models import PaperCollection
from paper_search.service.checkpoint_replies import Status
from paper_search.service.reply_parts import dump_as
from paper_search.service.review.paper_details import MergedRecords, build_paper_details
from paper_search.service.review.paper_list import PaperConditions, Sort, list_exclusions, list_papers, list_reasons
from paper_search.service.review.review_replies import (
    CorrectionReply,
    ExclusionList,
    FlowFields,
    FlowReply,
    PaperDetails,
    PaperList,
    ReasonCount,
)
from paper_search.service.review.reviewer_view import ReviewerView, count_statuses, list_reviewed_papers
from paper_search.service.sessions.manager import SessionManager
from paper_search.store.saved_marks import UNNAMED_REVIEWER, Corrections
from paper_search.workflow.checkpoints import ResultPayload
from paper_search.workflow.feedback_checks import refuse_bad_corrections
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import InvalidInput, NotFound
from uraniborg.kernel.language.messages import find_nearest_ids, format_did_you_mean
from uraniborg.kernel.logging import make_printable


class PaperNotInSession(NotFound):
    code = "paper_not_found"


class SessionReview:
    """The reviews of all sessions of a manager. People and processes share the marks of a session."""

    def __init__(self, manager: SessionManager) -> None:
        self._manager = manager
        self._marks = manager.marks
        self._records = MergedRecords(manager.store)

    async def list_papers(
        self,
        session_id: str,
        reviewer: str,
        conditions: PaperConditions,
        *,
        sort: Sort = "rank",
        offset: int = 0,
        limit: int = 50,
    ) -> PaperList:
        """Return a page of the papers as the reviewer may see them.

        Raise SessionNotFound, NoPapersYet or SessionFailed.
        """
        state = await self._manager.peek_state(session_id)
        collection, view = await self._load_view(session_id, reviewer)
        page = await asyncio.to_thread(list_papers, collection, view, conditions, sort=sort, offset=offset, limit=limit)
        can_mark = state.pending is not None and isinstance(state.pending.checkpoint.payload, ResultPayload)
        return {**page, "query": state.query, "checkpoint_id": state.checkpoint_id, "can_mark": can_mark}

    async def get_paper(self, session_id: str, paper_id: str, reviewer: str) -> PaperDetails:
        """Return one paper in full, with the origin of each field. Raise PaperNotFound."""
        collection, view = await self._load_view(session_id, reviewer)

        def build() -> PaperDetails:
            for rank, paper in enumerate([*list_reviewed_papers(collection), *collection.removed_papers], 1):
                if paper_id == paper.id or paper_id in paper.other_ids:
                    provenance = self._records.build_provenance(session_id, paper)
                    return build_paper_details(rank, paper, collection, view, provenance)
            near = find_nearest_ids(paper_id, [paper.id for paper in list_reviewed_papers(collection)])
            raise PaperNotInSession(
                f"'{make_printable(paper_id[:80])}' is not a paper of this session.",
                hint=format_did_you_mean(near)
                + make_paper_id_hint(paper_id, "Use the ids of the papers that the session lists."),
                session_id=session_id,
            )

        return await asyncio.to_thread(build)

    async def list_reasons(self, session_id: str, reviewer: str) -> list[ReasonCount]:
        """Return the reasons for exclusions that the reviewer can choose, with the number of papers of each."""
        collection, view = await self._load_view(session_id, reviewer)
        return await asyncio.to_thread(list_reasons, collection, view)

    async def list_exclusions(
        self, session_id: str, reviewer: str, *, reason: ExclusionReason | None = None, offset: int, limit: int
    ) -> ExclusionList:
        """Return a page of the papers that are not in the result, with the reviewer's own exclusions and marks."""
        collection, view = await self._load_view(session_id, reviewer)
        marks = view.marks.get(reviewer, {})
        return await asyncio.to_thread(
            lambda: list_exclusions(view.apply_to(collection), marks, reason=reason, offset=offset, limit=limit)
        )

    async def get_flow(self, session_id: str, reviewer: str) -> tuple[PrismaFlow, dict[Status, int], bool]:
        """Return the PRISMA flow with the reviewer's marks, the papers of each status, and whether it is final."""
        collection, view = await self._load_view(session_id, reviewer)
        flow = await asyncio.to_thread(lambda: build_prisma_flow(view.apply_to(collection)))
        counts = await asyncio.to_thread(count_statuses, collection, view)
        return flow, counts, view.is_complete

    async def get_visible_collection(self, session_id: str, reviewer: str) -> PaperCollection:
        """Return the papers with the decisions that the reviewer can see; excluded papers are not in it."""
        collection, view = await self._load_view(session_id, reviewer)
        return await asyncio.to_thread(view.apply_to, collection)

    async def export_papers(
        self, session_id: str, reviewer: str, format_name: str, status: ReviewStatus | None = None
    ) -> str:
        """Return the export of the papers, during the review with the decisions that the reviewer can see.

        Raise InvalidInput for an unknown format, and for a search log of papers with one status.
        """
        check_format(format_name)
        if status is not None and format_name.startswith("prisma"):
            raise InvalidInput("A search log contains all papers.", hint="Leave out the status.", argument="status")
        collection = await self.get_visible_collection(session_id, reviewer)
        if status is not None:
            papers = [paper for paper in list_reviewed_papers(collection) if paper.status is status]
            collection = collection.model_copy(update={"papers": papers, "excluded_papers": []})
        return await asyncio.to_thread(export, collection, format_name)

    async def mark_papers(
        self,
        session_id: str,
        decisions: Mapping[str, PaperDecision | None],
        reviewer: str | None = None,
        actor: Actor | None = None,
    ) -> dict[str, PaperDecision]:
        """Store marks for the next decision; None removes the mark of a paper. Return the marks of the reviewer.

        `actor` is who marks; without one it is unknown, and the marks count as those of a person.
        Raise SessionNotFound, NoPapersYet, SessionComplete, SessionFailed, or InvalidInput for an unknown paper.
        """
        collection = await self._manager.get_collection(session_id)
        checkpoint_id = await self._find_review_checkpoint(session_id)
        known = {paper.id for paper in collection.papers}
        known |= {exclusion.paper_id for exclusion in collection.metadata.exclusions}
        if unknown := sorted(set(decisions) - known):
            raise InvalidInput(
                f"'{make_printable(unknown[0][:80])}' is not a paper of this session.",
                hint=format_did_you_mean(find_nearest_ids(unknown[0], sorted(known)))
                + make_paper_id_hint(unknown[0], "Use the ids of the papers that the session lists."),
                argument="decisions",
                session_id=session_id,
            )
        marks = await asyncio.to_thread(self._marks.change, session_id, checkpoint_id, decisions, reviewer, actor)
        return marks.decisions

    async def undo_marks(
        self, session_id: str, reviewer: str | None = None, actor: Actor | None = None
    ) -> dict[str, PaperDecision | None]:
        """Undo the reviewer's last change of marks. Return the marks of the papers that it had changed.

        Raise SessionNotFound, SessionComplete or SessionInterrupted.
        """
        checkpoint_id = await self._find_review_checkpoint(session_id)
        _, changed = await asyncio.to_thread(self._marks.undo, session_id, checkpoint_id, reviewer, actor)
        return changed

    async def list_corrections(self, session_id: str) -> list[CorrectionReply]:
        """Return the merges and splits that are sent with the next decision, and then those that were."""
        collection = await self._manager.get_collection(session_id)
        marks = await asyncio.to_thread(self._marks.collect, session_id)
        return await asyncio.to_thread(describe_corrections, marks.corrections, collection, marks.actors)

    async def correct_duplicates(
        self,
        session_id: str,
        change: PaperMerge | PaperSplit,
        reviewer: str | None = None,
        actor: Actor | None = None,
    ) -> list[CorrectionReply]:
        """Store a merge or a split for the next decision. Return all of them.

        Raise SessionNotFound, NoPapersYet, SessionComplete, SessionFailed, or InvalidDecision if the change names an
        unknown paper or contradicts another change.
        """
        collection = await self._manager.get_collection(session_id)
        checkpoint_id = await self._find_review_checkpoint(session_id)
        own = change.model_copy(update={"reviewer": reviewer})

        def store() -> None:
            with self._marks.change_corrections(session_id, checkpoint_id, reviewer, actor) as waiting:
                if isinstance(own, PaperMerge):
                    waiting.merge.append(own)
                else:
                    waiting.split.append(own)
                refuse_bad_corrections(collection, waiting.merge, waiting.split)

        await asyncio.to_thread(store)
        return await self.list_corrections(session_id)

    async def withdraw_correction(
        self, session_id: str, paper_id: str, reviewer: str | None = None, actor: Actor | None = None
    ) -> list[CorrectionReply]:
        """Withdraw the merge or split that names the paper and is not sent yet. Return those that are left.

        Raise SessionNotFound, SessionComplete, or PaperNotFound if there is none.
        """
        checkpoint_id = await self._find_review_checkpoint(session_id)

        def withdraw() -> bool:
            with self._marks.change_corrections(session_id, checkpoint_id, reviewer, actor) as waiting:
                before = len(waiting.merge) + len(waiting.split)
                waiting.merge = [merge for merge in waiting.merge if paper_id not in merge.papers]
                waiting.split = [split for split in waiting.split if paper_id != split.paper]
                return len(waiting.merge) + len(waiting.split) < before

        if not await asyncio.to_thread(withdraw):
            raise PaperNotInSession(
                f"No merge or split of '{make_printable(paper_id[:80])}' waits for a decision.",
                hint="List them, and name one of their papers.",
                session_id=session_id,
            )
        return await self.list_corrections(session_id)

    async def _load_view(self, session_id: str, reviewer: str) -> tuple[PaperCollection, ReviewerView]:
        state = await self._manager.peek_state(session_id)
        collection = await self._manager.get_collection(session_id)
        marks = await asyncio.to_thread(self._marks.collect, session_id)
        return collection, ReviewerView(reviewer, marks.reviews, state.ended is not None, marks.actors)

    async def _find_review_checkpoint(self, session_id: str) -> str:
        """Return the id of the pending checkpoint. Raise SessionComplete if there is none."""
        state = await self._manager.peek_state(session_id)
        if state.checkpoint_id is None:
            raise SessionComplete(session_id)
        return state.checkpoint_id


def build_flow_reply(flow: PrismaFlow, counts: dict[Status, int], is_complete: bool) -> FlowReply:
    """Return the counts of the flow, and the reasons for which reviewers have excluded papers."""
    by_reviewer = [one for one in flow.exclusions if one.reason in BY_REVIEWER]
    reasons: Counter[str] = Counter()
    for name, count in count_exclusions_by_description(flow.model_copy(update={"exclusions": by_reviewer})):
        reasons[name.removeprefix(f"{LABELS[ExclusionReason.BY_PERSON]}: ")] += count
    return {
        **dump_as(FlowFields, flow),
        "round_count": len(flow.rounds),
        "labels": dict(LABELS),
        "reasons": dict(reasons),
        "counts": counts,
        "is_complete": is_complete,
    }


def describe_corrections(
    waiting: Corrections, collection: PaperCollection, actors: Mapping[str, Actor]
) -> list[CorrectionReply]:
    """Return the changes that wait, then those that were made, each with the title of its first paper."""
    listed = [*collection.papers, *collection.excluded_papers, *collection.removed_papers]
    titles = {name: paper.title for paper in listed for name in (*paper.other_ids, paper.id)}
    changes: list[CorrectionReply] = [
        {
            "kind": "merge" if isinstance(change, PaperMerge) else "split",
            "papers": papers,
            "records": [] if isinstance(change, PaperMerge) else change.records,
            "title": titles.get(papers[0], ""),
            "reviewer": change.reviewer,
            "actor": actor and actor.model_dump(),
            "at": None,
            "is_sent": False,
        }
        for change in (*waiting.merge, *waiting.split)
        for papers in [change.papers if isinstance(change, PaperMerge) else [change.paper]]
        for actor in [actors.get(change.reviewer or UNNAMED_REVIEWER)]
    ]
    return changes + [
        {
            "kind": made.kind,
            "papers": made.papers,
            "records": made.records,
            "title": made.title,
            "reviewer": made.reviewer,
            "actor": made.actor and made.actor.model_dump(),
            "at": made.at,
            "is_sent": True,
        }
        for made in collection.metadata.corrections
    ]
