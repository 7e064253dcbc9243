"""Routes whose return annotation declares the reply, and whose replies are sent as the function returned them."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.datastructures import DefaultPlaceholder
from fastapi.routing import APIRoute
from starlette.responses import JSONResponse, Response

from uraniborg.kernel.json_values import encode_json


class JsonReply(JSONResponse):
    """A reply as JSON; values that JSON does not have, such as NaN, are null."""

    def render(self, content: Any) -> bytes:
        return encode_json(content)


class ReplyRoute(APIRoute):
    """A route that documents the annotated reply. The reply is not validated: the service that made it declares it."""

    def __init__(self, path: str, endpoint: Callable[..., Awaitable[Any]], **options: Any) -> None:
        @wraps(endpoint)
        async def reply(*args: Any, **kwargs: Any) -> Response:
            value = await endpoint(*args, **kwargs)
            if self.status_code == 204:  # which has no body
                return Response(status_code=204)
            return value if isinstance(value, Response) else JsonReply(value, self.status_code or 200)

        is_declared_twice = not isinstance(options.get("response_model"), DefaultPlaceholder)
        super().__init__(path, endpoint if is_declared_twice else reply, **options)


def add_routes(app: FastAPI, *routers: APIRouter) -> None:
    """Add the routes of modules to an app, which then shares them with every other app.

    `FastAPI.include_router` would build each route a second time: that takes longer than the rest of a start.
    """
    for router in routers:
        app.router.routes.extend(router.routes)
