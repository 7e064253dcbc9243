"""Make an app of routes with its OpenAPI document, and what routes share: router, sender and parameters."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, FastAPI, Path, Request
from fastapi.routing import APIRoute

from uraniborg.console.universe_mount import describe_universe_routes
from uraniborg.kernel.actors import ACTOR, Actor, describe_actor
from uraniborg.kernel.errors import ErrorBody, InvalidInput
from uraniborg.kernel.http.secure_app import ReplyRoute, add_error_handlers, add_routes, add_validation_handler
from uraniborg.kernel.version import version

_ERROR_STATUSES: Final = (400, 401, 403, 404, 409, 413, 415, 421, 422, 429, 503)


def make_router(tag: str) -> APIRouter:
    """Return a router without routes. The OpenAPI document groups its operations under `tag`."""
    return APIRouter(
        tags=[tag],
        route_class=ReplyRoute,
        dependencies=[Depends(_refuse_unknown_parameters)],
        responses={status: {"model": ErrorBody} for status in _ERROR_STATUSES},
        generate_unique_id_function=_get_operation_id,
    )


def _get_operation_id(route: APIRoute) -> str:
    """Return the id of an operation in the OpenAPI document: the name of its function."""
    return route.name


async def _refuse_unknown_parameters(request: Request) -> None:
    """Raise InvalidInput for a query parameter that the route does not have."""
    route = request.scope["route"]
    known = {parameter.alias for parameter in route.dependant.query_params}
    for name in request.query_params:
        if name not in known:
            raise InvalidInput(
                f"'{name[:80]}' is not a parameter of this address.",
                hint=f"Its parameters are {', '.join(sorted(known))}." if known else "It has no parameters.",
                argument=name[:80],
                allowed=sorted(known),
            )


async def get_sender(request: Request) -> Actor:
    """Return who sent the request, as the check of the sign-in found."""
    return request.scope[ACTOR]


async def get_reviewer(request: Request) -> str:
    """Return the name under which the sender reviews papers: a program is not the person whose token it sends."""
    return describe_actor(request.scope[ACTOR])


Sender = Annotated[Actor, Depends(get_sender)]
Reviewer = Annotated[str, Depends(get_reviewer)]
RunId = Annotated[str, Path(max_length=100, description="The id of a run, or its beginning.")]
SessionId = Annotated[str, Path(max_length=64, description="The id of a session.")]
WorkflowName = Annotated[str, Path(max_length=100, description="The name of a workflow.")]


class ConsoleApi(FastAPI):
    """The API. Its OpenAPI document describes the data of each event of the stream."""

    def openapi(self) -> dict[str, Any]:
        is_new = self.openapi_schema is None
        document = super().openapi()
        if is_new and "/api/events" in document["paths"]:  # a worker has no stream
            stream = document["paths"]["/api/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]
            event = {name: value for name, value in stream["schema"].items() if name != "type"}
            stream["schema"] = {"type": "string", "contentMediaType": "application/json", "contentSchema": event}
            universes = describe_universe_routes()
            document["paths"] |= universes.paths
            document["components"]["schemas"] |= universes.schemas
        return document


def make_api(services: object, *routers: APIRouter) -> FastAPI:
    """Return an API with the routes of these routers, whose functions use `services`."""
    api = ConsoleApi(
        title="Uraniborg",
        version=version(),
        description="Everything that people and agents do with Uraniborg, for programs on this machine.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    api.state.services = services
    add_error_handlers(api)
    add_validation_handler(api, InvalidInput, hint="See /api/openapi.json.")
    add_routes(api, *routers)
    return api
