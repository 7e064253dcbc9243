"""Convert the text, tables and reference list of a JATS article to Markdown."""

import re
from collections.abc import Callable
from xml.etree.ElementTree import Element

from uraniborg.kernel.bibliography.latex import convert_to_unicode_script
from uraniborg.kernel.bibliography.plain_text import (
    clean_line,
    clean_markdown_block,
    clean_markdown_line,
    extract_text,
    find_child,
    find_children,
    find_self_and_descendants,
    get_local_name,
)

_CITATIONS = ("mixed-citation", "element-citation", "nlm-citation", "citation")
_SPACED = ("surname", "given-names", "source", "volume", "year")
_BEFORE_POINT = re.compile(r" (?=[,.;:)])|(?<=\() ")
_SOURCES = ("article-title", "chapter-title", "source", "publisher-name", "volume", "fpage")


def format_reference(item: Element) -> str:
    """Return one entry of the reference list as a line, assembled if the file has only its parts."""
    citation = next(find_self_and_descendants(item, *_CITATIONS), None)
    if citation is None:
        return clean_line(extract_text(item, without=("label",)))
    if any((part.tail or "").strip(" .,;:\n\t()") for part in citation) or not len(citation):
        return _BEFORE_POINT.sub("", clean_line(extract_text(citation, without=("label", "pub-id"), spaced=_SPACED)))
    year = _read_descendant_text(citation, "year")
    parts = [
        ", ".join(_list_person_names(citation)),
        f"({year})" if year else "",
        *(_read_descendant_text(citation, name) for name in _SOURCES),
    ]
    identifiers = (
        clean_line(extract_text(part))
        for part in find_self_and_descendants(citation, "pub-id")
        if part.get("pub-id-type") == "doi"
    )
    return ". ".join(part.rstrip(".") for part in (*parts, *identifiers) if part)


def _list_person_names(citation: Element) -> list[str]:
    names: list[str] = []
    for person in find_self_and_descendants(citation, "name", "string-name", "collab"):
        parts = [_read_descendant_text(person, "surname"), _read_descendant_text(person, "given-names")]
        names.append(" ".join(part for part in parts if part) or clean_line(extract_text(person)))
    return [name for name in names if name]


def _read_descendant_text(element: Element, name: str) -> str:
    found = next(find_self_and_descendants(element, name), None)
    return "" if found is None else clean_line(extract_text(found))


_MAX_CELLS = 20_000


