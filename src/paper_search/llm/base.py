"""What the skills ask of a language model."""

from typing import Any, Protocol

from pydantic import BaseModel


class LLMProvider(Protocol):
    """A model that answers in text or in JSON. Raises LLMError, and nothing else, when it cannot."""

    async def complete(self, system: str, user: str) -> str: ...

    async def complete_json(self, system: str, user: str, schema: dict[str, Any] | None = None) -> dict[str, Any]: ...


def answer_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema that a model's answer must fit. Notes and origins are ours to write."""
    schema = model.model_json_schema()
    for ours in ("notes", "origins"):
        schema["properties"].pop(ours, None)
    schema.get("$defs", {}).pop("PartOrigin", None)
    return schema
