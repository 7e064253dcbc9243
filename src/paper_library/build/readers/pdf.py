"""Reads PDFs: the text layer as markdown, and what the file says about the paper it is."""

from collections.abc import Iterator
from pathlib import Path

from paper_library.build.entry import Entry, Problem
from paper_library.build.readers import pdf_facts, pdf_text, tidy
from paper_library.build.readers.files import tells_disk_errors
from paper_library.build.readers.names import people
from paper_library.build.readers.pdf_pages import Pages, read_pages
from paper_library.text.markdown import find_section_text

_ABSTRACT_CHARS = 4_000


@tells_disk_errors
def read(path: Path, origin: str) -> Iterator[Entry | Problem]:
    """The paper of one PDF. A scan without a text layer still has its title on the shelf."""
    try:
        pages = read_pages(path)
    except ModuleNotFoundError:
        yield Problem(origin, "skipped", "PDFs need an extra. Install it with: pip install 'uraniborg[pdf]'")
        return
    entry = _entry(pages, Path(origin).stem, origin)
    yield entry
    if not entry.source:
        yield Problem(origin, "broken", "It has no text layer, so only its title is on the shelf. Run it through OCR.")


def _entry(pages: Pages, stem: str, origin: str) -> Entry:
    identifiers = pdf_facts.identifiers(pages, stem)
    year, month = pdf_facts.date(pages, identifiers.get("arxiv", ""))
    source = pdf_text.markdown(pages.texts)
    return Entry(
        title=pdf_facts.title(pages, stem),
        authors=_authors(pages.info.get("author", "")),
        year=year,
        month=month,
        abstract=_abstract(source),
        identifiers=identifiers,
        keywords=tidy.split_list(pages.info.get("keywords", "")),
        source=source,
        origin=origin,
    )


def _authors(text: str) -> list[str]:
    # One word is the name of an account, not of a person.
    return [name for name in people(text) if " " in name and "@" not in name]


def _abstract(source: str) -> str:
    start = source[:50_000]
    if found := find_section_text(start, "abstract") or find_section_text(start, "summary"):
        return tidy.line(found[:_ABSTRACT_CHARS])
    for line in start.split("\n"):
        head, text = line[:8].lower(), line[8:].lstrip()
        if head == "abstract" and text[:1] in tuple("—–-:."):
            return tidy.line(text.lstrip("—–-:. ")[:_ABSTRACT_CHARS])
    return ""
