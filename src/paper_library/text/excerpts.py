"""Cut excerpts of a paper's text: a range of characters, or the section under a heading."""

from typing import Final, NamedTuple

from paper_library.errors import OutOfBounds
from paper_library.limits import HTML_CHARS
from paper_library.text.markdown import find_headings, strip_heading_number
from uraniborg.kernel.words import fold_text

_HEADINGS_LISTED: Final = 20


class Excerpt(NamedTuple):
    """A range of characters of a text."""

    text: str
    next_offset: int | None
    """The offset of the rest of the text, or None at its end."""


def cut_excerpt(text: str, offset: int = 0, max_chars: int | None = None) -> Excerpt:
    """Return at most `max_chars` characters of `text` from `offset` on. Raise OutOfBounds."""
    if max_chars is not None and max_chars < 1:
        raise OutOfBounds("max_chars", "at least 1", hint="Leave max_chars out to get the whole text.")
    if not 0 <= offset <= len(text):
        raise OutOfBounds("offset", f"from 0 to {len(text)}", hint=f"The text has {len(text)} characters.")
    end = len(text) if max_chars is None else min(len(text), offset + max_chars)
    return Excerpt(text[offset:end], end if end < len(text) else None)


def cut_text_with_marker(text: str, offset: int = 0, max_chars: int | None = None) -> str:
    """Return the same excerpt, followed by a marker with the next offset if text is left. Raise OutOfBounds."""
    excerpt = cut_excerpt(text, offset, max_chars)
    if (end := excerpt.next_offset) is None:
        return excerpt.text
    marker = f"[truncated: {len(text) - end} of {len(text)} characters left; continue with offset={end}]"
    return f"{excerpt.text}\n\n{marker}"


def find_page_end(text: str, start: int) -> int:
    """Return where a page of the text that begins at `start` ends: after a paragraph if possible."""
    end = start + HTML_CHARS
    if end >= len(text):
        return len(text)
    blank = text.rfind("\n\n", start + HTML_CHARS // 2, end)
    return blank + 2 if blank > 0 else end


def list_page_starts(text: str) -> list[int]:
    """Return where the pages of the text begin."""
    starts = [0]
    while (end := find_page_end(text, starts[-1])) < len(text):
        starts.append(end)
    return starts


def extract_section(text: str, heading_name: str) -> str:
    """Return the section of `text` under the heading `heading_name`, with its subsections. Raise OutOfBounds."""
    start, end = find_section(text, heading_name)
    return text[start:end].rstrip()


def find_section(text: str, heading_name: str) -> tuple[int, int]:
    """Return where the section under the heading `heading_name` begins and ends, with its subsections.

    An equal heading, with or without its number, comes before a heading that contains `heading_name`. Raise OutOfBounds
    with the list of headings if no heading matches.
    """
    headings = find_headings(text)
    name = fold_text(" ".join(heading_name.split()))
    titles = [fold_text(heading.title) for heading in headings]
    unnumbered = [fold_text(strip_heading_number(heading.title)) for heading in headings]
    found = next((index for names in (titles, unnumbered) for index, title in enumerate(names) if title == name), None)
    if found is None and name:
        found = next((index for index, title in enumerate(titles) if name in title), None)
    if found is None:
        listed = ", ".join(heading.title for heading in headings[:_HEADINGS_LISTED])
        more = " and others" if len(headings) > _HEADINGS_LISTED else ""
        raise OutOfBounds("section", "a heading of the text", hint=f"The headings are: {listed or 'none'}{more}.")
    start = headings[found]
    later = (heading.offset for heading in headings[found + 1 :] if heading.level <= start.level)
    return start.offset, next(later, len(text))
