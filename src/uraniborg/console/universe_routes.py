"""Routes for universes: the REST interface of the universe server, behind the sign-in of the console.

The requests reach the same app as those to the universe server's own port. Who has signed in is the actor of every
change, under the name of the sign-in.
"""

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.http_access import make_error_response

if TYPE_CHECKING:
    from universe.app import UniverseApp
    from uraniborg.served_parts import ServedPart

API: Final = "/api"
ROOTS: Final = (f"{API}/universes", f"{API}/jobs", f"{API}/origins", f"{API}/commands")
"""The beginnings of the addresses of universes, their jobs, and what both are made from."""
_AUTHOR: Final = b"uraniborg-author"
"""The header with which programs claim a name, which is ignored here."""
_PREFIX: Final = "Universe"
"""The beginning of the names of all types of the universe in the OpenAPI document."""


class UniverseNotServed(Unavailable):
    code = "universe_not_served"


@dataclass
class UniverseMount:
    """The app of the universe server, once it is made; requests before that are refused with its problem."""

    part: "ServedPart | None" = None
    app: "UniverseApp | None" = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.app is None or not self.app.is_running:
            await make_error_response(self._make_error())(scope, receive, send)
            return
        headers = [(name, value) for name, value in scope["headers"] if name != _AUTHOR]
        await self.app.rest({**scope, "root_path": API, "headers": headers}, receive, _prefix_location(send))

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


def add_universe_routes(api: FastAPI, mount: UniverseMount) -> None:
    """Add the routes whose addresses begin with one of ROOTS."""
    for root in ROOTS:
        api.router.routes.append(Route(root + "{rest:path}", mount, include_in_schema=False))


def describe_universe_routes() -> dict[str, Any]:
    """Return the `paths` and `schemas` of the routes for the OpenAPI document of the API."""
    from universe.app import make_app
    from universe.config import UniverseConfig
    from universe.store.memory import MemoryStore

    text = json.dumps(make_app(UniverseConfig(), MemoryStore()).rest.openapi())
    document = json.loads(text.replace("#/components/schemas/", f"#/components/schemas/{_PREFIX}"))
    paths = {f"{API}{path}": item for path, item in document["paths"].items() if f"{API}{path}".startswith(ROOTS)}
    for item in paths.values():
        for operation in item.values():
            name = re.split(r"_(?:universes|jobs_get|origins_get|commands_get)", operation["operationId"])[0]
            operation |= {"operationId": f"universe_{name}", "tags": ["universes"]}
    schemas = document["components"]["schemas"]
    return {"paths": paths, "schemas": {f"{_PREFIX}{name}": schema for name, schema in schemas.items()}}
