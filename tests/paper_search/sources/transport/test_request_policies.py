from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.errors import CreditsExhaustedError, NonRetryableError, RetryableError
from paper_search.sources.interfaces import Response
from paper_search.sources.transport.request_policies import (
    LONGEST_WAIT_S,
    SourcePolicy,
    compute_next_utc_midnight,
    decide_retry_or_wait_s,
    make_response_error,
    parse_retry_after,
)

NOW = datetime(2026, 3, 31, 23, 59, 30, tzinfo=UTC)
DATES = st.datetimes(timezones=st.just(UTC), max_value=datetime(9000, 1, 1))  # noqa: DTZ001 - hypothesis wants it naive


def make_policy(error: Exception | None = None) -> SourcePolicy:
    return SourcePolicy(read_failure=lambda _: error)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_temporary_refusals_are_retried(status: int) -> None:
    error = make_response_error("crossref", Response(status, b""), make_policy(), NOW)
    assert isinstance(error, RetryableError)
    assert error.rate_limited is (status == 429)
    assert decide_retry_or_wait_s(error) is True
    assert str(status) in error.message


@pytest.mark.parametrize("status", [204, 304, 400, 401, 403, 404, 414, 451, 501])
def test_permanent_refusals_are_not_retried(status: int) -> None:
    error = make_response_error("crossref", Response(status, b""), make_policy(), NOW)
    assert isinstance(error, NonRetryableError)
    assert decide_retry_or_wait_s(error) is False


def test_a_refused_key_gives_a_hint() -> None:
    assert "key" in make_response_error("openalex", Response(401, b""), make_policy(), NOW).hint


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        (" 0 ", 0.0),
        ("0\x1f", 0.0),
        ("\x1f", None),
        ("Wed, 01 Apr 2026 00:00:00 GMT", 30.0),
        ("Tue, 31 Mar 2026 00:00:00 GMT", 0.0),
        ("Wed, 01 Apr 2026 02:00:00 +0200", 30.0),
        ("Wed, 01 Apr 2026 00:00:00 -0000", 30.0),
        (None, None),
        ("", None),
        ("-5", None),
        ("soon", None),
        ("1.5e300", None),
        ("٣", None),
        ("Wed, 99 Foo 2026", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, NOW) == seconds


@given(st.text())
def test_no_retry_after_header_can_break_the_reading_of_it(header: str) -> None:
    wait = parse_retry_after(header, NOW)
    assert wait is None or wait >= 0


def test_a_wait_up_to_the_maximum_is_waited_and_a_longer_one_is_not() -> None:
    cap = str(int(LONGEST_WAIT_S))
    short = make_response_error("arxiv", Response(429, b"", {"retry-after": cap}), make_policy(), NOW)
    long = make_response_error("arxiv", Response(429, b"", {"retry-after": "21"}), make_policy(), NOW)
    assert decide_retry_or_wait_s(short) == LONGEST_WAIT_S
    assert decide_retry_or_wait_s(long) is False
    assert long.retry_at == NOW + timedelta(seconds=21)


def test_an_absurd_retry_after_gives_a_date_and_no_overflow() -> None:
    error = make_response_error("arxiv", Response(503, b"", {"retry-after": "9" * 400}), make_policy(), NOW)
    assert error.retry_at is not None
    assert error.retry_at > NOW + timedelta(days=300)


def test_used_up_credits_name_midnight_utc_and_are_not_retried() -> None:
    error = make_response_error("openalex", Response(429, b""), make_policy(CreditsExhaustedError("no credits")), NOW)
    assert isinstance(error, CreditsExhaustedError)
    assert error.retry_at == datetime(2026, 4, 1, tzinfo=UTC)
    assert decide_retry_or_wait_s(error) is False


def test_a_retry_date_from_the_source_is_used() -> None:
    stated_date = datetime(2026, 5, 1, tzinfo=UTC)
    error = make_response_error(
        "serpapi_scholar", Response(429, b""), make_policy(CreditsExhaustedError("x", retry_at=stated_date)), NOW
    )
    assert error.retry_at == stated_date


def test_a_source_may_mark_a_bad_request_as_retryable_and_the_header_still_counts() -> None:
    error = make_response_error(
        "pubmed", Response(400, b"", {"retry-after": "3"}), make_policy(RetryableError("busy")), NOW
    )
    assert decide_retry_or_wait_s(error) == 3.0


@pytest.mark.parametrize("opinion", [ValueError("no error of ours"), None])
def test_without_an_error_from_the_source_the_status_decides(opinion: Exception | None) -> None:
    assert isinstance(make_response_error("dblp", Response(503, b""), make_policy(opinion), NOW), RetryableError)


def test_a_source_that_cannot_read_its_refusal_leaves_the_decision_to_the_status() -> None:
    def choke(_response: Response) -> Exception | None:
        raise KeyError("error")

    error = make_response_error("dblp", Response(404, b"<html>"), SourcePolicy(read_failure=choke), NOW)
    assert isinstance(error, NonRetryableError)


def test_an_error_of_another_class_is_not_retried() -> None:
    assert decide_retry_or_wait_s(ValueError("x")) is False


@given(DATES)
def test_next_midnight_is_a_midnight_within_a_day(now: datetime) -> None:
    midnight = compute_next_utc_midnight(now)
    assert timedelta(0) < midnight - now <= timedelta(days=1)
    assert (midnight.hour, midnight.minute, midnight.second, midnight.microsecond) == (0, 0, 0, 0)
