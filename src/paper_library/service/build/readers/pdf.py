"""Read PDFs: the text layer as Markdown, and the title, identifiers and date of the paper."""

import re
from collections.abc import Iterator
from pathlib import Path

from paper_library.domain.entries import BuildProblem, Entry
from paper_library.domain.markdown import find_section_text
from paper_library.domain.paper_ids import spell_arxiv_for_id
from paper_library.service.build.readers.pdf_pages import Pages, join_pages_as_markdown, read_pages
from paper_library.service.build.readers.texts_and_dates import (
    make_title_from_stem,
    parse_year_and_month,
    yield_file_errors_as_problems,
)
from uraniborg.kernel.bibliography.identifiers import ARXIV_ID, trim_doi
from uraniborg.kernel.bibliography.names import read_names
from uraniborg.kernel.bibliography.plain_text import clean_line, split_list

_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>{}|\\^`]{2,200}")
_DOI_LABEL = re.compile(r"doi(?:\.org/|:|\s)\s*$", re.IGNORECASE)
_ARXIV_STAMP = re.compile(rf"arXiv:\s?({ARXIV_ID})\s+\[[a-zA-Z.-]+\]\s+(\d{{1,2}}\s+[A-Z][a-z]{{2}}\s+\d{{4}})")
_ARXIV = re.compile(rf"arXiv:\s?({ARXIV_ID})", re.IGNORECASE)
_ARXIV_NAME = re.compile(r"(?:arxiv[-_.:]?)?(\d{4}\.\d{4,5}(?:v\d+)?)", re.IGNORECASE)
_REFERENCES = re.compile(
    r"^[ \t]{0,20}(?:\d{1,3}\.?\s+)?(?:references|bibliography|literature cited)\s*$", re.IGNORECASE | re.MULTILINE
)
_COPYRIGHT = re.compile(r"(?:©|\(c\)|copyright)\s{0,3}(?:©|\(c\))?\s{0,3}((?:19|20)\d\d)\b", re.IGNORECASE)
_PUBLISHED = re.compile(
    r"\b(?i:published(?: online)?):?\s+((?:\d{1,2}\s+)?[A-Z][a-z]+\s+(?:\d{1,2},\s+)?(?:19|20)\d\d)"
)
_NO_TITLE = re.compile(
    r"untitled.*|microsoft (?:word|powerpoint|excel).*|.*\.(?:docx?|pdf|tex|dvi|indd|pptx?|rtf|odt|ps|xml|qxd)|"
    r"(?:full ?page|title|document\d*|paper|main|template|manuscript|slide \d+|layout \d+|contents|abstract)|"
    r"[\W\d_]*|[a-z]*\d{3,}[\w.-]*|doi:.*|https?:.*|arxiv:.*",
    re.IGNORECASE,
)
_MAX_TITLE_CHARS = 300


def _find_title(pages: Pages, stem: str) -> str:
    """Return the title of the document info, else the large print of page one, its first line or the file name."""
    lines = [line.strip() for line in pages.texts[0].split("\n") if line.strip()] if pages.texts else []
    found = (pages.info.get("title", ""), clean_line(pages.large_print), _get_first_line_if_short(lines))
    return next((text for text in found if _is_plausible_title(text)), "") or make_title_from_stem(stem)


def _find_identifiers(pages: Pages, stem: str) -> dict[str, str]:
    """Return the DOI and arXiv id of the paper itself, not those of the works it cites."""
    text = _join_first_pages_before_references(pages)
    stamp = _ARXIV_STAMP.search(text)
    named = _ARXIV_NAME.fullmatch(stem)
    mentioned = {spell_arxiv_for_id(match[1]) or "" for match in _ARXIV.finditer(text)}
    if stamp or named:
        arxiv = stamp[1] if stamp else named[1] if named else ""
    else:
        arxiv = mentioned.pop() if len(mentioned) == 1 else ""
    found = {"doi": _find_doi(pages, text), "arxiv": arxiv}
    return {scheme: value for scheme, value in found.items() if value}


def _find_date(pages: Pages, arxiv: str) -> tuple[int | None, int | None]:
    """Return the year and month of publication by arXiv's stamp, a publication date, a copyright line or the arXiv id.

    The date of the file is not used: it is the date on which the PDF was created.
    """
    text = _join_first_pages_before_references(pages)
    if stamp := _ARXIV_STAMP.search(text):
        return parse_year_and_month(stamp[2])
    if published := _PUBLISHED.search(text):
        return parse_year_and_month(published[1])
    if line := _COPYRIGHT.search(text):
        return int(line[1]), None
    return _read_date_in_arxiv_id(arxiv)


def _read_date_in_arxiv_id(arxiv: str) -> tuple[int | None, int | None]:
    if not re.match(r"\d{4}\.", arxiv) or not 1 <= int(arxiv[2:4]) <= 12:
        return None, None
    return 2000 + int(arxiv[:2]), int(arxiv[2:4])


def _find_doi(pages: Pages, text: str) -> str:
    for value in (pages.xmp_doi, *pages.info.values()):
        if match := _DOI.search(value):
            return trim_doi(match[0])
    found = {trim_doi(match[0]): match for match in reversed(list(_DOI.finditer(text)))}
    if len(found) == 1:
        return next(iter(found))
    labelled = [
        doi for doi, match in found.items() if _DOI_LABEL.search(text, max(0, match.start() - 20), match.start())
    ]
    return labelled[-1] if labelled and found[labelled[-1]].start() < 3_000 else ""


def _join_first_pages_before_references(pages: Pages) -> str:
    text = "\n".join(pages.texts[:2])
    references = _REFERENCES.search(text)
    return text[: references.start()] if references else text


def _get_first_line_if_short(lines: list[str]) -> str:
    """Return the first line if it is shorter than the lines after it, else an empty string."""
    if not lines or (len(lines) > 1 and len(lines[0]) > 0.75 * max(map(len, lines[1:20]))):
        return ""
    return clean_line(lines[0])


def _is_plausible_title(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return 4 <= len(text) <= _MAX_TITLE_CHARS and letters * 2 > len(text) and not _NO_TITLE.fullmatch(text)


_ABSTRACT_CHARS = 4_000


@yield_file_errors_as_problems
def read_entries(path: Path, origin: str) -> Iterator[Entry | BuildProblem]:
    """Yield the paper of one PDF, and a problem if it has no text layer."""
    try:
        pages = read_pages(path)
    except ModuleNotFoundError:
        yield BuildProblem(origin, "skipped", "PDFs need an extra. Install it with: pip install 'uraniborg[pdf]'")
        return
    entry = _make_entry(pages, Path(origin).stem, origin)
    yield entry
    if not entry.source:
        yield BuildProblem(
            origin, "broken", "The PDF has no text layer, so the shelf has only its title. Run it through OCR."
        )


def _make_entry(pages: Pages, stem: str, origin: str) -> Entry:
    identifiers = _find_identifiers(pages, stem)
    year, month = _find_date(pages, identifiers.get("arxiv", ""))
    source = join_pages_as_markdown(pages.texts)
    return Entry(
        title=_find_title(pages, stem),
        authors=_read_authors(pages.info.get("author", "")),
        year=year,
        month=month,
        abstract=_find_abstract(source),
        identifiers=identifiers,
        keywords=split_list(pages.info.get("keywords", "")),
        source=source,
        origin=origin,
    )


def _read_authors(text: str) -> list[str]:
    # One word is the name of an account, not of a person.
    return [name for name in read_names(text) if " " in name and "@" not in name]


def _find_abstract(source: str) -> str:
    start = source[:50_000]
    if found := find_section_text(start, "abstract") or find_section_text(start, "summary"):
        return clean_line(found[:_ABSTRACT_CHARS])
    for line in start.split("\n"):
        head, text = line[:8].lower(), line[8:].lstrip()
        if head == "abstract" and text[:1] in tuple("—–-:."):
            return clean_line(text.lstrip("—–-:. ")[:_ABSTRACT_CHARS])
    return ""
