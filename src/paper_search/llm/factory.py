"""Makes the provider that the settings ask for, or none."""

from paper_search.config import LLMConfig
from paper_search.llm.base import LLMProvider
from uraniborg.kernel.errors import InvalidInput, MissingExtra

_ENDPOINTS = {
    "openai": "https://api.openai.com/v1/",
    "anthropic": "https://api.anthropic.com/v1/",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai/",
}
_ALIASES = {"claude": "anthropic", "gemini": "google"}
_NO_KEY = "none"


def create_provider(config: LLMConfig) -> LLMProvider | None:
    """The provider of the configured model; None when no model is named, and the rules do all the work.

    Raises InvalidInput when the provider is not known or its key is missing, MissingExtra when the client library is
    not installed. Nothing is sent.
    """
    if not config.model.strip():
        return None
    asked = config.provider.strip().lower()
    name = _ALIASES.get(asked, asked)
    if name not in _ENDPOINTS:
        raise InvalidInput(
            f"Unknown LLM provider '{config.provider[:80]}'. Known: openai, anthropic (or claude), google (or gemini).",
            hint="Any other OpenAI-compatible endpoint works as provider 'openai' with llm.base_url set.",
            provider=config.provider[:80],
        )
    key = config.api_key.get_secret_value().strip()
    if not key and not config.base_url:
        raise InvalidInput(
            f"API key required for the LLM provider '{name}'.",
            hint=f"Set {name.upper()}_API_KEY or llm.api_key; a server of your own with llm.base_url needs none.",
            provider=name,
        )
    try:
        from paper_search.llm.provider import ChatProvider  # the client library is an extra
    except ModuleNotFoundError as exc:
        if exc.name != "openai":
            raise
        raise MissingExtra("llm", f"Asking the language model '{config.model}'") from None
    return ChatProvider(
        model=config.model.strip(),
        api_key=key or _NO_KEY,
        base_url=config.base_url or _ENDPOINTS[name],
        temperature=config.temperature,
        max_tokens=config.max_tokens,
        # OpenAI's own newer models refuse the older name, most other servers know only that.
        max_tokens_field="max_completion_tokens" if name == "openai" and not config.base_url else "max_tokens",
        timeout_s=config.timeout_s,
    )
