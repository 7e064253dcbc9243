"""How a source wants to be treated: its pace, its key, what its refusals mean and how long to wait after one."""

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

_SHORTEST_TOLD_FROM_TEXT: Final = 6


@dataclass(frozen=True, slots=True)
class Auth:
    """A key and where the source expects it."""

    place: Literal["header", "param"]
    name: str
    secret: SecretStr

    @property
    def value(self) -> str:
        return self.secret.get_secret_value()

    def taken_out_of(self, body: bytes) -> bytes:
        """The body without this key: some sources repeat the request in the answer, and answers are kept on disk."""
        for spelling in self.spellings:
            body = body.replace(spelling.encode(), MASK.encode())
        return body

    @property
    def spellings(self) -> tuple[str, ...]:
        """The key as it stands and as it looks in an address; none for one too short to be told from other text."""
        if len(self.value) < _SHORTEST_TOLD_FROM_TEXT:
            return ()
        return tuple(dict.fromkeys((self.value, quote(self.value, safe=""), quote_plus(self.value))))


class KeysStayOutOfLogs(logging.Filter):
    """A filter for httpx's logger, which logs the whole address of every request; some keys travel in it."""

    def __init__(self, auths: Iterable[Auth]) -> None:
        super().__init__()
        self._spellings: list[str] = []
        for auth in auths:
            register_secret(auth.value)
            self._spellings += auth.spellings

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(self._masked(arg) for arg in record.args)
        return True

    def _masked(self, arg: object) -> object:
        text = str(arg)
        if not any(spelling in text for spelling in self._spellings):
            return arg
        for spelling in self._spellings:
            text = text.replace(spelling, MASK)
        return text


RETRIED_STATUSES: Final = frozenset({429, 500, 502, 503, 504})
LONGEST_WAIT_S: Final = 20.0
"""A source that asks for more patience than this is left alone and reported as limited until then."""
_LONGEST_PROMISE_S: Final = 366 * 86_400.0


def no_opinion(_response: Response) -> Exception | None:
    """For sources whose refusals mean what their status says."""
    return None


@dataclass(frozen=True, slots=True)
class SourcePolicy:
    """What the transport does for one source. `attempts` are those of one request, `max_calls` those of all of them."""

    rate_per_s: float = 1.0
    burst: int = 1
    timeout_s: float = 20.0
    attempts: int = 3
    max_calls: int | None = None
    auth: Auth | None = None
    missing_key: str | None = None
    """Says which key is missing and how to set it; with it no request is made."""
    params: tuple[tuple[str, str], ...] = ()
    """Sent with every request and part of no fingerprint: who is calling."""
    failure: Callable[[Response], Exception | None] = no_opinion


def refusal(source: str, response: Response, policy: SourcePolicy, now: datetime) -> SearchSourceError:
    """The error that an answer other than 200 stands for, with the time of a next try where the source says so."""
    error = _in_the_sources_words(response, policy) or _by_status(source, response.status)
    error.ids["status"] = response.status
    if isinstance(error, RetryableError):
        if error.retry_after_s is None:
            error.retry_after_s = retry_after_s(response.headers.get("retry-after"), now)
        if error.retry_at is None and error.retry_after_s is not None:
            error.retry_at = now + timedelta(seconds=min(error.retry_after_s, _LONGEST_PROMISE_S))
    elif isinstance(error, CreditsExhaustedError) and error.retry_at is None:
        error.retry_at = next_midnight(now)
    return error


def backoff(error: Exception) -> bool | float:
    """Whether to try again, or after how many seconds when the source said so."""
    if not isinstance(error, RetryableError):
        return False
    if error.retry_after_s is None:
        return True
    return error.retry_after_s if error.retry_after_s <= LONGEST_WAIT_S else False


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """The seconds a Retry-After header asks for, written as a number or as a date; None when it says neither."""
    if not header:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return min(float(header), _LONGEST_PROMISE_S)
    try:
        at = parsedate_to_datetime(header)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())


def next_midnight(now: datetime) -> datetime:
    """When daily credits are counted anew: the next midnight, UTC."""
    return (now.astimezone(UTC) + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)


def _in_the_sources_words(response: Response, policy: SourcePolicy) -> SearchSourceError | None:
    try:
        error = policy.failure(response)
    except Exception:
        return None  # a refusal that even its own source cannot read is judged by its status
    return error if isinstance(error, SearchSourceError) else None


def _by_status(source: str, status: int) -> SearchSourceError:
    if status == 429:
        return RetryableError(f"{source} is limiting requests (429).", rate_limited=True)
    if status in RETRIED_STATUSES:
        return RetryableError(f"{source} cannot answer at the moment ({status}).")
    if status in {401, 403}:
        return NonRetryableError(f"{source} refused the request ({status}).", hint=f"Check the key set for {source}.")
    return NonRetryableError(f"{source} did not accept the request ({status}).")
