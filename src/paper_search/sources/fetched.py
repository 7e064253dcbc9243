"""What our transports add to a plain answer: what it cost, and that it can be forgotten."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from paper_search.sources.base import Request, Response


@dataclass(frozen=True, slots=True)
class Fetched(Response):
    """A response and how many calls it took, retries and redirects included; none when it was not fetched anew."""

    calls: int = 1


def calls_of(response: Response) -> int:
    """How many calls a response took, one when it does not say."""
    return response.calls if isinstance(response, Fetched) else 1


@runtime_checkable
class Forgetting(Protocol):
    """A transport that keeps answers and can drop one that turned out to be unusable."""

    async def forget(self, request: Request) -> None: ...


async def forget(transport: object, request: Request) -> None:
    """Has the transport drop its answer to the request, if it keeps any."""
    if isinstance(transport, Forgetting):
        await transport.forget(request)
