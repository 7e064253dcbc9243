"""Extract the text of PDF pages, and convert it to Markdown."""

import logging
import re
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from paper_library.service.build.readers.texts_and_dates import UnreadableInput
from paper_library.store.layout import open_regular_file
from uraniborg.kernel.bibliography.plain_text import clean_line, clean_markdown_block
from uraniborg.kernel.boundary import make_encodable

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_NAMED = re.compile(
    r"(?:\d{1,2}\.?\s+|[IVX]{1,4}\.\s+)?(?:abstract|summary|introduction|background|related work|methods?|"
    r"materials and methods|results|results and discussion|discussion|evaluation|experiments|conclusions?|"
    r"acknowledge?ments?|references|bibliography|appendix)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(\d{1,2})((?:\.\d{1,2}){0,3})\.?\s+([A-Z][^.,;@]{2,70}[a-z)])")
_NUMBER_BEHIND = re.compile(r"(?P<text>.*?)(?P<number>\d{1,4})")
_NUMBER_BEFORE = re.compile(r"(?P<number>\d{1,4})(?P<text>\D.*)?")
_ABSTRACT = re.compile(r"abstract\s*[—–:.-]", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"[-–\s]*\d{1,4}[-–\s]*")
_SENTENCE_END = (".", "!", "?", ":", "”", '."', ")")
_SHORT = 0.75


def join_pages_as_markdown(pages: list[str]) -> str:
    """Return all pages as Markdown: hyphenated words and lines joined, page numbers and running heads left out."""
    split = [[line.strip() for line in page.translate(_LIGATURES).split("\n")] for page in pages]
    running = _find_running_heads(split)
    pieces = (_remove_line_numbers([line for line in lines if line not in running]) for lines in split)
    blocks = [block for lines in pieces for block in _group_lines_into_blocks(lines)]
    return clean_markdown_block("\n\n".join(blocks))


