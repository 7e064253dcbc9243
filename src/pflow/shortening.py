"""What is told of something that may be of any size: its beginning, if it is too much."""

from collections.abc import Iterable, Sized
from typing import Any, Final, cast

LONGEST: Final = 500
"""Characters of one text."""
MOST: Final = 100
"""Items of one list, or names in one object."""


def shortened(value: Any, *, longest: int = LONGEST, most: int = MOST) -> Any:
    """The same, with long texts, lists and objects cut. Where all that is kept is text, one more says how many there
    were: nobody who goes through it finds anything that is of another kind than the rest."""
    if isinstance(value, str):
        return value if len(value) <= longest else f"{value[:longest]}… ({len(value):,} characters)"
    if isinstance(value, dict):
        items = list(cast("dict[str, Any]", value).items())
        kept = {shortened(key, longest=100): shortened(item, longest=longest, most=most) for key, item in items[:most]}
        return {**kept, "…": f"{len(items) - most:,} more"} if _lacks(items, kept.values(), most) else kept
    if isinstance(value, list):
        listed = cast("list[Any]", value)
        items_kept = [shortened(item, longest=longest, most=most) for item in listed[:most]]
        return [*items_kept, f"… {len(listed) - most:,} more"] if _lacks(listed, items_kept, most) else items_kept
    return value


def _lacks(items: Sized, kept: Iterable[Any], most: int) -> bool:
    """Whether it was cut and can say so."""
    return len(items) > most and all(isinstance(one, str) for one in kept)
