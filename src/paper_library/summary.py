"""The summary every paper has: taken from its own text, word for word, with no model."""

from typing import Any, Final, cast

from paper_library.store.layout import DEFAULT_TEMPLATE
from paper_library.text.markdown import plain_text
from paper_library.text.sentences import key_sentences

_KEY_SENTENCES: Final = 5
_SECTIONS: Final = 60
_METHOD: Final = "extractive"
_READ: Final = 200_000
_BEHIND: Final = frozenset({"references", "bibliography", "literature", "literature cited", "acknowledgements"})


def default_summary(metadata: dict[str, Any], source: str = "") -> dict[str, Any]:
    """Abstract, outline and key sentences of the paper with this metadata; what it does not have is empty."""
    text = plain_text(source[: _end(metadata["outline"])]) if source else metadata["abstract"]
    return {
        "paper_id": metadata["paper_id"],
        "template": DEFAULT_TEMPLATE,
        "paper_title": metadata["title"],
        "paper_authors": metadata["authors"],
        "publication_date": _date(metadata["year"], metadata["month"]),
        "publication_venue": metadata["venue"],
        "abstract": metadata["abstract"],
        "keywords": metadata["keywords"],
        "outline": [heading["title"] for heading in metadata["outline"][:_SECTIONS]],
        "key_sentences": key_sentences(text, _KEY_SENTENCES, like=metadata["title"]),
        "method": _METHOD,
    }


def _end(outline: list[dict[str, Any]]) -> int:
    """Where the text of a paper ends and what comes behind it begins."""
    behind = (heading["offset"] for heading in outline if heading["title"].lower().strip(" .:0123456789") in _BEHIND)
    return min(_READ, *behind, _READ)


def is_derived(summary: Any) -> bool:
    """Whether it is one that `default_summary` made."""
    return isinstance(summary, dict) and cast("dict[str, Any]", summary).get("method") == _METHOD


def _date(year: int | None, month: int | None) -> str:
    if year is None:
        return ""
    return f"{year}-{month:02}" if month else str(year)
