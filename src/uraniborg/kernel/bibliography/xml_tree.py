"""Elements and text of an XML tree, found by names without namespaces."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

_BLOCKS = ("p", "sec", "title", "list-item", "break")


def get_local_name(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def find_child(element: Element, name: str) -> Element | None:
    """Return the first child with this name, or None."""
    return next(find_children(element, name), None)


def find_children(element: Element, name: str) -> Iterator[Element]:
    return (found for found in element if get_local_name(found) == name)


def find_self_and_descendants(element: Element, *names: str) -> Iterator[Element]:
    """Return the element and its descendants that have one of the names, in the order of the document."""
    return (found for found in element.iter() if get_local_name(found) in names)


def extract_text(element: Element, without: tuple[str, ...] = (), spaced: tuple[str, ...] = _BLOCKS) -> str:
    """Return the text of an element: without the elements named in `without`, with blanks around those in `spaced`."""
    parts = [element.text or ""]
    for part in element:
        name = get_local_name(part)
        if name not in without:
            text = extract_text(part, without, spaced)
            parts.append(f" {text} " if name in spaced else text)
        parts.append(part.tail or "")
    return "".join(parts)
