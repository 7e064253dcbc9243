"""Put checkpoints of sessions into the inbox, and display them there as text."""

from paper_search.checkpoint_replies import Asked, CheckpointPayload, PapersToReview, PlanFields
from paper_search.errors import SessionNotFound
from paper_search.models import SearchStrategy
from paper_search.plan_text import describe_plan
from paper_search.sessions.checkpoint_payloads import build_checkpoint_payload
from paper_search.sessions.inbox_decisions import EDIT_EXAMPLE
from paper_search.sessions.listed_papers import mark_listed_title
from paper_search.sessions.questions import format_question
from paper_search.sessions.state import PART, PendingCheckpoint
from paper_search.sessions.store import SessionStore
from uraniborg.kernel.inbox import Entry, InboxPort


def add_to_inbox(inbox: InboxPort, store: SessionStore, query: str, pending: PendingCheckpoint) -> Entry:
    """Add the checkpoint to the inbox and return its entry; an existing entry stays as it is.

    Raise SessionNotFound, and leave no entry, if another process has deleted the session.
    """
    checkpoint = pending.checkpoint
    asked: Asked = {"query": query, "question": format_question(checkpoint)}
    payload = {**asked, **build_checkpoint_payload(checkpoint)}
    entry = inbox.put(checkpoint.checkpoint_id, PART, checkpoint.kind.value, checkpoint.run_id, payload)
    if not store.has_session(checkpoint.run_id):
        inbox.forget(PART, checkpoint.run_id)
        raise SessionNotFound(checkpoint.run_id)
    return entry


def format_payload(payload: CheckpointPayload) -> list[str]:
    """Return the payload of a checkpoint as lines of text."""
    return _format_papers(payload) if "papers" in payload else _format_strategy(payload["strategy"])


def _format_strategy(strategy: PlanFields) -> list[str]:
    filters = ", ".join(f"{name} {value}" for name, value in strategy["filters"].items())
    return [
        *(f"{name:<8} {text}" for name, text in describe_plan(SearchStrategy.model_validate(strategy))),
        f"filters  {filters}",
        *_format_inherited_parts(strategy),
        *(f"note     {note}" for note in strategy.get("notes", [])),
        "",
        f"Edit it with --data, for example: {EDIT_EXAMPLE}",
    ]


def _format_inherited_parts(strategy: PlanFields) -> list[str]:
    origins = [origin for origin in strategy.get("origins", []) if origin["inherited"]]
    return [f"inherited  {origin['part']}: {origin['value']} ({origin['reason']})" for origin in origins]


def _format_papers(payload: PapersToReview) -> list[str]:
    lines: list[str] = []
    for paper in payload["papers"]:
        more = f" and {paper['more_authors']} more" if paper["more_authors"] else ""
        lines += [f"{mark_listed_title(paper)} ({paper['year'] or '-'})"]
        lines += [f"  {paper['id']}  {paper['relevance_score']:.2f}  {', '.join(paper['authors'])}{more}"]
        lines += [f"  {note}"] if (note := paper.get("editorial_note")) else []
        lines += [""]
    if rest := payload["total_papers"] - payload["shown"]:
        lines.append(f"and {rest} more")
    return lines
