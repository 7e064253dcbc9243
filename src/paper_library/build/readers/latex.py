"""LaTeX as plain text, in one pass and whatever it holds.

pylatexenc supplies what each macro means; its own decoder takes milliseconds for an abstract, drops what follows a
percent sign and fails on deep nesting, none of which a bibliography of 100,000 entries can afford.
"""

# pylatexenc ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import re
import unicodedata
from functools import lru_cache

from pylatexenc.latex2text import get_default_latex_context_db
from pylatexenc.latexencode import get_builtin_uni2latex_dict

from paper_library.build.readers import tidy

_COMBINING = {
    **dict(zip("`'^\"~=.", "\u0300\u0301\u0302\u0308\u0303\u0304\u0307", strict=True)),
    **dict(zip("uvHcdbrk", "\u0306\u030c\u030b\u0327\u0323\u0331\u030a\u0328", strict=True)),
}
_SYMBOLS = {**{char: char for char in "&%$#_{}*'`^\"~=.+<>"}, **dict.fromkeys(" ,;:\\\n\t", " "), "|": "‖"}
_LIGATURES = {"~": " ", "---": "—", "--": "–", "``": "“", "''": "”", "?`": "¿", "!`": "¡", "{": "", "}": ""}
_MARKUP = re.compile(r"[\\{}$~]|--|``|''|[?!]`")
_TOKEN = re.compile(
    r"""\\(?P<accent>[`'^"~=.]|[uvHcdbrk](?![a-zA-Z]))\s*
          (?:\{\s*(?P<group>\\[ij](?![a-zA-Z])|[^\W\d_])\s*\}|(?P<dotless>\\[ij])(?![a-zA-Z])(?:\{\}|\s*)|(?P<letter>[^\W\d_]))
      | \\href\s*\{[^{}]*\}\s*
      | \\url\s*\{(?P<url>[^{}]*)\}
      | \\(?:cite[a-zA-Z]*|label|[a-zA-Z]*ref|(?:text)?color|[vh]space)\*?\s*
          (?:\[[^\[\]{}]{0,200}\]\s*)?\{[^{}]{0,500}\}
      | \\(?P<script>textsuperscript|textsubscript)\s*\{(?P<scripted>[^{}\\$]*)\}
      | \\(?P<macro>[a-zA-Z]+)\*?(?:\{\}|\s*)
      | \\(?P<symbol>.)
      | \$\$?(?=\S)(?!\d[^$\\^_={}\ ]*\ [^$\\^_={}]*\$)(?P<math>(?:[^$\\]|\\.){1,1000}?)(?<=\S)\$\$?(?!\d)
      | (?P<ligature>---|--|``|''|[?!]`|[{}~])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED_TILDE = re.compile(r"\\~(?:\{\s?\})?|\$\\sim\$")
_SCRIPT = re.compile(r"([_^])\s*(?:\{([^{}]*)\}|(\\[a-zA-Z]+|[^\s{}\\]))")
_PLAIN_IN_MATH = re.compile(
    r"(?:math[a-z]+|text[a-z]*|boldsymbol|bm|rm|bf|it|mbox|hbox|operatorname|ensuremath|left|right|[bB]ig|limits|"
    r"(?:display|text)style)"
)
_OWN_CONSTANTS = {
    "LaTeX": "LaTeX",
    "TeX": "TeX",
    "BibTeX": "BibTeX",
    "copyright": "©",
    "newline": " ",
    "par": " ",
    "sqrt": "√",
    "textasciicircum": "^",
    "textbackslash": "\\",
    "textbar": "|",
    "textcopyright": "©",
    "textgreater": ">",
    "textless": "<",
}
_FONT_GROUP = re.compile(r"\\(?:math[a-z]+|text[a-z]*|operatorname|mbox|hbox|boldsymbol|bm)\s*\{([^{}]*)\}")
_BAR = re.compile(r"\\(?:overline|bar)\s*(?:\{\s*(\w)\s*\}|(\w))")
_MATH_MACRO = re.compile(r"\\([a-zA-Z]+)")


def decode(latex: str) -> str:
    """The text that LaTeX would print, as far as Unicode can write it.

    Simple formulas become Unicode (`$x^2$` is x²), others stay as they are between dollar signs; formatting and unknown
    macros leave their arguments. Blanks are not collapsed. Never raises.
    """
    if not _MARKUP.search(latex):
        return latex
    return _TOKEN.sub(_meaning, latex)


def unescape(identifier: str) -> str:
    """A DOI or address as it was before somebody escaped it for LaTeX."""
    if "\\" not in identifier and "{" not in identifier:
        return identifier
    tildes = _ESCAPED_TILDE.sub("~", identifier).replace("~", r"\textasciitilde{}")
    return decode(tildes.replace("--", "-{}-"))


def _meaning(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "macro":
        return _constants().get(match["macro"], "")
    if kind == "symbol":
        return _SYMBOLS.get(match["symbol"], "")
    if kind == "ligature":
        return _LIGATURES[match[0]]
    if kind == "math":
        return _formula(match["math"], match[0])
    if kind == "scripted":
        return tidy.script(match["scripted"], superscript=match["script"] == "textsuperscript")
    return _accented(match) if match["accent"] else match["url"] or ""


def _accented(match: re.Match[str]) -> str:
    letter = (match["group"] or match["dotless"] or match["letter"]).lstrip("\\")
    return unicodedata.normalize("NFC", letter + _COMBINING[match["accent"]])


@lru_cache(maxsize=4_096)
def _formula(math: str, verbatim: str) -> str:
    """A formula that Unicode can write, written so; else as it was, so that nothing of it is lost."""
    known = _constants()
    math = _BAR.sub(lambda match: f"{match[1] or match[2]}\u0304", _FONT_GROUP.sub(r"\1", math))
    if any(macro not in known and not _PLAIN_IN_MATH.fullmatch(macro) for macro in _MATH_MACRO.findall(math)):
        return verbatim
    written = _SCRIPT.sub(_script, math)
    if "^" in written or "_" in written:
        return verbatim
    return _TOKEN.sub(_meaning, written.replace("$", ""))


def _script(match: re.Match[str]) -> str:
    content = _TOKEN.sub(_meaning, match[2] if match[2] is not None else match[3]).replace(" ", "")
    written = tidy.script(content, superscript=match[1] == "^")
    return match[0] if written == content else written


@lru_cache(maxsize=1)
def _constants() -> dict[str, str]:
    """Macros that stand for a text of their own."""
    meanings = {
        latex.strip("{}")[1:]: chr(code)
        for code, latex in get_builtin_uni2latex_dict().items()
        if latex.strip("{}")[1:].isalpha() and latex.strip("{}").startswith("\\")
    }
    for spec in get_default_latex_context_db().iter_macro_specs():
        text = spec.simplify_repl
        # What holds a percent sign is a pattern for arguments; \today would make every build differ.
        if isinstance(text, str) and not {"%", "<"} & set(text) and spec.macroname != "today":
            meanings[spec.macroname] = text
    return meanings | _OWN_CONSTANTS
