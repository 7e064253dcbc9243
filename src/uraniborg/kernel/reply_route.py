"""Routes whose return annotation declares the reply, and whose replies are sent as the function returned them."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

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

        super().__init__(path, reply, **options)
