"""Ways around an XML tree, whatever namespaces its elements are in."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

_BLOCKS = ("p", "sec", "title", "list-item", "break")


def local_name(element: Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def find_child(element: Element, name: str) -> Element | None:
    return next(find_children(element, name), None)


def find_children(element: Element, name: str) -> Iterator[Element]:
    return (found for found in element if local_name(found) == name)


def find_descendants(element: Element, *names: str) -> Iterator[Element]:
    """The element itself and what is inside it, as far as it has one of the names, in the order of the document."""
    return (found for found in element.iter() if local_name(found) in names)


def extract_text(element: Element, without: tuple[str, ...] = (), apart: tuple[str, ...] = _BLOCKS) -> str:
    """The characters of an element without markup, without some elements, and with blanks around others."""
    parts = [element.text or ""]
    for part in element:
        name = local_name(part)
        if name not in without:
            text = extract_text(part, without, apart)
            parts.append(f" {text} " if name in apart else text)
        parts.append(part.tail or "")
    return "".join(parts)
