"""Markdown: headings, plain text, escaping, and safe HTML."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from paper_library.domain.markdown_parser import NameCitation, put_formulas_back, replace_references, take_out_formulas

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json

# The text between two marks is bounded: in hostile text, the search for each closing mark would run to the end.
_FENCE: Final = re.compile(r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-+)[ \t]*")
_ATTRIBUTES: Final = re.compile(r"\{[#.][^{}]{0,200}\}$")
_NO_SETEXT_TEXT: Final = re.compile(r" {0,3}(?:[#>|]|[-*+][ \t]|\d{1,9}[.)][ \t])|\s*$| {4}")
_NUMBERED: Final = re.compile(r"^[\dIVX]{1,4}[.)]?\s+")
_IMAGE: Final = re.compile(r"!\[([^\[\]]{0,500})\]\([^()\s]{0,2000}(?: \"[^\"\n]{0,500}\")?\)")
_LINK: Final = re.compile(
    r"\[([^\[\]]{1,500})\](?:\((?:[^()\s]|\([^()\s]{0,200}\)){0,2000}(?: \"[^\"\n]{0,500}\")?\)|\[[^\[\]]{0,200}\])"
)
_COMMENT: Final = re.compile(r"<!--(?:[^<]|<(?!!--)){0,5000}?-->")
_TAG: Final = re.compile(r"<!--(?:[^<]|<(?!!--)){0,5000}?-->|</?[a-zA-Z][^<>]{0,500}>", re.DOTALL)
_HEADING_LINE: Final = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(?=\S)(.*?\w)\W*$", re.MULTILINE)
_CITATION: Final = re.compile(r"\[[^\[\]@]{0,200}@[^\[\]]{1,500}\]")
_LINE_MARKS: Final = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d{1,3}[.)][ \t]+|\|)", re.MULTILINE)
_TABLE_RULE: Final = re.compile(r"^(?=[^\n|]*\|)[ \t:|-]+$", re.MULTILINE)
_EMPHASIS: Final = re.compile(r"(?<![\w\\*_])(\*{1,3}|_{1,3})(?=[^\s*_])([^*_\n]{1,500})(?<=\S)\1(?![\w*_])")
_INNER_EMPHASIS: Final = re.compile(r"(?<![\\*])(\*{1,3})(?=[^\W\d_])([^*\s]{0,200}[^\W\d_])\1(?!\*)")
"""Emphasis of a part of a word, such as `M*m*PPOX`. In `2*3*4`, the stars are signs."""
_LATEX_STYLE: Final = re.compile(r"\\(?:emph|text(?:tt|bf|it|sc|sf|rm))\{([^{}\n]{0,500})\}")
_CODE: Final = re.compile(r"(?<!`)`{1,3}([^`\n]{1,1000})`{1,3}(?!`)")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_SPECIAL: Final = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>|~$&"})
_LINE_START: Final = re.compile(r"^(\s*\d*)([#+=-]|(?<=\d)[.)])")


@dataclass(frozen=True, slots=True)
class MarkdownHeading:
    """A heading of a text."""

    level: int
    title: str
    offset: int
    """The offset of its line, in characters."""
    end: int
    """The offset of the text below it."""


def find_headings(markdown: str) -> list[MarkdownHeading]:
    """Return the headings in order, both `#` and underlined ones, without those in fenced code."""
    found: list[MarkdownHeading] = []
    fence, offset = "", 0
    lines = _blank_comments(markdown).splitlines(keepends=True)
    for at, line in enumerate(lines):
        text = line.rstrip("\r\n")
        after = offset + len(line)
        if found_fence := _FENCE.fullmatch(text):
            mark = found_fence[1] or found_fence[2]
            if not fence:
                fence = mark
            elif mark.startswith(fence) and not text.strip().strip(fence[0]):
                fence = ""
        elif not fence:
            if atx := _HEADING.fullmatch(text):
                found.append(
                    MarkdownHeading(len(atx[1]), _clean_heading(_strip_closing_marks(atx[2] or "")), offset, after)
                )
            elif under := _find_underline(lines, at):
                found.append(
                    MarkdownHeading(1 if under == "=" else 2, _clean_heading(text), offset, after + len(lines[at + 1]))
                )
        offset = after
    return [heading for heading in found if heading.title]


def _blank_comments(markdown: str) -> str:
    """Return the text with spaces for comments, so that offsets do not change."""
    if "<!--" not in markdown:
        return markdown
    return _COMMENT.sub(lambda found: re.sub(r"[^\n\r]", " ", found[0]), markdown)


def find_title(markdown: str) -> str:
    """Return the first heading of level 1, or an empty text."""
    return next((heading.title for heading in find_headings(markdown) if heading.level == 1), "")


def find_section_text(markdown: str, *names: str) -> str:
    """Return the text below the first heading with one of these names (`abstract`, `1. Abstract`), or an empty text."""
    headings = find_headings(markdown)
    for at, heading in enumerate(headings):
        if strip_heading_number(heading.title).lower() in names:
            end = headings[at + 1].offset if at + 1 < len(headings) else len(markdown)
            return markdown[heading.end : end].strip()
    return ""


def strip_heading_number(title: str) -> str:
    """Return a heading's title without its number and closing mark: `Results` for `3. Results:`."""
    return _NUMBERED.sub("", title).rstrip(".:")


