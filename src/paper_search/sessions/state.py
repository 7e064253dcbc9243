"""Where a session stands, as any process can tell it: from the run in its memory, or from what was kept on disk."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from paper_search.config import AppConfig, SearchSourceConfig
from paper_search.models import PaperCollection, SourceReport
from paper_search.sessions.journal import read_step
from paper_search.sessions.store import SessionStore
from paper_search.workflow.checkpoints import Checkpoint, ResultPayload
from uraniborg.kernel.inbox import DecisionNotFound, InboxPort
from uraniborg.kernel.logging import redact

PART: Final = "paper_search"
"""Under which name the inbox holds our checkpoints."""

COMPLETED: Final = "completed"
FAILED: Final = "failed"
WAITING: Final = "waiting_checkpoint"
WORKING: Final = "working"


class Asked(BaseModel):
    """How a session was asked for. Keys are not part of it: they are whatever the settings hold when it runs."""

    model_config = ConfigDict(extra="forbid")

    query: str
    config: dict[str, Any]
    at: datetime

    @classmethod
    def of(cls, query: str, config: AppConfig, at: datetime) -> "Asked":
        secrets = {"llm": {"api_key"}, "sources": {"__all__": {"api_key"}}}
        kept = config.model_dump(mode="json", exclude={"record_dir": True, **secrets})
        kept["llm"]["base_url"] = redact(kept["llm"]["base_url"])
        return cls(query=query, config=kept, at=at)

    @property
    def max_rounds(self) -> int:
        return int(self.config.get("max_rounds", 0))

    def with_keys_of(self, present: AppConfig) -> AppConfig:
        """The config of the session, with the keys that are set now."""
        config = AppConfig.model_validate(self.config)
        for name, source in present.sources.items():
            if source.api_key:
                config.sources.setdefault(name, SearchSourceConfig(name=name)).api_key = source.api_key
        if (config.llm.provider, config.llm.base_url) == (present.llm.provider, redact(present.llm.base_url)):
            config.llm.api_key, config.llm.base_url = present.llm.api_key, present.llm.base_url
        return config


class Waiting(BaseModel):
    """A checkpoint as it was put to a person, and the sources that an edit may name."""

    model_config = ConfigDict(extra="forbid")

    checkpoint: Checkpoint
    sources: list[str]


class Ended(BaseModel):
    """How a session ended: with papers, or with an error."""

    model_config = ConfigDict(extra="forbid")

    at: datetime
    error: str | None = None
    paper_count: int = 0
    rounds: int = 0
    reason: str | None = None
    sources: list[SourceReport] = []

    @classmethod
    def well(cls, result: PaperCollection, at: datetime) -> "Ended":
        facts = result.metadata
        return cls(
            at=at, paper_count=len(result.papers), rounds=facts.rounds, reason=facts.reason, sources=facts.sources
        )


@dataclass(frozen=True, slots=True)
class SessionState:
    """`iteration` counts the decisions taken, `round` the rounds finished. `waiting` is set while a person is asked."""

    session_id: str
    query: str
    asked_at: datetime
    max_rounds: int = 0
    phase: str = WORKING
    iteration: int = 0
    round: int = 0
    waiting: Waiting | None = None
    ended: Ended | None = None
    sources: list[SourceReport] = field(default_factory=list[SourceReport])
    sources_asked: int = 0

    @property
    def checkpoint_id(self) -> str | None:
        return self.waiting.checkpoint.checkpoint_id if self.waiting else None

    def has_left(self, checkpoint_id: str | None) -> bool:
        """Whether it has come to an end or to a checkpoint other than this one."""
        return self.ended is not None or self.checkpoint_id not in (None, checkpoint_id)


def stored_state(store: SessionStore, inbox: InboxPort, session_id: str) -> SessionState:
    """The state of a session that this process does not run. Raises SessionNotFound or SessionInterrupted."""
    steps = store.steps(session_id)
    asked = read_step(store, session_id, "session", Asked)
    state = SessionState(session_id, asked.query, asked.at, asked.max_rounds)
    last = _last_checkpoint(steps)
    if "ended" in steps:
        ended = read_step(store, session_id, "ended", Ended)
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
    waiting = read_step(store, session_id, f"checkpoint-{last}", Waiting)
    pending = f"decision-{last}" not in steps and _is_pending(inbox, waiting.checkpoint.checkpoint_id)
    return replace(
        state,
        phase=WAITING if pending else WORKING,
        iteration=last if pending else last + 1,
        round=waiting.checkpoint.round,
        waiting=waiting if pending else None,
        sources=reports_of(waiting.checkpoint),
    )


class SessionSummary(BaseModel):
    """One line of a list of sessions."""

    session_id: str
    query: str
    phase: str
    created_at: datetime
    last_used_at: datetime
    checkpoint_kind: str | None = None
    checkpoint_id: str | None = None
    paper_count: int | None = None
    error: str | None = None


def summarize_session(store: SessionStore, inbox: InboxPort, session_id: str, last_used: datetime) -> SessionSummary:
    """Return the summary of a stored session without reading its papers.

    Raises SessionNotFound or SessionInterrupted.
    """
    steps = store.steps(session_id)
    asked = read_step(store, session_id, "session", Asked)
    summary = SessionSummary(
        session_id=session_id, query=asked.query, phase=WORKING, created_at=asked.at, last_used_at=last_used
    )
    if "ended" in steps:
        ended = read_step(store, session_id, "ended", Ended)
        outcome = {"paper_count": ended.paper_count} if ended.error is None else {"error": ended.error}
        return summary.model_copy(update={"phase": FAILED if ended.error else COMPLETED, **outcome})
    last = _last_checkpoint(steps)
    if last is not None and f"decision-{last}" not in steps:
        pending = [entry for entry in inbox.beginning_with(f"{session_id}:{last}:") if entry.state == "pending"]
        if pending:
            waiting = {"checkpoint_kind": pending[0].kind, "checkpoint_id": pending[0].id}
            return summary.model_copy(update={"phase": WAITING, **waiting})
    return summary


def reports_of(checkpoint: Checkpoint) -> list[SourceReport]:
    payload = checkpoint.payload
    return payload.collection.metadata.sources if isinstance(payload, ResultPayload) else []


def _last_checkpoint(steps: list[str]) -> int | None:
    """Return the number of the last checkpoint among the steps, or None."""
    prefix = "checkpoint-"
    return max((int(step.removeprefix(prefix)) for step in steps if step.startswith(prefix)), default=None)


def _is_pending(inbox: InboxPort, checkpoint_id: str) -> bool:
    try:
        return inbox.get(checkpoint_id).state == "pending"
    except DecisionNotFound:
        return True  # the process ended before it could ask, or the inbox was lost; it will be asked again
