"""For doors outside of any session, such as a terminal: what a checkpoint asks, and whether a decision answers it."""

from typing import Any

from paper_search.notices import mark_title
from paper_search.sessions.answers import from_inbox
from paper_search.sessions.edits import EXAMPLE
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
    return _papers(payload) if "papers" in payload else _strategy(payload["strategy"])


def _strategy(strategy: dict[str, Any]) -> list[str]:
    queries = [f"query    {query['boolean_query']}" for query in strategy["queries"]]
    filters = ", ".join(f"{name} {value}" for name, value in strategy["filters"].items())
    sources = ", ".join(strategy["sources"]) or "all"
    return [
        *queries,
        f"sources  {sources}",
        f"filters  {filters}",
        *_inherited(strategy),
        "",
        f"Edit it with --data, for example: {EXAMPLE}",
    ]


def _inherited(strategy: dict[str, Any]) -> list[str]:
    """Return a line for each part that comes from an earlier round."""
    origins = [origin for origin in strategy.get("origins", []) if origin["inherited"]]
    return [f"inherited  {origin['part']}: {origin['value']} ({origin['reason']})" for origin in origins]


def _papers(payload: dict[str, Any]) -> list[str]:
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
