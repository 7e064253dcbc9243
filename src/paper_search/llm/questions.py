"""Put questions to a language model: a prompt of the folder `prompts`, data, and an answer of a known type."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from paper_search.domains.base import Domain
from paper_search.errors import LLMError
from paper_search.intent.text_cleanup import normalise_text
from paper_search.llm.base import LLMProvider, make_answer_schema
from paper_search.query.rendering import parse_phrase
from uraniborg.kernel.json_values import JsonObject

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
    cleaned = (normalise_text(text).replace('"', " ").strip()[:MAX_TEXT_CHARS] for text in texts)
    return list(dict.fromkeys(text for text in cleaned if parse_phrase(text)))


@lru_cache(maxsize=16)
def read_prompt(name: str) -> str:
    """Return the instructions for one kind of question."""
    return files("paper_search.llm").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")


@lru_cache(maxsize=16)
def _make_schema(answer_type: type[BaseModel]) -> JsonObject:
    return make_answer_schema(answer_type)
