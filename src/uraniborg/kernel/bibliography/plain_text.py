"""Plain text of sources, files and XML: no control characters, entities or markup; on one line; folded to ASCII."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from html import unescape
from html.entities import html5
from math import isnan
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

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
_INVISIBLE = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff]")
_NEWLINE = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_BLANK_LINE_END = re.compile(r"(?<![ \t])[ \t]+\n")
_DASHES = re.compile(r"\s*[-–—]+\s*")
_MANY_BLANK_LINES = re.compile(r"\n{4,}")


def clean_line(text: str) -> str:
    """Return the text on one line, entities decoded and without the tags that publishers leave in titles."""
    # Nearly all values are clean already, and these four scans cost a fraction of the rewriting below.
    if text.isprintable() and "  " not in text and "&" not in text and "<" not in text:
        return text.strip()
    if "&" in text:
        # Twice, because text that passed through two systems is often escaped twice.
        text = _decode_entities(_decode_entities(text))
    if "<" in text:
        text = _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", text))
    return " ".join(_INVISIBLE.sub("", text).split())


def clean_markdown_block(text: str) -> str:
    """Return Markdown with its lines and markup, without control characters and superfluous blank lines."""
    text = _INVISIBLE.sub("", _NEWLINE.sub("\n", text))
    return _MANY_BLANK_LINES.sub("\n\n\n", _BLANK_LINE_END.sub("\n", text)).strip("\n").rstrip()


def clean_markdown_line(text: str) -> str:
    """Return Markdown on one line, with its markup."""
    return " ".join(_INVISIBLE.sub("", text).split())


def clean_unique_values(values: Iterable[object]) -> list[str]:
    """Return each text or number of the values on one line, without empty ones and repeats."""
    tidied = (clean_scalar(value) for value in values)
    return list(dict.fromkeys(text for text in tidied if text))


def clean_scalar(value: object) -> str:
    """Return a text or a number as one line, and an empty string for any other value."""
    if isinstance(value, str):
        return clean_line(value)
    if isinstance(value, float):
        return "" if isnan(value) else str(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def split_list(value: object, separators: str = ";,") -> list[str]:
    """Return a list of texts cleaned, or the parts of one text, split at the first separator that occurs in it."""
    if isinstance(value, list):
        return clean_unique_values(cast("list[object]", value))
    text = clean_scalar(value)
    for separator in separators:
        if separator in text:
            return clean_unique_values(text.split(separator))
    return [text] if text else []


def normalise_pages(text: str) -> str:
    """Return a range of pages with one hyphen: `637 -- 641` as `637-641`."""
    return _DASHES.sub("-", text)


def _decode_entities(text: str) -> str:
    return _ENTITY.sub(_decode_entity, text)


def _decode_entity(entity: re.Match[str]) -> str:
    # The standard library also decodes the beginning of a longer name.
    return unescape(entity[0]) if entity[0][1] == "#" else html5.get(entity[0][1:], entity[0])


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NOT_IN_XML = re.compile("[\ufffe\uffff]")

_LETTERS_WITHOUT_DECOMPOSITION = str.maketrans(
    {
        "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O",
        "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th",
        "ħ": "h", "Ħ": "H", "ŧ": "t", "Ŧ": "T", "ŋ": "n", "Ŋ": "N", "ı": "i", "ĸ": "k", "ə": "e",
    }
)  # fmt: skip


def to_one_line(text: str | None) -> str:
    """Return the text on one line: control characters and runs of white space become one space.

    U+FFFE and U+FFFF, which XML cannot hold, become U+FFFD.
    """
    if not text:
        return ""
    return " ".join(_NOT_IN_XML.sub("\ufffd", _CONTROL.sub(" ", text)).split())


def clean_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, each on one line, empty ones left out."""
    return tuple(clean for name in names if (clean := to_one_line(name)))


def fold_to_ascii(text: str) -> str:
    """Return the nearest lower-case ASCII letters; leave out characters that have none (CJK, Cyrillic, Greek)."""
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS_WITHOUT_DECOMPOSITION))
    return plain.encode("ascii", "ignore").decode().lower()


_BLOCKS = ("p", "sec", "title", "list-item", "break")


def get_local_name(element: "Element") -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def find_child(element: "Element", name: str) -> "Element | None":
    """Return the first child with this name, or None."""
    return next(find_children(element, name), None)


def find_children(element: "Element", name: str) -> Iterator["Element"]:
    return (found for found in element if get_local_name(found) == name)


def find_self_and_descendants(element: "Element", *names: str) -> Iterator["Element"]:
    """Return the element and its descendants that have one of the names, in the order of the document."""
    return (found for found in element.iter() if get_local_name(found) in names)


def extract_text(element: "Element", without: tuple[str, ...] = (), spaced: tuple[str, ...] = _BLOCKS) -> str:
    """Return the text of an element: without the elements named in `without`, with blanks around those in `spaced`."""
    parts = [element.text or ""]
    for part in element:
        name = get_local_name(part)
        if name not in without:
            text = extract_text(part, without, spaced)
            parts.append(f" {text} " if name in spaced else text)
        parts.append(part.tail or "")
    return "".join(parts)
