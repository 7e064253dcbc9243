"""Recorded searches that ship with the package, for the demo, the documents and offline trials.

Their papers and the bibliographic facts are real. The answers that name them were written for this purpose, in the
shape each source uses, and so were the short texts that stand for abstracts.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

QUERY: Final = "atmospheres of the TRAPPIST-1 planets since 2016"
RECORDING: Final = Path(__file__).parent / "trappist-1"
"""The search of the demo."""
CLASSICS: Final = Path(__file__).parent / "classics"
"""Lookups of papers that many people know; only offline trials use them."""

OFFLINE_NOTICE: Final = "Offline trial, not a search: answers are filtered from the shipped recording of 58 papers."
"""Part of every reply, report and export of an offline trial."""
OFFLINE_TOPICS: Final = (
    "The recording holds papers on TRAPPIST-1, other planets and their orbits, solar cells and machine learning."
)


def find_offline_notice(notes: Iterable[str]) -> str | None:
    """Return the notice of an offline trial among the notes of a result, or None for a search."""
    start = OFFLINE_NOTICE.partition(":")[0]
    return next((note for note in notes if note.startswith(start)), None)
