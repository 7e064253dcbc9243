"""Forward requests about searches and decisions to the search worker."""

import asyncio
import json
from typing import Any, Final

from fastapi import FastAPI
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from uraniborg.console.workers.search_process import SearchWorkerEnded, SearchWorkerProcess
from uraniborg.kernel.http_access import JSON, make_error_response

_SEARCHES: Final = "/api/search"
"""The beginning of the addresses of searches, their options and their shelves."""
_QUESTIONS: Final = "/api/inbox/"
_OPENAPI: Final = "/api/openapi.json"


class ForwardToWorker:
    """The API with the routes of the worker. The OpenAPI document describes the routes of both."""

    def __init__(self, api: FastAPI, worker: SearchWorkerProcess) -> None:
        self._api = api
        self._worker = worker
        self._openapi: bytes | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_forwarded(scope):
            await self._worker(scope, receive, send)
        elif scope["type"] == "http" and (scope["path"], scope["method"]) == (_OPENAPI, "GET"):
            await (await self._answer_openapi())(scope, receive, send)
        else:
            await self._api(scope, receive, send)

    async def _answer_openapi(self) -> Response:
        if self._openapi is None:
            try:
                searches = await self._worker.request("GET", _OPENAPI)
            except SearchWorkerEnded as error:
                return make_error_response(error)
            self._openapi = await asyncio.to_thread(_merge_documents, self._api, searches.body)
        return Response(self._openapi, media_type=JSON)


def _is_forwarded(scope: Scope) -> bool:
    path: str = scope["path"]
    return path.startswith(_SEARCHES) or (path.startswith(_QUESTIONS) and scope["method"] == "POST")


def _merge_documents(api: FastAPI, searches: bytes) -> bytes:
    """Return the OpenAPI document of the API with the paths and schemas of the worker."""
    document = api.openapi()
    added: Any = json.loads(searches)
    paths = {**added["paths"], **document["paths"]}
    schemas = {**added["components"]["schemas"], **document["components"]["schemas"]}
    merged = {
        **document,
        "paths": dict(sorted(paths.items())),
        "components": {**document["components"], "schemas": dict(sorted(schemas.items()))},
    }
    return json.dumps(merged, ensure_ascii=False).encode()
