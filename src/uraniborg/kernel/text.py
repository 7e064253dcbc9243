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
