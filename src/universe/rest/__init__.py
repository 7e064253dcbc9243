"""The REST API of universes."""

from fastapi import Depends, FastAPI

from universe.errors import MalformedRequest
from universe.event_stream import EventStreams
from universe.jobs.service import JobService
from universe.rest.command_and_history_routes import add_command_routes, add_history_routes
from universe.rest.job_routes import add_job_routes
from universe.rest.reference_routes import add_reference_routes
from universe.rest.report_routes import add_report_routes
from universe.rest.requests import BodyReader, check_no_unknown_parameters
from universe.rest.schemas import add_schemas_to_openapi
from universe.rest.stream_and_position_routes import add_stream_and_position_routes
from universe.rest.universe_routes import add_universe_routes
from universe.service.positions import Positions
from universe.service.universes import UniverseService
from uraniborg.kernel.errors import ErrorBody
from uraniborg.kernel.http_app import add_error_handlers, add_validation_handler
from uraniborg.kernel.reply_route import ReplyRoute
from uraniborg.kernel.version import version


def make_rest_app(
    service: UniverseService,
    streams: EventStreams,
    positions: Positions,
    jobs: JobService,
    *,
    body_limit: int,
    heartbeat_s: float,
    stall_s: float,
) -> FastAPI:
    """Return the REST app with all routes."""
    app = FastAPI(
        title="Universe",
        version=version(),
        description="Universes that change only by commands, with a durable log and live event streams.",
        docs_url=None,
        redoc_url=None,
        dependencies=[Depends(check_no_unknown_parameters)],
        responses={status: {"model": ErrorBody} for status in (400, 401, 403, 404, 405, 413, 415, 421, 503)},
    )
    app.router.route_class = ReplyRoute
    add_error_handlers(app)
    add_validation_handler(app, MalformedRequest, hint="See /docs.")
    body = BodyReader(body_limit)
    add_universe_routes(app, service, body, positions)
    add_command_routes(app, service, body)
    add_history_routes(app, service, body, BodyReader(body_limit, allow_empty=True))
    add_stream_and_position_routes(app, service, streams, positions)
    add_report_routes(app, service, body)
    add_reference_routes(app)
    add_job_routes(app, jobs, body, heartbeat_s=heartbeat_s, stall_s=stall_s)
    add_schemas_to_openapi(app)
    return app
