"""What pypdf finds in a PDF: the text of its pages, the large print of the first, and what the file says of itself."""

import logging
import re
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paper_library.build.readers import tidy
from paper_library.build.readers.files import Unreadable
from paper_library.regular_files import open_regular

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

MAX_PAGES = 1_000
"""Of a longer PDF the first pages are read."""
MAX_CHARS = 5_000_000
"""Where the text of a PDF is cut off."""
MAX_SECONDS = 60.0
"""After this time no further page is begun."""
_MAX_XMP_BYTES = 1 << 20
_XMP_DOI = re.compile(
    rb"(?:prism:doi|dc:identifier|pdfx:doi)[^<>]{0,200}>\s{0,20}(?:doi:\s{0,3})?(10\.\d{4,9}/[^<\s]{1,200})",
    re.IGNORECASE,
)


class Encrypted(Unreadable):
    """The PDF opens only with a password."""


@dataclass(slots=True)
class Pages:
    texts: list[str] = field(default_factory=list[str])
    large_print: str = ""
    """What the first page prints larger than anything else, or nothing where all is of one size."""
    info: dict[str, str] = field(default_factory=dict[str, str])
    xmp_doi: str = ""


def read_pages(path: Path) -> Pages:
    """Everything that is needed from a PDF.

    Raises `ModuleNotFoundError` without pypdf, `Encrypted`, `Unreadable` for a damaged file, and `OSError`.
    """
    from pypdf import PdfReader

    # What pypdf has to say about a file is told in our own words, once.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)
    with open_regular(path) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            reader = PdfReader(file, strict=False)
            _unlock(reader)
            return _pages(reader)
        except Unreadable:
            raise
        except Exception as error:
            # A hostile or damaged file makes pypdf raise nearly anything: recursion, index, key and type errors.
            raise Unreadable(f"It is damaged, or no PDF ({type(error).__name__}). Fetch it again.") from error


def _unlock(reader: "PdfReader") -> None:
    if not reader.is_encrypted:
        return
    try:
        opened = reader.decrypt("")
    except Exception as error:
        raise Encrypted("It is encrypted in a way that is not read here. Remove the password.") from error
    if not opened:
        raise Encrypted("It is encrypted. Remove the password, or save it without one, and build again.")


def _pages(reader: "PdfReader") -> Pages:
    found = Pages(info=_info(reader), xmp_doi=_xmp_doi(reader))
    deadline = time.monotonic() + MAX_SECONDS
    size = 0
    for number, page in enumerate(reader.pages):
        if number >= MAX_PAGES or size > MAX_CHARS or time.monotonic() > deadline:
            break
        text = _text(page, found if number == 0 else None)
        size += len(text)
        found.texts.append(text[:MAX_CHARS])
    return found


def _text(page: "PageObject", first: Pages | None) -> str:
    """The text of one page; a page that cannot be read is an empty one, since others may be."""
    printed: list[tuple[float, str]] = []

    def note(text: str, page_matrix: Any, text_matrix: Any, _: Any, font_size: Any) -> None:
        # Watermarks and the stamps of preprint servers are turned.
        if text.strip() and abs(text_matrix[1]) < 1e-3 and abs(page_matrix[1]) < 1e-3:
            printed.append((round(abs(font_size * text_matrix[0] * page_matrix[0]), 1), text))

    try:
        text = page.extract_text(visitor_text=note if first else None)
    except Exception:
        return ""
    if first:
        first.large_print = _largest(printed)
    return tidy.block(text)


def _largest(printed: list[tuple[float, str]]) -> str:
    sizes = {size for size, text in printed if sum(map(str.isalpha, text)) > 2}
    if len(sizes) < 2:
        return ""
    largest = max(sizes)
    return "".join(text if text[-1:].isspace() else f"{text} " for size, text in printed if size == largest)


def _info(reader: "PdfReader") -> dict[str, str]:
    try:
        entries = dict(reader.metadata or {})
        return {str(name).lstrip("/").lower(): tidy.line(str(value)) for name, value in entries.items() if value}
    except Exception:
        return {}


def _xmp_doi(reader: "PdfReader") -> str:
    try:
        stream: Any = reader.root_object["/Metadata"].get_object()
        match = _XMP_DOI.search(stream.get_data()[:_MAX_XMP_BYTES])
        return match[1].decode("utf-8", "replace") if match else ""
    except Exception:
        return ""
