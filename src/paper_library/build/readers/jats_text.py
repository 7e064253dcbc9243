"""The text of a JATS article as markdown."""

import re
from xml.etree.ElementTree import Element

from paper_library.build.readers import tidy
from paper_library.build.readers.jats_references import reference
from paper_library.build.readers.jats_tables import table
from paper_library.build.readers.jats_tree import child, children, descendants, name_of, plain
from uraniborg.kernel.bibliography.latex import to_script

_EMPHASIS = {"italic": "*", "bold": "**", "monospace": "`"}
_LINK = "{http://www.w3.org/1999/xlink}href"
_MARKUP = re.compile(r"[*`]|<(?=[a-zA-Z/!?])")
_MAX_HEADING = 6


class Writer:
    """Writes one article."""

    def __init__(self) -> None:
        self._blocks: list[str] = []

    def article(self, title: str, abstract: Element | None, article: Element) -> str:
        """The whole article: title, abstract, sections, references."""
        self._heading(1, title)
        if abstract is not None:
            self._heading(2, "Abstract")
            self._content(abstract, 2)
        for part in ("body", "back"):
            if (element := child(article, part)) is not None:
                self._content(element, 1)
        return tidy.block("\n\n".join(self._blocks))

    def _heading(self, level: int, text: str) -> None:
        if text:
            self._blocks.append(f"{'#' * min(level, _MAX_HEADING)} {text}")

    def _content(self, parent: Element, level: int) -> None:
        for element in parent:
            self._block(element, level)

    def _block(self, element: Element, level: int) -> None:
        name = name_of(element)
        if name in ("sec", "app", "ack", "app-group", "glossary", "boxed-text"):
            self._section(element, level)
        elif name == "p":
            self._paragraph(element, level)
        elif name in ("list", "def-list"):
            self._blocks.append(_list(element))
        elif name in ("fig", "table-wrap", "fig-group", "table-wrap-group"):
            self._float(element)
        elif name == "disp-formula":
            self._blocks.append(_formula(element, display=True))
        elif name in ("disp-quote", "verse-group", "statement", "fn-group", "fn", "notes"):
            self._content(element, level)
        elif name == "ref-list":
            self._references(element, level)

    def _section(self, element: Element, level: int) -> None:
        title = child(element, "title")
        label = child(element, "label")
        words = [tidy.line(inline(part)) for part in (label, title) if part is not None]
        default = "Acknowledgements" if name_of(element) == "ack" else ""
        self._heading(level + 1, " ".join(words) or default)
        self._content(element, level + 1)

    def _paragraph(self, element: Element, level: int) -> None:
        """A paragraph, and after it the lists, figures and formulas that stand inside."""
        inside = [part for part in element if name_of(part) in _BLOCKS_IN_PARAGRAPHS]
        if text := tidy.line_of_markdown(inline(element, without=_BLOCKS_IN_PARAGRAPHS)):
            self._blocks.append(text)
        for part in inside:
            self._block(part, level)

    def _float(self, element: Element) -> None:
        groups = [part for part in element if name_of(part) in ("fig", "table-wrap")]
        for part in groups:
            self._float(part)
        label, caption = child(element, "label"), child(element, "caption")
        words = tidy.line_of_markdown(inline(caption)) if caption is not None else ""
        name = tidy.line(plain(label)).rstrip(".:") if label is not None else ""
        if name or words:
            self._blocks.append(f"**{name}.** {words}".strip() if name else words)
        for grid in descendants(element, "table") if not groups else ():
            self._blocks.append(table(grid, inline))

    def _references(self, element: Element, level: int) -> None:
        title = child(element, "title")
        self._heading(level + 1, tidy.line(inline(title)) if title is not None else "References")
        items = [text for item in descendants(element, "ref") if (text := reference(item))]
        if items:
            self._blocks.append("\n".join(f"{number}. {text}" for number, text in enumerate(items, 1)))


_BLOCKS_IN_PARAGRAPHS = frozenset(
    ("list", "def-list", "fig", "fig-group", "table-wrap", "disp-formula", "disp-quote", "boxed-text")
)


def inline(element: Element, without: frozenset[str] = frozenset()) -> str:
    """The text of an element with its emphasis, links and formulas as markdown."""
    parts = [_escaped(element.text or "")]
    for part in element:
        if name_of(part) not in without:
            parts.append(_inline(part, without))
        parts.append(_escaped(part.tail or ""))
    return "".join(parts)


def _inline(element: Element, without: frozenset[str]) -> str:
    name = name_of(element)
    if name in _EMPHASIS:
        text = inline(element, without)
        mark = _EMPHASIS[name]
        return f"{mark}{text}{mark}" if text.strip() and text == text.strip() else text
    if name in ("sub", "sup", "xref"):
        return _raised_or_lowered(element, without)
    if name in ("inline-formula", "disp-formula", "math", "tex-math", "alternatives"):
        return _formula(element)
    if name in ("ext-link", "uri"):
        return _link(inline(element, without), element.get(_LINK, ""))
    return f" {inline(element, without)} " if name in ("title", "p", "break") else inline(element, without)


def _raised_or_lowered(element: Element, without: frozenset[str]) -> str:
    text = plain(element)
    cites = any(found.get("ref-type") == "bibr" for found in descendants(element, "xref"))
    if cites and next(descendants(element, "sup"), None) is not None:
        return f"[{text.strip(' []')}]"
    if name_of(element) == "xref":
        return inline(element, without)
    return to_script(text, superscript=name_of(element) == "sup")


def _link(text: str, address: str) -> str:
    text = tidy.line_of_markdown(text)
    if not address.startswith(("http://", "https://")) or text in (address, "") or set("()<> ") & set(address):
        return text
    return f"[{text}]({address})"


def _formula(element: Element, *, display: bool = False) -> str:
    """LaTeX where the file has it, else the characters of the formula."""
    for tex in descendants(element, "tex-math"):
        text = tex.text or ""
        body = text.partition("\\begin{document}")[2].partition("\\end{document}")[0]
        if math := (body or text).strip().strip("$").strip():
            return f"$${tidy.line_of_markdown(math)}$$" if display else f"${tidy.line_of_markdown(math)}$"
    return tidy.line(plain(element, without=("label", "graphic", "tex-math")))


def _list(element: Element) -> str:
    ordered = element.get("list-type") in ("order", "alpha-lower", "alpha-upper", "roman-lower", "roman-upper")
    items = [item for item in element if name_of(item) in ("list-item", "def-item")]
    lines: list[str] = []
    for number, item in enumerate(items, 1):
        text = tidy.line_of_markdown(inline(item, without=frozenset(("label", "list"))))
        lines.append(f"{number}. {text}" if ordered else f"- {text}")
        lines.extend(f"    {line}" for nested in children(item, "list") for line in _list(nested).split("\n"))
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", text)
