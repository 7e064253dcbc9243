"""Ask the language model of the settings with prompts, for answers of known types; record and replay answers."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Final, Protocol, TypeVar, cast

from pydantic import BaseModel, ValidationError

from paper_search.config import LLMConfig
from paper_search.domain.field_profiles import Domain
from paper_search.domain.intent.text_cleanup import cut_and_normalise_characters
from paper_search.domain.query.query_texts import parse_phrase
from paper_search.errors import LLMAuthError, LLMError, LLMRateLimitError, LLMResponseError
from paper_search.sources.interfaces import Request, Response, Transport
from uraniborg.kernel.boundary import make_all_encodable, parse_lenient_json
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language_model import (
    ChatClient,
    ChatError,
    Failure,
    find_provider,
    import_client_library,
    make_endpoint,
)


class LLMProvider(Protocol):
    """A model that answers in text or in JSON. Its methods raise LLMError and nothing else."""

    async def complete(self, system: str, user: str) -> str: ...

    async def complete_json(self, system: str, user: str, schema: JsonObject | None = None) -> JsonObject: ...


def make_answer_schema(model: type[BaseModel]) -> JsonObject:
    """Return the JSON schema that a model's answer must fit, without the fields that only the program writes."""
    schema = model.model_json_schema()
    for field in ("notes", "origins"):
        schema["properties"].pop(field, None)
    schema.get("$defs", {}).pop("PartOrigin", None)
    return schema


MAX_TEXT_CHARS: Final = 300
Answer = TypeVar("Answer", bound=BaseModel)


async def ask_model(
    llm: LLMProvider, prompt: str, domain: Domain | None, data: Mapping[str, object], answer_type: type[Answer]
) -> tuple[Answer | None, str]:
    """Return the answer of a model, or None and the problem in words. Never raises."""
    field = f"\nField of research: {domain.description} {domain.instructions}" if domain else ""
    question = json.dumps(data, ensure_ascii=False)
    try:
        answer = await llm.complete_json(read_prompt(prompt) + field, question, _make_schema(answer_type))
        return answer_type.model_validate(answer), ""
    except LLMError as exc:
        return None, f"The language model failed ({exc.code})"
    except ValidationError:
        return None, "The answer of the language model was invalid"


