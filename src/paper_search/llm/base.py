"""What the skills ask of a language model."""

from typing import Any, Protocol


class LLMProvider(Protocol):
    """A model that answers in text or in JSON. Raises LLMError, and nothing else, when it cannot."""

    async def complete(self, system: str, user: str) -> str: ...

    async def complete_json(self, system: str, user: str, schema: dict[str, Any] | None = None) -> dict[str, Any]: ...
