"""Describe the state of a session, and the values that it stores: request, checkpoints and end."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, cast

from pydantic import BaseModel, ConfigDict

from paper_search.config import AppConfig, SearchSourceConfig
from paper_search.models import PaperCollection, SourceReport
from paper_search.store.session_files import SessionStore, StepCache, read_step
from paper_search.workflow.checkpoints import Checkpoint, ResultPayload
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import redact
from uraniborg.kernel.shared_fields import StoredActor
from uraniborg.kernel.store.inbox import DecisionNotFound, InboxPort

PART: Final = "paper_search"
"""The name of this part in the inbox."""

COMPLETED: Final = "completed"
FAILED: Final = "failed"
WAITING: Final = "waiting_checkpoint"
WORKING: Final = "working"


class SessionRequest(BaseModel):
    """The query and the configuration of a session, without keys: a session uses the keys of the present settings."""

    model_config = ConfigDict(extra="forbid")

    query: str
    config: JsonObject
    at: datetime
    actor: StoredActor = None
    """Who started the session."""

    @classmethod
    def from_config(cls, query: str, config: AppConfig, at: datetime, actor: Actor | None = None) -> "SessionRequest":
        secrets = {"llm": {"api_key"}, "sources": {"__all__": {"api_key"}}}
        stored = config.model_dump(mode="json", exclude={"record_dir": True, **secrets})
        stored["llm"]["base_url"] = redact(stored["llm"]["base_url"])
        return cls(query=query, config=stored, at=at, actor=actor)

    @property
    def max_rounds(self) -> int:
        """The number of rounds that the session has at most."""
        return int(cast("int", self.config.get("max_rounds", 0)))

    @property
    def is_offline(self) -> bool:
        """Whether the session is an offline trial."""
        return bool(self.config.get("offline"))

    def restore_config(self, current_config: AppConfig) -> AppConfig:
        """Return the configuration of the session, with the keys of the present one."""
        config = AppConfig.model_validate(self.config)
        for name, source in current_config.sources.items():
            if source.api_key:
                config.sources.setdefault(name, SearchSourceConfig(name=name)).api_key = source.api_key
        if (config.llm.provider, config.llm.base_url) == (
            current_config.llm.provider,
            redact(current_config.llm.base_url),
        ):
            config.llm.api_key, config.llm.base_url = current_config.llm.api_key, current_config.llm.base_url
        return config


class PendingCheckpoint(BaseModel):
    """A checkpoint that waits for its decision, and the sources that an edit may name."""

    model_config = ConfigDict(extra="forbid")

    checkpoint: Checkpoint
    sources: list[str]


class SessionEnd(BaseModel):
    """The end of a session: the number of papers, or an error."""

    model_config = ConfigDict(extra="forbid")

    at: datetime
    error: str | None = None
    paper_count: int = 0
    rounds: int = 0
    reason: str | None = None
    sources: list[SourceReport] = []

    @classmethod
    def from_result(cls, result: PaperCollection, at: datetime) -> "SessionEnd":
        """Return the end of a session with this result."""
        facts = result.metadata
        return cls(
            at=at, paper_count=len(result.papers), rounds=facts.rounds, reason=facts.reason, sources=facts.sources
        )


@dataclass(frozen=True, slots=True)
class SessionState:
    """The state of a session. `iteration` counts decisions, `round` finished rounds."""

    session_id: str
    query: str
    asked_at: datetime
    max_rounds: int = 0
    phase: str = WORKING
    iteration: int = 0
    round: int = 0
    pending: PendingCheckpoint | None = None
    ended: SessionEnd | None = None
    sources: list[SourceReport] = field(default_factory=list[SourceReport])
    sources_asked: int = 0
    is_offline: bool = False
    actor: Actor | None = None
    """Who started the session; None in sessions of versions that did not store it."""

    @property
    def checkpoint_id(self) -> str | None:
        """The id of the pending checkpoint, or None."""
        return self.pending.checkpoint.checkpoint_id if self.pending else None

    def has_passed_checkpoint(self, checkpoint_id: str | None) -> bool:
        """Return True if the session has ended or waits at another checkpoint than this one."""
        return self.ended is not None or self.checkpoint_id not in (None, checkpoint_id)


def read_session_state(
    store: SessionStore, inbox: InboxPort, session_id: str, cache: StepCache | None = None
) -> SessionState:
    """Return the stored state of a session, large steps from the cache. Raise SessionNotFound or SessionInterrupted."""
    steps = store.list_steps(session_id)
    request = read_step(store, session_id, "session", SessionRequest)
    state = SessionState(
        session_id,
        request.query,
        request.at,
        request.max_rounds,
        is_offline=request.is_offline,
        actor=request.actor,
    )
    last = _find_last_checkpoint_number(steps)
    if "ended" in steps:
        ended = read_step(store, session_id, "ended", SessionEnd)
        return replace(
            state,
            phase=FAILED if ended.error else COMPLETED,
            iteration=0 if last is None else last + 1,
            round=ended.rounds,
            ended=ended,
            sources=ended.sources,
        )
    if last is None:
        return state
    asked = (cache or StepCache(store)).read(session_id, f"checkpoint-{last}", PendingCheckpoint)
    is_pending = f"decision-{last}" not in steps and _is_pending_or_missing(inbox, asked.checkpoint.checkpoint_id)
    return replace(
        state,
        phase=WAITING if is_pending else WORKING,
        iteration=last if is_pending else last + 1,
        round=asked.checkpoint.round,
        pending=asked if is_pending else None,
        sources=list_source_reports(asked.checkpoint),
    )


class SessionSummary(BaseModel):
    """One session in a list of sessions."""

    session_id: str
    query: str
    phase: str
    created_at: datetime
    last_used_at: datetime
    checkpoint_kind: str | None = None
    checkpoint_id: str | None = None
    paper_count: int | None = None
    error: str | None = None
    offline: bool | None = None
    """True for an offline trial."""
    actor: StoredActor = None
    """Who started the session."""


def summarize_session(store: SessionStore, inbox: InboxPort, session_id: str, last_used: datetime) -> SessionSummary:
    """Return the summary of a stored session without reading its papers.

    Raise SessionNotFound or SessionInterrupted.
    """
    steps = store.list_steps(session_id)
    request = read_step(store, session_id, "session", SessionRequest)
    summary = SessionSummary(
        session_id=session_id,
        query=request.query,
        phase=WORKING,
        created_at=request.at,
        last_used_at=last_used,
        offline=request.is_offline or None,
        actor=request.actor,
    )
    if "ended" in steps:
        ended = read_step(store, session_id, "ended", SessionEnd)
        outcome = {"paper_count": ended.paper_count} if ended.error is None else {"error": ended.error}
        return summary.model_copy(update={"phase": FAILED if ended.error else COMPLETED, **outcome})
    last = _find_last_checkpoint_number(steps)
    if last is not None and f"decision-{last}" not in steps:
        pending = [entry for entry in inbox.beginning_with(f"{session_id}:{last}:") if entry.state == "pending"]
        if pending:
            checkpoint = {"checkpoint_kind": pending[0].kind, "checkpoint_id": pending[0].id}
            return summary.model_copy(update={"phase": WAITING, **checkpoint})
    return summary


def list_source_reports(checkpoint: Checkpoint) -> list[SourceReport]:
    """Return the reports of the sources that the papers of a checkpoint come from."""
    payload = checkpoint.payload
    return payload.collection.metadata.sources if isinstance(payload, ResultPayload) else []


def _find_last_checkpoint_number(steps: list[str]) -> int | None:
    """Return the number of the last checkpoint among the steps, or None."""
    prefix = "checkpoint-"
    return max((int(step.removeprefix(prefix)) for step in steps if step.startswith(prefix)), default=None)


def _is_pending_or_missing(inbox: InboxPort, checkpoint_id: str) -> bool:
    try:
        return inbox.get(checkpoint_id).state == "pending"
    except DecisionNotFound:
        return True  # the process ended before it could add the entry, or the inbox was lost; it will be added again
