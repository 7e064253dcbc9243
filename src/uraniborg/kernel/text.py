"""Helpers for text that people read: plurals and names of authors."""

from collections.abc import Sequence
from typing import Final

_AUTHORS_LISTED: Final = 3


def plural(number: float, thing: str, many: str | None = None) -> str:
    """Return 1 node, 2 nodes, 0.5 seconds, 12,000 papers; `many` is a plural that does not end in s alone."""
    digits = f"{int(number):,}" if float(number).is_integer() else f"{number:g}"
    return f"{digits} {thing if number == 1 else many or thing + 's'}"


def format_first_authors(authors: Sequence[str]) -> str:
    """Return up to three names as they are written; of more, the first three and `et al.` behind them."""
    separator = "; " if any("," in name for name in authors) else ", "
    return separator.join(authors[:_AUTHORS_LISTED]) + (" et al." if len(authors) > _AUTHORS_LISTED else "")


def format_to_minute(timestamp: str | None) -> str:
    """Return an ISO timestamp as date and time of day, or "" for None."""
    return (timestamp or "")[:16].replace("T", " ")


def format_duration(milliseconds: float) -> str:
    """Return a duration for people: 12 ms, 1.2 s, 3 min 05 s."""
    if milliseconds < 999.5:
        return "<1 ms" if milliseconds < 1 else f"{milliseconds:.0f} ms"
    if milliseconds < 59_950:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {seconds:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
