"""Ask a language model over the chat completions interface that OpenAI, Anthropic, Google and others share.

The client library is the extra `llm`; it is imported with the first request. A part translates `ChatError` into
its own errors and keeps its own settings.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from importlib import import_module
from typing import Any, Final

from uraniborg.kernel.boundary import make_all_encodable, make_encodable
from uraniborg.kernel.errors import InvalidInput, MissingExtra
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.logging import register_secret

RETRIES: Final = 2
ENDPOINTS: Final = {
    "openai": "https://api.openai.com/v1/",
    "anthropic": "https://api.anthropic.com/v1/",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai/",
}
"""The URL of each provider."""
PROVIDER_ALIASES: Final = {"claude": "anthropic", "gemini": "google"}
KEY_VARIABLES: Final = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY", "CLAUDE_API_KEY"),
    "claude": ("ANTHROPIC_API_KEY", "CLAUDE_API_KEY"),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
"""The environment variables with the key of each provider, the first that is set counts."""
_NO_KEY: Final = "none"


class Failure(Enum):
    """The reason why a model did not answer."""

    KEY_REFUSED = auto()
    RATE_LIMITED = auto()
    TIMED_OUT = auto()
    UNREACHABLE = auto()
    REQUEST_REFUSED = auto()
    SERVER_FAILED = auto()
    NOT_A_COMPLETION = auto()
    NO_ANSWER = auto()
    CUT_SHORT = auto()


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """A completion: its text, the model that wrote it and the tokens it took."""

    text: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0


class ChatError(Exception):
    """A model did not answer. The message never quotes the server, which may repeat keys."""

    def __init__(
        self,
        failure: Failure,
        message: str,
        *,
        server_text: str = "",
        status: int = 0,
        answer: ChatAnswer | None = None,
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.message = message
        self.server_text = server_text
        """The server's text about a refused request. It may contain keys: redact it before it is displayed."""
        self.status = status
        self.answer = answer
        """The incomplete or empty answer, if there is one."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at a server."""

    model: str
    url: str
    key: str = field(repr=False)
    max_tokens_field: str = "max_tokens"


def make_endpoint(provider: str, model: str, key: str, url: str = "") -> Endpoint:
    """Return the endpoint of a model at a provider of `ENDPOINTS`, or at another server if `url` is given."""
    # OpenAI's own newer models refuse the older name of the field, most other servers know only that.
    is_openai = provider == "openai" and not url
    tokens = "max_completion_tokens" if is_openai else "max_tokens"
    return Endpoint(model, url or ENDPOINTS[provider], key or _NO_KEY, tokens)


def find_provider(name: str) -> str | None:
    """Return the provider with this name or alias, or None if it is not known."""
    lower = name.strip().lower()
    provider = PROVIDER_ALIASES.get(lower, lower)
    return provider if provider in ENDPOINTS else None


def read_endpoint(model: str, environment: Mapping[str, str] = os.environ) -> Endpoint:
    """Return the endpoint of a model as environment variables configure it, and register its key as a secret.

    `LLM_BASE_URL` is a server with `LLM_API_KEY`. Otherwise the provider is the prefix of the model's name
    (`anthropic/…`), the one that its family belongs to (`claude-…`), or `LLM_PROVIDER`. Raise InvalidInput if the
    provider is not known or has no key.
    """
    if url := environment.get("LLM_BASE_URL"):
        # The keys of providers are not sent to another server.
        key = environment.get("LLM_API_KEY") or ""
        register_secret(key)
        return make_endpoint("", model, key, url)
    provider, model = _split_provider(model, environment)
    variables = [
        *KEY_VARIABLES[provider],
        *(["LLM_API_KEY"] if provider == _find_default_provider(environment) else []),
    ]
    key = next((value for name in variables if (value := environment.get(name))), "")
    if not key:
        raise InvalidInput(
            f"There is no key for the provider '{provider}'.",
            hint=f"Set {variables[0]}, or LLM_BASE_URL for your own server, which may need no key.",
            provider=provider,
        )
    register_secret(key)
    return make_endpoint(provider, model, key)


