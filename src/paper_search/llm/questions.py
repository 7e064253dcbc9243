"""Questions to a language model: a prompt of the folder `prompts`, data as JSON, and an answer of a known type."""

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from paper_search.domains.base import Domain
from paper_search.errors import LLMError
from paper_search.llm.base import LLMProvider, make_answer_schema

Answer = TypeVar("Answer", bound=BaseModel)


async def ask_model(
    llm: LLMProvider, prompt: str, domain: Domain | None, data: Mapping[str, object], answer_type: type[Answer]
) -> tuple[Answer | None, str]:
    """Return the answer of a model, or None and the problem in words. Never raises."""
    field = f"\nField of research: {domain.description} {domain.instructions}" if domain else ""
    question = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace").decode()
    try:
        answer = await llm.complete_json(read_prompt(prompt) + field, question, _make_schema(answer_type))
        return answer_type.model_validate(answer), ""
    except LLMError as exc:
        return None, f"The language model failed ({exc.code})"
    except ValidationError:
        return None, "The answer of the language model was invalid"


@lru_cache(maxsize=16)
def read_prompt(name: str) -> str:
    """Return the instructions for one kind of question."""
    return files("paper_search.llm").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")


@lru_cache(maxsize=16)
def _make_schema(answer_type: type[BaseModel]) -> dict[str, object]:
    return make_answer_schema(answer_type)
