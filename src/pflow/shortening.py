"""Shortening of texts and values for messages and replies."""

from collections.abc import Iterable, Sized
from typing import Any, Final, cast

LONGEST: Final = 500
"""Characters of one text."""
MOST: Final = 100
"""Items of one list, or names in one object."""


def shorten_text(text: str, longest: int = 120) -> str:
    """Return the text, or its first `longest` characters with a mark."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def shorten_value(value: Any, *, longest: int = LONGEST, most: int = MOST) -> Any:
    """Return the value with long texts, lists and objects cut.

    A list or object of texts gets one more text with the number of those left out. Others do not, as it would be of
    another type than the rest.
    """
    if isinstance(value, str):
        return value if len(value) <= longest else f"{value[:longest]}… ({len(value):,} characters)"
    if isinstance(value, dict):
        items = list(cast("dict[str, Any]", value).items())
        shortened = {
            shorten_value(key, longest=100): shorten_value(item, longest=longest, most=most)
            for key, item in items[:most]
        }
        return (
            {**shortened, "…": f"{len(items) - most:,} more"}
            if _can_note_cut(items, shortened.values(), most)
            else shortened
        )
    if isinstance(value, list):
        listed = cast("list[Any]", value)
        shortened_items = [shorten_value(item, longest=longest, most=most) for item in listed[:most]]
        return (
            [*shortened_items, f"… {len(listed) - most:,} more"]
            if _can_note_cut(listed, shortened_items, most)
            else shortened_items
        )
    return value


def _can_note_cut(items: Sized, kept: Iterable[Any], most: int) -> bool:
    """Return True if items were left out and the rest are texts."""
    return len(items) > most and all(isinstance(one, str) for one in kept)
