"""Record and replay the answers of a model as those of any source."""

import json
from typing import Final, cast

from paper_search.errors import LLMAuthError, LLMError, LLMRateLimitError, LLMResponseError
from paper_search.llm.base import LLMProvider
from paper_search.sources.interfaces import Request, Response, Transport
from uraniborg.kernel.boundary import make_all_encodable
from uraniborg.kernel.json_values import JsonObject

NAME: Final = "model"
_TEXT, _JSON = "model://text", "model://json"
_FAILURES: Final = {kind.code: kind for kind in (LLMError, LLMAuthError, LLMRateLimitError, LLMResponseError)}


class ModelTransport:
    """Sends the requests of a `TransportedModel` to the model, and all others to another transport."""

    def __init__(self, model: LLMProvider, inner: Transport) -> None:
        self._model = model
        self._inner = inner

    async def send(self, request: Request) -> Response:
        """Return the model's answer or error as a response, or the response of the other transport."""
        if request.source != NAME:
            return await self._inner.send(request)
        prompt = dict(request.form)
        try:
            if request.url == _TEXT:
                answer: object = await self._model.complete(prompt["system"], prompt["user"])
            else:
                answer = await self._model.complete_json(prompt["system"], prompt["user"], json.loads(prompt["schema"]))
        except LLMError as error:
            return _make_response({"failed": error.code, "message": error.message})
        return _make_response({"answer": make_all_encodable(answer)})

    async def aclose(self) -> None:
        await self._inner.aclose()


class TransportedModel:
    """An LLMProvider whose answers come through a transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def complete(self, system: str, user: str) -> str:
        """Return the model's answer. Raise LLMError if there is none."""
        return str(await self._request_answer(_TEXT, system, user, None))

    async def complete_json(self, system: str, user: str, schema: JsonObject | None = None) -> JsonObject:
        """Return the JSON object in the model's answer. Raise LLMError if there is none."""
        return cast("JsonObject", await self._request_answer(_JSON, system, user, schema))

    async def _request_answer(self, url: str, system: str, user: str, schema: JsonObject | None) -> object:
        form = (("system", system), ("user", user), ("schema", json.dumps(schema, sort_keys=True)))
        reply = json.loads((await self._transport.send(Request(NAME, url, form=form))).body)
        if "answer" in reply:
            return reply["answer"]
        raise _FAILURES.get(reply["failed"], LLMError)(reply["message"])


def _make_response(reply: JsonObject) -> Response:
    return Response(200, json.dumps(reply, ensure_ascii=False).encode())
