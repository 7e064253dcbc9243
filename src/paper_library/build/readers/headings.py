"""The headings of a markdown text, and the sections they begin."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from paper_library.build.readers.front_matter import plain

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_ATTRIBUTES = re.compile(r"\{[#.][^{}]*\}$")
_NO_SETEXT_TEXT = re.compile(r" {0,3}(?:[#>|]|[-*+][ \t]|\d{1,9}[.)][ \t])|\s*$| {4}")
_NUMBERED = re.compile(r"^[\dIVX]{1,4}[.)]?\s+")


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    title: str
    start: int
    """The number of its first line, from 0."""
    end: int
    """The number of the first line after it."""


def headings(lines: list[str]) -> Iterator[Heading]:
    """The headings in order, both kinds; what is fenced as code holds none."""
    fence = ""
    for at, line in enumerate(lines):
        if found := _FENCE.match(line):
            if not fence:
                fence = found[1]
            elif found[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if fence:
            continue
        if atx := _ATX.match(line):
            yield Heading(len(atx[1]), _words(atx[2] or ""), at, at + 1)
        elif under := _underline(lines, at):
            yield Heading(1 if under == "=" else 2, _words(line), at, at + 2)


def title_of(lines: list[str]) -> str:
    """The first heading of level 1, or nothing."""
    return next((heading.title for heading in headings(lines) if heading.level == 1 and heading.title), "")


def section(lines: list[str], name: str) -> str:
    """The text below the heading of this name (`Abstract`, `1. Abstract`), up to the next heading; or nothing."""
    body: tuple[int, int] | None = None
    for heading in headings(lines):
        if body is not None:
            return "\n".join(lines[body[1] : heading.start])
        if _NUMBERED.sub("", heading.title).rstrip(".:").lower() == name.lower():
            body = (heading.start, heading.end)
    return "\n".join(lines[body[1] :]) if body else ""


def _underline(lines: list[str], at: int) -> str:
    """What the text of this line is underlined with; one of several lines is taken for a paragraph."""
    if at + 1 >= len(lines) or _NO_SETEXT_TEXT.match(lines[at]) or (at > 0 and lines[at - 1].strip()):
        return ""
    under = _UNDERLINE.match(lines[at + 1])
    return under[1][0] if under else ""


def _words(text: str) -> str:
    text = text.strip()
    closed = text.rstrip("#")
    if closed != text and (not closed or closed[-1] in " \t"):
        text = closed.rstrip()
    return plain(_ATTRIBUTES.sub("", text))
