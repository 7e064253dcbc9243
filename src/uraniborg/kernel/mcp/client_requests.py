"""Requests of the server to its client, and the responses to them."""

import asyncio
from typing import Any

from mcp.types import INVALID_REQUEST, ErrorData, JSONRPCError, JSONRPCResponse
from pydantic import ValidationError

from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import get_logger

Response = JSONRPCResponse | JSONRPCError

_log = get_logger(__name__)


class ClientRequests:
    """The requests to one client that have no response yet, each with an id of its own."""

    def __init__(self) -> None:
        self._open: dict[str, asyncio.Future[Response | None]] = {}
        self._count = 0
        self._is_closed = False

    def open(self) -> tuple[int, asyncio.Future[Response | None]]:
        """Return the id of a new request, and its future response: None if no response can follow."""
        self._count += 1
        response: asyncio.Future[Response | None] = asyncio.get_running_loop().create_future()
        self._open[str(self._count)] = response
        response.add_done_callback(lambda _, key=str(self._count): self._open.pop(key, None))
        if self._is_closed:
            response.set_result(None)
        return self._count, response

    def receive(self, response: Response) -> None:
        """Pass the response to its request. Ignore a response to a request that is not open."""
        request = self._open.get(str(response.id))
        if request is None or request.done():
            _log.debug("a response to a request that is not open was ignored", id=str(response.id)[:80])
        else:
            request.set_result(response)

    def close(self) -> None:
        """End the requests: the client can send no more responses."""
        self._is_closed = True
        for request in list(self._open.values()):
            if not request.done():
                request.set_result(None)


def parse_response(message: JsonObject) -> Response | None:
    """Return the response in `message`; an error in place of a malformed one, and None if that has no valid id."""
    try:
        return (JSONRPCError if "error" in message else JSONRPCResponse).model_validate(message)
    except ValidationError:
        given: Any = message.get("id")
        _log.warning("a response of the client is malformed", id=str(given)[:80])
        if not isinstance(given, str | int):
            return None
        error = ErrorData(code=INVALID_REQUEST, message="The response is malformed.")
        return JSONRPCError(jsonrpc="2.0", id=given, error=error)
