"""Routes that read bodies as JSON from outside, and send what the function returned as its annotation declares it."""

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from uraniborg.kernel.boundary import parse_json
from uraniborg.kernel.json_values import encode_json


class JsonReply(JSONResponse):
    """A reply as JSON; values that JSON does not have, such as NaN, are null."""

    def render(self, content: Any) -> bytes:
        return encode_json(content)


class JsonRequest(Request):
    """A request whose body is read as JSON from outside."""

    async def json(self) -> Any:
        return parse_json(await self.body())


class ReplyRoute(APIRoute):
    """A route that documents the annotated reply. The reply is not validated: the service that made it declares it."""

    def __init__(self, path: str, endpoint: Callable[..., Awaitable[Any]], **options: Any) -> None:
        @wraps(endpoint)
        async def reply(*args: Any, **kwargs: Any) -> Response:
            value = await endpoint(*args, **kwargs)
            if self.status_code == 204:  # which has no body
                return Response(status_code=204)
            return value if isinstance(value, Response) else JsonReply(value, self.status_code or 200)

        super().__init__(path, reply, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of requests."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def handle_json(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return handle_json


def add_routes(app: FastAPI, *routers: APIRouter) -> None:
    """Add the routes of modules to an app, which then shares them with every other app.

    `FastAPI.include_router` would build each route a second time: that takes longer than the rest of a start.
    """
    for router in routers:
        app.router.routes.extend(router.routes)
