"""Parse texts of papers into trees of plain values that a page can display without HTML.

    [{"type": "heading", "level": 2, "offset": 0, "children": [{"type": "text", "text": "Results"}]}, …]

Every block has the `offset` of its first line in the text. Formulas are TeX, addresses of links are http, https or
mailto, and figures are references that nothing loads.
"""

import re
from collections.abc import Iterable, Sequence
from html import unescape
from itertools import accumulate
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from paper_library.domain.limits import HTML_CHARS
from paper_library.domain.markdown_parser import MATH, MATH_BLOCK, NameCitation, make_markdown_parser

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

    from paper_library.domain.text_blocks import Alignment, AnyBlock, Inline, Mark, SummarySection, Table
    from uraniborg.kernel.json_values import Json

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n?|\n|$)")
_SCHEMES: Final = frozenset(("http", "https", "mailto"))
_BRACES: Final = re.compile(r"\{[^{}]*\}")
_TAG: Final = re.compile(r"<(/?)([a-zA-Z]++)[^>]*+>")
_CONTAINERS: Final[dict[str, "Mark"]] = {
    "em": "emphasis",
    "i": "emphasis",
    "strong": "strong",
    "b": "strong",
    "sub": "subscript",
    "sup": "superscript",
    "s": "strikethrough",
}
"""The types of nodes of markdown and HTML that contain text."""
_MAX_OPEN_TAGS: Final = 8
_MAX_HREF_CHARS: Final = 2_000
_MAX_FIELDS: Final = 50
_MAX_ITEMS: Final = 100


def make_text_tree(markdown: str, offset: int = 0, name_citation: NameCitation = str) -> "list[AnyBlock]":
    """Return the blocks of a text, which begins at `offset` of a longer one."""
    from markdown_it.tree import SyntaxTreeNode

    lines = [found[0] for found in _LINE.finditer(markdown)]
    offsets = list(accumulate(map(len, lines), initial=offset))
    return _make_blocks(SyntaxTreeNode(make_markdown_parser(name_citation).parse(markdown)).children, offsets)


