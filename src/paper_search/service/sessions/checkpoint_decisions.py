"""Decide a checkpoint, for every interface: with the stored marks, checked, and stored once."""

from dataclasses import dataclass

from paper_search.domain.review_models import AGENT, DEFAULT_REVIEWER, ReviewMarks
from paper_search.service.sessions.checkpoint_payloads import add_to_inbox
from paper_search.service.sessions.inbox_decisions import ask_about_note, check_inbox_decision, find_requests
from paper_search.store.saved_marks import MarkStore, StoredMarks
from paper_search.store.session_files import SessionStore
from paper_search.store.session_state import PendingCheckpoint
from paper_search.workflow.checkpoints import ResultPayload
from paper_search.workflow.decisions import CheckedDecision
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.deciders import check_person_decides
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.store.inbox import InboxDecision, InboxEntry, InboxPort

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Decider:
    """The interface through which a decision comes, who decides, and the name under which they review."""

    door: str
    actor: Actor | None = None
    reviewer: str | None = None

    @property
    def is_agent(self) -> bool:
        """Return whether the decision comes through the interface of agents."""
        return self.door == AGENT


@dataclass(frozen=True, slots=True)
class PreparedDecision:
    """A decision that fits its checkpoint, with the marks that are part of it."""

    given: InboxDecision
    checked: CheckedDecision
    marks: StoredMarks


@dataclass(frozen=True, slots=True)
class CheckpointDecisions:
    """Takes decisions about checkpoints. All methods may block: call them in a thread."""

    store: SessionStore
    inbox: InboxPort
    marks: MarkStore
    require_person: bool = False
    """Refuse the decisions of agents."""

    def prepare(self, pending: PendingCheckpoint, given: InboxDecision, decider: Decider) -> PreparedDecision:
        """Return the decision with the stored marks of all reviewers if the checkpoint is a review.

        Raise PersonRequired or InvalidDecision; NoteAsksForChange, once, for an approval whose note asks for something.
        """
        checkpoint = pending.checkpoint
        if self.require_person and not self.inbox.settled([checkpoint.checkpoint_id]):
            check_person_decides(decider.door, decider.actor, checkpoint.checkpoint_id)
        is_review = isinstance(checkpoint.payload, ResultPayload)
        marks = self.marks.collect(checkpoint.run_id) if is_review else StoredMarks()
        if is_review and (given.data or not marks.is_empty):
            given = given.model_copy(update={"marks": _dump_marks(marks, decider)})
        checked = check_inbox_decision(given, pending, decider.door, decider.actor)
        if asked := find_requests(checked):
            ask_about_note(self.store, checkpoint, checked.note or "", asked)
        return PreparedDecision(given, checked, marks)

    def store_decision(
        self, query: str, pending: PendingCheckpoint, prepared: PreparedDecision, decider: Decider
    ) -> InboxEntry:
        """Store the decision, and delete the marks that it contains. Return the entry of the inbox.

        The decision is taken also if the marks cannot be deleted: they are part of it, and wait for the next review.
        Raise AlreadyDecided with the first decision, DecisionWithdrawn, or SessionNotFound.
        """
        checkpoint = pending.checkpoint
        if self.inbox.missing([checkpoint.checkpoint_id]):
            add_to_inbox(self.inbox, self.store, query, pending)
        entry = self.inbox.decide(checkpoint.checkpoint_id, prepared.given, decider.door, decider.actor)
        try:
            self.marks.delete_sent(checkpoint.run_id, prepared.marks)
        except (OSError, UraniborgError) as exc:
            _log.exception("marks that were sent cannot be deleted", exc=exc, session_id=checkpoint.run_id)
        return entry


def _dump_marks(marks: StoredMarks, decider: Decider) -> JsonObject | None:
    """Return the marks as feedback of their reviewers; marks without a name are those of a decider without one."""
    own = None if decider.is_agent else decider.reviewer or None
    unnamed = DEFAULT_REVIEWER if decider.is_agent or own else decider.door
    feedback = ReviewMarks(
        reviewer=own,
        reviews={name or unnamed: review for name, review in sorted(marks.reviews.items()) if review},
        merge=marks.corrections.merge,
        split=marks.corrections.split,
        actors={name or unnamed: actor for name, actor in sorted(marks.actors.items())},
    )
    return feedback.model_dump(mode="json", exclude_none=True, exclude_defaults=True) or None
