"""Lists of sessions for people: with rounds, counts and the health of sources, filtered and paged."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, NamedTuple, cast

import orjson

from paper_search.errors import SessionInterrupted, SessionNotFound
from paper_search.models import SourceReport
from paper_search.sessions.replies import clip_text
from paper_search.sessions.state import COMPLETED, FAILED, PART, WAITING, SessionEnd, summarize_session
from paper_search.sessions.store import SessionStore, read_step
from uraniborg.kernel.inbox import InboxPort
from uraniborg.kernel.sqlite import DatabaseUnusable
from uraniborg.kernel.words import fold_text

Phase = Literal["waiting", "working", "completed", "failed", "unreadable"]
_PHASES: Final[Mapping[str, Phase]] = {WAITING: "waiting", COMPLETED: "completed", FAILED: "failed"}
_MAX_CACHED: Final = 5_000
_MIN_AGE: Final = timedelta(seconds=2)
"""The time of a file tells apart only changes that are further apart than its resolution."""
_QUERY_CHARS: Final = 300


class SessionList:
    """The sessions of a store. A session is read again only after its file or its pending question has changed."""

    def __init__(self, store: SessionStore, inbox: InboxPort) -> None:
        self._store = store
        self._inbox = inbox
        self._cache: dict[str, _CachedEntry] = {}

    def list_page(
        self, *, phase: Phase | None = None, words: str = "", offset: int = 0, limit: int = 50
    ) -> dict[str, Any]:
        """Return a page of the sessions that match, the one used last first. Blocks while it reads the store."""
        uses = self._store.list_last_uses()
        pending = self._inbox.map_pending(PART)
        wanted = fold_text(words).split()
        if phase is None and not wanted:
            listed = [
                self._build_entry(name, at, pending.get(name))
                for name, at in list(uses.items())[offset : offset + limit]
            ]
            page, total = [entry for entry in listed if entry is not None], len(uses)
        else:
            entries = [
                entry
                for name, at in uses.items()
                if (entry := self._build_entry(name, at, pending.get(name))) is not None
            ]
            found = [entry for entry in entries if _is_match(entry, phase, wanted)]
            page, total = found[offset : offset + limit], len(found)
        end = offset + limit
        return {
            "sessions": page,
            "total": total,
            "offset": offset,
            "limit": limit,
            "next_offset": end if end < total else None,
        }

    def _build_entry(self, session_id: str, last_used: datetime, pending_id: str | None) -> dict[str, Any] | None:
        """Return the entry of a session, or None if another process has deleted it."""
        cached = self._cache.get(session_id)
        if cached is not None and (cached.last_used, cached.pending_id) == (last_used, pending_id):
            return cached.entry
        with suppress(SessionNotFound):
            try:
                entry = self._read_entry(session_id, last_used)
            except (SessionInterrupted, DatabaseUnusable) as problem:
                return {
                    "session_id": session_id,
                    "query": "",
                    "phase": "unreadable",
                    "last_used_at": last_used.isoformat(),
                    "error": problem.message,
                }
            if datetime.now(UTC) - last_used > _MIN_AGE:
                self._cache_entry(session_id, _CachedEntry(last_used, pending_id, entry))
            return entry
        return None

    def _cache_entry(self, session_id: str, entry: "_CachedEntry") -> None:
        if len(self._cache) >= _MAX_CACHED:
            self._cache.clear()
        self._cache[session_id] = entry

    def _read_entry(self, session_id: str, last_used: datetime) -> dict[str, Any]:
        summary = summarize_session(self._store, self._inbox, session_id, last_used)
        entry: dict[str, Any] = summary.model_dump(mode="json", exclude_none=True)
        entry |= {
            "query": clip_text(summary.query, _QUERY_CHARS),
            "phase": _PHASES.get(summary.phase, "working"),
            "offline": bool(summary.offline),
        }
        if summary.phase in (COMPLETED, FAILED):
            ended = read_step(self._store, session_id, "ended", SessionEnd)
            return {**entry, "round": ended.rounds, "sources": [_build_health(report) for report in ended.sources]}
        steps = [step for step in self._store.list_steps(session_id) if step.startswith("checkpoint-")]
        if not steps:
            return {**entry, "round": 1, "sources": []}
        last = max(steps, key=lambda step: int(step.removeprefix("checkpoint-")))
        return {**entry, **_read_facts(self._store.read(session_id, last) or "")}


class _CachedEntry(NamedTuple):
    last_used: datetime
    pending_id: str | None
    entry: dict[str, Any]


def _read_facts(text: str) -> dict[str, Any]:
    """Return the round, the number of papers and the health of sources at a checkpoint."""
    try:
        checkpoint = orjson.loads(text)["checkpoint"]
        facts: dict[str, Any] = {"round": int(checkpoint["round"]) + 1, "sources": []}
        collection = cast("dict[str, Any] | None", checkpoint["payload"].get("collection"))
        if collection:
            reports = [SourceReport.model_validate(report) for report in collection["metadata"]["sources"]]
            facts |= {
                "paper_count": len(collection["papers"]),
                "sources": [_build_health(report) for report in reports],
            }
    except (ValueError, KeyError, TypeError):
        return {"round": 1, "sources": []}
    return facts


def _build_health(report: SourceReport) -> dict[str, Any]:
    return {
        "name": report.name,
        "status": report.status.value,
        "returned": report.returned,
        "partial": report.partial,
        "reason": clip_text(report.reason, 200),
    }


def _is_match(entry: Mapping[str, Any], phase: Phase | None, wanted: list[str]) -> bool:
    text = fold_text(f"{entry.get('query', '')} {entry['session_id']}")
    return (phase is None or entry["phase"] == phase) and all(word in text for word in wanted)
