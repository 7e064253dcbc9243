"""Finds the JSON object in what a model wrote, whatever it wrote around it."""

import json
import re
from collections.abc import Iterator
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
    for found in _embedded(text):
        return found
    raise LLMResponseError("The model's answer holds no JSON object.", hint="Try again, or use another model.")


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _embedded(text: str) -> Iterator[dict[str, Any]]:
    """Balanced objects inside other text, the first one first; braces that open none are passed over."""
    decoder = json.JSONDecoder()
    start = -1
    for _ in range(_MAX_ATTEMPTS):
        start = text.find("{", start + 1)
        if start < 0:
            return
        try:
            value, _end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield value
