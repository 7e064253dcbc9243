"""Mount the universe server below the API: the same app that also listens at a port of its own.

Who has signed in is the actor of every change, under the name of the sign-in.
"""

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fastapi import APIRouter
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.http.header_checks import make_error_response
from uraniborg.kernel.json_values import JsonObject

if TYPE_CHECKING:
    from universe.api.app import UniverseApp
    from universe.service.papers import PaperUseIndex
    from uraniborg.servers.process import PartServer


API: Final = "/api"
_AUTHOR: Final = b"uraniborg-author"
"""The header with which programs claim a name, which is ignored here."""


class UniverseNotServed(Unavailable):
    code = "universe_not_served"


@dataclass
class UniverseMount:
    """The app of the universe server, once it is made; requests before that are refused with its problem."""

    part: "PartServer | None" = None
    app: "UniverseApp | None" = None
    _paper_uses: "PaperUseIndex | None" = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.app is None or not self.app.is_running:
            await make_error_response(self._make_error())(scope, receive, send)
            return
        headers = [(name, value) for name, value in scope["headers"] if name != _AUTHOR]
        await self.app.rest({**scope, "root_path": API, "headers": headers}, receive, _prefix_location(send))

    def get_paper_uses(self) -> "PaperUseIndex | None":
        """Return the index of the papers that bodies cite, or None if the server does not run."""
        from universe.service.papers import PaperUseIndex

        if self.app is None or not self.app.is_running:
            return None
        if self._paper_uses is None:
            self._paper_uses = PaperUseIndex(self.app.service)
        return self._paper_uses

    def _make_error(self) -> UniverseNotServed:
        problem = self.part.problem if self.part else None
        if self.part is None or problem is None:
            return UniverseNotServed("The universe server is starting.", hint="Try again in a second.")
        return UniverseNotServed(f"The universe server does not run: {problem}", hint=self.part.hint or "")


def _prefix_location(send: Send) -> Send:
    """Return a `send` that makes the address of a new thing one of this API."""

    async def send_with_location(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers: list[tuple[bytes, bytes]] = list(message.get("headers", []))
            message["headers"] = [
                (name, API.encode() + value if name == b"location" and value.startswith(b"/") else value)
                for name, value in headers
            ]
        await send(message)

    return send_with_location


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
    from universe.api.rest import describe_rest_app

    text = json.dumps(describe_rest_app())
    document: Any = json.loads(text.replace("#/components/schemas/", f"#/components/schemas/{_PREFIX}"))
    paths = {f"{API}{path}": item for path, item in document["paths"].items() if f"{API}{path}".startswith(ROOTS)}
    for item in paths.values():
        for operation in item.values():
            name = re.split(r"_(?:universes|jobs_get|origins_get|commands_get)", operation["operationId"])[0]
            operation |= {"operationId": f"universe_{name}", "tags": ["universes"]}
    schemas = document["components"]["schemas"]
    return UniverseRoutes(paths, {f"{_PREFIX}{name}": schema for name, schema in schemas.items()})
