import asyncio
import gzip
import logging
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar

import httpx
import pytest
from blockbuster import blockbuster_ctx
from pydantic import SecretStr

from paper_search.errors import (
    CallLimitError,
    CreditsExhaustedError,
    MissingKeyError,
    NonRetryableError,
    RetryableError,
    SearchSourceError,
)
from paper_search.sources.interfaces import Request, Response
from paper_search.sources.transport import http_transport as transport_module
from paper_search.sources.transport.http_transport import HttpTransport, Network
from paper_search.sources.transport.request_policies import Auth, SourcePolicy
from tests.paper_search.sources.loopback_server import DRIP, HANG, RESET, make_reply, open_loopback
from uraniborg.kernel.clock import FrozenClock

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
SECRET = "s3cr3t key/with+signs"


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list that collects the backoff times, and make sleeping return at once."""
    slept: list[float] = []
    real = asyncio.sleep
    here = threading.get_ident()

    async def sleep(delay: float, *_: Any) -> None:
        if threading.get_ident() != here:  # a server of other tests, whose sleeps must stay real
            await real(delay)
            return
        slept.append(delay)
        await real(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return slept


@asynccontextmanager
async def open_transport(policy: SourcePolicy | None = None, **options: Any) -> AsyncGenerator[HttpTransport, None]:
    transport = HttpTransport({"src": policy or make_policy()}, clock=FrozenClock(NOW), **options)
    try:
        yield transport
    finally:
        await transport.aclose()


def make_policy(**changes: Any) -> SourcePolicy:
    return replace(SourcePolicy(rate_per_s=1000.0, timeout_s=5.0), **changes)


def make_request(url: str, **parts: Any) -> Request:
    return Request("src", url, **parts)


async def get_failure(transport: HttpTransport, request: Request) -> SearchSourceError:
    with pytest.raises(SearchSourceError) as caught:
        await transport.send(request)
    return caught.value


async def test_an_answer_has_its_calls_and_seconds() -> None:
    echoed = {"Set-Cookie": "x=1", "Link": "<https://src.example/?api_key=secret>"}
    answer = make_reply(200, b'{"a":1}', {"Content-Type": "application/json", **echoed})
    async with open_loopback(answer) as site, open_transport() as transport:
        response = await transport.send(make_request(site.url, params=(("q", "a b"), ("q", "ö"))))
    assert (response.status, response.body, response.calls) == (200, b'{"a":1}', 1)
    assert response.seconds >= 0
    assert response.headers == {"content-type": "application/json"}
    assert "GET /?q=a+b&q=%C3%B6 HTTP/1.1" in site.requests[0]


async def test_the_user_agent_names_the_caller() -> None:
    async with open_loopback(make_reply()) as site, open_transport(contact_email="me@example.org") as transport:
        await transport.send(make_request(site.url))
    assert "uraniborg/" in site.requests[0]
    assert "mailto:me@example.org" in site.requests[0]


async def test_parameters_join_those_already_in_the_address() -> None:
    policy = make_policy(params=(("mailto", "me@example.org"),))
    async with open_loopback(make_reply()) as site, open_transport(policy) as transport:
        await transport.send(make_request(f"{site.url}/works?cursor=abc%3D", params=(("rows", "5"),)))
    line = site.requests[0].splitlines()[0]
    assert "cursor=abc%3D" in line
    assert "rows=5" in line
    assert "mailto=me%40example.org" in line


async def test_a_form_is_posted_with_every_value() -> None:
    async with open_loopback(make_reply()) as site, open_transport() as transport:
        await transport.send(make_request(site.url, form=(("id", "1"), ("id", "2"), ("db", "pubmed"))))
    assert site.requests[0].startswith("POST / ")
    assert site.requests[0].endswith("id=1&id=2&db=pubmed")


async def test_retry_after_is_obeyed_and_both_calls_are_counted(waits: list[float]) -> None:
    async with (
        open_loopback(make_reply(429, headers={"Retry-After": "7"}), make_reply(200, b"ok")) as site,
        open_transport() as transport,
    ):
        response = await transport.send(make_request(site.url))
    assert response.body == b"ok"
    assert response.calls == 2
    assert waits == [7.0]


async def test_a_retry_after_date_is_obeyed(waits: list[float]) -> None:
    refused = make_reply(503, headers={"Retry-After": "Tue, 31 Mar 2026 12:00:05 GMT"})
    async with open_loopback(refused, make_reply()) as site, open_transport() as transport:
        await transport.send(make_request(site.url))
    assert waits == [5.0]


async def test_a_long_retry_after_is_not_waited_for(waits: list[float]) -> None:
    async with open_loopback(make_reply(429, headers={"Retry-After": "3600"})) as site, open_transport() as transport:
        error = await get_failure(transport, make_request(site.url))
    assert isinstance(error, RetryableError)
    assert error.rate_limited
    assert error.retry_at == datetime(2026, 3, 31, 13, tzinfo=UTC)
    assert (len(site.requests), waits) == (1, [])


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_failing_server_is_tried_three_times_with_growing_waits(status: int, waits: list[float]) -> None:
    async with open_loopback(make_reply(status)) as site, open_transport() as transport:
        error = await get_failure(transport, make_request(site.url))
    assert isinstance(error, RetryableError)
    assert len(site.requests) == 3
    assert error.ids["calls"] == 3
    assert error.ids["source"] == "src"
    assert error.ids["seconds"] >= 0
    assert 0 < waits[0] < waits[1]


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_a_refusal_is_not_repeated(status: int) -> None:
    async with open_loopback(make_reply(status)) as site, open_transport() as transport:
        error = await get_failure(transport, make_request(site.url))
    assert isinstance(error, NonRetryableError)
    assert len(site.requests) == 1


async def test_used_up_credits_are_reported_until_midnight_and_never_retried() -> None:
    def read(response: Response) -> Exception | None:
        return CreditsExhaustedError("no credits") if b"credits" in response.body else None

    policy = make_policy(read_failure=read)
    async with (
        open_loopback(make_reply(429, b"out of credits", {"Retry-After": "1"})) as site,
        open_transport(policy) as transport,
    ):
        error = await get_failure(transport, make_request(site.url))
    assert isinstance(error, CreditsExhaustedError)
    assert error.retry_at == datetime(2026, 4, 1, tzinfo=UTC)
    assert len(site.requests) == 1


async def test_the_definition_of_a_source_reads_refusals_with_every_header() -> None:
    seen: list[Response] = []
    async with (
        open_loopback(make_reply(400, headers={"X-Api-Pool": "polite"})) as site,
        open_transport(make_policy(read_failure=seen.append)) as transport,
    ):
        await get_failure(transport, make_request(site.url))
    assert seen[0].headers["x-api-pool"] == "polite"


@pytest.mark.parametrize(
    ("step", "timeout_s"),
    [(HANG, 0.5), (RESET, 20), (make_reply(200, b"half", says=4000), 20), (b"not http at all\r\n\r\n", 20), (b"", 20)],
)
async def test_timeouts_and_broken_connections_are_retried_and_then_reported(step: Any, timeout_s: float) -> None:
    async with open_loopback(step) as site, open_transport(make_policy(timeout_s=timeout_s, attempts=2)) as transport:
        error = await get_failure(transport, make_request(site.url))
    assert isinstance(error, RetryableError)
    assert len(site.requests) == 2
    assert "src" in error.message


async def test_a_broken_connection_is_forgotten_when_the_next_try_succeeds() -> None:
    async with open_loopback(RESET, make_reply(200, b"fine")) as site, open_transport() as transport:
        assert (await transport.send(make_request(site.url))).body == b"fine"


async def test_a_server_that_sends_slowly_is_stopped_by_the_total_time() -> None:
    async with open_loopback(DRIP) as site, open_transport(make_policy(timeout_s=0.3, attempts=1)) as transport:
        error = await get_failure(transport, make_request(site.url))
    assert "0.3 s" in error.message


async def test_a_refused_connection_is_a_temporary_failure() -> None:
    async with open_loopback(make_reply()) as site:
        pass
    async with open_transport() as transport:
        error = await get_failure(transport, make_request(site.url))
    assert isinstance(error, RetryableError)
    assert error.ids["calls"] == 3


async def test_five_megabytes_are_read_completely() -> None:
    body = b"x" * 5_000_000
    async with open_loopback(make_reply(200, body)) as site, open_transport() as transport:
        assert (await transport.send(make_request(site.url))).body == body


@pytest.mark.parametrize("packed", [False, True])
async def test_an_answer_beyond_the_limit_is_not_read_further(packed: bool) -> None:
    headers = {"Content-Encoding": "gzip"} if packed else {}
    body = gzip.compress(b"x" * 3000) if packed else b"x" * 3000
    async with open_loopback(make_reply(200, body, headers)) as site, open_transport(max_body_bytes=2000) as transport:
        error = await get_failure(transport, make_request(site.url))
    assert isinstance(error, NonRetryableError)
    assert "MB" in error.message
    assert len(site.requests) == 1


async def test_an_answer_with_a_false_content_encoding_is_refused() -> None:
    async with (
        open_loopback(make_reply(200, b"plain", {"Content-Encoding": "gzip"})) as site,
        open_transport() as transport,
    ):
        error = await get_failure(transport, make_request(site.url))
    assert isinstance(error, NonRetryableError)
    assert "decoded" in error.message


async def test_html_is_passed_on_as_it_is() -> None:
    async with (
        open_loopback(make_reply(200, b"<html>", {"Content-Type": "text/html"})) as site,
        open_transport() as transport,
    ):
        assert (await transport.send(make_request(site.url))).body == b"<html>"


async def test_every_attempt_waits_for_the_rate_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[tuple[float, float]] = []

    class Limiter:
        def __init__(self, most: float, period: float) -> None:
            self._pace = (most, period)

        async def acquire(self) -> None:
            turns.append(self._pace)

    monkeypatch.setattr(transport_module, "AsyncLimiter", Limiter)
    steps = make_reply(503), make_reply(302, headers={"Location": "/there"}), make_reply()
    async with open_loopback(*steps) as site, open_transport(SourcePolicy(rate_per_s=0.25, burst=2)) as transport:
        response = await transport.send(make_request(site.url))
    assert response.calls == len(site.requests) == 3
    assert turns == [(2, 8.0)] * 3


async def test_the_call_budget_counts_retries_and_then_refuses() -> None:
    async with open_loopback(make_reply(503)) as site, open_transport(make_policy(max_calls=2)) as transport:
        error = await get_failure(transport, make_request(site.url))
        again = await get_failure(transport, make_request(site.url))
    assert isinstance(error, CallLimitError)
    assert error.ids["calls"] == 2
    assert isinstance(again, CallLimitError)
    assert again.ids["calls"] == 0
    assert len(site.requests) == 2


async def test_the_call_budget_applies_to_one_search_and_closing_resets_it() -> None:
    async with open_loopback(make_reply()) as site, open_transport(make_policy(max_calls=1)) as transport:
        await transport.send(make_request(site.url))
        await get_failure(transport, make_request(site.url))
        await transport.aclose()
        assert (await transport.send(make_request(site.url))).status == 200


def test_a_transport_that_was_closed_works_in_another_event_loop() -> None:
    transport = HttpTransport({"src": make_policy()})

    async def search() -> list[int]:
        async with open_loopback(make_reply()) as site:
            answers = await asyncio.gather(*(transport.send(make_request(site.url)) for _ in range(3)))
            await transport.aclose()
        return [answer.status for answer in answers]

    assert asyncio.run(search()) == asyncio.run(search()) == [200, 200, 200]


async def test_a_missing_key_is_reported_before_any_call() -> None:
    async with (
        open_loopback(make_reply()) as site,
        open_transport(make_policy(missing_key="src needs a key: set SRC_KEY.")) as transport,
    ):
        error = await get_failure(transport, make_request(site.url))
    assert isinstance(error, MissingKeyError)
    assert "SRC_KEY" in error.message
    assert site.requests == []


@pytest.mark.parametrize("location", ["/there?x=1", "{url}/there"])
async def test_a_redirect_within_the_same_host_is_followed(location: str) -> None:
    async with open_loopback(make_reply(301), make_reply(200, b"there")) as site, open_transport() as transport:
        site.steps[0] = make_reply(301, headers={"Location": location.format(url=site.url)})
        response = await transport.send(make_request(site.url, params=(("q", "1"),)))
    assert response.body == b"there"
    assert "q=1" in site.requests[1]


@pytest.mark.parametrize(
    "location", ["http://elsewhere.invalid/", "http://127.0.0.1:1/", "ftp://127.0.0.1/", "http://[bad", ""]
)
async def test_a_redirect_to_another_host_is_not_followed(location: str) -> None:
    policy = make_policy(auth=Auth("header", "x-api-key", SecretStr(SECRET)), attempts=1)
    async with (
        open_loopback(make_reply(302, headers={"Location": location})) as site,
        open_transport(policy) as transport,
    ):
        error = await get_failure(transport, make_request(site.url))
    assert isinstance(error, NonRetryableError)
    assert len(site.requests) <= 4


async def test_a_redirect_never_leaves_https() -> None:
    answers = httpx.MockTransport(lambda _: httpx.Response(302, headers={"Location": "http://source.example/"}))
    async with httpx.AsyncClient(transport=answers) as client, open_transport(client=client) as transport:
        error = await get_failure(transport, make_request("https://source.example/"))
    assert "http://source.example" in error.message


async def test_endless_redirects_are_stopped() -> None:
    async with open_loopback(make_reply(302, headers={"Location": "/again"})) as site, open_transport() as transport:
        error = await get_failure(transport, make_request(site.url))
    assert "redirected more than" in error.message
    assert len(site.requests) == 4


async def test_a_redirect_does_not_change_a_posted_form() -> None:
    async with open_loopback(make_reply(302, headers={"Location": "/there"})) as site, open_transport() as transport:
        error = await get_failure(transport, make_request(site.url, form=(("id", "1"),)))
    assert isinstance(error, NonRetryableError)
    assert len(site.requests) == 1


async def test_a_key_is_sent_where_the_source_expects_it() -> None:
    for place in ("header", "param"):
        policy = make_policy(auth=Auth(place, "api_key", SecretStr("abcdef123")))
        async with open_loopback(make_reply()) as site, open_transport(policy) as transport:
            await transport.send(
                make_request(site.url, params=(("api_key", "placeholder"),) if place == "param" else ())
            )
        line, headers = site.requests[0].split("\r\n", 1)
        assert ("api_key=abcdef123" in line) is (place == "param")
        assert ("api_key: abcdef123" in headers) is (place == "header")
        assert "placeholder" not in line


async def test_a_key_that_the_source_repeats_is_masked_in_answers_and_errors() -> None:
    body = f'{{"you": "{SECRET}", "url": "?k=s3cr3t+key%2Fwith%2Bsigns"}}'.encode()

    def read(response: Response) -> Exception:
        return NonRetryableError(response.body.decode())

    policy = make_policy(auth=Auth("param", "k", SecretStr(SECRET)), read_failure=read)
    async with open_loopback(make_reply(200, body), make_reply(400, body)) as site, open_transport(policy) as transport:
        response = await transport.send(make_request(site.url))
        error = await get_failure(transport, make_request(site.url))
    assert response.body == b'{"you": "***", "url": "?k=***"}'
    assert "s3cr3t" not in error.message


async def test_a_key_stays_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    policy = make_policy(auth=Auth("param", "k", SecretStr(SECRET)))
    with caplog.at_level(logging.DEBUG):
        async with open_loopback(make_reply(503), make_reply()) as site, open_transport(policy) as transport:
            await transport.send(make_request(site.url))
    assert "HTTP Request: GET" in caplog.text
    assert "s3cr3t" not in caplog.text
    assert site.requests[0].count("s3cr3t") == 1


async def test_after_closing_other_logs_are_unchanged_and_a_new_request_reopens() -> None:
    before = list(logging.getLogger("httpx").filters)
    async with open_loopback(make_reply()) as site, open_transport() as transport:
        await transport.send(make_request(site.url))
        await transport.aclose()
        assert logging.getLogger("httpx").filters == before
        assert (await transport.send(make_request(site.url))).status == 200


class RecordingLimiter:
    """A fake rate limiter: `made` holds the rate of each limiter, `turns` the limiters that were waited for."""

    made: ClassVar[list[tuple[float, float]]] = []
    turns: ClassVar[list["RecordingLimiter"]] = []

    def __init__(self, most: float, period: float) -> None:
        self.made.append((most, period))

    async def acquire(self) -> None:
        self.turns.append(self)


@pytest.fixture
def limiter(monkeypatch: pytest.MonkeyPatch) -> type[RecordingLimiter]:
    class OfThisTest(RecordingLimiter):
        made: ClassVar[list[tuple[float, float]]] = []
        turns: ClassVar[list[RecordingLimiter]] = []

    monkeypatch.setattr(transport_module, "AsyncLimiter", OfThisTest)
    return OfThisTest


async def test_searches_that_share_a_network_share_its_rate_limits(limiter: type[RecordingLimiter]) -> None:
    policy = SourcePolicy(rate_per_s=0.5, burst=1)
    network = Network()
    async with (
        open_loopback(make_reply()) as site,
        open_transport(policy, network=network) as one,
        open_transport(policy, network=network) as other,
    ):
        for transport in (one, other, one):
            await transport.send(make_request(site.url))
        assert limiter.made == [(1, 2.0)]
        assert len(limiter.turns) == 3
        await one.aclose()
        await other.send(make_request(site.url))
        assert limiter.made == [(1, 2.0)], "the pace outlives each of the searches"
        assert len(set(map(id, limiter.turns))) == 1
    await network.aclose()


async def test_searches_with_separate_networks_have_separate_rate_limits(limiter: type[RecordingLimiter]) -> None:
    async with open_loopback(make_reply()) as site, open_transport() as one, open_transport() as other:
        await one.send(make_request(site.url))
        await other.send(make_request(site.url))
    assert len(limiter.made) == 2


async def test_sources_that_share_a_network_have_separate_rate_limits(limiter: type[RecordingLimiter]) -> None:
    network = Network()
    policies = {"slow": SourcePolicy(rate_per_s=0.1), "fast": SourcePolicy(rate_per_s=100)}
    transport = HttpTransport(policies, network=network)
    async with open_loopback(make_reply()) as site:
        for source in ("slow", "fast", "slow"):
            await transport.send(Request(source, site.url))
    await transport.aclose()
    await network.aclose()
    assert len(limiter.made) == 2
    assert limiter.turns[0] is limiter.turns[2] is not limiter.turns[1]


async def test_searches_that_share_a_network_share_one_client_which_none_of_them_closes() -> None:
    network = Network()
    async with open_loopback(make_reply()) as site:
        async with open_transport(network=network) as one, open_transport(network=network) as other:
            await asyncio.gather(*(transport.send(make_request(site.url)) for transport in (one, other) * 3))
            client = await network.get_or_open_client()
        assert await network.get_or_open_client() is client
        assert not client.is_closed
        async with open_transport(network=network) as later:
            assert (await later.send(make_request(site.url))).status == 200
        assert await network.get_or_open_client() is client
    await network.aclose()
    assert client.is_closed


async def test_a_network_that_was_closed_opens_another_client_when_it_is_used() -> None:
    network = Network()
    async with open_loopback(make_reply()) as site, open_transport(network=network) as transport:
        await transport.send(make_request(site.url))
        first = await network.get_or_open_client()
        await network.aclose()
        await network.aclose()
        assert (await transport.send(make_request(site.url))).status == 200
        assert await network.get_or_open_client() is not first
    await network.aclose()


async def test_a_client_passed_to_a_network_stays_open() -> None:
    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(200))) as client:
        network = Network(client)
        async with open_transport(network=network) as transport:
            await transport.send(make_request("https://source.example/"))
        assert await network.get_or_open_client() is client
        await network.aclose()
        assert not client.is_closed


async def test_searches_that_share_a_network_have_separate_budgets() -> None:
    network = Network()
    policy = make_policy(max_calls=1)
    async with (
        open_loopback(make_reply()) as site,
        open_transport(policy, network=network) as one,
        open_transport(policy, network=network) as other,
    ):
        await one.send(make_request(site.url))
        assert isinstance(await get_failure(one, make_request(site.url)), CallLimitError)
        assert (await other.send(make_request(site.url))).status == 200
        await one.aclose()
        assert (await one.send(make_request(site.url))).status == 200, "its own search has ended"
        assert isinstance(await get_failure(other, make_request(site.url)), CallLimitError)
    await network.aclose()


async def test_searches_that_share_a_network_use_their_own_keys() -> None:
    network = Network()
    first = make_policy(auth=Auth("header", "x-api-key", SecretStr("key-of-one")))
    second = make_policy(auth=Auth("header", "x-api-key", SecretStr("key-of-other")))
    async with (
        open_loopback(make_reply()) as site,
        open_transport(first, network=network) as one,
        open_transport(second, network=network) as other,
    ):
        await one.send(make_request(site.url))
        await other.send(make_request(site.url))
    await network.aclose()
    assert ["key-of-one" in request for request in site.requests] == [True, False]
    assert ["key-of-other" in request for request in site.requests] == [False, True]


def test_a_network_that_was_closed_works_in_another_event_loop() -> None:
    network = Network()

    async def search() -> list[int]:
        async with open_loopback(make_reply()) as site, open_transport(network=network) as transport:
            answers = await asyncio.gather(*(transport.send(make_request(site.url)) for _ in range(3)))
        await network.aclose()
        return [answer.status for answer in answers]

    assert asyncio.run(search()) == asyncio.run(search()) == [200, 200, 200]


async def test_a_client_passed_to_a_transport_stays_open() -> None:
    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(200))) as client:
        async with open_transport(client=client) as transport:
            await transport.send(make_request("https://source.example/"))
        assert not client.is_closed


@pytest.mark.parametrize("url", ["http://[nowhere", "http://a.example/\ud800", "gopher://a.example/"])
async def test_an_invalid_address_is_a_failure_of_the_source(url: str) -> None:
    async with open_transport(make_policy(attempts=1)) as transport:
        assert (await get_failure(transport, make_request(url))).ids["source"] == "src"


async def test_cancelling_leaves_no_connection_behind() -> None:
    async with open_loopback(HANG) as site, open_transport() as transport:
        task = asyncio.create_task(transport.send(make_request(site.url)))
        async with asyncio.timeout(5):
            while not site.requests:
                await asyncio.wait([task], timeout=0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_sending_never_blocks_the_event_loop() -> None:
    async with open_loopback(make_reply(503), make_reply(200, b"x" * 100_000)) as site, open_transport() as transport:
        with blockbuster_ctx("paper_search"):
            assert (await transport.send(make_request(site.url))).status == 200


def test_retries_print_nothing() -> None:
    program = """
import asyncio, httpx
from paper_search.errors import SearchSourceError
from paper_search.sources.interfaces import Request
from paper_search.sources.transport.request_policies import SourcePolicy
from paper_search.sources.transport.http_transport import HttpTransport, Network

async def main():
    answers = httpx.MockTransport(lambda _: httpx.Response(503, headers={"retry-after": "0"}))
    async with httpx.AsyncClient(transport=answers) as client:
        transport = HttpTransport({"src": SourcePolicy(rate_per_s=1000)}, client=client)
        try:
            await transport.send(Request("src", "https://source.example/"))
        except SearchSourceError as error:
            assert error.ids["calls"] == 3
        else:
            raise SystemExit("it should have failed")

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
