"""How each source may be asked: rate limits, keys, the meaning of refusals, and retries."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final, Literal
from urllib.parse import quote, quote_plus

from pydantic import SecretStr

from paper_search.errors import CreditsExhaustedError, NonRetryableError, RetryableError, SearchSourceError
from paper_search.sources.interfaces import Response
from uraniborg.kernel.logging import MASK, register_secret

_MIN_KEY_CHARACTERS: Final = 6


@dataclass(frozen=True, slots=True)
class Auth:
    """A key and where the source expects the key."""

    place: Literal["header", "param"]
    name: str
    secret: SecretStr

    @property
    def value(self) -> str:
        return self.secret.get_secret_value()

    def mask_key(self, body: bytes) -> bytes:
        """Return the body with this key masked: some sources repeat the request, and answers are stored on disk."""
        for spelling in self.spellings:
            body = body.replace(spelling.encode(), MASK.encode())
        return body

    @property
    def spellings(self) -> tuple[str, ...]:
        """The key as it is and as it looks in an address; none for a key too short to differ from other text."""
        if len(self.value) < _MIN_KEY_CHARACTERS:
            return ()
        return tuple(dict.fromkeys((self.value, quote(self.value, safe=""), quote_plus(self.value))))


class KeyMaskingFilter(logging.Filter):
    """A filter that masks keys in the log of httpx, which contains the address of every request."""

    def __init__(self, auths: Iterable[Auth]) -> None:
        super().__init__()
        self._spellings: list[str] = []
        for auth in auths:
            register_secret(auth.value)
            self._spellings += auth.spellings

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(self._mask_argument(arg) for arg in record.args)
        return True

    def _mask_argument(self, arg: object) -> object:
        text = str(arg)
        if not any(spelling in text for spelling in self._spellings):
            return arg
        for spelling in self._spellings:
            text = text.replace(spelling, MASK)
        return text


RETRIED_STATUSES: Final = frozenset({429, 500, 502, 503, 504})
LONGEST_WAIT_S: Final = 20.0
"""A source that asks for a longer wait is not retried and is reported as rate limited."""
_LONGEST_PROMISE_S: Final = 366 * 86_400.0


def return_no_failure_error(_response: Response) -> None:
    """Return None, for sources whose status alone explains a refusal."""
    return


@dataclass(frozen=True, slots=True)
class SourcePolicy:
    """How the transport treats one source. `attempts` limits one request, `max_calls` all requests together."""

    rate_per_s: float = 1.0
    burst: int = 1
    timeout_s: float = 20.0
    attempts: int = 3
    max_calls: int | None = None
    auth: Auth | None = None
    missing_key: str | None = None
    """The message that a key is missing and how to set it; if set, no request is sent."""
    params: tuple[tuple[str, str], ...] = ()
    """Parameters about the caller, sent with every request and not part of fingerprints."""
    read_failure: Callable[[Response], Exception | None] = return_no_failure_error


def make_response_error(source: str, response: Response, policy: SourcePolicy, now: datetime) -> SearchSourceError:
    """Return the error that a response other than 200 means, with the time of the next try if the source states it."""
    error = _read_source_error_or_none(response, policy) or _make_status_error(source, response.status)
    error.ids["status"] = response.status
    if isinstance(error, RetryableError):
        if error.retry_after_s is None:
            error.retry_after_s = parse_retry_after(response.headers.get("retry-after"), now)
        if error.retry_at is None and error.retry_after_s is not None:
            error.retry_at = now + timedelta(seconds=min(error.retry_after_s, _LONGEST_PROMISE_S))
    elif isinstance(error, CreditsExhaustedError) and error.retry_at is None:
        error.retry_at = compute_next_utc_midnight(now)
    return error


def decide_retry_or_wait_s(error: Exception) -> bool | float:
    """Return False for no retry, True for a retry, or the seconds to wait if the source states them."""
    if not isinstance(error, RetryableError):
        return False
    if error.retry_after_s is None:
        return True
    return error.retry_after_s if error.retry_after_s <= LONGEST_WAIT_S else False


def parse_retry_after(header_value: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or as a date; None for other text."""
    value = (header_value or "").strip()
    if value.isascii() and value.isdigit():
        return min(float(value), _LONGEST_PROMISE_S)
    try:
        at = parsedate_to_datetime(value)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())


def compute_next_utc_midnight(now: datetime) -> datetime:
    """Return the next midnight in UTC, when daily credits are renewed."""
    return (now.astimezone(UTC) + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)


def _read_source_error_or_none(response: Response, policy: SourcePolicy) -> SearchSourceError | None:
    try:
        error = policy.read_failure(response)
    except Exception:
        return None  # a refusal that the definition cannot read is judged by its status
    return error if isinstance(error, SearchSourceError) else None


def _make_status_error(source: str, status: int) -> SearchSourceError:
    if status == 429:
        return RetryableError(f"{source} limits the rate of requests (429).", rate_limited=True)
    if status in RETRIED_STATUSES:
        return RetryableError(f"{source} is temporarily unavailable ({status}).")
    if status in {401, 403}:
        return NonRetryableError(f"{source} refused the request ({status}).", hint=f"Check the key set for {source}.")
    return NonRetryableError(f"{source} did not accept the request ({status}).")
