"""Text as LaTeX that reads back as the same text, and LaTeX as plain text.

Encoding rewrites only characters that need it: TeX's special characters, and letters and mathematical signs with a
macro that both pylatexenc and `decode_latex` turn back into the very same character. All others stay UTF-8.

Decoding takes one pass and accepts any text. pylatexenc supplies the meaning of each macro; its own decoder takes
milliseconds for an abstract, drops everything after a percent sign and fails on deep nesting, which is too slow and
too lossy for a bibliography of 100,000 entries.
"""

# pylatexenc ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import re
import unicodedata
from functools import lru_cache

from pylatexenc.latex2text import LatexNodes2Text, get_default_latex_context_db
from pylatexenc.latexencode import get_builtin_uni2latex_dict

_BRACE = re.compile(r"[{}]")
_LIGATURE = re.compile(r"([-`',])(?=\1)|[?!](?=`)")
_ENTRY_START = re.compile(r"@(?=\s*\w*\s*[\\{(])")
_MACROS = get_builtin_uni2latex_dict()
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
_OWN_MACRO_TEXTS = {
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
_SUPERSCRIPTS = dict(zip("0123456789+-−=()ni∘°′*", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ°°′*", strict=True))
_SUBSCRIPTS = dict(zip("0123456789+-−=()aeoxhklmnpstijruv", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ", strict=True))


class _EncodingTable(dict[int, str]):
    """The LaTeX of each character, computed on first use."""

    def __missing__(self, code: int) -> str:
        self[code] = latex = _encode_character(chr(code))
        return latex


# pylatexenc decodes \textasciicircum to another character, and writes a double quote as two single ones.
_EXCEPTIONS = {ord("^"): r"{\string^}", ord('"'): '"'}
_BALANCED = _EncodingTable(_EXCEPTIONS)
# BibTeX counts braces without regard to backslashes, so a lone \{ would swallow the rest of the file.
_UNBALANCED = _EncodingTable(
    {**_EXCEPTIONS, ord("{"): r"{\ensuremath{\lbrace}}", ord("}"): r"{\ensuremath{\rbrace}}"},
)


@lru_cache(maxsize=16_384)
def encode_latex(text: str) -> str:
    """Return one line of text (in Unicode's composed form) as LaTeX with balanced braces; see `to_one_line`."""
    composed = unicodedata.normalize("NFC", text)
    table = _BALANCED if has_balanced_braces(composed) else _UNBALANCED
    latex = _LIGATURE.sub(r"\g<0>{}", composed.translate(table))
    # Parsers take @word{ for the start of the next entry, even inside a value.
    return _ENTRY_START.sub("{@}", latex) if "@" in latex else latex


def has_balanced_braces(text: str) -> bool:
    """Return True if every brace has its partner, counted as BibTeX counts them."""
    depth = 0
    for brace in _BRACE.findall(text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def _encode_character(char: str) -> str:
    latex = _MACROS.get(ord(char), "")
    if not latex.startswith("\\") or not (char.isascii() or _can_encode_character(char)):
        return char
    if len(latex) == 2 and not latex[1].isalpha():
        return latex
    braced = f"{{{latex}}}"
    decoded = (_get_pylatexenc_decoder().latex_to_text(f"x{braced}x"), decode_latex(f"x{braced}x"))
    return braced if decoded == (f"x{char}x",) * 2 else char


@lru_cache(maxsize=1)
def _get_pylatexenc_decoder() -> LatexNodes2Text:
    return LatexNodes2Text(math_mode="verbatim")


def _can_encode_character(char: str) -> bool:
    # Cyrillic macros need a font encoding that most documents do not load; UTF-8 needs nothing. Macros of mathematical
    # letters (U+1D400 and on) lose the letter's style in other readers.
    if "\u0400" <= char <= "\u052f" or "\U0001d400" <= char <= "\U0001d7ff":
        return False
    return unicodedata.category(char) in ("Lu", "Ll", "Sm")


def decode_latex(latex: str) -> str:
    """Return the text that LaTeX prints, as far as Unicode can express it.

    Simple formulas become Unicode (`$x^2$` is x²), others stay as they are between dollar signs; formatting and unknown
    macros are replaced by their arguments. Blanks are not collapsed. Never raises.
    """
    if not _MARKUP.search(latex):
        return latex
    return _TOKEN.sub(_decode_token, latex)


def unescape_identifier(identifier: str) -> str:
    """Return a DOI or URL without the escapes that LaTeX needs."""
    if "\\" not in identifier and "{" not in identifier:
        return identifier
    tildes = _ESCAPED_TILDE.sub("~", identifier).replace("~", r"\textasciitilde{}")
    return decode_latex(tildes.replace("--", "-{}-"))


def _decode_token(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "macro":
        return _get_macro_texts().get(match["macro"], "")
    if kind == "symbol":
        return _SYMBOLS.get(match["symbol"], "")
    if kind == "ligature":
        return _LIGATURES[match[0]]
    if kind == "math":
        return _decode_formula(match["math"], match[0])
    if kind == "scripted":
        return convert_to_unicode_script(match["scripted"], superscript=match["script"] == "textsuperscript")
    return _decode_accent(match) if match["accent"] else match["url"] or ""


def _decode_accent(match: re.Match[str]) -> str:
    letter = (match["group"] or match["dotless"] or match["letter"]).lstrip("\\")
    return unicodedata.normalize("NFC", letter + _COMBINING[match["accent"]])


@lru_cache(maxsize=4_096)
def _decode_formula(math: str, verbatim: str) -> str:
    """Return a formula in Unicode; as it was where Unicode cannot express all of it."""
    texts = _get_macro_texts()
    math = _BAR.sub(lambda match: f"{match[1] or match[2]}\u0304", _FONT_GROUP.sub(r"\1", math))
    if any(macro not in texts and not _PLAIN_IN_MATH.fullmatch(macro) for macro in _MATH_MACRO.findall(math)):
        return verbatim
    written = _SCRIPT.sub(_decode_script, math)
    if "^" in written or "_" in written:
        return verbatim
    return _TOKEN.sub(_decode_token, written.replace("$", ""))


def _decode_script(match: re.Match[str]) -> str:
    content = _TOKEN.sub(_decode_token, match[2] if match[2] is not None else match[3]).replace(" ", "")
    written = convert_to_unicode_script(content, superscript=match[1] == "^")
    return match[0] if written == content else written


@lru_cache(maxsize=1)
def _get_macro_texts() -> dict[str, str]:
    """Return the macros that stand for a fixed text, by name."""
    texts = {
        latex.strip("{}")[1:]: chr(code)
        for code, latex in get_builtin_uni2latex_dict().items()
        if latex.strip("{}")[1:].isalpha() and latex.strip("{}").startswith("\\")
    }
    for spec in get_default_latex_context_db().iter_macro_specs():
        text = spec.simplify_repl
        # A text with a percent sign is a pattern for arguments; \today would make every build differ.
        if isinstance(text, str) and not {"%", "<"} & set(text) and spec.macroname != "today":
            texts[spec.macroname] = text
    return texts | _OWN_MACRO_TEXTS


def convert_to_unicode_script(text: str, *, superscript: bool) -> str:
    """Return the text raised or lowered if Unicode can express all of it so; else as it is."""
    table = _SUPERSCRIPTS if superscript else _SUBSCRIPTS
    scripted = [table.get(char, "") for char in text]
    return "".join(scripted) if all(scripted) else text
