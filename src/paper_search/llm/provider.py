"""Asks a language model over the chat completions interface that OpenAI, Anthropic, Google and local servers share."""

import asyncio
import json
from typing import Any

import openai

from paper_search.errors import LLMAuthError, LLMError, LLMRateLimitError, LLMResponseError
from paper_search.llm.json_text import extract_json
from uraniborg.kernel.text import plural

RETRIES = 2


class ChatProvider:
    """A model behind one endpoint. An answer takes at most `timeout_s` in all, retries included.

    Holds no connection between calls, so it needs no closing and works in any event loop.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str,
        base_url: str,
        temperature: float,
        max_tokens: int,
        max_tokens_field: str,
        timeout_s: float,
    ) -> None:
        self._model = model
        self._timeout_s = timeout_s
        self._options: dict[str, Any] = {"temperature": temperature, max_tokens_field: max_tokens}
        self._refused: set[str] = set()
        self._client = openai.AsyncOpenAI(
            api_key=api_key,
            base_url=base_url,
            timeout=timeout_s,
            max_retries=RETRIES,
            default_headers={"Connection": "close"},
        )

    async def complete(self, system: str, user: str) -> str:
        """The model's answer. Raises LLMError when there is none."""
        return await self._answer(system, user, self._options)

    async def complete_json(self, system: str, user: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
        """The JSON object the model answers with. Raises LLMError when there is none."""
        instruction = "Answer with one valid JSON object only: no other text, no Markdown."
        if schema is not None:
            instruction += f" It must fit this JSON schema:\n{json.dumps(schema, ensure_ascii=False)}"
        options = {**self._options, "response_format": {"type": "json_object"}}
        return extract_json(await self._answer(f"{system}\n\n{instruction}", user, options))

    async def _answer(self, system: str, user: str, options: dict[str, Any]) -> str:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        try:
            async with asyncio.timeout(self._timeout_s):
                completion = await self._create(messages, options)
        except (openai.APIError, TimeoutError, ValueError) as exc:
            raise self._failure(exc) from None
        return self._text(completion)

    async def _create(self, messages: list[dict[str, str]], options: dict[str, Any]) -> Any:
        """Asks with every option the endpoint takes: models differ in which of them they refuse."""
        create: Any = self._client.chat.completions.create
        while True:
            accepted = {name: value for name, value in options.items() if name not in self._refused}
            try:
                return await create(model=self._model, messages=messages, **accepted)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as exc:
                named = {name for name in accepted if name in str(exc)}
                if not named:
                    raise
                self._refused |= named

    def _text(self, completion: Any) -> str:
        try:
            choice = completion.choices[0]
            text, ended = choice.message.content, choice.finish_reason
        except (AttributeError, IndexError, TypeError):
            text, ended = None, None
        if not isinstance(text, str) or not text.strip():
            raise LLMResponseError(
                f"The model '{self._model}' gave no answer.",
                hint="Check that the endpoint speaks the OpenAI chat completions interface, and the model's name.",
            )
        if ended == "length":
            raise LLMResponseError(
                f"The answer of the model '{self._model}' was cut short.", hint="Allow it more tokens: llm.max_tokens."
            )
        return text

    def _failure(self, exc: Exception) -> LLMError:
        """The member of our family that `exc` stands for, without its text: endpoints may echo keys in it."""
        match exc:
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                return LLMAuthError(
                    f"The endpoint of the model '{self._model}' refused the API key.",
                    hint="Check llm.api_key, and that it belongs to this provider.",
                )
            case openai.RateLimitError():
                return LLMRateLimitError(
                    f"The endpoint of the model '{self._model}' is limiting requests, or its quota is used up.",
                    hint="Wait a while, or check the account's limits.",
                )
            case openai.APITimeoutError() | TimeoutError():
                return LLMError(
                    f"The model '{self._model}' did not answer within {plural(self._timeout_s, 'second')}.",
                    hint="Allow it more time: llm.timeout_s.",
                )
            case openai.APIConnectionError():
                return LLMError(
                    f"The endpoint of the model '{self._model}' cannot be reached.",
                    hint="Check the network and llm.base_url.",
                )
            case openai.APIStatusError():
                return LLMError(
                    f"The endpoint of the model '{self._model}' answered with HTTP status {exc.status_code}.",
                    hint="Check the model's name and llm.base_url." if exc.status_code < 500 else "Try again later.",
                )
            case _:
                return LLMResponseError(
                    f"The endpoint of the model '{self._model}' answered with something that is no chat completion.",
                    hint="Check llm.base_url.",
                )
