"""Shorten texts and lists until a reply fits the context window of an agent."""

from collections.abc import Mapping
from typing import Final, TypeVar, cast, overload

from pydantic_core import to_json

REPLY_BYTES: Final = 25_000
"""The maximum size of a reply that is not an export."""

T = TypeVar("T")
Fields = TypeVar("Fields", bound=Mapping[str, object])


@overload
def clip_text(text: str, max_chars: int) -> str: ...
@overload
def clip_text(text: str | None, max_chars: int) -> str | None: ...
def clip_text(text: str | None, max_chars: int) -> str | None:
    """Return the text, shortened to `max_chars` characters with an ellipsis."""
    return text if text is None or len(text) <= max_chars else text[: max_chars - 1] + "…"


def count_json_bytes(value: object) -> int:
    return len(to_json(value))


def shorten_to_fit(value: Fields, max_bytes: int) -> Fields:
    """Return the fields, with texts and lists shortened until they fit; `shortened` is set then."""
    for texts, items in ((400, 20), (200, 10), (80, 5), (40, 3)):
        if count_json_bytes(value) <= max_bytes:
            return value
        value = cast("Fields", {**shorten_value(value, texts, items), "shortened": True})
    return value


def shorten_value(value: T, max_chars: int, max_items: int) -> T:
    """Return the value with long texts and lists shortened."""
    shortened: object = value
    if isinstance(value, str):
        shortened = clip_text(value, max_chars)
    elif isinstance(value, list):
        listed = cast("list[object]", value)
        shortened = [shorten_value(item, max_chars, max_items) for item in listed[:max_items]]
    elif isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        shortened = {key: shorten_value(item, max_chars, max_items) for key, item in fields.items()}
    return cast("T", shortened)