def clean_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts of a model that hold a word, each once, as clean lines without quotation marks."""
    cleaned = (cut_and_normalise_characters(text).replace('"', " ").strip()[:MAX_TEXT_CHARS] for text in texts)
    return list(dict.fromkeys(text for text in cleaned if parse_phrase(text)))


@lru_cache(maxsize=16)
def read_prompt(name: str) -> str:
    """Return the instructions for one kind of question."""
    return files("paper_search.service.llm").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")


@lru_cache(maxsize=16)
def _make_schema(answer_type: type[BaseModel]) -> JsonObject:
    return make_answer_schema(answer_type)


_FENCED = re.compile(r"```[\w-]*\s*\n?(.*?)```", re.DOTALL)
_MAX_ATTEMPTS = 50
_ERRORS: Final[dict[Failure, tuple[type[LLMError], str]]] = {
    Failure.KEY_REFUSED: (LLMAuthError, "Check llm.api_key, and that it belongs to this provider."),
    Failure.RATE_LIMITED: (LLMRateLimitError, "Wait a while, or check the account's limits."),
    Failure.TIMED_OUT: (LLMError, "Allow it more time: llm.timeout_s."),
    Failure.UNREACHABLE: (LLMError, "Check the network and llm.base_url."),
    Failure.REQUEST_REFUSED: (LLMError, "Check the model's name and llm.base_url."),
    Failure.SERVER_FAILED: (LLMError, "Try again later."),
    Failure.NOT_A_COMPLETION: (LLMResponseError, "Check llm.base_url."),
    Failure.NO_ANSWER: (
        LLMResponseError,
        "Check that the endpoint supports the OpenAI chat completions interface, and the model's name.",
    ),
    Failure.CUT_SHORT: (LLMResponseError, "Allow it more tokens: llm.max_tokens."),
}


def create_provider(config: LLMConfig) -> LLMProvider | None:
    """Return the provider of the configured model, or None if no model is named.

    Send nothing. Raise InvalidInput if the provider is not known or its key is missing, MissingExtra if the client
    library is not installed.
    """
    model = config.model.strip()
    if not model:
        return None
    provider = find_provider(config.provider)
    if provider is None:
        raise InvalidInput(
            f"Unknown LLM provider '{config.provider[:80]}'. Known: openai, anthropic (or claude), google (or gemini).",
            hint="Any other OpenAI-compatible endpoint works as provider 'openai' with llm.base_url set.",
            provider=config.provider[:80],
        )
    key = config.api_key.get_secret_value().strip()
    if not key and not config.base_url:
        raise InvalidInput(
            f"API key required for the LLM provider '{provider}'.",
            hint=f"Set {provider.upper()}_API_KEY or llm.api_key; your own server in llm.base_url may need no key.",
            provider=provider,
        )
    import_client_library(model)
    endpoint = make_endpoint(provider, model, key, config.base_url or "")
    client = ChatClient(endpoint, timeout_s=config.timeout_s, drop_refused_options=True)
    return ChatProvider(client, {"temperature": config.temperature, endpoint.max_tokens_field: config.max_tokens})


class ChatProvider:
    """An LLMProvider at a chat completions endpoint."""

    def __init__(self, client: ChatClient, options: JsonObject) -> None:
        self._client = client
        self._options = options

    async def complete(self, system: str, user: str) -> str:
        """Return the model's answer. Raise LLMError if there is none."""
        return await self._request_text(system, user, self._options)

    async def complete_json(self, system: str, user: str, schema: JsonObject | None = None) -> JsonObject:
        """Return the JSON object in the model's answer. Raise LLMError if there is none."""
        instruction = "Answer with one valid JSON object only: no other text, no Markdown."
        if schema is not None:
            instruction += f" It must fit this JSON schema:\n{json.dumps(schema, ensure_ascii=False)}"
        options: JsonObject = {**self._options, "response_format": {"type": "json_object"}}
        return extract_json_object(await self._request_text(f"{system}\n\n{instruction}", user, options))

    async def _request_text(self, system: str, user: str, options: JsonObject) -> str:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        try:
            return (await self._client.request_answer(messages, options)).text
        except ChatError as error:
            error_class, hint = _ERRORS[error.failure]
            raise error_class(error.message, hint=hint) from None


def extract_json_object(text: str) -> JsonObject:
    """Return the JSON object that a text consists of, has in a fenced block, or contains first.

    Raise LLMResponseError if there is none.
    """
    if not text.strip():
        raise LLMResponseError("The model's answer was empty.", hint="Try again, or use another model.")
    for candidate in (text, *_FENCED.findall(text)):
        if (found := _parse_object(candidate)) is not None:
            return found
    if (found := _find_first_object(text)) is not None:
        return found
    raise LLMResponseError("The model's answer contains no JSON object.", hint="Try again, or use another model.")


def _parse_object(text: str) -> JsonObject | None:
    try:
        value = parse_lenient_json(text)
    except ValueError:
        return None
    return cast("JsonObject", value) if isinstance(value, dict) else None


def _find_first_object(text: str) -> JsonObject | None:
    """Return the first object inside other text; skip braces that do not start one."""
    decoder = json.JSONDecoder()
    for brace in islice(re.finditer("{", text), _MAX_ATTEMPTS):
        with suppress(ValueError, RecursionError):
            _, end = decoder.raw_decode(text, brace.start())
            return parse_lenient_json(text[brace.start() : end])
    return None


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
            return _encode_as_http_response({"failed": error.code, "message": error.message})
        return _encode_as_http_response({"answer": make_all_encodable(answer)})

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


def _encode_as_http_response(reply: JsonObject) -> Response:
    return Response(200, json.dumps(reply, ensure_ascii=False).encode())
