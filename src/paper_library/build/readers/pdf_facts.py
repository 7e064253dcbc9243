"""What paper a PDF is: its title, identifiers and year, as far as its first pages or its description say so."""

import re

from paper_library.build.readers import tidy
from paper_library.build.readers.dates import year_and_month
from paper_library.build.readers.file_names import title_from
from paper_library.build.readers.pdf_pages import Pages

_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>{}|\\^`]{2,200}")
_DOI_LABEL = re.compile(r"doi(?:\.org/|:|\s)\s*$", re.IGNORECASE)
_ARXIV_ID = r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(v\d+)?"
_ARXIV_STAMP = re.compile(rf"arXiv:\s?{_ARXIV_ID}\s+\[[a-zA-Z.-]+\]\s+(\d{{1,2}}\s+[A-Z][a-z]{{2}}\s+\d{{4}})")
_ARXIV = re.compile(rf"arXiv:\s?{_ARXIV_ID}", re.IGNORECASE)
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


def title(pages: Pages, stem: str) -> str:
    """From the description, else the large print of page one, else its first line, else the name of the file."""
    lines = [line.strip() for line in pages.texts[0].split("\n") if line.strip()] if pages.texts else []
    found = (pages.info.get("title", ""), tidy.line(pages.large_print), _first_line(lines))
    return next((text for text in found if _plausible(text)), "") or title_from(stem)


def identifiers(pages: Pages, stem: str) -> dict[str, str]:
    """The DOI and arXiv id that are the paper's own; those of the works it cites are left alone."""
    text = _before_references(pages)
    stamp = _ARXIV_STAMP.search(text)
    named = _ARXIV_NAME.fullmatch(stem)
    mentioned = {match[1] for match in _ARXIV.finditer(text)}
    arxiv = mentioned.pop() if len(mentioned) == 1 else ""
    if stamp or named:
        arxiv = f"{stamp[1]}{stamp[2] or ''}" if stamp else named[1] if named else ""
    found = {"doi": _doi(pages, text), "arxiv": arxiv}
    return {scheme: value for scheme, value in found.items() if value}


def date(pages: Pages, arxiv: str) -> tuple[int | None, int | None]:
    """When it was published, by the stamp of arXiv, a date of publication, a copyright line or the arXiv id.

    The date of the file is no guide: it tells when somebody made the PDF.
    """
    text = _before_references(pages)
    if stamp := _ARXIV_STAMP.search(text):
        return year_and_month(stamp[3])
    if published := _PUBLISHED.search(text):
        return year_and_month(published[1])
    if line := _COPYRIGHT.search(text):
        return int(line[1]), None
    return _date_in_arxiv_id(arxiv)


def _date_in_arxiv_id(arxiv: str) -> tuple[int | None, int | None]:
    if not re.match(r"\d{4}\.", arxiv) or not 1 <= int(arxiv[2:4]) <= 12:
        return None, None
    return 2000 + int(arxiv[:2]), int(arxiv[2:4])


def _doi(pages: Pages, text: str) -> str:
    for value in (pages.xmp_doi, *pages.info.values()):
        if match := _DOI.search(value):
            return _trimmed(match[0])
    found = {_trimmed(match[0]): match for match in reversed(list(_DOI.finditer(text)))}
    if len(found) == 1:
        return next(iter(found))
    labelled = [
        doi for doi, match in found.items() if _DOI_LABEL.search(text, max(0, match.start() - 20), match.start())
    ]
    return labelled[-1] if labelled and found[labelled[-1]].start() < 3_000 else ""


def _trimmed(doi: str) -> str:
    doi = doi.rstrip(".,;:'”’*]")
    return doi[:-1] if doi.endswith(")") and doi.count(")") > doi.count("(") else doi


def _before_references(pages: Pages) -> str:
    text = "\n".join(pages.texts[:2])
    references = _REFERENCES.search(text)
    return text[: references.start()] if references else text


def _first_line(lines: list[str]) -> str:
    """The first line, if it is set apart from what follows by being shorter than other lines are."""
    if not lines or (len(lines) > 1 and len(lines[0]) > 0.75 * max(map(len, lines[1:20]))):
        return ""
    return tidy.line(lines[0])


def _plausible(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return 4 <= len(text) <= _MAX_TITLE_CHARS and letters * 2 > len(text) and not _NO_TITLE.fullmatch(text)