def _split_provider(model: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the provider of a model and the model's name without the provider's prefix."""
    prefix, slash, name = model.partition("/")
    if slash and (known := PROVIDER_ALIASES.get(prefix, prefix)) in ENDPOINTS:
        return known, name
    family = model.partition("-")[0]
    return PROVIDER_ALIASES.get(family) or _find_default_provider(environment), model


def _find_default_provider(environment: Mapping[str, str]) -> str:
    name = (environment.get("LLM_PROVIDER") or "openai").strip().lower()
    provider = find_provider(name)
    if provider is None:
        raise InvalidInput(
            f"LLM_PROVIDER cannot be '{name[:80]}'.",
            hint=f"Use one of: {', '.join([*ENDPOINTS, *PROVIDER_ALIASES])}; for any other server set LLM_BASE_URL.",
        )
    return provider


def import_client_library(model: str) -> None:
    """Import the client library, which takes a while. Raise MissingExtra if it is not installed."""
    try:
        import_module("openai")
    except ModuleNotFoundError as exc:
        if exc.name != "openai":
            raise
        raise MissingExtra("llm", f"Asking the language model '{model}'") from None


class ChatClient:
    """A client of one model. An answer takes at most `timeout_s` in all, retries included.

    The client keeps no connection open between calls, so it needs no closing and works in any event loop. With
    `drop_refused_options` a request is repeated without the options that the server refuses by name.
    """

    def __init__(self, endpoint: Endpoint, *, timeout_s: float, drop_refused_options: bool = False) -> None:
        self.endpoint = endpoint
        self._timeout_s = timeout_s
        self._drops_refused_options = drop_refused_options
        self._refused_options: set[str] = set()
        self._client: Any = None

    async def request_answer(self, messages: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> ChatAnswer:
        """Return the model's answer. Raise ChatError if there is none, or MissingExtra without the client library."""
        if self._client is None:
            await asyncio.to_thread(import_client_library, self.endpoint.model)
        import openai

        try:
            async with asyncio.timeout(self._timeout_s):
                completion = await self._create_completion(messages, options)
        except (openai.APIError, TimeoutError, ValueError) as exc:
            raise self._translate_error(exc) from None
        return self._read_answer(completion)

    async def _create_completion(self, messages: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> Any:
        import openai

        if self._client is None:
            self._client = openai.AsyncOpenAI(
                api_key=self.endpoint.key,
                base_url=self.endpoint.url,
                timeout=self._timeout_s,
                max_retries=RETRIES,
                default_headers={"Connection": "close"},
            )
        while True:
            accepted = {name: value for name, value in options.items() if name not in self._refused_options}
            try:
                return await self._client.chat.completions.create(
                    model=self.endpoint.model, messages=messages, **accepted
                )
            except (openai.BadRequestError, openai.UnprocessableEntityError) as exc:
                named = {name for name in accepted if name in str(exc)}
                if not named or not self._drops_refused_options:
                    raise
                self._refused_options |= named

    def _read_answer(self, completion: Any) -> ChatAnswer:
        try:
            choice, usage = completion.choices[0], completion.usage
            text, finish_reason = choice.message.content, choice.finish_reason
        except (AttributeError, IndexError, TypeError):
            text, finish_reason, usage = None, None, None
        counts = [getattr(usage, name, None) or 0 for name in ("prompt_tokens", "completion_tokens", "total_tokens")]
        model = make_all_encodable(getattr(completion, "model", None)) or self.endpoint.model
        answer = ChatAnswer(make_encodable(text) if isinstance(text, str) and text.strip() else "", model, *counts)
        if not answer.text:
            message = f"The model '{self.endpoint.model}' gave no answer."
            raise ChatError(Failure.NO_ANSWER, message, answer=answer)
        if finish_reason == "length":
            message = f"The answer of the model '{self.endpoint.model}' was cut short."
            raise ChatError(Failure.CUT_SHORT, message, answer=answer)
        return answer

    def _translate_error(self, exc: Exception) -> ChatError:
        import openai

        server = f"The endpoint of the model '{self.endpoint.model}'"
        match exc:
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                return ChatError(Failure.KEY_REFUSED, f"{server} refused the API key.", status=exc.status_code)
            case openai.RateLimitError():
                message = f"{server} is limiting requests, or its quota is used up."
                return ChatError(Failure.RATE_LIMITED, message, status=exc.status_code)
            case openai.APITimeoutError() | TimeoutError():
                seconds = plural(self._timeout_s, "second")
                message = f"The model '{self.endpoint.model}' did not answer within {seconds}."
                return ChatError(Failure.TIMED_OUT, message)
            case openai.APIConnectionError():
                return ChatError(Failure.UNREACHABLE, f"{server} cannot be reached.")
            case openai.APIStatusError():
                failure = Failure.REQUEST_REFUSED if exc.status_code < 500 else Failure.SERVER_FAILED
                message = f"{server} answered with HTTP status {exc.status_code}."
                return ChatError(failure, message, server_text=make_encodable(exc.message), status=exc.status_code)
            case _:
                message = f"{server} answered with something that is not a chat completion."
                return ChatError(Failure.NOT_A_COMPLETION, message)
