r"""Turn references in markdown into plain text: `@smith2020` of Pandoc, and `\ref{fig:map}` of LaTeX."""

import re
from collections.abc import Callable
from typing import Final

NameCitation = Callable[[str], str]
"""Returns the text for the citation with this key."""

_CITATION: Final = re.compile(r"(?<![^\s\[(;,–—-])@([^\W_]\w*(?:[:.#$%&+?<>~/-]\w+)*)")
_REFERENCE: Final = re.compile(r"\\(label|ref|autoref|eqref|[cC]ref|pageref|nameref)\{([^{}\n]{0,200})\}")
_KINDS: Final = frozenset(("alg", "app", "eq", "fig", "lst", "sec", "tab", "tbl"))


def find_reference_at(text: str, start: int, name_citation: NameCitation) -> tuple[str, int] | None:
    """Return the plain text of the citation or reference that begins at `start`, and the offset after it, or None."""
    if found := _CITATION.match(text, start):
        return _describe_citation(found, name_citation), found.end()
    if found := _REFERENCE.match(text, start):
        return _describe_reference(found), found.end()
    return None


def replace_references(text: str) -> str:
    """Return the text with plain text for its citations and references."""
    if "@" in text:
        text = _CITATION.sub(lambda found: _describe_citation(found, str), text)
    return _REFERENCE.sub(_describe_reference, text) if "\\" in text else text


def format_citation_in_text(authors: list[str], year: int | None) -> str:
    """Return `Smith and Jones 2020`, for a text that has its own parentheses; an empty text without authors."""
    from uraniborg.kernel.bibliography.short_citations import format_short_authors  # it is slow to import

    text = format_short_authors(authors)
    return f"{text} {year}" if text and year else text


def _describe_citation(found: re.Match[str], name_citation: NameCitation) -> str:
    # pandoc-crossref writes `@fig:map` for a figure.
    return _name_kind(found[1]) if found[1].partition(":")[0] in _KINDS else name_citation(found[1])


def _describe_reference(found: re.Match[str]) -> str:
    match found[1]:
        case "label":
            return ""
        case "autoref" | "cref" | "Cref":
            return _name_kind(found[2])
        case "eqref":
            return f"({_remove_kind(found[2])})"
        case _:
            return _remove_kind(found[2])


def _remove_kind(label: str) -> str:
    kind, _, name = label.partition(":")
    return name.strip() if kind.strip().lower() in _KINDS and name.strip() else label.strip()


def _name_kind(label: str) -> str:
    r"""Return `fig. map` for `fig:map`: the text of the paper does not have the number of the figure."""
    name = _remove_kind(label)
    return name if name == label.strip() else f"{label.partition(':')[0].strip()}. {name}"
