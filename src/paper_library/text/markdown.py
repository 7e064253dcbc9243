"""Markdown: the plain text in it, its headings, and HTML that is safe to show."""

import re
from dataclasses import dataclass
from typing import Final

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_IMAGE: Final = re.compile(r"!\[([^\]]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_LINK: Final = re.compile(r"\[([^\]]+)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)|\[([^\]]+)\]\[[^\]]*\]")
_TAG: Final = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>]{0,500}>", re.DOTALL)
_HEADING_LINE: Final = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*?\w)\W*$", re.MULTILINE)
_CITATION: Final = re.compile(r"\[[^\[\]]*@[\w:.-]+[^\[\]]*\]")
_LINE_MARKS: Final = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d{1,3}[.)][ \t]+|\|)", re.MULTILINE)
_TABLE_RULE: Final = re.compile(r"^[ \t]*\|?[ \t:|-]+\|[ \t:|-]*$", re.MULTILINE)
_EMPHASIS: Final = re.compile(r"(?<![\w\\])(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)")
_CODE: Final = re.compile(r"`+([^`]+)`+")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_SPECIAL: Final = re.compile(r"[\\`*_{}\[\]<>|~$]")
_LINE_START: Final = re.compile(r"^(\s*\d*)([#+=-]|(?<=\d)[.)])")


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    title: str
    offset: int
    """Where its line begins, in characters."""


def outline(markdown: str) -> list[Heading]:
    """The headings, in order. Those inside code blocks are none."""
    found: list[Heading] = []
    fence = ""
    offset, previous, previous_at = 0, "", 0
    for line in markdown.splitlines(keepends=True):
        text = line.rstrip("\r\n")
        if opened := _FENCE.match(text):
            mark = opened[1]
            fence = mark if not fence else ("" if mark.startswith(fence) and text.strip() == mark else fence)
        elif not fence:
            if (atx := _HEADING.fullmatch(text)) and (title := plain_text(atx[2] or "")):
                found.append(Heading(len(atx[1]), title, offset))
            elif previous.strip() and not _HEADING.fullmatch(previous) and (under := _UNDERLINE.fullmatch(text)):
                if under[1][0] == "=" or len(under[1]) > 2:
                    found.append(Heading(1 if under[1][0] == "=" else 2, plain_text(previous), previous_at))
                text = ""
        previous, previous_at = ("" if fence else text), offset
        offset += len(line)
    return found


def plain_text(markdown: str) -> str:
    """The words of `markdown` without its marks; code and tables keep their contents."""
    text = markdown
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "#" in text:
        text = _HEADING_LINE.sub(r"\1.", text)
    if "[" in text:
        text = _CITATION.sub("", text) if "@" in text else text
        text = _LINK.sub(lambda found: found[1] or found[2], _IMAGE.sub(r"\1", text))
    if "|" in text:
        text = _TABLE_RULE.sub("", text).replace("|", " ")
    text = _CODE.sub(r"\1", _LINE_MARKS.sub("", text))
    text = _EMPHASIS.sub(r"\2", text)
    if "\\" in text:
        text = _ESCAPED.sub(r"\1", text)
    return " ".join(text.split())


def escaped(text: str) -> str:
    """`text`, in the midst of a line, as markdown that shows exactly it."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def escaped_line(line: str) -> str:
    """The same for markdown that begins a line, where more characters mean something."""
    return _LINE_START.sub(r"\1\\\2", line)


def safe_html(markdown: str) -> str:
    """`markdown` as HTML with everything taken out that could act: scripts, styles, handlers, foreign frames."""
    import nh3
    from markdown_it import MarkdownIt

    rendered = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown)
    return nh3.clean(rendered, url_schemes={"http", "https", "mailto"}, link_rel="noopener noreferrer nofollow")
