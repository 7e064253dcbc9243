"""Review a session at a terminal, from checkpoint to checkpoint, until it is complete or the person quits."""

import asyncio
from typing import Final

from paper_search.config import AppConfig
from paper_search.errors import InvalidDecision
from paper_search.recordings import OFFLINE_NOTICE, OFFLINE_TOPICS, find_offline_notice
from paper_search.sessions.manager import SessionManager
from paper_search.sessions.questions import describe_source_problems
from paper_search.sessions.saved_marks import Marks
from paper_search.sessions.session import WorkflowSession
from paper_search.sessions.state import WAITING
from paper_search.sessions.state_summaries import describe_progress
from paper_search.terminal.review_dialogs import PaperReview, ask_about_strategy
from paper_search.workflow.checkpoints import Checkpoint, Decision, StrategyPayload
from uraniborg.kernel.actors import get_terminal_actor
from uraniborg.kernel.person import clean_name
from uraniborg.kernel.terminal.keys import Screen
from uraniborg.kernel.text import plural

DOOR: Final = "terminal"
_POLL_S: Final = 0.2


class TerminalReview:
    """Asks a person about every checkpoint of a session."""

    def __init__(self, manager: SessionManager, screen: Screen, reviewer: str | None = None) -> None:
        self._manager = manager
        self._screen = screen
        self._reviewer = reviewer
        own = get_terminal_actor()
        self._actor = own.model_copy(update={"name": clean_name(reviewer)}) if reviewer else own
        self._marks = manager.marks
        self._last = ""
        self._refused_edit: str | None = None
        """The text of an edit that was refused, to be corrected."""

    async def open_session(self, query: str, config: AppConfig) -> str:
        """Open a session and return its id. Raise the errors of `SessionManager.start`."""
        session_id = (await self._manager.start(query, config, on_progress=self.show_progress, actor=self._actor))[
            "session_id"
        ]
        self._screen.write(f"Session {session_id[:8]}. Quit with q; nothing is lost.")
        return session_id

    async def review_session(self, session_id: str) -> bool:
        """Ask until the session is complete, and return True; or False if the person quits before.

        Raise SessionNotFound, SessionFailed or SessionInterrupted.
        """
        while True:
            state = await self._manager.get_state(session_id)
            if state["is_complete"]:
                if "paper_count" in state:
                    self._screen.write(f"\nComplete: {plural(state['paper_count'], 'paper')}.")
                    if state.get("offline"):
                        self._screen.write(OFFLINE_NOTICE)
                return True
            checkpoint = await self._manager.get_pending_checkpoint(session_id)
            if checkpoint is None:
                await asyncio.sleep(_POLL_S)
                continue
            decision = await asyncio.to_thread(self._ask_for_decision, session_id, checkpoint)
            if decision is None:
                self._screen.write(f"\nThe session waits. Continue: paper-search sessions resume {session_id[:8]}")
                return False
            await self._send_decision(session_id, checkpoint, decision)

    async def show_progress(self, session: WorkflowSession) -> None:
        """Display the present activity of the search, once."""
        state = session.get_state()
        now = describe_progress(state)
        if now != self._last and state.phase != WAITING:
            self._last = now
            self._screen.write(f"{now} ...")

    def _ask_for_decision(self, session_id: str, checkpoint: Checkpoint) -> Decision | None:
        self._screen.discard_typed_keys()
        if isinstance(checkpoint.payload, StrategyPayload):
            return ask_about_strategy(checkpoint, self._screen, self._refused_edit)
        if notice := find_offline_notice(checkpoint.payload.collection.metadata.notes):
            topics = "" if checkpoint.payload.collection.papers else f"\n{OFFLINE_TOPICS}"
            self._screen.write(f"\n{notice}{topics}")
        if problems := describe_source_problems(checkpoint.payload.collection):
            self._screen.write(f"\n{problems}")
        marks = self._marks.load(session_id, checkpoint.checkpoint_id, self._reviewer)
        if marks.decisions:
            self._screen.write(f"\n{plural(len(marks.decisions), 'mark')} of this review restored.")

        def save(given: Marks) -> None:
            self._marks.save(session_id, given, self._actor)

        review = PaperReview(checkpoint, marks, self._screen, save)
        return review.ask_for_decision(marks.reviewer)

    async def _send_decision(self, session_id: str, checkpoint: Checkpoint, decision: Decision) -> None:
        try:
            marks = await asyncio.to_thread(self._marks.load, session_id, "", self._reviewer)
            reply = await self._manager.decide(
                session_id,
                decision,
                checkpoint_id=checkpoint.checkpoint_id,
                door=DOOR,
                reviewer=marks.reviewer,
                actor=self._actor,
                on_progress=self.show_progress,
            )
        except InvalidDecision as refusal:
            self._screen.write(f"\n{refusal.message} {refusal.hint}")
            self._refused_edit = decision.revised_data if isinstance(decision.revised_data, str) else None
            return
        self._refused_edit = None
        earlier = reply.get("already_decided")
        if earlier and not earlier["same_as_sent"]:
            self._screen.write(f"\n{earlier['message']} Your marks are stored.")
