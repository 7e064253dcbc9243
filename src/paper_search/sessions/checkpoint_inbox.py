"""Checkpoints of sessions in the inbox: adding them, formatting them, and checking decisions that come from there."""

from typing import Any

from paper_search.editorial_notices import mark_title
from paper_search.models import SearchStrategy
from paper_search.plan_text import describe_plan
from paper_search.sessions.inbox_decisions import EDIT_EXAMPLE, check_inbox_decision
from paper_search.sessions.note_question import ask_about_note, find_requests
from paper_search.sessions.replies import build_checkpoint_payload, format_question
from paper_search.sessions.saved_marks import MarkStore, add_marks
from paper_search.sessions.state import PART, PendingCheckpoint, read_session_state
from paper_search.sessions.store import SessionFiles, SessionStore
from paper_search.workflow.checkpoints import CheckpointKind
from uraniborg.kernel.inbox import AlreadyDecided, Entry, Inbox, InboxPort
from uraniborg.kernel.inbox import Decision as InboxDecision


def add_to_inbox(inbox: InboxPort, query: str, pending: PendingCheckpoint) -> Entry:
    """Add the checkpoint to the inbox and return its entry; an existing entry stays as it is."""
    checkpoint = pending.checkpoint
    payload = {"query": query, "question": format_question(checkpoint), **build_checkpoint_payload(checkpoint)}
    return inbox.put(checkpoint.checkpoint_id, PART, checkpoint.kind.value, checkpoint.run_id, payload)


def check_answer(
    entry: Entry, given: InboxDecision, *, inbox: InboxPort | None = None, store: SessionStore | None = None
) -> None:
    """Raise InvalidDecision unless the decision fits the entry; AlreadyDecided or SessionNotFound if none can.

    An approval whose note asks for something raises NoteAsksForChange, once.
    """
    store = store or SessionFiles()
    state = read_session_state(store, inbox or Inbox(), entry.subject)
    if state.pending is None or state.checkpoint_id != entry.id:
        raise AlreadyDecided(entry)
    if asked := find_requests(check_inbox_decision(given, state.pending)):
        ask_about_note(store, state.pending.checkpoint, given.note or "", asked)
    store.touch(entry.subject)


def complete_answer(entry: Entry, given: InboxDecision, by: str | None) -> InboxDecision:
    """Return the decision about a review with the stored marks of all reviewers; those of `by` are the decider's."""
    if entry.kind != CheckpointKind.RESULT_REVIEW:
        return given
    marks = MarkStore().load_all(entry.subject)
    return given.model_copy(update={"data": add_marks(given.data, marks, by)}) if any(marks.values()) else given


def finish_answer(entry: Entry) -> None:
    """Delete the marks that the decision contains."""
    if entry.kind == CheckpointKind.RESULT_REVIEW:
        MarkStore().delete(entry.subject)


def format_payload(payload: dict[str, Any]) -> list[str]:
    """Return the payload of a checkpoint as lines of text."""
    return _format_papers(payload) if "papers" in payload else _format_strategy(payload["strategy"])


def _format_strategy(strategy: dict[str, Any]) -> list[str]:
    filters = ", ".join(f"{name} {value}" for name, value in strategy["filters"].items())
    return [
        *(f"{name:<8} {text}" for name, text in describe_plan(SearchStrategy.model_validate(strategy))),
        f"filters  {filters}",
        *_format_inherited_parts(strategy),
        "",
        f"Edit it with --data, for example: {EDIT_EXAMPLE}",
    ]


def _format_inherited_parts(strategy: dict[str, Any]) -> list[str]:
    origins = [origin for origin in strategy.get("origins", []) if origin["inherited"]]
    return [f"inherited  {origin['part']}: {origin['value']} ({origin['reason']})" for origin in origins]


def _format_papers(payload: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for paper in payload["papers"]:
        more = f" and {paper['more_authors']} more" if paper["more_authors"] else ""
        title = mark_title(paper["title"], paper.get("retraction", {}).get("status"))
        lines += [f"{title} ({paper['year'] or '-'})"]
        lines += [f"  {paper['id']}  {paper['relevance_score']:.2f}  {', '.join(paper['authors'])}{more}"]
        lines += [f"  {note}"] if (note := paper.get("editorial_note")) else []
        lines += [""]
    if rest := payload["total_papers"] - payload["shown"]:
        lines.append(f"and {rest} more")
    return lines
