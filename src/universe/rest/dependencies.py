"""What the routes depend on: the services of the app, the body of a request, and who sent it."""

from dataclasses import dataclass, field
from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from universe.event_stream import EventStreams
from universe.jobs.service import JobService
from universe.rest.requests import check_no_unknown_parameters, find_actor, read_json
from universe.service.positions import Positions
from universe.service.universes import UniverseService
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import ErrorBody
from uraniborg.kernel.reply_route import ReplyRoute


@dataclass(frozen=True)
class RestServices:
    """The services of an app, and its limits; the state of the app has them as `services`."""

    universes: UniverseService
    streams: EventStreams
    positions: Positions
    jobs: JobService
    body_limit: int
    heartbeat_s: float
    stall_s: float
    started: float = field(default_factory=monotonic)


async def get_services(request: Request) -> RestServices:
    """Return the services of the app that answers the request."""
    return request.app.state.services


async def get_universes(request: Request) -> UniverseService:
    """Return the universes of the app that answers the request."""
    return request.app.state.services.universes


async def get_jobs(request: Request) -> JobService:
    """Return the jobs of the app that answers the request."""
    return request.app.state.services.jobs


async def read_body(request: Request) -> Any:
    """Return the JSON body of a request. Raise BodyTooLarge, MalformedRequest or BadNumber."""
    return await read_json(request, request.app.state.services.body_limit)


async def read_body_if_any(request: Request) -> Any:
    """Return the JSON body of a request, or None without one. Raise as `read_body`."""
    return await read_json(request, request.app.state.services.body_limit, allow_empty=True)


Services = Annotated[RestServices, Depends(get_services)]
Universes = Annotated[UniverseService, Depends(get_universes)]
Jobs = Annotated[JobService, Depends(get_jobs)]
Body = Annotated[Any, Depends(read_body)]
BodyIfAny = Annotated[Any, Depends(read_body_if_any)]
Sender = Annotated[Actor, Depends(find_actor)]
"""Who sent the request."""


def make_router() -> APIRouter:
    """Return a router of the app without routes."""
    return APIRouter(
        route_class=ReplyRoute,
        dependencies=[Depends(check_no_unknown_parameters)],
        responses={status: {"model": ErrorBody} for status in (400, 401, 403, 404, 405, 413, 415, 421, 503)},
    )