def format_table(grid: Element, format_inline: Callable[[Element], str]) -> str:
    """Return a table in Markdown, empty cells after a cell that spans columns; an empty string for an empty table."""
    rows = [_format_cells(row, format_inline) for row in find_self_and_descendants(grid, "tr")]
    rows = [row for row in rows if any(row)]
    if not rows:
        return ""
    width = max(map(len, rows))
    rows = rows[: max(1, _MAX_CELLS // width)]
    lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def _format_cells(row: Element, format_inline: Callable[[Element], str]) -> list[str]:
    cells: list[str] = []
    for cell in (part for part in row if get_local_name(part) in ("td", "th")):
        cells.append(clean_markdown_line(format_inline(cell)).replace("|", "\\|"))
        span = cell.get("colspan", "1")
        cells.extend([""] * (min(int(span), 100) - 1 if span.isascii() and span.isdigit() else 0))
    return cells


_EMPHASIS = {"italic": "*", "bold": "**", "monospace": "`"}
_LINK = "{http://www.w3.org/1999/xlink}href"
_MARKUP = re.compile(r"[*`]|<(?=[a-zA-Z/!?])")
_MAX_HEADING = 6


class MarkdownArticle:
    """A writer of one article."""

    def __init__(self) -> None:
        self._blocks: list[str] = []

    def format_article(self, title: str, abstract: Element | None, article: Element) -> str:
        """Return the whole article: title, abstract, sections, references."""
        self._add_heading(1, title)
        if abstract is not None:
            self._add_heading(2, "Abstract")
            self._add_content(abstract, 2)
        for part in ("body", "back"):
            if (element := find_child(article, part)) is not None:
                self._add_content(element, 1)
        return clean_markdown_block("\n\n".join(self._blocks))

    def _add_heading(self, level: int, text: str) -> None:
        if text:
            self._blocks.append(f"{'#' * min(level, _MAX_HEADING)} {text}")

    def _add_content(self, parent: Element, level: int) -> None:
        for element in parent:
            self._add_block(element, level)

    def _add_block(self, element: Element, level: int) -> None:
        name = get_local_name(element)
        if name in ("sec", "app", "ack", "app-group", "glossary", "boxed-text"):
            self._add_section(element, level)
        elif name == "p":
            self._add_paragraph(element, level)
        elif name in ("list", "def-list"):
            self._blocks.append(_format_list(element))
        elif name in ("fig", "table-wrap", "fig-group", "table-wrap-group"):
            self._add_figure_or_table(element)
        elif name == "disp-formula":
            self._blocks.append(_format_formula(element, display=True))
        elif name in ("disp-quote", "verse-group", "statement", "fn-group", "fn", "notes"):
            self._add_content(element, level)
        elif name == "ref-list":
            self._add_references(element, level)

    def _add_section(self, element: Element, level: int) -> None:
        title = find_child(element, "title")
        label = find_child(element, "label")
        words = [clean_line(format_inline(part)) for part in (label, title) if part is not None]
        default = "Acknowledgements" if get_local_name(element) == "ack" else ""
        self._add_heading(level + 1, " ".join(words) or default)
        self._add_content(element, level + 1)

    def _add_paragraph(self, element: Element, level: int) -> None:
        """Add a paragraph, and after it the lists, figures and formulas inside it."""
        inside = [part for part in element if get_local_name(part) in _BLOCKS_IN_PARAGRAPHS]
        if text := clean_markdown_line(format_inline(element, without=_BLOCKS_IN_PARAGRAPHS)):
            self._blocks.append(text)
        for part in inside:
            self._add_block(part, level)

    def _add_figure_or_table(self, element: Element) -> None:
        groups = [part for part in element if get_local_name(part) in ("fig", "table-wrap")]
        for part in groups:
            self._add_figure_or_table(part)
        label, caption = find_child(element, "label"), find_child(element, "caption")
        words = clean_markdown_line(format_inline(caption)) if caption is not None else ""
        name = clean_line(extract_text(label)).rstrip(".:") if label is not None else ""
        if name or words:
            self._blocks.append(f"**{name}.** {words}".strip() if name else words)
        for grid in find_self_and_descendants(element, "table") if not groups else ():
            self._blocks.append(format_table(grid, format_inline))

    def _add_references(self, element: Element, level: int) -> None:
        title = find_child(element, "title")
        self._add_heading(level + 1, clean_line(format_inline(title)) if title is not None else "References")
        items = [text for item in find_self_and_descendants(element, "ref") if (text := format_reference(item))]
        if items:
            self._blocks.append("\n".join(f"{number}. {text}" for number, text in enumerate(items, 1)))


_BLOCKS_IN_PARAGRAPHS = frozenset(
    ("list", "def-list", "fig", "fig-group", "table-wrap", "disp-formula", "disp-quote", "boxed-text")
)


def format_inline(element: Element, without: frozenset[str] = frozenset()) -> str:
    """Return the text of an element with its emphasis, links and formulas as Markdown."""
    parts = [_escape_markup(element.text or "")]
    for part in element:
        if get_local_name(part) not in without:
            parts.append(_format_inline_element(part, without))
        parts.append(_escape_markup(part.tail or ""))
    return "".join(parts)


def _format_inline_element(element: Element, without: frozenset[str]) -> str:
    name = get_local_name(element)
    if name in _EMPHASIS:
        text = format_inline(element, without)
        mark = _EMPHASIS[name]
        return f"{mark}{text}{mark}" if text.strip() and text == text.strip() else text
    if name in ("sub", "sup", "xref"):
        return _format_script_or_reference(element, without)
    if name in ("inline-formula", "disp-formula", "math", "tex-math", "alternatives"):
        return _format_formula(element)
    if name in ("ext-link", "uri"):
        return _format_link(format_inline(element, without), element.get(_LINK, ""))
    return (
        f" {format_inline(element, without)} " if name in ("title", "p", "break") else format_inline(element, without)
    )


def _format_script_or_reference(element: Element, without: frozenset[str]) -> str:
    text = extract_text(element)
    cites = any(found.get("ref-type") == "bibr" for found in find_self_and_descendants(element, "xref"))
    if cites and next(find_self_and_descendants(element, "sup"), None) is not None:
        return f"[{text.strip(' []')}]"
    if get_local_name(element) == "xref":
        return format_inline(element, without)
    return convert_to_unicode_script(text, superscript=get_local_name(element) == "sup")


def _format_link(text: str, address: str) -> str:
    text = clean_markdown_line(text)
    if not address.startswith(("http://", "https://")) or text in (address, "") or set("()<> ") & set(address):
        return text
    return f"[{text}]({address})"


def _format_formula(element: Element, *, display: bool = False) -> str:
    """Return a formula as LaTeX if the file has it, else as its characters."""
    for tex in find_self_and_descendants(element, "tex-math"):
        text = tex.text or ""
        body = text.partition("\\begin{document}")[2].partition("\\end{document}")[0]
        if math := (body or text).strip().strip("$").strip():
            return f"$${clean_markdown_line(math)}$$" if display else f"${clean_markdown_line(math)}$"
    return clean_line(extract_text(element, without=("label", "graphic", "tex-math")))


def _format_list(element: Element) -> str:
    ordered = element.get("list-type") in ("order", "alpha-lower", "alpha-upper", "roman-lower", "roman-upper")
    items = [item for item in element if get_local_name(item) in ("list-item", "def-item")]
    lines: list[str] = []
    for number, item in enumerate(items, 1):
        text = clean_markdown_line(format_inline(item, without=frozenset(("label", "list"))))
        lines.append(f"{number}. {text}" if ordered else f"- {text}")
        lines.extend(
            f"    {line}" for nested in find_children(item, "list") for line in _format_list(nested).split("\n")
        )
    return "\n".join(lines)


def _escape_markup(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", text)
