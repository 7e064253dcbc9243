"""What a language model offers to a search, and the schema of its answers."""

from typing import Protocol

from pydantic import BaseModel

from uraniborg.kernel.json_values import JsonObject


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
