"""A model asked through a transport, so that its answers are recorded and replayed like those of any source."""

import json
from typing import Any, Final, cast

from paper_search.errors import LLMAuthError, LLMError, LLMRateLimitError, LLMResponseError
from paper_search.llm.base import LLMProvider
from paper_search.sources.interfaces import Request, Response, Transport

NAME: Final = "model"
_TEXT, _JSON = "model://text", "model://json"
_FAILURES: Final = {kind.code: kind for kind in (LLMError, LLMAuthError, LLMRateLimitError, LLMResponseError)}


class ModelTransport:
    """Hands requests made by a `TransportedModel` to the model, and all others on."""

    def __init__(self, model: LLMProvider, inner: Transport) -> None:
        self._model = model
        self._inner = inner

    async def send(self, request: Request) -> Response:
        if request.source != NAME:
            return await self._inner.send(request)
        asked = dict(request.form)
        try:
            if request.url == _TEXT:
                answer: object = await self._model.complete(asked["system"], asked["user"])
            else:
                answer = await self._model.complete_json(asked["system"], asked["user"], json.loads(asked["schema"]))
        except LLMError as error:
            return _said({"failed": error.code, "message": error.message})
        return _said({"answer": answer})

    async def aclose(self) -> None:
        await self._inner.aclose()


class TransportedModel:
    """An LLMProvider whose answers come through a transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def complete(self, system: str, user: str) -> str:
        return str(await self._ask(_TEXT, system, user, None))

    async def complete_json(self, system: str, user: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
        return cast("dict[str, Any]", await self._ask(_JSON, system, user, schema))

    async def _ask(self, url: str, system: str, user: str, schema: dict[str, Any] | None) -> object:
        form = (("system", system), ("user", user), ("schema", json.dumps(schema, sort_keys=True)))
        reply = json.loads((await self._transport.send(Request(NAME, url, form=form))).body)
        if "answer" in reply:
            return reply["answer"]
        raise _FAILURES.get(reply["failed"], LLMError)(reply["message"])


def _said(reply: dict[str, object]) -> Response:
    return Response(200, json.dumps(reply, ensure_ascii=False).encode("utf-8", "surrogatepass"))
