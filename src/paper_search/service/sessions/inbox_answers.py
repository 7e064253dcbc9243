"""Answer questions of the inbox about sessions while no manager is at hand."""

from paper_search.service.sessions.checkpoint_decisions import CheckpointDecisions, Decider, PreparedDecision
from paper_search.service.sessions.checkpoint_payloads import format_payload
from paper_search.store.saved_marks import MarkStore
from paper_search.store.session_files import SessionFiles, SessionStore
from paper_search.store.session_state import PendingCheckpoint, SessionState, read_session_state
from uraniborg.kernel.actors import Actor, describe_actor
from uraniborg.kernel.store.inbox import AlreadyDecided, Inbox, InboxDecision, InboxEntry, InboxPort

__all__ = ["check_answer", "decide", "format_payload"]


def check_answer(
    entry: InboxEntry, given: InboxDecision, *, inbox: InboxPort | None = None, store: SessionStore | None = None
) -> None:
    """Raise InvalidDecision unless the decision fits the entry; AlreadyDecided or SessionNotFound if none can.

    An approval whose note asks for something raises NoteAsksForChange, once.
    """
    decisions = CheckpointDecisions(store or SessionFiles(), inbox or Inbox(), MarkStore())
    _prepare(decisions, entry, given, Decider(door=""))


def decide(inbox: InboxPort, entry: InboxEntry, given: InboxDecision, door: str, actor: Actor) -> InboxEntry:
    """Store the decision, and return its entry. Raise as `check_answer`, and as the inbox does."""
    decisions = CheckpointDecisions(SessionFiles(), inbox, MarkStore())
    decider = Decider(door, actor, reviewer=describe_actor(actor))
    state, pending, prepared = _prepare(decisions, entry, given, decider)
    return decisions.store_decision(state.query, pending, prepared, decider)


def _prepare(
    decisions: CheckpointDecisions, entry: InboxEntry, given: InboxDecision, decider: Decider
) -> tuple[SessionState, PendingCheckpoint, PreparedDecision]:
    state = read_session_state(decisions.store, decisions.inbox, entry.subject)
    if state.pending is None or state.checkpoint_id != entry.id:
        raise AlreadyDecided(entry)
    prepared = decisions.prepare(state.pending, given, decider)
    decisions.store.touch(entry.subject)
    return state, state.pending, prepared
