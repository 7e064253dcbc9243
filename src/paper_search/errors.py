"""What can go wrong in a paper search.

UraniborgError
├── InvalidInput
│   ├── InvalidQuery            the query is empty, too long or not text
│   ├── InvalidDecision         the data sent with a decision does not fit its checkpoint
│   ├── UnknownDomain           names the domains there are
│   └── UnknownSource           names the sources there are
└── Unavailable
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

from uraniborg.kernel.errors import InvalidInput, Unavailable


class InvalidQuery(InvalidInput):
    code = "invalid_query"


class InvalidDecision(InvalidInput):
    code = "invalid_decision"


class UnknownDomain(InvalidInput):
    code = "unknown_domain"


class UnknownSource(InvalidInput):
    code = "unknown_source"


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
