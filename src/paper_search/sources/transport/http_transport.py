"""Send requests to sources with keys, rate limits, retries, redirects and call budgets."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import httpx
import stamina
import stamina.instrumentation
from aiolimiter import AsyncLimiter

from paper_search.errors import CallLimitError, MissingKeyError, NonRetryableError, RetryableError, SearchSourceError
from paper_search.sources.interfaces import Request, Response
from paper_search.sources.transport.request_policies import (
    KeyMaskingFilter,
    SourcePolicy,
    decide_retry_or_wait_s,
    make_response_error,
)
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.version import version

MAX_BODY_BYTES: Final = 20_000_000
_CONNECT_S: Final = 10.0
_MOST_HOPS: Final = 3
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_KEPT_HEADERS: Final = ("content-type", "retry-after", "x-ratelimit-", "x-rate-limit-")


@dataclass(slots=True)
class _PendingRequest:
    """One request, with the number of calls made for it so far."""

    request: Request
    policy: SourcePolicy
    calls: int = 0


class Network:
    """An HTTP client, opened by the first request, and the rate limiter of each source.

    Searches that share a network share its rate limits. A `client` that is passed in stays open.
    """

    def __init__(self, client: httpx.AsyncClient | None = None) -> None:
        self._given_client = client
        self._open_client: httpx.AsyncClient | None = None
        self._opening = asyncio.Lock()
        self._limiters: dict[tuple[str, int, float], AsyncLimiter] = {}

    async def get_or_open_client(self) -> httpx.AsyncClient:
        """Return the client, opened if necessary."""
        async with self._opening:
            if self._open_client is None:
                # Reading the certificate store takes tens of milliseconds, too long for the event loop.
                self._open_client = self._given_client or await asyncio.to_thread(httpx.AsyncClient)
            return self._open_client

    async def wait_for_rate_limit(self, source: str, policy: SourcePolicy) -> None:
        """Wait until the rate limit of the source allows the next call."""
        pace = (source, policy.burst, policy.rate_per_s)
        if pace not in self._limiters:
            self._limiters[pace] = AsyncLimiter(policy.burst, policy.burst / policy.rate_per_s)
        await self._limiters[pace].acquire()

    async def aclose(self) -> None:
        """Close the client. A later request opens a new client in its own event loop."""
        self._limiters.clear()
        self._opening = asyncio.Lock()
        client, self._open_client = self._open_client, None
        if client is not None and client is not self._given_client:
            await client.aclose()


class HttpTransport:
    """A transport over the network for one search; `aclose` resets the call budgets.

    `policies` holds one policy per source name. A `network` that is passed in stays open; otherwise the transport has
    a private one, with `client` if given. Errors are SearchSourceErrors with the ids `source`, `calls` and `seconds`.
    """

    def __init__(
        self,
        policies: Mapping[str, SourcePolicy],
        *,
        clock: Clock | None = None,
        client: httpx.AsyncClient | None = None,
        network: Network | None = None,
        contact_email: str | None = None,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        self._policies = policies
        self._clock = clock or SystemClock()
        self._shared = network is not None
        self._network = network or Network(client)
        self._user_agent = _format_user_agent(contact_email)
        self._max_body_bytes = max_body_bytes
        self._calls: Counter[str] = Counter()
        self._log_filter = KeyMaskingFilter(policy.auth for policy in policies.values() if policy.auth)

    async def send(self, request: Request) -> Response:
        policy = self._policies.get(request.source, SourcePolicy())
        pending = _PendingRequest(request, policy)
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async for attempt in stamina.retry_context(
                on=decide_retry_or_wait_s,
                attempts=policy.attempts,
                timeout=None,
                wait_initial=0.5,
                wait_max=8.0,
                wait_jitter=0.5,
            ):
                with attempt:
                    answer = await self._send_following_redirects(pending)
                    return Response(
                        answer.status,
                        answer.body,
                        {name: value for name, value in answer.headers.items() if name.startswith(_KEPT_HEADERS)},
                        seconds=round(loop.time() - started, 3),
                        calls=pending.calls,
                    )
        except SearchSourceError as error:
            error.ids |= {
                "source": request.source,
                "calls": pending.calls,
                "seconds": round(loop.time() - started, 3),
            }
            raise
        raise AssertionError("the last attempt either answers or raises")

    async def aclose(self) -> None:
        """Reset the call budgets and close the private network. A later request opens it again."""
        logging.getLogger("httpx").removeFilter(self._log_filter)
        self._calls.clear()
        if not self._shared:
            await self._network.aclose()

    async def _send_following_redirects(self, pending: _PendingRequest) -> Response:
        source, policy = pending.request.source, pending.policy
        if policy.missing_key:
            raise MissingKeyError(policy.missing_key)
        logging.getLogger("httpx").addFilter(self._log_filter)
        _silence_retry_logs()
        client = await self._network.get_or_open_client()
        outgoing = self._build_http_request(client, pending.request.url, pending)
        for _ in range(_MOST_HOPS + 1):
            self._count_call_or_raise(pending)
            await self._network.wait_for_rate_limit(source, policy)
            answer = await self._send_once(client, outgoing, pending)
            if answer.status == 200:
                return answer
            if answer.status not in _REDIRECTS:
                raise make_response_error(source, answer, policy, self._clock.now())
            outgoing = self._build_http_request(client, _resolve_redirect(outgoing.url, answer, pending), pending)
        raise NonRetryableError(f"{source} redirected more than {_MOST_HOPS} times.")

    async def _send_once(
        self, client: httpx.AsyncClient, outgoing: httpx.Request, pending: _PendingRequest
    ) -> Response:
        source, limit = pending.request.source, pending.policy.timeout_s
        try:
            async with asyncio.timeout(limit):
                reply = await client.send(outgoing, stream=True, follow_redirects=False)
                try:
                    body = await self._read_limited_body(reply, source)
                finally:
                    await reply.aclose()
        except (TimeoutError, httpx.TimeoutException) as error:
            raise RetryableError(f"{source} did not answer within {limit:g} s.") from error
        except httpx.TransportError as error:
            raise RetryableError(f"The connection to {source} failed ({type(error).__name__}).") from error
        except httpx.RequestError as error:
            raise NonRetryableError(f"{source} sent an answer that cannot be decoded.") from error
        headers = {name.lower(): value for name, value in reply.headers.items()}
        auth = pending.policy.auth
        return Response(reply.status_code, auth.mask_key(body) if auth else body, headers)

    async def _read_limited_body(self, reply: httpx.Response, source: str) -> bytes:
        received = bytearray()
        async for chunk in reply.aiter_bytes():
            received += chunk
            if len(received) > self._max_body_bytes:
                raise NonRetryableError(
                    f"{source} sent more than {self._max_body_bytes / 1e6:g} MB in one answer, which was not read."
                )
        return bytes(received)

    def _count_call_or_raise(self, pending: _PendingRequest) -> None:
        source, most = pending.request.source, pending.policy.max_calls
        if most is not None and self._calls[source] >= most:
            raise CallLimitError(
                f"The call budget of {source} ({most}) is used up.", hint=f"Raise sources.{source}.max_calls."
            )
        self._calls[source] += 1
        pending.calls += 1

    def _build_http_request(
        self, client: httpx.AsyncClient, address: str | httpx.URL, pending: _PendingRequest
    ) -> httpx.Request:
        request, policy = pending.request, pending.policy
        params = [*request.params, *policy.params]
        headers = {"User-Agent": self._user_agent, **dict(request.headers)}
        if (auth := policy.auth) is not None:
            if auth.place == "header":
                headers[auth.name] = auth.value
            else:
                params = [*((name, value) for name, value in params if name != auth.name), (auth.name, auth.value)]
        try:
            url = httpx.URL(address)
            return client.build_request(
                request.method,
                url.copy_merge_params(_group_values_by_name(params)) if params else url,
                headers=headers,
                data=_group_values_by_name(request.form) or None,
                timeout=httpx.Timeout(policy.timeout_s, connect=min(policy.timeout_s, _CONNECT_S)),
            )
        except (httpx.InvalidURL, UnicodeError) as error:
            raise NonRetryableError(f"The request to {request.source} cannot be written as an address.") from error


def _format_user_agent(contact_email: str | None) -> str:
    contact = f" (mailto:{contact_email})" if contact_email else ""
    return f"uraniborg/{version()}{contact}"


def _group_values_by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, value in pairs:
        groups.setdefault(name, []).append(value)
    return groups


def _resolve_redirect(url: httpx.URL, answer: Response, pending: _PendingRequest) -> httpx.URL:
    source = pending.request.source
    try:
        target = url.join(answer.headers.get("location", ""))
    except httpx.InvalidURL as error:
        raise NonRetryableError(f"{source} redirected to an invalid address.") from error
    same_place = (target.host, target.port) == (url.host, url.port) and target.scheme in {"https", url.scheme}
    same_method = pending.request.method == "GET" or answer.status in {307, 308}
    if not (same_place and same_method):
        raise NonRetryableError(f"{source} redirected to {target.scheme}://{target.host}, which is not followed.")
    return target


def _silence_retry_logs() -> None:
    """Remove stamina's log of retries, which writes to stdout; the reports count retries instead."""
    hooks = stamina.instrumentation.get_on_retry_hooks()
    stamina.instrumentation.set_on_retry_hooks([hook for hook in hooks if not _is_stamina_hook(hook)])


def _is_stamina_hook(hook: object) -> bool:
    return getattr(hook, "__module__", "").startswith("stamina.")
