"""Routes that every page uses: signing in and out, the state of the server, what runs, and the event stream."""

import asyncio
import json
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Body, Depends, Header, Request
from starlette.responses import Response, StreamingResponse

from uraniborg.console.api import Sender, make_router
from uraniborg.console.replies import AnyChange, Health, PersonName, RunningCounts, SignedIn, SignInState
from uraniborg.console.services import Services
from uraniborg.console.sign_ins import MAX_NAME_CHARS, NewKey
from uraniborg.kernel.clock import format_iso
from uraniborg.kernel.http.header_checks import read_bearer_token
from uraniborg.kernel.version import version

if TYPE_CHECKING:
    from uraniborg.console.services import ConsoleServices


OPEN_PATHS: Final = {"/api/health", "/api/sign-in"}
"""The addresses that need neither a key nor the token."""


async def read_key(request: Request) -> str:
    """Return the key that the request carries, or an empty text."""
    return read_bearer_token(dict(request.headers.raw))


Key = Annotated[str, Depends(read_key)]
sign_in_router = make_router("sign-in")


@sign_in_router.get("/api/health", summary="Check that the server runs")
async def get_health() -> Health:
    return {"status": "ok", "version": version()}


@sign_in_router.get("/api/sign-in", summary="Return the name of the person signed in")
async def get_sign_in(services: Services, key: Key) -> SignInState:
    """Return null as the name for a request without a valid key: unlike in `/api/me`, this is not an error."""
    found = await services.sign_ins.find_sign_in(key)
    return {
        "name": found and found.name,
        "is_renewal_due": found is not None and services.sign_ins.is_renewal_due(found),
    }


@sign_in_router.post("/api/sign-in", summary="Exchange the token for a key")
async def sign_in(
    services: Services,
    token: Annotated[str, Body(max_length=200)],
    name: Annotated[str, Body(max_length=MAX_NAME_CHARS)],
) -> SignedIn:
    """Return a key, which a page sends as its bearer token. `name` is recorded with your decisions, as claimed."""
    return _describe_key(await asyncio.to_thread(services.sign_ins.sign_in, token, name))


@sign_in_router.post("/api/sign-in/renew", summary="Exchange a key for a new one")
async def renew_key(services: Services, key: Key) -> SignedIn:
    """Return a new key for the same person. The old one ends a minute later."""
    return _describe_key(await asyncio.to_thread(services.sign_ins.renew, key))


@sign_in_router.post("/api/sign-out", summary="Make the key invalid", status_code=204)
async def sign_out(services: Services, key: Key, actor: Sender) -> Response:
    await asyncio.to_thread(services.sign_ins.sign_out, key, actor)
    return Response(status_code=204)


@sign_in_router.post("/api/sign-out-everywhere", summary="Make all keys invalid", status_code=204)
async def sign_out_everywhere(services: Services, actor: Sender) -> Response:
    """Sign out every browser. The token stays: `uraniborg serve --new-token` replaces it, too."""
    await asyncio.to_thread(services.sign_ins.sign_out_everywhere, actor)
    return Response(status_code=204)


@sign_in_router.get("/api/me", summary="Return your name")
async def get_me(actor: Sender) -> PersonName:
    return {"name": actor.name}


def _describe_key(new: NewKey) -> SignedIn:
    return {"name": new.sign_in.name, "key": new.key, "valid_until": format_iso(new.sign_in.until)}


class EventStreamResponse(StreamingResponse):
    """A stream of server-sent events."""

    media_type = "text/event-stream"


event_router = make_router("events")


@event_router.get(
    "/api/events",
    summary="Stream every change",
    response_class=EventStreamResponse,
    responses={200: {"model": AnyChange}},
)
async def stream_events(
    services: Services,
    last_event_id: Annotated[str | None, Header(max_length=50)] = None,
) -> EventStreamResponse:
    """Send each change of each process as a server-sent event, in order.

    The id of an event is its position. Send the last one as Last-Event-ID to resume without a gap. After an event
    `reset`, read everything again: changes before it were lost.
    """
    services.broadcast.check_room()
    return EventStreamResponse(services.broadcast.stream(last_event_id), headers={"X-Accel-Buffering": "no"})


_MOST: Final = 1_000


running_router = make_router("inbox")


@running_router.get("/api/running", summary="Count what runs")
async def count_running(services: Services) -> RunningCounts:
    """Return how many searches, runs and jobs work at this moment, whichever process runs them."""
    app = services.universe.app
    runs = await asyncio.to_thread(services.workflows.history.list_runs, limit=_MOST, status="running")
    return {
        "searches": await _count_searches(services),
        "runs": len(runs),
        "jobs": len(await app.jobs.list_jobs(state="running", limit=_MOST)) if app and app.is_running else None,
    }


async def _count_searches(services: "ConsoleServices") -> int:
    page = await services.searches.request("GET", "/api/searches", query=b"phase=working&limit=1")
    return json.loads(page.body)["total"]
