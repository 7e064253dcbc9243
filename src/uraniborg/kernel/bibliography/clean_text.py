"""Text as a shelf may keep it: no control characters, entities or stray markup, blanks collapsed."""

import re
from collections.abc import Iterable
from html import unescape
from html.entities import html5
from math import isnan
from typing import Any, cast

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ATTRIBUTES = r"""(?:\s+[\w:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'))*\s*/?>"""
_INLINE_TAG = re.compile(
    r"</?(?:jats:|mml:)?(?:i|b|em|strong|sub|sup|u|tt|sc|scp|span|italic|bold|underline|monospace|math|m[a-z]{1,10})"
    + _ATTRIBUTES,
    re.IGNORECASE,
)
_BLOCK_TAG = re.compile(
    r"</?(?:jats:)?(?:p|br|div|sec|title|li|ul|ol|list|list-item|h[1-6])" + _ATTRIBUTES, re.IGNORECASE
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_INVISIBLE = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff]")
_NEWLINE = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_BLANK_LINE_END = re.compile(r"(?<![ \t])[ \t]+\n")
_DASHES = re.compile(r"\s*[-–—]+\s*")
_MANY_BLANK_LINES = re.compile(r"\n{4,}")


def clean_line(text: str) -> str:
    """The text on one line. Entities are decoded and the tags that publishers leave in titles are removed."""
    # Nearly all values are clean already, and these four scans cost a fraction of the rewriting below.
    if text.isprintable() and "  " not in text and "&" not in text and "<" not in text:
        return text.strip()
    if "&" in text:
        # Twice, because what passed through two systems is often escaped twice.
        text = _decode_entities(_decode_entities(text))
    if "<" in text:
        text = _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", text))
    return " ".join(_INVISIBLE.sub("", _SURROGATE.sub("\ufffd", text)).split())


def clean_block(text: str) -> str:
    """Markdown with its lines and its markup kept: only what no text file should hold is removed."""
    text = _INVISIBLE.sub("", _SURROGATE.sub("\ufffd", _NEWLINE.sub("\n", text)))
    return _MANY_BLANK_LINES.sub("\n\n\n", _BLANK_LINE_END.sub("\n", text)).strip("\n").rstrip()


def clean_markdown_line(text: str) -> str:
    """Markdown on one line, its markup kept."""
    return " ".join(_INVISIBLE.sub("", _SURROGATE.sub("\ufffd", text)).split())


def clean_lines(values: Iterable[Any]) -> list[str]:
    """Each text or number of the values on one line, without the empty ones and without repeats."""
    tidied = (clean_scalar(value) for value in values)
    return list(dict.fromkeys(text for text in tidied if text))


def clean_scalar(value: Any) -> str:
    """A text or a number as one line; anything else is nothing."""
    if isinstance(value, str):
        return clean_line(value)
    if isinstance(value, float):
        return "" if isnan(value) else str(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def split_list(value: Any, separators: str = ";,") -> list[str]:
    """A list of texts, or one text that separates its parts: by the first of the separators that occurs in it."""
    if isinstance(value, list):
        return clean_lines(cast("list[Any]", value))
    text = clean_scalar(value)
    for separator in separators:
        if separator in text:
            return clean_lines(text.split(separator))
    return [text] if text else []


def normalise_pages(text: str) -> str:
    """Return a range of pages with one hyphen: `637 -- 641` as `637-641`."""
    return _DASHES.sub("-", text)


def _decode_entities(text: str) -> str:
    return _ENTITY.sub(_decode_entity, text)


def _decode_entity(entity: re.Match[str]) -> str:
    # The standard library also decodes the beginning of a longer name.
    return unescape(entity[0]) if entity[0][1] == "#" else html5.get(entity[0][1:], entity[0])
