"""Make an app of routes with its OpenAPI document, for the API and for the search worker."""

from typing import Any

from fastapi import APIRouter, FastAPI

from uraniborg.console.routes.universes import describe_universe_routes
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.http_app import add_error_handlers, add_validation_handler
from uraniborg.kernel.reply_route import add_routes
from uraniborg.kernel.version import version


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
