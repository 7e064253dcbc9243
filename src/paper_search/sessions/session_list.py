"""Lists of sessions for people: with rounds, counts and the health of sources, filtered and paged."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, Literal, cast

import orjson

from paper_search.errors import SessionInterrupted, SessionNotFound
from paper_search.models import SourceReport
from paper_search.sessions.replies import clip_text
from paper_search.sessions.state import COMPLETED, FAILED, WAITING, SessionEnd, summarize_session
from paper_search.sessions.store import SessionStore, read_step
from uraniborg.kernel.inbox import InboxPort
from uraniborg.kernel.sqlite import DatabaseUnusable
from uraniborg.kernel.words import fold_text

Phase = Literal["waiting", "working", "completed", "failed", "unreadable"]
_PHASES: Final[Mapping[str, Phase]] = {WAITING: "waiting", COMPLETED: "completed", FAILED: "failed"}
_MAX_CACHED: Final = 5_000
_QUERY_CHARS: Final = 300


class SessionList:
    """The sessions of a store. Sessions that have ended and checkpoints never change, so they are read once."""

    def __init__(self, store: SessionStore, inbox: InboxPort) -> None:
        self._store = store
        self._inbox = inbox
        self._ended: dict[str, dict[str, Any]] = {}
        self._checkpoints: dict[tuple[str, str], dict[str, Any]] = {}

    def list_page(
        self, *, phase: Phase | None = None, words: str = "", offset: int = 0, limit: int = 50
    ) -> dict[str, Any]:
        """Return a page of the sessions that match, the one used last first. Blocks while it reads the store."""
        uses = self._store.list_last_uses()
        wanted = fold_text(words).split()
        if phase is None and not wanted:
            listed = [self._build_entry(name, at) for name, at in list(uses.items())[offset : offset + limit]]
            page, total = [entry for entry in listed if entry is not None], len(uses)
        else:
            entries = [entry for name, at in uses.items() if (entry := self._build_entry(name, at)) is not None]
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

    def _build_entry(self, session_id: str, last_used: datetime) -> dict[str, Any] | None:
        """Return the entry of a session, or None if another process has deleted it."""
        if (cached := self._ended.get(session_id)) is not None:
            return {**cached, "last_used_at": last_used.isoformat()}
        with suppress(SessionNotFound):
            try:
                return self._read_entry(session_id, last_used)
            except (SessionInterrupted, DatabaseUnusable) as problem:
                return {
                    "session_id": session_id,
                    "query": "",
                    "phase": "unreadable",
                    "last_used_at": last_used.isoformat(),
                    "error": problem.message,
                }
        return None

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
            entry |= {"round": ended.rounds, "sources": [_build_health(report) for report in ended.sources]}
            if len(self._ended) < _MAX_CACHED:
                self._ended[session_id] = entry
            return entry
        steps = [step for step in self._store.list_steps(session_id) if step.startswith("checkpoint-")]
        last = max(steps, key=lambda step: int(step.removeprefix("checkpoint-")), default=None)
        return {**entry, **(self._read_checkpoint_facts(session_id, last) if last else {"round": 1, "sources": []})}

    def _read_checkpoint_facts(self, session_id: str, step: str) -> dict[str, Any]:
        """Return the round, the number of papers and the health of sources at a checkpoint."""
        key = (session_id, step)
        if key not in self._checkpoints:
            facts = _read_facts(self._store.read(session_id, step) or "")
            if len(self._checkpoints) >= _MAX_CACHED:
                self._checkpoints.clear()
            self._checkpoints[key] = facts
        return self._checkpoints[key]


def _read_facts(text: str) -> dict[str, Any]:
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
