"""The errors of a paper search.

UraniborgError
├── InvalidInput
│   ├── InvalidQuery            the query is empty, too long or not text
│   │   └── UnsupportedQuery    it asks for the citations or references of a work
│   ├── InvalidDecision         the data sent with a decision does not fit its checkpoint
│   │   ├── InvalidAction       it is not approve, edit or reject
│   │   └── NoteAsksForChange   an approval has a note that asks for something; sent again, it is applied
│   ├── UnknownDomain           lists the domains
│   └── UnknownSource           lists the sources
├── NotFound
│   ├── SessionNotFound         no session has this id
│   └── CheckpointNotFound      the session does not have this checkpoint
├── Conflict
│   ├── NoPendingCheckpoint     the session has no pending checkpoint
│   ├── CheckpointBusy          an earlier decision is being carried out
│   ├── SessionComplete         nothing is left to decide
│   ├── SessionNotComplete      the session has no result yet
│   ├── SessionFailed           the search failed; carries its error
│   └── NoPapersYet             the session has not searched yet
└── Unavailable
    ├── SessionNotOpened        a new session could not be stored
    ├── SessionInterrupted      a step could not be stored; a later call continues the session
    ├── SearchSourceError       one source failed; the search continues without it
    │   ├── RetryableError      a later attempt may succeed: timeouts, 429, 5xx
    │   └── NonRetryableError   no later attempt will: refused keys, malformed answers
    │       ├── CallLimitError        the call budget given to this source is used up
    │       ├── CreditsExhaustedError the source's own daily credits are used up
    │       ├── MissingKeyError       it needs a key and none is set
    │       ├── DeadlineError         it exceeded its time limit
    │       └── NotRecordedError      the recording does not contain the request
    └── LLMError                the language model failed; rules replace it
        ├── LLMAuthError
        ├── LLMRateLimitError
        └── LLMResponseError
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from uraniborg.kernel.bibliography.identifiers import is_record_id
from uraniborg.kernel.errors import Conflict, InvalidInput, NotFound, Unavailable
from uraniborg.kernel.language.messages import format_did_you_mean
from uraniborg.kernel.logging import make_printable

_PAPER_ID_OF_SHELF: Final = re.compile(r"[0-9a-f]{32}")


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
            f"Invalid action: {make_printable(action[:80])!r}.",
            hint=f"Use one of: {', '.join(allowed)}.",
            argument="action",
            allowed=allowed,
        )


class NoteAsksForChange(InvalidDecision):
    code = "note_asks_for_change"

    def __init__(self, asked: str, *, is_strategy: bool) -> None:
        change = "edit it, or reject it" if is_strategy else "send decisions about papers, or reject"
        subject = "the plan" if is_strategy else "the result"
        outcome = "search with the plan as it is" if is_strategy else "end the review"
        super().__init__(
            f"Nothing was decided: the note of this approve seems to ask for “{make_printable(asked)}”, "
            "and an approve changes nothing.",
            hint=f"To change {subject}, {change} with feedback such as "
            f'{{"exclude_terms": ["mice"], "drop_limits": ["language"]}}. To {outcome}, send the same approve again.',
            argument="note",
            asked=make_printable(asked),
        )


class UnknownDomain(InvalidInput):
    code = "unknown_domain"


class UnknownSource(InvalidInput):
    code = "unknown_source"


def make_paper_id_hint(paper_id: str, otherwise: str) -> str:
    """Return the hint for an id that is not one of the papers of a session: `otherwise`, unless it is of a shelf."""
    if not _PAPER_ID_OF_SHELF.fullmatch(paper_id):
        return otherwise
    return (
        f"{paper_id} has the form of a paper_id of a shelf: read that paper with get_paper_metadata on the "
        f"paper-library server. In this session of the paper-search server: {otherwise}"
    )


class SessionNotFound(NotFound):
    code = "session_not_found"

    def __init__(self, session_id: str, nearest: Sequence[str] = ()) -> None:
        printable_id = make_printable(session_id[:80])
        paper = "This is the id of a paper, not of a session. " if is_record_id(session_id.strip()) else ""
        super().__init__(
            f"Session not found: {printable_id}",
            hint=f"{paper}{format_did_you_mean(nearest)}Use the session_id that search_papers returned; the resource "
            "paper-search://sessions lists all. Sessions that are not used for long are deleted.",
            session_id=printable_id,
            **({"nearest": list(nearest)} if nearest else {}),
        )


class CheckpointNotFound(NotFound):
    code = "checkpoint_not_found"

    def __init__(self, session_id: str, checkpoint_id: str, pending_id: str | None = None) -> None:
        pending = f"The pending checkpoint is {pending_id}: use" if pending_id else "Use"
        super().__init__(
            "Checkpoint not found in this session.",
            hint=f"{pending} the checkpoint_id of the latest reply, or omit it to decide the pending checkpoint.",
            session_id=session_id,
            checkpoint_id=make_printable(checkpoint_id[:120]),
        )


class NoPendingCheckpoint(Conflict):
    code = "no_pending_checkpoint"

    def __init__(self, session_id: str, phase: str) -> None:
        super().__init__(
            f"No pending checkpoint: the session is working ({phase}).",
            hint="Call get_session until has_pending_checkpoint is true, then decide.",
            session_id=session_id,
            phase=phase,
        )


class CheckpointBusy(Conflict):
    code = "checkpoint_busy"

    def __init__(self, session_id: str, checkpoint_id: str | None) -> None:
        super().__init__(
            "This decision was not applied: checkpoint already being processed.",
            hint="Another decision came first. Call get_session to see its outcome.",
            session_id=session_id,
            checkpoint_id=checkpoint_id,
        )


class SessionComplete(Conflict):
    code = "session_complete"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            "Session already complete: there is no checkpoint to decide.",
            hint="Call export_results for the papers, or search_papers for another search.",
            session_id=session_id,
        )


class SessionNotComplete(Conflict):
    code = "session_not_complete"

    def __init__(self, session_id: str, phase: str) -> None:
        super().__init__(
            f"Session not complete yet ({phase}).",
            hint="Papers can be exported once the person has approved them at the result review. Call get_session to "
            "see the pending checkpoint, and send the person's decision with decide.",
            session_id=session_id,
            phase=phase,
        )


class SessionFailed(Conflict):
    code = "session_failed"

    def __init__(self, session_id: str, error: str) -> None:
        super().__init__(
            f"The search failed: {error}", hint="Start another search with search_papers.", session_id=session_id
        )


class NoPapersYet(Conflict):
    code = "no_papers_yet"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            "This session has no papers yet.",
            hint="Approve the strategy first; then read the papers.",
            session_id=session_id,
        )


class SessionInterrupted(Unavailable):
    code = "session_interrupted"

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(
            f"The session was interrupted: {reason}",
            hint="No decision is lost. Fix the cause, then call get_session: the session continues.",
            session_id=session_id,
        )
        self.reason = reason


class SessionNotOpened(Unavailable):
    code = "session_not_opened"

    def __init__(self, interruption: SessionInterrupted) -> None:
        super().__init__(
            f"No session could be opened: {interruption.reason}",
            hint="No search was started. Fix the cause, then call search_papers again.",
        )


class SearchSourceError(Unavailable):
    """A source could not answer. `retry_at` is the time from which it answers again, if the source states it."""

    code = "source_failed"
    rate_limited: bool = False

    def __init__(self, message: str, *, hint: str = "", retry_at: datetime | None = None, **ids: Any) -> None:
        super().__init__(message, hint=hint, **ids)
        self.retry_at = retry_at


class RetryableError(SearchSourceError):
    """A later attempt may succeed. `retry_after_s` is the wait that the source asks for, if it does."""

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
    """The source needs a key and none is set; it is skipped."""

    code = "missing_key"


class DeadlineError(NonRetryableError):
    """The source exceeded its time limit."""

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
