"""List sessions for people: with rounds, counts and the health of sources, filtered and paged."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, NamedTuple, TypedDict

import orjson

from paper_search.domain.source_descriptions import get_source_label
from paper_search.errors import SessionInterrupted, SessionNotFound
from paper_search.models import SourceReport
from paper_search.service.reply_parts import clip_text, dump_as
from paper_search.service.search_replies import SearchList, SearchSummary, SourceHealth
from paper_search.store.session_files import SessionStore, read_step
from paper_search.store.session_state import COMPLETED, FAILED, PART, WAITING, SessionEnd, summarize_session
from uraniborg.kernel.language.words import fold_text
from uraniborg.kernel.store.inbox import InboxPort
from uraniborg.kernel.store.sqlite import DatabaseUnusable

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

    def list_page(self, *, phase: Phase | None = None, words: str = "", offset: int = 0, limit: int = 50) -> SearchList:
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

    def _build_entry(self, session_id: str, last_used: datetime, pending_id: str | None) -> SearchSummary | None:
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
                    "created_at": None,
                    "last_used_at": last_used.isoformat(),
                    "checkpoint_kind": None,
                    "checkpoint_id": None,
                    "round": 0,
                    "paper_count": None,
                    "sources": [],
                    "offline": False,
                    "actor": None,
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

    def _read_entry(self, session_id: str, last_used: datetime) -> SearchSummary:
        summary = summarize_session(self._store, self._inbox, session_id, last_used)
        dumped = dump_as(_SummaryFields, summary)
        entry: SearchSummary = {
            **dumped,
            "query": clip_text(summary.query, _QUERY_CHARS),
            "phase": _PHASES.get(summary.phase, "working"),
            "offline": bool(summary.offline),
            "actor": summary.actor and summary.actor.model_dump(),
            "round": 1,
            "sources": [],
        }
        if summary.phase in (COMPLETED, FAILED):
            ended = read_step(self._store, session_id, "ended", SessionEnd)
            entry["round"], entry["sources"] = ended.rounds, [_build_health(report) for report in ended.sources]
            return entry
        steps = [step for step in self._store.list_steps(session_id) if step.startswith("checkpoint-")]
        if steps:
            last = max(steps, key=lambda step: int(step.removeprefix("checkpoint-")))
            _add_facts(entry, self._store.read(session_id, last) or "")
        return entry


class _SummaryFields(TypedDict):
    """The fields of a summary that an entry has unchanged."""

    session_id: str
    created_at: str
    last_used_at: str
    checkpoint_kind: str | None
    checkpoint_id: str | None
    paper_count: int | None
    error: str | None


class _CachedEntry(NamedTuple):
    last_used: datetime
    pending_id: str | None
    entry: SearchSummary


def _add_facts(entry: SearchSummary, text: str) -> None:
    """Add the round, the number of papers and the health of sources at a checkpoint, as far as it can be read."""
    try:
        checkpoint = orjson.loads(text)["checkpoint"]
        round_number, collection = int(checkpoint["round"]) + 1, checkpoint["payload"].get("collection")
        if collection:
            reports = [SourceReport.model_validate(report) for report in collection["metadata"]["sources"]]
            entry["paper_count"] = len(collection["papers"])
            entry["sources"] = [_build_health(report) for report in reports]
        entry["round"] = round_number
    except (ValueError, KeyError, TypeError):
        return


def _build_health(report: SourceReport) -> SourceHealth:
    return {
        "name": report.name,
        "label": get_source_label(report.name),
        "status": report.status.value,
        "returned": report.returned,
        "partial": report.partial,
        "reason": clip_text(report.reason, 200),
    }


def _is_match(entry: SearchSummary, phase: Phase | None, wanted: list[str]) -> bool:
    text = fold_text(f"{entry['query']} {entry['session_id']}")
    return (phase is None or entry["phase"] == phase) and all(word in text for word in wanted)
