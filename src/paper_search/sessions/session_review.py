"""The review of a session: its papers with marks that are stored one by one and sent with the decision."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from paper_search.errors import SessionComplete
from paper_search.review_models import PaperDecision
from paper_search.sessions.manager import SessionManager
from paper_search.sessions.paper_list import list_papers
from paper_search.sessions.saved_marks import MarkStore
from paper_search.workflow.checkpoints import Decision, ResultPayload
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.logging import make_printable


class SessionReview:
    """The reviews of all sessions of a manager. People and processes share the marks of a session."""

    def __init__(self, manager: SessionManager, marks: MarkStore | None = None) -> None:
        self._manager = manager
        self._marks = marks or MarkStore()

    async def list_papers(self, session_id: str, **conditions: Any) -> dict[str, Any]:
        """Return a page of the papers, as `paper_list.list_papers` does for these conditions.

        Raise SessionNotFound, NoPapersYet or SessionFailed.
        """
        collection = await self._manager.get_collection(session_id)
        marks = await asyncio.to_thread(self._marks.load, session_id)
        return await asyncio.to_thread(list_papers, collection, marks.decisions, **conditions)

    async def mark_papers(
        self, session_id: str, decisions: Mapping[str, PaperDecision | None], reviewer: str | None = None
    ) -> dict[str, PaperDecision]:
        """Store marks for the next decision; None removes the mark of a paper. Return all marks.

        Raise SessionNotFound, NoPapersYet, SessionComplete, SessionFailed, or InvalidInput for an unknown paper.
        """
        collection = await self._manager.get_collection(session_id)
        checkpoint = await self._manager.get_pending_checkpoint(session_id)
        if checkpoint is None:
            raise SessionComplete(session_id)
        known = {paper.id for paper in collection.papers}
        known |= {exclusion.paper_id for exclusion in collection.metadata.exclusions}
        if unknown := sorted(set(decisions) - known):
            raise InvalidInput(
                f"'{make_printable(unknown[0][:80])}' is not a paper of this session.",
                hint="Use the ids of the papers that the session lists.",
                argument="decisions",
                session_id=session_id,
            )
        marks = await asyncio.to_thread(self._marks.change, session_id, checkpoint.checkpoint_id, decisions, reviewer)
        return marks.decisions

    async def decide(
        self,
        session_id: str,
        decision: Decision,
        *,
        checkpoint_id: str | None = None,
        door: str,
        reviewer: str | None = None,
    ) -> dict[str, Any]:
        """Decide as the manager does; at a review add the stored marks to the decision, and delete them then."""
        checkpoint = await self._manager.get_pending_checkpoint(session_id)
        is_review = checkpoint is not None and isinstance(checkpoint.payload, ResultPayload)
        if is_review:
            marks = await asyncio.to_thread(self._marks.load, session_id)
            decision = _add_marks(decision, marks.decisions, reviewer)
        reply = await self._manager.decide(session_id, decision, checkpoint_id=checkpoint_id, door=door)
        if is_review and "already_decided" not in reply:
            await asyncio.to_thread(self._marks.delete, session_id)
        return reply


def _add_marks(decision: Decision, marks: Mapping[str, PaperDecision], reviewer: str | None) -> Decision:
    """Return the decision with the marks of papers that it does not name itself."""
    if not isinstance(decision.revised_data, dict | None):
        return decision  # the session refuses it, with the reason
    data = dict(cast("dict[str, Any]", decision.revised_data or {}))
    given: Any = data.get("decisions") or {}
    if isinstance(given, dict):
        stored = {paper_id: mark.model_dump(mode="json") for paper_id, mark in marks.items()}
        if decisions := {**stored, **cast("dict[str, Any]", given)}:
            data["decisions"] = decisions
    if data and reviewer:
        data.setdefault("reviewer", reviewer)
    return decision.model_copy(update={"revised_data": data or None})
