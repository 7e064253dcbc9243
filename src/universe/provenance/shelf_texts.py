"""Read texts of papers from shelves, through the entry points of the group `universe.texts`.

Each entry point is a function `text_of(identifiers, shelf)`. It takes identifiers such as `{"doi": …, "arxiv": …}` and
the folder of a shelf (None for the default shelf), and returns the text of the paper or None. Its errors are logged.
"""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final

from universe.claims import PaperTextReader
from uraniborg.kernel.logging import get_logger

GROUP: Final = "universe.texts"
_IDENTIFIERS: Final = ("doi", "arxiv", "id")
_log = get_logger(__name__)


def make_paper_text_reader(shelf: Path | str | None = None) -> PaperTextReader:
    """Return a function that returns the text of the paper of a source on `shelf`, or on the default shelf.

    The function returns None for a missing paper, text or shelf. It reads each paper once.
    """
    readers = [(entry.name, entry.load) for entry in sorted(entry_points(group=GROUP), key=lambda one: one.name)]
    texts: dict[tuple[tuple[str, str], ...], str | None] = {}

    def text_of(source: Mapping[str, Any]) -> str | None:
        given = {name: source.get(name) for name in _IDENTIFIERS}
        identifiers = {name: value for name, value in given.items() if isinstance(value, str) and value.strip()}
        key = tuple(identifiers.items())
        if key and key not in texts:
            found = (_read_text_or_log_error(name, load, identifiers, shelf) for name, load in readers)
            texts[key] = next((text for text in found if text is not None), None)
        return texts.get(key)

    return text_of


def _read_text_or_log_error(
    name: str, load: Callable[[], Any], identifiers: dict[str, str], shelf: Path | str | None
) -> str | None:
    try:
        text: object = load()(identifiers, None if shelf is None else str(shelf))
    except Exception as error:
        _log.warning("the text of a paper cannot be read", reader=name, problem=type(error).__name__)
        return None
    return text if isinstance(text, str) and text else None
