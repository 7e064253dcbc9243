"""What can go wrong in a paper search.

UraniborgError
├── InvalidInput
│   ├── InvalidQuery            the query is empty, too long or not text
│   │   └── UnsupportedQuery    it asks for citations or references of a work, which no source here is asked for
│   ├── InvalidDecision         the data sent with a decision does not fit its checkpoint
│   │   └── InvalidAction       it is not approve, edit or reject
│   ├── UnknownDomain           names the domains there are
│   └── UnknownSource           names the sources there are
├── NotFound
│   ├── SessionNotFound         there is no session with this id, or no longer
│   └── CheckpointNotFound      the session never asked this
├── Conflict
│   ├── NoPendingCheckpoint     the session asks nothing at the moment
│   ├── CheckpointBusy          another decision came first and is being carried out
│   ├── SessionComplete         nothing is left to decide
│   ├── SessionNotComplete      there is nothing to export yet
│   ├── SessionFailed           the search broke down; carries its error
│   └── NoPapersYet             the session has not searched yet
└── Unavailable
    ├── SessionNotOpened        a new session could not be kept; nothing was begun
    ├── SessionInterrupted      what keeps the session failed; nothing is lost, a later call continues it
    ├── SearchSourceError       one source failed; the search goes on without it
    │   ├── RetryableError      a later attempt may succeed: timeouts, 429, 5xx
    │   └── NonRetryableError   it will not: refused keys, malformed answers
    │       ├── CallLimitError        the call budget given to this source is used up
    │       ├── CreditsExhaustedError the source's own daily credits are used up
    │       ├── MissingKeyError       it needs a key and none is set
    │       ├── DeadlineError         it took longer in all than it was given
    │       └── NotRecordedError      a replay was asked for something it does not hold
    └── LLMError                the model failed; the rules take over
        ├── LLMAuthError
        ├── LLMRateLimitError
        └── LLMResponseError
"""

from datetime import datetime
from typing import Any

from uraniborg.kernel.errors import Conflict, InvalidInput, NotFound, Unavailable
from uraniborg.kernel.logging import printable


class InvalidQuery(InvalidInput):
    code = "invalid_query"


class UnsupportedQuery(InvalidQuery):
    code = "unsupported_query"


class InvalidDecision(InvalidInput):
    code = "invalid_decision"


class InvalidAction(InvalidDecision):
    code = "invalid_action"

    def __init__(self, action: str, allowed: list[str]) -> None:
        super().__init__(
            f"Invalid action: {printable(action[:80])!r}.",
            hint=f"Use one of: {', '.join(allowed)}.",
            argument="action",
            allowed=allowed,
        )


class UnknownDomain(InvalidInput):
    code = "unknown_domain"


class UnknownSource(InvalidInput):
    code = "unknown_source"


class SessionNotFound(NotFound):
    code = "session_not_found"

    def __init__(self, session_id: str) -> None:
        shown = printable(session_id[:80])
        super().__init__(
            f"Session not found: {shown}",
            hint="Use the session_id that search_papers returned. Sessions nobody uses are deleted in the end.",
            session_id=shown,
        )


class CheckpointNotFound(NotFound):
    code = "checkpoint_not_found"

    def __init__(self, session_id: str, checkpoint_id: str) -> None:
        super().__init__(
            "Checkpoint not found: this session never asked it.",
            hint="Use the checkpoint_id of the latest reply, or leave it out to decide what is pending.",
            session_id=session_id,
            checkpoint_id=printable(checkpoint_id[:120]),
        )


class NoPendingCheckpoint(Conflict):
    code = "no_pending_checkpoint"

    def __init__(self, session_id: str, phase: str) -> None:
        super().__init__(
            f"No pending checkpoint: the session is at work ({phase}).",
            hint="Call get_session until has_pending_checkpoint is true, then decide.",
            session_id=session_id,
            phase=phase,
        )


class CheckpointBusy(Conflict):
    code = "checkpoint_busy"

    def __init__(self, session_id: str, checkpoint_id: str | None) -> None:
        super().__init__(
            "This decision was not taken: checkpoint already being processed.",
            hint="Another decision came first. Call get_session to see where it led.",
            session_id=session_id,
            checkpoint_id=checkpoint_id,
        )


class SessionComplete(Conflict):
    code = "session_complete"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            "Session already complete: nothing is left to decide.",
            hint="Call export_results for the papers, or search_papers for another search.",
            session_id=session_id,
        )


class SessionNotComplete(Conflict):
    code = "session_not_complete"

    def __init__(self, session_id: str, phase: str) -> None:
        super().__init__(
            f"Session not complete yet ({phase}).",
            hint="Papers can be exported once the person has approved them at the result review. Call get_session to "
            "see what is asked now, and pass on their answer with decide.",
            session_id=session_id,
            phase=phase,
        )


class SessionFailed(Conflict):
    code = "session_failed"

    def __init__(self, session_id: str, error: str) -> None:
        super().__init__(f"The search failed: {error}", hint="Start another with search_papers.", session_id=session_id)


class NoPapersYet(Conflict):
    code = "no_papers_yet"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            "This session has found no papers yet.",
            hint="Approve the strategy first; then the papers can be read.",
            session_id=session_id,
        )


class SessionInterrupted(Unavailable):
    code = "session_interrupted"

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(
            f"The session could not go on: {reason}",
            hint="Nothing that was answered is lost. See to the cause, then call get_session: the session continues.",
            session_id=session_id,
        )
        self.reason = reason


class SessionNotOpened(Unavailable):
    code = "session_not_opened"

    def __init__(self, interruption: SessionInterrupted) -> None:
        super().__init__(
            f"No session could be opened: {interruption.reason}",
            hint="Nothing was begun. See to the cause, then call search_papers again.",
        )


class SearchSourceError(Unavailable):
    """A source could not answer. `retry_at` is set when the source said when it will again."""

    code = "source_failed"
    rate_limited: bool = False

    def __init__(self, message: str, *, hint: str = "", retry_at: datetime | None = None, **ids: Any) -> None:
        super().__init__(message, hint=hint, **ids)
        self.retry_at = retry_at


class RetryableError(SearchSourceError):
    """`retry_after_s` is how long the source asked us to wait, when it did."""

    code = "source_unavailable"

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        rate_limited: bool = False,
        retry_after_s: float | None = None,
        retry_at: datetime | None = None,
        **ids: Any,
    ) -> None:
        super().__init__(message, hint=hint, retry_at=retry_at, **ids)
        self.rate_limited = rate_limited
        self.retry_after_s = retry_after_s


class NonRetryableError(SearchSourceError):
    code = "source_refused"


class CallLimitError(NonRetryableError):
    code = "call_limit_reached"


class CreditsExhaustedError(NonRetryableError):
    code = "credits_exhausted"
    rate_limited = True


class MissingKeyError(NonRetryableError):
    """The source needs a key and none is set; it is skipped, not failed."""

    code = "missing_key"


class DeadlineError(NonRetryableError):
    """The source took longer in all than it was given."""

    code = "deadline_passed"


class NotRecordedError(NonRetryableError):
    code = "not_recorded"


class LLMError(Unavailable):
    code = "llm_failed"


class LLMAuthError(LLMError):
    code = "llm_auth_failed"


class LLMRateLimitError(LLMError):
    code = "llm_rate_limited"


class LLMResponseError(LLMError):
    code = "llm_bad_response"
