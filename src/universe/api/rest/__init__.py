"""Serve universes over REST."""

from typing import Final

from fastapi import FastAPI

from universe.api.event_stream import EventStreams
from universe.api.rest import job_routes, report_routes, stream_and_position_routes, universe_routes
from universe.api.rest.requests import RestServices
from universe.api.rest.responses_and_schemas import add_schemas_to_openapi
from universe.errors import MalformedRequest
from universe.service.jobs.job_service import JobService
from universe.service.state_views import BodyPositions
from universe.service.universes import UniverseService
from uraniborg.kernel.http.secure_app import add_error_handlers, add_routes, add_validation_handler
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.version import version

ROUTERS: Final = (
    universe_routes.router,
    stream_and_position_routes.router,
    report_routes.router,
    job_routes.router,
)


def make_rest_app(
    service: UniverseService,
    streams: EventStreams,
    positions: BodyPositions,
    jobs: JobService,
    *,
    body_limit: int,
    heartbeat_s: float,
    stall_s: float,
) -> FastAPI:
    """Return the REST app with all routes."""
    app = _make_app()
    app.state.services = RestServices(service, streams, positions, jobs, body_limit, heartbeat_s, stall_s)
    return app


def describe_rest_app() -> JsonObject:
    """Return the OpenAPI document, which needs no services."""
    return _make_app().openapi()


def _make_app() -> FastAPI:
    app = FastAPI(
        title="Universe",
        version=version(),
        description="Universes that change only by commands, with a durable log and live event streams.",
        docs_url=None,
        redoc_url=None,
    )
    add_error_handlers(app)
    add_validation_handler(app, MalformedRequest, hint="See /docs.")
    add_routes(app, *ROUTERS)
    add_schemas_to_openapi(app)
    return app