def make_value_trees(value: "Json") -> "list[SummarySection]":
    """Return the texts of a JSON object, such as a summary, as trees by name. A list of texts is one list."""
    fields = value if isinstance(value, dict) else {"summary": value}
    trees: list[SummarySection] = []
    for name, content in list(fields.items())[:_MAX_FIELDS]:
        if isinstance(content, str) and content.strip():
            trees.append({"name": name, "nodes": make_text_tree(content[:HTML_CHARS])})
        elif isinstance(content, list):
            texts = [one for one in content[:_MAX_ITEMS] if isinstance(one, str)]
            items = [make_text_tree(text[: HTML_CHARS // 10]) for text in texts]
            trees.append(
                {"name": name, "nodes": [{"type": "list", "offset": 0, "ordered": False, "start": 1, "items": items}]}
            )
    return trees


def make_inline_tree(markdown: str) -> "list[Inline]":
    """Return a line of markdown, such as a snippet, as nodes without blocks."""
    from markdown_it.tree import SyntaxTreeNode

    return _make_inlines(SyntaxTreeNode(make_markdown_parser().parseInline(markdown)))


def _make_blocks(nodes: "Iterable[SyntaxTreeNode]", offsets: Sequence[int]) -> "list[AnyBlock]":
    return [block for node in nodes if (block := _make_block(node, offsets)) is not None]


def _get_offset(node: "SyntaxTreeNode", offsets: Sequence[int]) -> int:
    return offsets[min(node.map[0], len(offsets) - 1)] if node.map else offsets[0]


def _make_block(node: "SyntaxTreeNode", offsets: Sequence[int]) -> "AnyBlock | None":  # noqa: PLR0911 - one for each type
    start = _get_offset(node, offsets)
    match node.type:
        case "heading":
            return {"type": "heading", "offset": start, "level": int(node.tag[1:]), "children": _make_inlines(node)}
        case "paragraph":
            return _make_paragraph(_make_inlines(node), start)
        case "bullet_list" | "ordered_list":
            return {
                "type": "list",
                "offset": start,
                "ordered": node.type == "ordered_list",
                "start": int(node.attrs.get("start", 1)),
                "items": [_make_blocks(item.children, offsets) for item in node.children],
            }
        case "blockquote":
            return {"type": "quote", "offset": start, "children": _make_blocks(node.children, offsets)}
        case "table":
            return _make_table(node, offsets)
        case "fence" | "code_block":
            language = node.info.split(maxsplit=1)[0] if node.info.strip() else ""
            return {"type": "code_block", "offset": start, "language": language, "text": node.content}
        case "hr":
            return {"type": "rule", "offset": start}
        case _ if node.type == MATH_BLOCK:
            return {"type": "math_block", "offset": start, "tex": node.content}
        case "html_block":
            text = _strip_html(node.content)
            return _make_paragraph([{"type": "text", "text": text}] if text else [], start)
        case _:
            return None


def _make_paragraph(children: "list[Inline]", start: int) -> "AnyBlock | None":
    """Return a paragraph; a formula or a figure alone is a block of its own."""
    only = children[0] if len(children) == 1 else None
    if only is not None and only["type"] == "figure":
        return {"type": "figure", "offset": start, "alt": only["alt"], "caption": only["caption"], "href": only["href"]}
    if only is not None and only["type"] == "math" and only["display"]:
        return {"type": "math_block", "offset": start, "tex": only["tex"]}
    return {"type": "paragraph", "offset": start, "children": children} if children else None


def _make_table(node: "SyntaxTreeNode", offsets: Sequence[int]) -> "Table":
    rows = [(part.type, row) for part in node.children for row in part.children]
    header = next((row for kind, row in rows if kind == "thead"), None)
    return {
        "type": "table",
        "offset": _get_offset(node, offsets),
        "align": [_get_alignment(cell) for cell in header.children] if header else [],
        "header": [_make_inlines(cell) for cell in header.children] if header else [],
        "rows": [
            {"offset": _get_offset(row, offsets), "cells": [_make_inlines(cell) for cell in row.children]}
            for kind, row in rows
            if kind != "thead"
        ],
    }


def _get_alignment(cell: "SyntaxTreeNode") -> "Alignment":
    match str(cell.attrs.get("style", "")).removeprefix("text-align:"):
        case "center":
            return "center"
        case "right":
            return "right"
        case _:
            return "left"


def _make_inlines(node: "SyntaxTreeNode") -> "list[Inline]":
    """Return the text of a node. Tags of HTML that mark text become nodes; other tags are left out."""
    root: list[Inline] = []
    open_tags: list[tuple[str, list[Inline]]] = []
    for child in _iter_inline_children(node):
        target = open_tags[-1][1] if open_tags else root
        if child.type == "html_inline":
            _apply_tag(child.content, target, open_tags)
        else:
            _append_inline(target, child)
    return root


def _iter_inline_children(node: "SyntaxTreeNode") -> "Iterable[SyntaxTreeNode]":
    for child in node.children:
        if child.type == "inline":
            yield from child.children
        else:
            yield child


def _apply_tag(tag: str, target: "list[Inline]", open_tags: "list[tuple[str, list[Inline]]]") -> None:
    """Begin or end the node of an HTML tag."""
    found = _TAG.fullmatch(tag)
    if found is None:
        return
    name = found[2].lower()
    if name == "br":
        target.append({"type": "break"})
    elif found[1] and open_tags and open_tags[-1][0] == name:
        open_tags.pop()
    elif not found[1] and name in _CONTAINERS and len(open_tags) < _MAX_OPEN_TAGS:
        children: list[Inline] = []
        target.append({"type": _CONTAINERS[name], "children": children})
        open_tags.append((name, children))


def _append_inline(target: "list[Inline]", node: "SyntaxTreeNode") -> None:
    match node.type:
        case "text" | "text_special":
            _append_text(target, node.content)
        case "softbreak":
            _append_text(target, " ")
        case "hardbreak":
            target.append({"type": "break"})
        case "code_inline":
            target.append({"type": "code", "text": node.content})
        case "image":
            href = _find_safe_address(str(node.attrs.get("src", "")))
            caption = _make_inlines(node)
            alt = " ".join(_read_plain_text(caption).split())
            target.append({"type": "figure", "alt": alt, "caption": caption, "href": href})
        case "link":
            children = _make_inlines(node)
            href = _find_safe_address(str(node.attrs.get("href", "")))
            if href:
                target.append({"type": "link", "href": href, "children": children})
            else:
                target += children
        case _ if node.type == MATH:
            target.append({"type": "math", "tex": node.content, "display": node.markup == "$$"})
        case _:
            if node.type in _CONTAINERS:
                target.append({"type": _CONTAINERS[node.type], "children": _make_inlines(node)})


def _append_text(target: "list[Inline]", text: str) -> None:
    last = target[-1] if target else None
    if last is not None and last["type"] == "figure":
        text = _remove_attributes(text)
    if last is not None and last["type"] == "text":
        last["text"] += text
    elif text:
        target.append({"type": "text", "text": text})


def _remove_attributes(text: str) -> str:
    """Return the text without the attributes of Pandoc at its start, such as `{#fig:map width=5in}`."""
    found = _BRACES.match(text)
    return text[found.end() :] if found and any(mark in found[0] for mark in "=#.") else text


def _find_safe_address(address: str) -> str | None:
    """Return the address if a page may link to it, or None."""
    try:
        scheme = urlsplit(address).scheme.lower()
    except ValueError:
        return None
    is_safe = scheme in _SCHEMES and len(address) <= _MAX_HREF_CHARS and address.isprintable()
    return address if is_safe else None


def _read_plain_text(nodes: "list[Inline]") -> str:
    return "".join(map(_read_text_of_node, nodes))


def _read_text_of_node(node: "Inline") -> str:
    match node["type"]:
        case "text" | "code":
            return node["text"]
        case "math":
            return node["tex"]
        case "figure":
            return node["alt"]
        case "break":
            return ""
        case _:
            return _read_plain_text(node["children"])


def _strip_html(html: str) -> str:
    """Return the text of a block of HTML, without scripts and styles."""
    import nh3

    return " ".join(unescape(nh3.clean(html, tags=set())).split())
