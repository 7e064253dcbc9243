"""Finds the JSON object in what a model wrote, whatever it wrote around it."""

import json
import re
from contextlib import suppress
from itertools import islice
from typing import Any, cast

from paper_search.errors import LLMResponseError

_FENCED = re.compile(r"```[\w-]*\s*\n?(.*?)```", re.DOTALL)
_MAX_ATTEMPTS = 50


def extract_json(text: str) -> dict[str, Any]:
    """The object a text is, holds in a fenced block, or holds first. Raises LLMResponseError when there is none."""
    if not text.strip():
        raise LLMResponseError("The model's answer was empty.", hint="Try again, or use another model.")
    for candidate in (text, *_FENCED.findall(text)):
        if (found := _object(candidate)) is not None:
            return found
    if (found := _embedded(text)) is not None:
        return found
    raise LLMResponseError("The model's answer holds no JSON object.", hint="Try again, or use another model.")


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _embedded(text: str) -> dict[str, Any] | None:
    """The first object inside other text; braces that open none are passed over."""
    decoder = json.JSONDecoder()
    for brace in islice(re.finditer("{", text), _MAX_ATTEMPTS):
        with suppress(ValueError, RecursionError):
            return decoder.raw_decode(text, brace.start())[0]
    return None
