"""The llm node: one question to a language model, over the chat completions interface that most servers share."""

import asyncio
import mimetypes
import os
import re
from base64 import b64encode
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from pflow.errors import NodeFailed, NodeTimedOut
from pflow.node import Context
from pflow.nodes.excerpts import beginning
from uraniborg.kernel.errors import InvalidInput, MissingExtra
from uraniborg.kernel.files import shown
from uraniborg.kernel.logging import register_secret
from uraniborg.kernel.text import plural

_ENDPOINTS: Final = {
    "openai": "https://api.openai.com/v1/",
    "anthropic": "https://api.anthropic.com/v1/",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai/",
}
_KEYS: Final = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY", "CLAUDE_API_KEY"),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
_ALIASES: Final = {"claude": "anthropic", "gemini": "google"}
_TIMEOUT_S: Final = 300.0
_IMAGE_BYTES: Final = 20 << 20
_SAID: Final = 300
_FENCED: Final = re.compile(r"```[\w+-]*\n(?P<text>.*?)\n?```", re.DOTALL)


async def llm(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """What the model answers to the prompt, and what that took."""
    prompt = params["prompt"]
    if not prompt.strip():
        raise InvalidInput("The prompt is empty.", hint="Say what the model is to do.", argument="prompt")
    endpoint = _endpoint(str(params.get("model") or os.environ.get("LLM_MODEL") or "").strip())
    given: Any = params.get("images") or []
    images: list[str] = [given] if isinstance(given, str) else given
    shown_images = [await asyncio.to_thread(_image, str(image), context) for image in images]
    content: Any = [{"type": "text", "text": prompt}, *shown_images] if shown_images else prompt
    messages = [{"role": "user", "content": content}]
    if params.get("system"):
        messages.insert(0, {"role": "system", "content": params["system"]})
    options: dict[str, Any] = {"model": endpoint.model, "messages": messages}
    if params.get("temperature") is not None:
        options["temperature"] = params["temperature"]
    if params.get("max_tokens") is not None:
        options[endpoint.max_tokens_name] = params["max_tokens"]
    return await _ask(endpoint, options, context)


@dataclass(frozen=True, slots=True)
class _Endpoint:
    model: str
    address: str
    key: str
    max_tokens_name: str


def _endpoint(model: str) -> _Endpoint:
    """Where the model is asked. Raises InvalidInput where that is not known, or takes a key and none is set."""
    if not model:
        raise InvalidInput("No model is named.", hint="Give model, or set LLM_MODEL.", argument="model")
    if address := os.environ.get("LLM_BASE_URL"):
        # Keys of others are not for a server of one's own.
        own = os.environ.get("LLM_API_KEY") or ""
        register_secret(own)
        return _Endpoint(model, address, own or "none", "max_tokens")
    provider, model = _provider(model)
    keys = [*_KEYS[provider], *(["LLM_API_KEY"] if provider == _usual_provider() else [])]
    key = next((value for name in keys if (value := os.environ.get(name))), "")
    if not key:
        raise InvalidInput(
            f"There is no key for the provider '{provider}'.",
            hint=f"Set {keys[0]}; or LLM_BASE_URL for a server of your own, which may need none.",
            provider=provider,
        )
    register_secret(key)
    # OpenAI's own newer models refuse the older name, most other servers know only that.
    name = "max_completion_tokens" if provider == "openai" else "max_tokens"
    return _Endpoint(model, _ENDPOINTS[provider], key, name)


def _provider(model: str) -> tuple[str, str]:
    """The provider of a model, by what stands before its name (`anthropic/…`) or how the name begins; and the name."""
    prefix, slash, name = model.partition("/")
    if slash and (known := _ALIASES.get(prefix, prefix)) in _ENDPOINTS:
        return known, name
    family = model.partition("-")[0]
    return _ALIASES.get(family) or _usual_provider(), model


def _usual_provider() -> str:
    asked = (os.environ.get("LLM_PROVIDER") or "openai").strip().lower()
    provider = _ALIASES.get(asked, asked)
    if provider not in _ENDPOINTS:
        raise InvalidInput(
            f"LLM_PROVIDER cannot be '{asked[:80]}'.",
            hint=f"Use one of: {', '.join([*_ENDPOINTS, *_ALIASES])}; for any other server set LLM_BASE_URL.",
        )
    return provider


def _image(given: str, context: Context) -> dict[str, Any]:
    """A picture as the interface takes it: by its address, or with all its bytes."""
    if not given.startswith(("https://", "http://", "data:image/")):
        given = _as_address(context.path(given))
    return {"type": "image_url", "image_url": {"url": given}}


def _as_address(path: Path) -> str:
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not kind.startswith("image/"):
        raise InvalidInput(
            f"{shown(path)} is no picture by its name.",
            hint="Name a .png, .jpeg, .gif or .webp file.",
            argument="images",
        )
    try:
        if path.stat().st_size > _IMAGE_BYTES:
            raise InvalidInput(
                f"{shown(path)} is too large.",
                hint=f"Pictures have at most {_IMAGE_BYTES >> 20} MiB.",
                argument="images",
            )
        return f"data:{kind};base64,{b64encode(path.read_bytes()).decode()}"
    except OSError as exc:
        raise NodeFailed(f"{shown(path)} cannot be read: {exc.strerror}.", hint="Check the path in images.") from exc


async def _ask(endpoint: _Endpoint, options: dict[str, Any], context: Context) -> dict[str, Any]:
    timeout_s = context.timeout or _TIMEOUT_S
    try:
        await asyncio.to_thread(import_module, "openai")  # which takes a while
    except ModuleNotFoundError as exc:
        if exc.name != "openai":
            raise
        raise MissingExtra("llm", f"Asking the language model '{endpoint.model}'") from None
    import openai

    try:
        client = openai.AsyncOpenAI(api_key=endpoint.key, base_url=endpoint.address, timeout=timeout_s, max_retries=2)
        async with client, asyncio.timeout(timeout_s):
            create: Any = client.chat.completions.create
            completion = await create(**options)
    except (openai.APIError, TimeoutError, ValueError) as exc:
        raise _failure(exc, endpoint.model, context) from exc
    return _told(completion, endpoint.model)


def _told(completion: Any, model: str) -> dict[str, Any]:
    try:
        choice, usage = completion.choices[0], completion.usage
        text, ended = choice.message.content, choice.finish_reason
    except (AttributeError, IndexError, TypeError):
        text, ended, usage = None, None, None
    taken = [getattr(usage, name, None) or 0 for name in ("prompt_tokens", "completion_tokens", "total_tokens")]
    counts = dict(zip(("input_tokens", "output_tokens", "total_tokens"), taken, strict=True))
    used = {"model": getattr(completion, "model", None) or model, **counts}
    if not isinstance(text, str) or not text.strip():
        raise NodeFailed(
            f"The model '{model}' gave no answer.",
            hint="Check the model's name, and that the server speaks the chat completions interface.",
            outputs={"llm_usage": used},
        )
    outputs = {"response": _unfenced(text.strip()), "llm_usage": used}
    if ended == "length":
        raise NodeFailed(
            f"The answer of the model '{model}' was cut short.", hint="Allow it more with max_tokens.", outputs=outputs
        )
    return outputs


def _unfenced(text: str) -> str:
    """The answer without the fence that some models put around all of it."""
    fenced = _FENCED.fullmatch(text)
    return fenced["text"] if fenced and "```" not in fenced["text"] else text


def _failure(exc: Exception, model: str, context: Context) -> NodeFailed:
    """What went wrong. Of what the server said only a refusal of the params is told: the rest may echo keys."""
    import openai

    server, ids = f"The server of the model '{model}'", dict[str, Any]()
    match exc:
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            problem, hint = f"{server} refused the key.", "Check the key, and that it is this provider's."
        case openai.RateLimitError():
            problem = f"{server} limits requests, or its quota is used up."
            hint = "Wait a while, or check the account's limits."
        case openai.APITimeoutError() | TimeoutError():
            problem = f"The model '{model}' did not answer within {plural(context.timeout or _TIMEOUT_S, 'second')}."
            return NodeTimedOut(problem, hint="Set the node's timeout higher.")
        case openai.APIConnectionError():
            problem, hint = f"{server} cannot be reached.", "Check the network and LLM_BASE_URL."
        case openai.APIStatusError():
            ids["status_code"] = exc.status_code
            if exc.status_code < 500:
                problem = f"{server} refused: {beginning(exc.message, _SAID, context)}"
                hint = "Check the params: models differ in what they take."
            else:
                problem, hint = f"{server} failed with HTTP status {exc.status_code}.", "Try again later."
        case _:
            problem, hint = f"{server} answered with something that is no chat completion.", "Check LLM_BASE_URL."
    return NodeFailed(problem, hint=hint, **ids)
