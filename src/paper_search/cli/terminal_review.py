"""Review a session at a terminal with single keys: approve strategies and mark papers until it is complete."""

import asyncio
from collections.abc import Callable
from typing import Final

from paper_search.cli import review_text
from paper_search.config import AppConfig
from paper_search.domain.review_models import ExclusionReason, PaperDecision, ReviewStatus
from paper_search.errors import InvalidDecision
from paper_search.models import Paper
from paper_search.recordings import OFFLINE_NOTICE, OFFLINE_TOPICS, find_offline_notice
from paper_search.service.sessions.checkpoint_questions import describe_progress, describe_source_problems
from paper_search.service.sessions.inbox_decisions import EDIT_EXAMPLE
from paper_search.service.sessions.manager import SessionManager
from paper_search.service.sessions.session import WorkflowSession
from paper_search.store.saved_marks import ReviewerMarks
from paper_search.store.session_state import WAITING
from paper_search.workflow.checkpoints import Checkpoint, Decision, DecisionAction, ResultPayload, StrategyPayload
from uraniborg.kernel.actors import clean_name, get_terminal_actor
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.terminal.questions import BACKWARD_KEYS, END_KEYS, FORWARD_KEYS, Screen

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

        def save(given: ReviewerMarks) -> None:
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


_MARKS = {
    "i": ReviewStatus.INCLUDE,
    "m": ReviewStatus.MAYBE,
    "e": ReviewStatus.EXCLUDE,
    "u": ReviewStatus.UNDECIDED,
}
_NEXT = ("n", *FORWARD_KEYS)
_BACK = ("b", "p", *BACKWARD_KEYS)
_QUIT = ("q", *END_KEYS)


def ask_about_strategy(checkpoint: Checkpoint, screen: Screen, refused_edit: str | None = None) -> Decision | None:
    """Return the decision about a strategy; None if the person quits. An edit starts from a refused one, if given."""
    assert isinstance(checkpoint.payload, StrategyPayload)
    strategy = checkpoint.payload.strategy
    screen.write(f"\nRound {checkpoint.round + 1}: search like this?\n")
    screen.write(review_text.format_strategy(checkpoint.payload.intent, strategy, screen.width))
    while True:
        screen.write(f"\n{review_text.STRATEGY_KEYS}")
        key = screen.read_key().lower()
        if key == "a":
            return Decision(action=DecisionAction.APPROVE)
        if key == "e":
            try:
                proposed = strategy.model_dump_json(indent=2, exclude={"notes", "origins"})
                edited = screen.edit_text(refused_edit or proposed)
            except InvalidInput as problem:
                screen.write(f"{problem.message} {problem.hint}")
                continue
            return Decision(action=DecisionAction.EDIT, revised_data=edited)
        if key == "r":
            if (words := screen.read_line("What is missing or wrong")) is not None:
                return Decision(action=DecisionAction.REJECT, note=words or None)
            continue
        if key in _QUIT:
            return None
        screen.write(f"{review_text.STRATEGY_HELP}\nAn edit may name only what changes, for example: {EDIT_EXAMPLE}")


class PaperReview:
    """The dialog that marks the papers of one checkpoint, one at a time. `save` is called after each mark."""

    def __init__(
        self, checkpoint: Checkpoint, marks: ReviewerMarks, screen: Screen, save: Callable[[ReviewerMarks], None]
    ) -> None:
        assert isinstance(checkpoint.payload, ResultPayload)
        self._papers = checkpoint.payload.collection.papers
        exclusions = checkpoint.payload.collection.metadata.exclusions
        self._excluded = [exclusion for exclusion in exclusions if exclusion.reason is not ExclusionReason.MERGED]
        self._round = checkpoint.round
        self._marks = marks
        self._screen = screen
        self._save = save

    def ask_for_decision(self, reviewer: str | None) -> Decision | None:
        """Return the decision about the papers, with all marks; None if the person quits."""
        self._screen.write(
            f"\nRound {self._round + 1}: {review_text.format_mark_counts(self._papers, self._marks.decisions)}"
        )
        if not self._papers:
            self._screen.write("No papers to review.")
        self._show_paper()
        while True:
            key = self._screen.read_key()
            if key.lower() == "a":
                return self._build_decision(DecisionAction.APPROVE, reviewer)
            if key.lower() == "r":
                if (words := self._screen.read_line("What is missing or wrong")) is not None:
                    return self._build_decision(DecisionAction.REJECT, reviewer, words)
                self._show_paper()
                continue
            if key.lower() in _QUIT:
                return None
            self._handle_key(key)

    def _handle_key(self, key: str) -> None:
        if key.lower() in _MARKS and self._papers:
            self._mark_paper_and_advance(self._paper, key)
        elif key in _NEXT:
            self._move_by_and_save(1)
        elif key in _BACK:
            self._move_by_and_save(-1)
        elif key.lower() == "x":
            self._ask_and_include_excluded()
        elif key.lower() == "l":
            self._screen.write(
                "\n" + review_text.format_paper_list(self._papers, self._marks.decisions, self._screen.width)
            )
        else:
            self._screen.write(review_text.PAPER_HELP)

    @property
    def _paper(self) -> Paper:
        return self._papers[self._marks.position]

    def _mark_paper_and_advance(self, paper: Paper, key: str) -> None:
        status = _MARKS[key.lower()]
        with_reason = key == "e" or (key.isupper() and status is not ReviewStatus.UNDECIDED)
        reason = self._screen.read_line(f"Why {status.value}? (Enter for no reason)") if with_reason else ""
        if reason is None:
            self._show_paper()
            return
        self._marks.decisions[paper.id] = PaperDecision(status=status, reason=reason or None)
        self._move_by_and_save(1)

    def _ask_and_include_excluded(self) -> None:
        """List the papers that are not in the result, and include the one that the person names."""
        self._screen.write(
            "\n" + review_text.format_exclusions(self._excluded, self._marks.decisions, self._screen.width)
        )
        number = self._screen.read_line("Number of a paper to include (Enter for none)") if self._excluded else None
        if number and number.isdigit() and 1 <= int(number) <= len(self._excluded):
            self._marks.decisions[self._excluded[int(number) - 1].paper_id] = PaperDecision(status=ReviewStatus.INCLUDE)
            self._save(self._marks)
        self._show_paper()

    def _move_by_and_save(self, step: int) -> None:
        last = len(self._papers) - 1
        position = self._marks.position + step
        self._marks.position = min(max(position, 0), max(last, 0))
        self._save(self._marks)
        if position > last:
            counts = review_text.format_mark_counts(self._papers, self._marks.decisions)
            self._screen.write(f"\nThat was the last paper. {counts}.")
        self._show_paper()

    def _show_paper(self) -> None:
        if self._papers:
            position = min(self._marks.position, len(self._papers) - 1)
            self._marks.position = position
            paper = self._papers[position]
            decision = self._marks.decisions.get(paper.id)
            number = f"{position + 1}/{len(self._papers)}"
            self._screen.write("\n" + review_text.format_paper(paper, decision, number, self._screen.width))
        self._screen.write(f"\n{review_text.PAPER_KEYS}")

    def _build_decision(self, action: DecisionAction, reviewer: str | None, feedback: str = "") -> Decision:
        decisions = {name: mark.model_dump(exclude_none=True) for name, mark in self._marks.decisions.items()}
        data = {"decisions": decisions, "reviewer": reviewer if decisions else None, "free_text_feedback": feedback}
        return Decision(action=action, revised_data={name: value for name, value in data.items() if value} or None)
