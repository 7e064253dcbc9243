r"""Find formulas in markdown: `$x$`, `$$x$$`, and LaTeX environments such as `\begin{equation}…\end{equation}`."""

import re
from typing import Final, NamedTuple

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
