"""Parse the markdown of papers: CommonMark with tables, strikethrough, formulas and references."""

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token


_MAX_INLINE_CHARS: Final = 2_000
_MAX_CLOSINGS: Final = 20
"""How many dollar signs are tried as the end of a formula."""
_DRAWN_ENVIRONMENTS: Final = {
    "equation": ("", ""),
    "align": (r"\begin{aligned}", r"\end{aligned}"),
    "gather": (r"\begin{gathered}", r"\end{gathered}"),
    "multline": (r"\begin{gathered}", r"\end{gathered}"),
    "eqnarray": (r"\begin{array}{rcl}", r"\end{array}"),
}
"""The environments of formulas, and the TeX that draws their contents without the number of the equation."""
_NAMES: Final = "|".join(_DRAWN_ENVIRONMENTS)
ENVIRONMENT_START: Final = re.compile(rf"\\begin\{{({_NAMES})(\*?)\}}")
# LaTeX allows neither an empty line nor another such environment inside one, so that a search for the end stops there.
_ENVIRONMENT_END: Final = re.compile(rf"\\(begin|end)\{{({_NAMES})(\*?)\}}|\n[ \t\r]*\n")
_LABEL: Final = re.compile(r"\\label\{[^{}]*\}[ \t]*\n?")
_NUMBERING: Final = re.compile(rf"{_LABEL.pattern}|\\(?:nonumber|notag)(?![A-Za-z])")
_MARK: Final = re.compile(rf"\\[\\$`]|(`+)|\$|{ENVIRONMENT_START.pattern}")
_EMPTY_LINE: Final = re.compile(r"\n[ \t\r]*\n")
_STAND_IN: Final = "\ue000"
_STAND_INS: Final = re.compile(rf"{_STAND_IN}([0-9]{{7}})")


class Formula(NamedTuple):
    """A formula in a text."""

    tex: str
    """TeX that a page can draw."""
    body: str
    """The TeX between the marks of the formula, as the text has it."""
    is_display: bool
    end: int
    """The offset of the text after the formula."""


def remove_labels(tex: str) -> str:
    r"""Return the TeX without `\label{…}`."""
    return _LABEL.sub("", tex).strip()


def find_formula_at(text: str, start: int, limit: int) -> Formula | None:
    """Return the formula that begins at `start` and ends before `limit`, or None."""
    if text.startswith("$", start):
        return _find_dollar_formula(text, start, limit)
    begin = ENVIRONMENT_START.match(text, start)
    end = begin and _ENVIRONMENT_END.search(text, begin.end(), limit)
    if not begin or not end or end[1] != "end" or end.group(2, 3) != begin.group(1, 2):
        return None
    body = text[begin.end() : end.start()].strip()
    before, after = _DRAWN_ENVIRONMENTS[begin[1]]
    drawn = _NUMBERING.sub("", body).strip()
    return Formula(f"{before}{drawn}{after}", remove_labels(body), True, end.end()) if drawn else None


def _find_dollar_formula(text: str, start: int, limit: int) -> Formula | None:
    """Return `$x$` or `$$x$$`. A dollar sign before a blank, or `$5 and $6`, is not a formula."""
    mark = "$$" if text.startswith("$$", start) else "$"
    begin = start + len(mark)
    end = _find_closing_dollar(text, begin, min(limit, begin + _MAX_INLINE_CHARS), mark)
    if end is None:
        return None
    tex = remove_labels(text[begin:end])
    return Formula(tex, tex, mark == "$$", end + len(mark))


def _find_closing_dollar(text: str, begin: int, limit: int, mark: str) -> int | None:
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


def take_out_formulas(text: str) -> tuple[str, list[str]]:
    """Return the text with a stand-in for each formula outside code, and the formulas for `put_formulas_back`."""
    if "$" not in text and r"\begin{" not in text:
        return text, []
    text = text.replace(_STAND_IN, " ")
    pieces: list[str] = []
    bodies: list[str] = []
    copied = at = paragraph_end = 0
    while mark := _MARK.search(text, at):
        start, at = mark.span()
        if start >= paragraph_end:
            empty_line = _EMPTY_LINE.search(text, start)
            paragraph_end = empty_line.start() if empty_line else len(text)
        if mark[1]:
            closing = text.find(mark[1], at, min(paragraph_end, at + _MAX_INLINE_CHARS))
            at = closing + len(mark[1]) if closing >= 0 else at
        elif formula := find_formula_at(text, start, paragraph_end):
            pieces += [text[copied:start], f"{_STAND_IN}{len(bodies):07d}"]
            bodies.append(formula.body)
            copied = at = formula.end
    return "".join([*pieces, text[copied:]]), bodies


def put_formulas_back(text: str, bodies: list[str]) -> str:
    """Return the text with the TeX of its formulas."""
    return _STAND_INS.sub(lambda found: bodies[int(found[1])], text) if bodies else text


NameCitation = Callable[[str], str]
"""Returns the text for the citation with this key."""

_CITATION: Final = re.compile(r"(?<![^\s\[(;,–—-])@([^\W_]\w*(?:[:.#$%&+?<>~/-]\w+)*)")
_LATEX_REFERENCE: Final = re.compile(r"\\(label|ref|autoref|eqref|[cC]ref|pageref|nameref)\{([^{}\n]{0,200})\}")
_KINDS: Final = frozenset(("alg", "app", "eq", "fig", "lst", "sec", "tab", "tbl"))


def find_reference_at(text: str, start: int, name_citation: NameCitation) -> tuple[str, int] | None:
    """Return the plain text of the citation or reference that begins at `start`, and the offset after it, or None."""
    if found := _CITATION.match(text, start):
        return _describe_citation(found, name_citation), found.end()
    if found := _LATEX_REFERENCE.match(text, start):
        return _describe_reference(found), found.end()
    return None


def replace_references(text: str) -> str:
    """Return the text with plain text for its citations and references."""
    if "@" in text:
        text = _CITATION.sub(lambda found: _describe_citation(found, str), text)
    return _LATEX_REFERENCE.sub(_describe_reference, text) if "\\" in text else text


def format_citation_in_text(authors: list[str], year: int | None) -> str:
    """Return `Smith and Jones 2020`, for a text that has its own parentheses; an empty text without authors."""
    from uraniborg.kernel.bibliography.names import format_short_authors  # it is slow to import

    text = format_short_authors(authors)
    return f"{text} {year}" if text and year else text


def _describe_citation(found: re.Match[str], name_citation: NameCitation) -> str:
    # pandoc-crossref writes `@fig:map` for a figure.
    return _name_kind(found[1]) if found[1].partition(":")[0] in _KINDS else name_citation(found[1])


def _describe_reference(found: re.Match[str]) -> str:
    match found[1]:
        case "label":
            return ""
        case "autoref" | "cref" | "Cref":
            return _name_kind(found[2])
        case "eqref":
            return f"({_remove_kind(found[2])})"
        case _:
            return _remove_kind(found[2])


def _remove_kind(label: str) -> str:
    kind, _, name = label.partition(":")
    return name.strip() if kind.strip().lower() in _KINDS and name.strip() else label.strip()


def _name_kind(label: str) -> str:
    r"""Return `fig. map` for `fig:map`: the text of the paper does not have the number of the figure."""
    name = _remove_kind(label)
    return name if name == label.strip() else f"{label.partition(':')[0].strip()}. {name}"


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
