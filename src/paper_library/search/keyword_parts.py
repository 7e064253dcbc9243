"""Find keywords and tags that contain a text, for a keyword that no paper has."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from paper_library.store import index as fields
from paper_library.store.shelf import Shelf
from uraniborg.kernel.text import plural
from uraniborg.kernel.words import fold_text

_SHORTEST_BEGINNING: Final = 3
"""A shorter text matches only whole words."""
_NAMED: Final = 5


def find_keywords_with_part(shelf: Shelf, folded: str) -> list[tuple[int, str]]:
    """Return the ids and names of the keywords and tags with a word that begins with this text, most frequent first.

    In scripts that do not separate words the text may be anywhere.
    """
    part = folded.strip("*")
    if not part:
        return []
    pattern = _compile_part(part)
    found = shelf.list_facets_containing((fields.KEYWORD, fields.TAG), part)
    return [(facet, value) for facet, value in found if pattern.search(fold_text(value))]


def describe_keywords_with_part(keyword: str, names: Sequence[str]) -> str:
    """Return the note that says with which keywords a keyword that no paper has was replaced."""
    unique = list({fold_text(name): name for name in reversed(names)}.values())[::-1]
    further = f" and {len(unique) - _NAMED:,} more" if len(unique) > _NAMED else ""
    return (
        f'No paper has the keyword "{keyword}"; it was read as a part of {plural(len(unique), "keyword")}: '
        f"{', '.join(unique[:_NAMED])}{further}."
    )


def _compile_part(part: str) -> re.Pattern[str]:
    if unicodedata.category(part[0]) == "Lo":
        return re.compile(re.escape(part))
    start = r"(?<!\w)" if part[0].isalnum() else ""
    return re.compile(start + re.escape(part) + (r"(?!\w)" if len(part) < _SHORTEST_BEGINNING else ""))
