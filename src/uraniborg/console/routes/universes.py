"""Routes for universes: the REST interface of the universe server, behind the sign-in of the console."""

import json
import re
from typing import Any, Final, NamedTuple

from fastapi import APIRouter
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from uraniborg.console.universe_mount import API
from uraniborg.kernel.json_values import JsonObject

ROOTS: Final = (f"{API}/universes", f"{API}/jobs", f"{API}/origins", f"{API}/commands")
"""The beginnings of the addresses of universes, their jobs, and what both are made from."""
_PREFIX: Final = "Universe"
"""The beginning of the names of all types of the universe in the OpenAPI document."""


class _UniverseServer:
    """Passes requests to the universe server of the services."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await scope["app"].state.services.universe(scope, receive, send)


router = APIRouter(routes=[Route(root + "{rest:path}", _UniverseServer(), include_in_schema=False) for root in ROOTS])


class UniverseRoutes(NamedTuple):
    """The routes of the universe in an OpenAPI document."""

    paths: JsonObject
    schemas: JsonObject


def describe_universe_routes() -> UniverseRoutes:
    """Return the routes for the OpenAPI document of the API."""
    from universe.rest import describe_rest_app

    text = json.dumps(describe_rest_app())
    document: Any = json.loads(text.replace("#/components/schemas/", f"#/components/schemas/{_PREFIX}"))
    paths = {f"{API}{path}": item for path, item in document["paths"].items() if f"{API}{path}".startswith(ROOTS)}
    for item in paths.values():
        for operation in item.values():
            name = re.split(r"_(?:universes|jobs_get|origins_get|commands_get)", operation["operationId"])[0]
            operation |= {"operationId": f"universe_{name}", "tags": ["universes"]}
    schemas = document["components"]["schemas"]
    return UniverseRoutes(paths, {f"{_PREFIX}{name}": schema for name, schema in schemas.items()})
