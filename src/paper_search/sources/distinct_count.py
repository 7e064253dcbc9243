"""Count distinct papers among the records of one source, which may send a paper several times."""

import re
from collections.abc import Iterator
from typing import Final

from paper_search.models import RawPaper

_WORD: Final = re.compile(r"\w+")


class DistinctCount:
    """Counts papers. A record with an identifier or the title of an earlier record is a repeat.

    Papers that only share a title count as repeats too, so that a source sends too many papers rather than too few.
    """

    def __init__(self) -> None:
        self._names: set[tuple[str, str]] = set()

    def is_repeat(self, paper: RawPaper) -> bool:
        """Return True if an added record has an identifier or the title of this one."""
        return any(name in self._names for name in _iterate_names(paper))

    def add(self, paper: RawPaper) -> None:
        self._names.update(_iterate_names(paper))


def _iterate_names(paper: RawPaper) -> Iterator[tuple[str, str]]:
    yield from ((scheme, value.lower()) for scheme, value in paper.identifiers.items())
    if paper.doi:
        yield "doi", paper.doi.lower()
    if title := " ".join(_WORD.findall(paper.title.casefold())):
        yield "title", title
