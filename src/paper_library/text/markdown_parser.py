"""The markdown parser of texts of papers: CommonMark with tables, strikethrough and formulas in dollar signs."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MATH: Final = "math_inline"
"""The type of the token of a formula; its content is TeX, and its markup `$` or `$$`."""
MATH_BLOCK: Final = "math_block"
_MAX_INLINE_CHARS: Final = 2_000
_MAX_CLOSINGS: Final = 20
"""How many dollar signs are tried as the end of a formula."""
_MAX_LINES: Final = 50


def make_markdown_parser() -> "MarkdownIt":
    """Return a parser. HTML in the text becomes tokens that the caller has to clean."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.inline.ruler.after("escape", MATH, _parse_inline_formula)
    alternatives = ["paragraph", "reference", "blockquote", "list"]
    parser.block.ruler.before("fence", MATH_BLOCK, _parse_formula_block, {"alt": alternatives})
    parser.add_render_rule(MATH, _render_formula)
    parser.add_render_rule(MATH_BLOCK, _render_formula)
    return parser


def _parse_inline_formula(state: "StateInline", silent: bool) -> bool:
    """Parse `$x$` or `$$x$$`. A dollar sign before a blank, or `$5 and $6`, is not a formula."""
    text, start = state.src, state.pos
    if text[start] != "$":
        return False
    mark = "$$" if text.startswith("$$", start) else "$"
    begin = start + len(mark)
    end = _find_formula_end(text, begin, min(state.posMax, begin + _MAX_INLINE_CHARS), mark)
    if end is None:
        return False
    if not silent:
        token = state.push(MATH, "", 0)
        token.content, token.markup = text[begin:end].strip(), mark
    state.pos = end + len(mark)
    return True


def _find_formula_end(text: str, begin: int, limit: int, mark: str) -> int | None:
    """Return the position of the closing mark, or None."""
    if mark == "$" and (begin >= limit or text[begin].isspace()):
        return None
    end = begin
    for _ in range(_MAX_CLOSINGS):
        end = text.find(mark, end, limit)
        if end <= begin:
            return None
        is_escaped = text[end - 1] == "\\"
        is_price = mark == "$" and (text[end - 1].isspace() or text[end + 1 : end + 2].isdigit())
        if not is_escaped and not is_price:
            return end
        end += 1
    return None


def _parse_formula_block(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    """Parse a formula between `$$` at the start of a line and `$$` at the end of the same or a later line."""
    begin = state.bMarks[first] + state.tShift[first]
    if state.is_code_block(first) or not state.src.startswith("$$", begin):
        return False
    parts: list[str] = []
    for line in range(first, min(last, first + _MAX_LINES)):
        start = begin + 2 if line == first else state.bMarks[line] + state.tShift[line]
        text = state.src[start : state.eMarks[line]].rstrip()
        if line > first and (not text or state.sCount[line] < state.blkIndent):
            return False
        parts.append(text)
        if text.endswith("$$"):
            break
    content = "\n".join(parts)
    if not content.endswith("$$") or "$$" in content[:-2] or not content[:-2].strip():
        return False
    if not silent:
        state.line = first + len(parts)
        token = state.push(MATH_BLOCK, "", 0)
        token.content, token.markup, token.map = content[:-2].strip(), "$$", [first, state.line]
    return True


def _render_formula(_renderer: object, tokens: "Sequence[Token]", index: int, *_: object) -> str:
    """Return the formula as it was written, for pages without scripts."""
    token = tokens[index]
    text = escape(f"{token.markup}{token.content}{token.markup}")
    return text if token.type == MATH else f"<p>{text}</p>\n"
