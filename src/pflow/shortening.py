"""Shorten texts and values for messages and replies."""

from collections.abc import Iterable, Sized
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

LONGEST: Final = 500
"""Characters of one text."""
MOST: Final = 100
"""Items of one list, or names in one object."""


def shorten_text(text: str, max_chars: int = 120) -> str:
    """Return the text, or its first `max_chars` characters with a mark."""
    return text if len(text) <= max_chars else f"{text[:max_chars]}…"


def shorten_value(value: Any, *, max_chars: int = LONGEST, max_items: int = MOST) -> Any:
    """Return the value with long texts, lists and objects cut.

    A list or object of texts gets one more text with the number of those left out. Others do not, as it would be of
    another type than the rest.
    """
    if isinstance(value, str):
        return value if len(value) <= max_chars else f"{value[:max_chars]}… ({len(value):,} characters)"
    if isinstance(value, dict):
        items = list(cast("JsonObject", value).items())
        shortened = {
            shorten_value(key, max_chars=100): shorten_value(item, max_chars=max_chars, max_items=max_items)
            for key, item in items[:max_items]
        }
        return (
            {**shortened, "…": f"{len(items) - max_items:,} more"}
            if _needs_cut_note(items, shortened.values(), max_items)
            else shortened
        )
    if isinstance(value, list):
        listed = cast("list[Any]", value)
        shortened_items = [shorten_value(item, max_chars=max_chars, max_items=max_items) for item in listed[:max_items]]
        return (
            [*shortened_items, f"… {len(listed) - max_items:,} more"]
            if _needs_cut_note(listed, shortened_items, max_items)
            else shortened_items
        )
    return value


def _needs_cut_note(items: Sized, kept: Iterable[Any], max_items: int) -> bool:
    """Return True if items were left out and the rest are texts."""
    return len(items) > max_items and all(isinstance(one, str) for one in kept)
