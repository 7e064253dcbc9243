"""Parse the markdown of papers: CommonMark with tables, strikethrough, formulas and references."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from paper_library.text.formulas import ENVIRONMENT_START, find_formula_at, remove_labels
from paper_library.text.references import NameCitation, find_reference_at

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MATH: Final = "math_inline"
"""The type of the token of a formula; its content is TeX, and its markup `$` or `$$`."""
MATH_BLOCK: Final = "math_block"
_ENVIRONMENT_BLOCK: Final = "math_environment"
_REFERENCE: Final = "reference_text"
_MAX_LINES: Final = 50


def make_markdown_parser(name_citation: NameCitation = str) -> "MarkdownIt":
    """Return a parser. HTML in the text becomes tokens that the caller has to clean."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.inline.ruler.before("escape", MATH, _parse_inline_formula)

    def parse_reference(state: "StateInline", silent: bool) -> bool:
        return _parse_reference(state, silent, name_citation)

    parser.inline.ruler.before("escape", _REFERENCE, parse_reference)
    alternatives = ["paragraph", "reference", "blockquote", "list"]
    parser.block.ruler.before("fence", MATH_BLOCK, _parse_formula_block, {"alt": alternatives})
    parser.block.ruler.before("fence", _ENVIRONMENT_BLOCK, _parse_environment_block, {"alt": alternatives})
    parser.add_render_rule(MATH, _render_formula)
    parser.add_render_rule(MATH_BLOCK, _render_formula)
    return parser


def _parse_inline_formula(state: "StateInline", silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    formula = find_formula_at(state.src, state.pos, state.posMax)
    if formula is None:
        return False
    if not silent:
        token = state.push(MATH, "", 0)
        token.content, token.markup = formula.tex, "$$" if formula.is_display else "$"
    state.pos = formula.end
    return True


def _parse_reference(state: "StateInline", silent: bool, name_citation: NameCitation) -> bool:
    if state.src[state.pos] not in "@\\":
        return False
    found = find_reference_at(state.src, state.pos, name_citation)
    if found is None or found[1] > state.posMax:
        return False
    if not silent:
        state.push("text", "", 0).content = found[0]
    state.pos = found[1]
    return True


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
        _push_block(state, first, first + len(parts), remove_labels(content[:-2]))
    return True


def _parse_environment_block(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    begin = state.bMarks[first] + state.tShift[first]
    if state.is_code_block(first) or not ENVIRONMENT_START.match(state.src, begin):
        return False
    whole = find_formula_at(state.src, begin, state.eMarks[last - 1])
    if whole is None:
        return False
    after = first + 1
    while state.eMarks[after - 1] < whole.end:
        if state.sCount[after] < state.blkIndent:
            return False
        after += 1
    # The lines without the marks of a quotation around them
    text = state.getLines(first, after, state.blkIndent, False).strip()
    formula = find_formula_at(text, 0, len(text))
    if formula is None or formula.end < len(text):
        return False
    if not silent:
        _push_block(state, first, after, formula.tex)
    return True


def _push_block(state: "StateBlock", first: int, after: int, tex: str) -> None:
    state.line = after
    token = state.push(MATH_BLOCK, "", 0)
    token.content, token.markup, token.map = tex, "$$", [first, after]


def _render_formula(_renderer: object, tokens: "Sequence[Token]", index: int, *_: object) -> str:
    """Return the formula as it was written, for pages without scripts."""
    token = tokens[index]
    text = escape(f"{token.markup}{token.content}{token.markup}")
    return text if token.type == MATH else f"<p>{text}</p>\n"