def _strip_closing_marks(text: str) -> str:
    """Return a heading without its closing `#` marks."""
    text = text.strip()
    bare = text.rstrip("#")
    return bare if not bare or bare[-1] in " \t" else text


def _clean_heading(text: str) -> str:
    return strip_inline_markup(_ATTRIBUTES.sub("", text.strip()))


def _find_underline(lines: list[str], at: int) -> str:
    """Return the character that underlines this line, or an empty text; several lines are a paragraph."""
    if at + 1 >= len(lines) or _NO_SETEXT_TEXT.match(lines[at]) or (at > 0 and lines[at - 1].strip()):
        return ""
    under = _UNDERLINE.fullmatch(lines[at + 1].rstrip("\r\n"))
    return under[1][0] if under else ""


def extract_plain_text(markdown: str) -> str:
    """Return the words of `markdown` without markup; contents of code and tables are included.

    Formulas are their TeX.
    """
    text, formulas = take_out_formulas(markdown)
    return _strip_inline_markup(_LINE_MARKS.sub("", _strip_block_markup(text)), formulas)


def extract_json_text(value: "Json") -> str:
    """Return all texts in a JSON value without markup, joined by spaces."""
    if isinstance(value, str):
        return extract_plain_text(value)
    if isinstance(value, dict):
        return extract_json_text(list(value.values()))
    if not isinstance(value, list):
        return ""
    return " ".join(filter(None, map(extract_json_text, value)))


def _strip_block_markup(text: str) -> str:
    """Return the text without the marks of headings and tables."""
    if "#" in text:
        text = _HEADING_LINE.sub(r"\1.", text)
    return _TABLE_RULE.sub("", text).replace("|", " ") if "|" in text else text


def strip_inline_markup(text: str) -> str:
    """Return the words of a line of markdown without markup; formulas are their TeX."""
    return _strip_inline_markup(*take_out_formulas(text))


def _strip_inline_markup(text: str, formulas: list[str]) -> str:
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "[" in text:
        text = _CITATION.sub("", text) if "@" in text else text
        text = _LINK.sub(lambda found: found[1] or found[2], _IMAGE.sub(r"\1", text))
    text = _strip_emphasis(replace_references(text))
    if "\\" in text:
        text = _ESCAPED.sub(r"\1", text)
    return " ".join(put_formulas_back(text, formulas).split())


def strip_text_marks(text: str) -> str:
    """Return a title or an abstract, which need not be markdown, without the marks of markdown and formulas."""
    if not any(mark in text for mark in "`*_$\\"):
        return text
    text, formulas = take_out_formulas(text)
    return put_formulas_back(_ESCAPED.sub(r"\1", _strip_emphasis(text)), formulas)


def _strip_emphasis(text: str) -> str:
    text = _CODE.sub(r"\1", text)
    if "\\" in text:
        text = _LATEX_STYLE.sub(r"\1", text)
    text = _EMPHASIS.sub(r"\2", text)
    return _INNER_EMPHASIS.sub(r"\2", text) if "*" in text else text


def escape_markdown(text: str) -> str:
    """Return `text` escaped for the middle of a markdown line."""
    return text.translate(_SPECIAL)


def unescape_markdown(text: str) -> str:
    """Return the text that `escape_markdown` escaped."""
    return _ESCAPED.sub(r"\1", text)


def escape_line_start(line: str) -> str:
    """Return a markdown line with characters escaped that are special at its start."""
    return _LINE_START.sub(r"\1\\\2", line)


def render_safe_html(markdown: str, name_citation: NameCitation = str) -> str:
    """Return `markdown` as HTML without active content: scripts, styles, handlers and frames."""
    import nh3

    from paper_library.domain.markdown_parser import make_markdown_parser

    rendered = make_markdown_parser(name_citation).render(markdown)
    # Images are on other servers, and fetching them would reveal the reader.
    tags = nh3.ALLOWED_TAGS - {"img"}
    return nh3.clean(
        rendered, tags=tags, url_schemes={"http", "https", "mailto"}, link_rel="noopener noreferrer nofollow"
    )
