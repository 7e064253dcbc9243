"""The way to the network: waits its turn, adds keys, retries with patience, and gives up in words."""

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
from paper_search.sources.policies import KeysStayOutOfLogs, SourcePolicy, backoff, refusal
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.version import version

MAX_BODY_BYTES: Final = 20_000_000
_CONNECT_S: Final = 10.0
_MOST_HOPS: Final = 3
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_KEPT_HEADERS: Final = ("content-type", "retry-after", "x-ratelimit-", "x-rate-limit-")


@dataclass(slots=True)
class _Errand:
    """One request on its way, with what it has cost so far."""

    request: Request
    policy: SourcePolicy
    calls: int = 0


class Network:
    """An HTTP client, opened by the first request, and the pace each source is asked at.

    Searches that share one keep a source's pace together, as the source sees it. A `client` that is handed in stays
    open.
    """

    def __init__(self, client: httpx.AsyncClient | None = None) -> None:
        self._given_client = client
        self._open_client: httpx.AsyncClient | None = None
        self._opening = asyncio.Lock()
        self._limiters: dict[tuple[str, int, float], AsyncLimiter] = {}

    async def client(self) -> httpx.AsyncClient:
        async with self._opening:
            if self._open_client is None:
                # Reading the certificate store takes tens of milliseconds, too long for the event loop.
                self._open_client = self._given_client or await asyncio.to_thread(httpx.AsyncClient)
            return self._open_client

    async def turn(self, source: str, policy: SourcePolicy) -> None:
        """Wait until the source may be asked again."""
        pace = (source, policy.burst, policy.rate_per_s)
        if pace not in self._limiters:
            self._limiters[pace] = AsyncLimiter(policy.burst, policy.burst / policy.rate_per_s)
        await self._limiters[pace].acquire()

    async def aclose(self) -> None:
        """Close the client. A later request opens another one, in whichever event loop it runs."""
        self._limiters.clear()
        self._opening = asyncio.Lock()
        client, self._open_client = self._open_client, None
        if client is not None and client is not self._given_client:
            await client.aclose()


