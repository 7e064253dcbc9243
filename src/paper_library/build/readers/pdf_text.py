"""The lines of a PDF put together to paragraphs and headings."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from paper_library.build.readers import tidy

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


def markdown(pages: list[str]) -> str:
    """All pages as markdown: broken words joined, lines made paragraphs, page numbers and running heads left out."""
    split = [[line.strip() for line in page.translate(_LIGATURES).split("\n")] for page in pages]
    running = _running_heads(split)
    pieces = (_without_line_numbers([line for line in lines if line not in running]) for lines in split)
    blocks = [block for lines in pieces for block in _blocks(lines)]
    return tidy.block("\n\n".join(blocks))


def _running_heads(pages: list[list[str]]) -> set[str]:
    """Lines that stand first or last on several pages."""
    if len(pages) < 3:
        return set()
    edges = Counter(line for lines in pages for line in {*lines[:2], *lines[-2:]} if line)
    return {line for line, count in edges.items() if count >= max(3, len(pages) // 2)}


def _without_line_numbers(lines: list[str]) -> list[str]:
    """Drafts number their lines, and the numbers stick to the words."""
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


def _blocks(lines: list[str]) -> Iterator[str]:
    while lines and (not lines[-1] or _PAGE_NUMBER.fullmatch(lines[-1])):
        lines.pop()
    lengths = [len(line) for line in lines if len(line) > 20]
    usual = median(lengths) if lengths else 0
    paragraph: list[str] = []
    major = 0
    for line in lines:
        heading, major = _heading(line, major)
        if not line or heading or _ABSTRACT.match(line):
            yield from _joined(paragraph)
            paragraph = []
            if heading:
                yield heading
                continue
        if not line:
            continue
        paragraph.append(line)
        if len(line) < usual * _SHORT and line.endswith(_SENTENCE_END):
            yield from _joined(paragraph)
            paragraph = []
    yield from _joined(paragraph)


def _heading(line: str, major: int) -> tuple[str, int]:
    """The line as a heading, if it is one, and the number of the last numbered section."""
    if _NAMED.fullmatch(line):
        number = re.match(r"\d{1,2}", line)
        return f"## {line}", int(number[0]) if number else major
    match = _NUMBERED.fullmatch(line)
    # Affiliations, dates and table rows begin with numbers too, but do not count on from the section before.
    if match and int(match[1]) in (major, major + 1) and (major or match[1] == "1"):
        return f"{'#' * (2 + match[2].count('.'))} {line}", int(match[1])
    return "", major


def _joined(lines: list[str]) -> Iterator[str]:
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
