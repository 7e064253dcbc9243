"""Tests of the documented limits: times, sizes and counts."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from paper_search.config import AppConfig
from paper_search.domain.strategies.plain_words import parse_query
from paper_search.errors import InvalidDecision, InvalidQuery, NonRetryableError, RetryableError
from paper_search.sources import http_source
from paper_search.sources.interfaces import Request, Response
from paper_search.sources.transport.http_transport import HttpTransport
from paper_search.sources.transport.request_policies import SourcePolicy, decide_retry_or_wait_s, make_response_error
from paper_search.testing import FrozenClock
from paper_search.workflow.input_checks import check_decision_size, check_max_results, check_query
from uraniborg.kernel import language_model
from uraniborg.kernel.language.boolean_query import Node

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
MEGABYTE = 1_000_000


def make_429_error(retry_after: str) -> Exception:
    return make_response_error("arxiv", Response(429, b"", {"retry-after": retry_after}), SourcePolicy(), NOW)


@pytest.mark.parametrize(("asked_for", "waited"), [("20", 20.0), ("21", False), ("20.5", True), ("0", 0.0)])
def test_a_source_has_a_time_limit_of_twenty_seconds(asked_for: str, waited: bool | float) -> None:
    assert decide_retry_or_wait_s(make_429_error(asked_for)) == waited


def test_a_retry_date_is_at_most_a_year_away() -> None:
    error = make_429_error("9" * 400)
    assert isinstance(error, RetryableError)
    assert error.retry_at == NOW + timedelta(days=366)


async def test_waits_between_attempts_double_from_half_a_second_to_eight_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []
    real = asyncio.sleep

    async def sleep(delay: float, *_: object) -> None:
        waits.append(delay)
        await real(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    policy = SourcePolicy(rate_per_s=1_000.0, attempts=8)
    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(503))) as client:
        transport = HttpTransport({"src": policy}, clock=FrozenClock(NOW), client=client)
        with pytest.raises(RetryableError):
            await transport.send(Request("src", "https://source.example/"))
    backoffs = [wait for wait in waits if wait >= 0.5]
    for wait, least in zip(backoffs, [0.5, 1, 2, 4, 8, 8, 8], strict=True):
        assert least <= wait <= min(least + 0.5, 8.0)


async def test_twenty_megabytes_of_an_answer_are_read_and_no_more() -> None:
    sent = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 40:
            sent += 1
            yield bytes(MEGABYTE)

    answers = httpx.MockTransport(lambda _: httpx.Response(200, content=chunks()))
    async with httpx.AsyncClient(transport=answers) as client:
        transport = HttpTransport({"src": SourcePolicy()}, client=client)
        with pytest.raises(NonRetryableError, match="more than 20 MB"):
            await transport.send(Request("src", "https://source.example/"))
    assert sent == 21


def test_the_default_policy_is_one_call_a_second_and_three_attempts_of_twenty_seconds() -> None:
    usual = SourcePolicy()
    assert (usual.rate_per_s, usual.burst, usual.attempts, usual.timeout_s) == (1.0, 1, 3, 20.0)
    assert (http_source.MOST_REQUESTS_PER_QUERY, language_model.RETRIES) == (250, 2)


def test_the_settings_are_those_that_are_documented() -> None:
    settings = AppConfig()
    assert (settings.cache_ttl_s, settings.timeout_s, settings.source_deadline_s) == (86_400.0, 20.0, 60.0)
    assert (settings.default_max_results, settings.max_rounds, settings.min_relevance) == (100, 5, None)
    assert (settings.relevance_batch_size, settings.relevance_max_concurrency) == (25, 5)
    sessions = settings.sessions
    assert (sessions.idle_s, sessions.retention_days, sessions.reply_within_s) == (1_800.0, 90.0, 50.0)
    assert (settings.llm.max_tokens, settings.llm.timeout_s, settings.llm.temperature) == (4_096, 60.0, 0.0)


def test_a_query_has_two_thousand_characters_and_twenty_thousand_results_at_most() -> None:
    assert check_query("x" * 2_000) == "x" * 2_000
    with pytest.raises(InvalidQuery, match="2,000"):
        check_query("x" * 2_001)
    assert check_max_results(20_000)[0] == 20_000
    assert check_max_results(20_001)[0] == 20_000


def test_a_decision_has_a_note_of_four_thousand_characters_and_data_of_a_million_sixteen_deep_at_most() -> None:
    deep: object = 1
    for _ in range(15):
        deep = [deep]
    check_decision_size({"a": deep}, "n" * 4_000)
    check_decision_size("x" * 1_000_000, "")
    for data, note in [({"a": [deep]}, None), ("x" * 1_000_001, ""), (None, "n" * 4_001)]:
        with pytest.raises(InvalidDecision):
            check_decision_size(data, note)


def test_brackets_of_a_query_group_up_to_thirty_deep() -> None:
    def nested(depth: int) -> Node | None:
        return parse_query("(" * (depth - 1) + "a AND (b OR c)" + ")" * (depth - 1))

    grouped, flat = parse_query("a AND (b OR c)"), parse_query("a AND b OR c")
    assert (nested(30), nested(31)) == (grouped, flat)
    assert grouped != flat