def _find_running_heads(pages: list[list[str]]) -> set[str]:
    """Return the lines that are first or last on several pages."""
    if len(pages) < 3:
        return set()
    edges = Counter(line for lines in pages for line in {*lines[:2], *lines[-2:]} if line)
    return {line for line, count in edges.items() if count >= max(3, len(pages) // 2)}


def _remove_line_numbers(lines: list[str]) -> list[str]:
    """Return the lines without the line numbers of a draft, which are joined to the words."""
    for pattern in (_NUMBER_BEHIND, _NUMBER_BEFORE):
        numbered = [(at, match) for at, line in enumerate(lines) if (match := pattern.fullmatch(line))]
        numbers = [int(match["number"]) for _, match in numbered]
        counting = sum(after == before + 1 for before, after in pairwise(numbers))
        if counting < 10 or counting * 2 < len(lines):
            continue
        for (at, match), (next_at, next_match) in pairwise(numbered):
            if int(next_match["number"]) == int(match["number"]) + 1:
                lines[at] = (match["text"] or "").strip()
                lines[next_at] = (next_match["text"] or "").strip()
    return lines


def _group_lines_into_blocks(lines: list[str]) -> Iterator[str]:
    while lines and (not lines[-1] or _PAGE_NUMBER.fullmatch(lines[-1])):
        lines.pop()
    lengths = [len(line) for line in lines if len(line) > 20]
    usual = median(lengths) if lengths else 0
    paragraph: list[str] = []
    section_number = 0
    for line in lines:
        heading, section_number = _format_heading(line, section_number)
        if not line or heading or _ABSTRACT.match(line):
            yield from _yield_joined_paragraph(paragraph)
            paragraph = []
            if heading:
                yield heading
                continue
        if not line:
            continue
        paragraph.append(line)
        if len(line) < usual * _SHORT and line.endswith(_SENTENCE_END):
            yield from _yield_joined_paragraph(paragraph)
            paragraph = []
    yield from _yield_joined_paragraph(paragraph)


def _format_heading(line: str, section_number: int) -> tuple[str, int]:
    """Return the line as a heading, or an empty string, and the number of the last numbered section."""
    if _NAMED.fullmatch(line):
        number = re.match(r"\d{1,2}", line)
        return f"## {line}", int(number[0]) if number else section_number
    match = _NUMBERED.fullmatch(line)
    # Affiliations, dates and table rows begin with numbers too, but do not count on from the section before.
    if match and int(match[1]) in (section_number, section_number + 1) and (section_number or match[1] == "1"):
        return f"{'#' * (2 + match[2].count('.'))} {line}", int(match[1])
    return "", section_number


def _yield_joined_paragraph(lines: list[str]) -> Iterator[str]:
    parts: list[str] = []
    for line in lines:
        before = parts[-1] if parts else ""
        if before.endswith("-") and before[-2:-1].islower() and line[:1].islower():
            parts[-1] = before[:-1]
        elif parts:
            parts.append(" ")
        parts.append(line)
    if parts:
        yield "".join(parts)


MAX_PAGES = 1_000
"""Of a longer PDF the first pages are read."""
MAX_CHARS = 5_000_000
"""Where the text of a PDF is cut off."""
MAX_SECONDS = 60.0
"""No further page is read after this time."""
_MAX_XMP_BYTES = 1 << 20
_XMP_DOI = re.compile(
    rb"(?:prism:doi|dc:identifier|pdfx:doi)[^<>]{0,200}>\s{0,20}(?:doi:\s{0,3})?(10\.\d{4,9}/[^<\s]{1,200})",
    re.IGNORECASE,
)


class Encrypted(UnreadableInput):
    """The PDF opens only with a password."""


@dataclass(slots=True)
class Pages:
    texts: list[str] = field(default_factory=list[str])
    large_print: str = ""
    """The text in the largest print of the first page, or an empty string if all text has one size."""
    info: dict[str, str] = field(default_factory=dict[str, str])
    xmp_doi: str = ""


def read_pages(path: Path) -> Pages:
    """Return the texts, the large print and the document info of a PDF.

    Raise ModuleNotFoundError without pypdf, Encrypted, Unreadable for a damaged file, and OSError.
    """
    from pypdf import PdfReader

    # Problems of a file are reported once, by this module.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)
    with open_regular_file(path) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            reader = PdfReader(file, strict=False)
            _unlock_pdf_or_raise(reader)
            return _read_pages(reader)
        except UnreadableInput:
            raise
        except Exception as error:
            # A hostile or damaged file makes pypdf raise nearly anything: recursion, index, key and type errors.
            raise UnreadableInput(
                f"The file is damaged or not a PDF ({type(error).__name__}). Download it again."
            ) from error


def _unlock_pdf_or_raise(reader: "PdfReader") -> None:
    if not reader.is_encrypted:
        return
    try:
        opened = reader.decrypt("")
    except Exception as error:
        raise Encrypted("The PDF has an unsupported encryption. Remove the password.") from error
    if not opened:
        raise Encrypted("The PDF is encrypted. Save it without a password and build again.")


def _read_pages(reader: "PdfReader") -> Pages:
    found = Pages(info=_read_document_info(reader), xmp_doi=_find_xmp_doi(reader))
    deadline = time.monotonic() + MAX_SECONDS
    size = 0
    for number, page in enumerate(reader.pages):
        if number >= MAX_PAGES or size > MAX_CHARS or time.monotonic() > deadline:
            break
        text = _extract_page_text_and_note_large_print(page, found if number == 0 else None)
        size += len(text)
        found.texts.append(text[:MAX_CHARS])
    return found


def _extract_page_text_and_note_large_print(page: "PageObject", first: Pages | None) -> str:
    """Return the text of one page, or an empty string if it cannot be read: other pages may be readable."""
    printed: list[tuple[float, str]] = []

    def record_print(text: str, page_matrix: Any, text_matrix: Any, _: Any, font_size: Any) -> None:
        # Watermarks and the stamps of preprint servers are rotated.
        if text.strip() and abs(text_matrix[1]) < 1e-3 and abs(page_matrix[1]) < 1e-3:
            printed.append((round(abs(font_size * text_matrix[0] * page_matrix[0]), 1), text))

    try:
        text = page.extract_text(visitor_text=record_print if first else None)
    except Exception:
        return ""
    if first:
        first.large_print = make_encodable(_find_large_print(printed))
    return clean_markdown_block(make_encodable(text))


def _find_large_print(printed: list[tuple[float, str]]) -> str:
    sizes = {size for size, text in printed if sum(map(str.isalpha, text)) > 2}
    if len(sizes) < 2:
        return ""
    largest = max(sizes)
    return "".join(text if text[-1:].isspace() else f"{text} " for size, text in printed if size == largest)


def _read_document_info(reader: "PdfReader") -> dict[str, str]:
    try:
        entries = dict(reader.metadata or {})
        return {
            str(name).lstrip("/").lower(): clean_line(make_encodable(str(value)))
            for name, value in entries.items()
            if value
        }
    except Exception:
        return {}


def _find_xmp_doi(reader: "PdfReader") -> str:
    try:
        stream: Any = reader.root_object["/Metadata"].get_object()
        match = _XMP_DOI.search(stream.get_data()[:_MAX_XMP_BYTES])
        return match[1].decode("utf-8", "replace") if match else ""
    except Exception:
        return ""
