"""What is told of something that may be of any size: its beginning, if it is too much."""

from typing import Any, Final, cast

LONGEST: Final = 500
"""Characters of one text."""
MOST: Final = 100
"""Items of one list, or names in one object."""


def shortened(value: Any, *, longest: int = LONGEST, most: int = MOST) -> Any:
    """The same, with long texts and lists cut; of a list, the last item says how many more there are."""
    if isinstance(value, str):
        return value if len(value) <= longest else f"{value[:longest]}… ({len(value):,} characters)"
    if isinstance(value, dict):
        items = list(cast("dict[str, Any]", value).items())
        kept = {shortened(key, longest=100): shortened(item, longest=longest, most=most) for key, item in items[:most]}
        return kept if len(items) <= most else {**kept, "…": f"{len(items) - most:,} more"}
    if isinstance(value, list):
        listed = cast("list[Any]", value)
        kept_items = [shortened(item, longest=longest, most=most) for item in listed[:most]]
        return kept_items if len(listed) <= most else [*kept_items, f"… {len(listed) - most:,} more"]
    return value
