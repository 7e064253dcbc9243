"""Sections of a paper's text, found by their headings."""

from paper_library.errors import OutOfBounds
from paper_library.text.markdown import bare_title, outline
from uraniborg.kernel.words import fold_text

_HEADINGS_LISTED = 20


def read_section(text: str, wanted: str) -> str:
    """Return the section of `text` under the heading `wanted`, with its subsections.

    A heading that is equal, with or without its number, counts before one that contains the words. Raises OutOfBounds
    with the headings there are.
    """
    headings = outline(text)
    name = fold_text(" ".join(wanted.split()))
    titles = [fold_text(heading.title) for heading in headings]
    bare = [fold_text(bare_title(heading.title)) for heading in headings]
    found = next((at for names in (titles, bare) for at, title in enumerate(names) if title == name), None)
    if found is None and name:
        found = next((at for at, title in enumerate(titles) if name in title), None)
    if found is None:
        listed = ", ".join(heading.title for heading in headings[:_HEADINGS_LISTED])
        more = " and others" if len(headings) > _HEADINGS_LISTED else ""
        raise OutOfBounds("section", "a heading of the text", hint=f"The headings are: {listed or 'none'}{more}.")
    start = headings[found]
    later = (heading.offset for heading in headings[found + 1 :] if heading.level <= start.level)
    return text[start.offset : next(later, len(text))].rstrip()