class HttpTransport:
    """A Transport over the network, for one search: its call budgets begin anew after `aclose`.

    `policies` holds one policy per source name. A `network` that is handed in stays open; otherwise it is one of its
    own, with `client` if given. What goes wrong is raised as SearchSourceError with the ids `source`, `calls` and
    `seconds`.
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
        self._user_agent = _user_agent(contact_email)
        self._max_body_bytes = max_body_bytes
        self._calls: Counter[str] = Counter()
        self._log_filter = KeysStayOutOfLogs(policy.auth for policy in policies.values() if policy.auth)

    async def send(self, request: Request) -> Response:
        policy = self._policies.get(request.source, SourcePolicy())
        errand = _Errand(request, policy)
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async for attempt in stamina.retry_context(
                on=backoff, attempts=policy.attempts, timeout=None, wait_initial=0.5, wait_max=8.0, wait_jitter=0.5
            ):
                with attempt:
                    answer = await self._attempt(errand)
                    return Response(
                        answer.status,
                        answer.body,
                        {name: value for name, value in answer.headers.items() if name.startswith(_KEPT_HEADERS)},
                        seconds=round(loop.time() - started, 3),
                        calls=errand.calls,
                    )
        except SearchSourceError as error:
            error.ids |= {
                "source": request.source,
                "calls": errand.calls,
                "seconds": round(loop.time() - started, 3),
            }
            raise
        raise AssertionError("the last attempt either answers or raises")

    async def aclose(self) -> None:
        """Ends the search that the call budgets are for and closes its own network. A later request begins anew."""
        logging.getLogger("httpx").removeFilter(self._log_filter)
        self._calls.clear()
        if not self._shared:
            await self._network.aclose()

    async def _attempt(self, errand: _Errand) -> Response:
        source, policy = errand.request.source, errand.policy
        if policy.missing_key:
            raise MissingKeyError(policy.missing_key)
        logging.getLogger("httpx").addFilter(self._log_filter)
        _keep_retries_quiet()
        client = await self._network.client()
        outgoing = self._outgoing(client, errand.request.url, errand)
        for _ in range(_MOST_HOPS + 1):
            self._spend(errand)
            await self._network.turn(source, policy)
            answer = await self._exchange(client, outgoing, errand)
            if answer.status == 200:
                return answer
            if answer.status not in _REDIRECTS:
                raise refusal(source, answer, policy, self._clock.now())
            outgoing = self._outgoing(client, _redirected(outgoing.url, answer, errand), errand)
        raise NonRetryableError(f"{source} redirected more than {_MOST_HOPS} times.")

    async def _exchange(self, client: httpx.AsyncClient, outgoing: httpx.Request, errand: _Errand) -> Response:
        source, limit = errand.request.source, errand.policy.timeout_s
        try:
            async with asyncio.timeout(limit):
                reply = await client.send(outgoing, stream=True, follow_redirects=False)
                try:
                    body = await self._body(reply, source)
                finally:
                    await reply.aclose()
        except (TimeoutError, httpx.TimeoutException) as error:
            raise RetryableError(f"{source} did not answer within {limit:g} s.") from error
        except httpx.TransportError as error:
            raise RetryableError(f"The connection to {source} failed ({type(error).__name__}).") from error
        except httpx.RequestError as error:
            raise NonRetryableError(f"{source} sent an answer that cannot be decoded.") from error
        headers = {name.lower(): value for name, value in reply.headers.items()}
        auth = errand.policy.auth
        return Response(reply.status_code, auth.taken_out_of(body) if auth else body, headers)

    async def _body(self, reply: httpx.Response, source: str) -> bytes:
        received = bytearray()
        async for chunk in reply.aiter_bytes():
            received += chunk
            if len(received) > self._max_body_bytes:
                raise NonRetryableError(
                    f"{source} sent more than {self._max_body_bytes / 1e6:g} MB in one answer; it was not read further."
                )
        return bytes(received)

    def _spend(self, errand: _Errand) -> None:
        source, most = errand.request.source, errand.policy.max_calls
        if most is not None and self._calls[source] >= most:
            raise CallLimitError(
                f"The call budget of {source} ({most}) is used up.", hint=f"Raise max_calls of {source}."
            )
        self._calls[source] += 1
        errand.calls += 1

    def _outgoing(self, client: httpx.AsyncClient, address: str | httpx.URL, errand: _Errand) -> httpx.Request:
        request, policy = errand.request, errand.policy
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
                url.copy_merge_params(_grouped(params)) if params else url,
                headers=headers,
                data=_grouped(request.form) or None,
                timeout=httpx.Timeout(policy.timeout_s, connect=min(policy.timeout_s, _CONNECT_S)),
            )
        except (httpx.InvalidURL, UnicodeError) as error:
            raise NonRetryableError(f"The request to {request.source} cannot be written as an address.") from error


def _user_agent(contact_email: str | None) -> str:
    contact = f" (mailto:{contact_email})" if contact_email else ""
    return f"uraniborg/{version()}{contact}"


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, value in pairs:
        groups.setdefault(name, []).append(value)
    return groups


def _redirected(url: httpx.URL, answer: Response, errand: _Errand) -> httpx.URL:
    source = errand.request.source
    try:
        target = url.join(answer.headers.get("location", ""))
    except httpx.InvalidURL as error:
        raise NonRetryableError(f"{source} redirected to an address that is none.") from error
    same_place = (target.host, target.port) == (url.host, url.port) and target.scheme in {"https", url.scheme}
    same_method = errand.request.method == "GET" or answer.status in {307, 308}
    if not (same_place and same_method):
        raise NonRetryableError(f"{source} redirected to {target.scheme}://{target.host}, which is not followed.")
    return target


def _keep_retries_quiet() -> None:
    """stamina logs every retry, by default to stdout, which is the user's; our reports count them instead."""
    hooks = stamina.instrumentation.get_on_retry_hooks()
    stamina.instrumentation.set_on_retry_hooks([hook for hook in hooks if not _is_staminas_own(hook)])


def _is_staminas_own(hook: object) -> bool:
    return getattr(hook, "__module__", "").startswith("stamina.")
