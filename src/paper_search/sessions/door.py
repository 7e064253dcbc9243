"""For doors outside of any session, such as a terminal: what a checkpoint asks, and whether a decision answers it."""

import json
from typing import Any

from paper_search.sessions.answers import from_inbox
from paper_search.sessions.state import stored_state
from paper_search.sessions.store import SessionFiles, SessionStore
from uraniborg.kernel.inbox import AlreadyDecided, Entry, Inbox, InboxPort
from uraniborg.kernel.inbox import Decision as InboxDecision


def check_answer(
    entry: Entry, given: InboxDecision, *, inbox: InboxPort | None = None, store: SessionStore | None = None
) -> None:
    """Raises InvalidDecision unless `given` answers the entry; AlreadyDecided or SessionNotFound when none can."""
    store = store or SessionFiles()
    state = stored_state(store, inbox or Inbox(), entry.subject)
    if state.waiting is None or state.checkpoint_id != entry.id:
        raise AlreadyDecided(entry)
    from_inbox(given, state.waiting)
    store.touch(entry.subject)


def told_in_full(payload: dict[str, Any]) -> list[str]:
    """What the checkpoint shows, line by line."""
    if "papers" not in payload:
        return json.dumps({"intent": payload["intent"], "strategy": payload["strategy"]}, indent=2).splitlines()
    lines: list[str] = []
    for paper in payload["papers"]:
        authors = ", ".join(paper["authors"])
        lines += [f"{paper['title']} ({paper['year'] or '-'})"]
        lines += [f"  {paper['id']}  {paper['relevance_score']:.2f}  {authors}", ""]
    if more := payload["total_papers"] - payload["shown"]:
        lines.append(f"and {more} more")
    return lines
