"""Make the default summary of a paper: abstract, outline and key sentences, copied word for word."""

import re
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, cast

from paper_library.text.markdown import extract_plain_text
from uraniborg.kernel.words import STOP_WORDS

if TYPE_CHECKING:
    from paper_library.replies import DefaultSummary, Metadata, OutlineHeading
    from uraniborg.kernel.json_values import JsonObject

DEFAULT_TEMPLATE: Final = "default"
"""The template name of the default summary."""
_KEY_SENTENCES: Final = 5
_HEADINGS_LISTED: Final = 60
_METHOD: Final = "extractive"
_SOURCE_CHARS_READ: Final = 200_000
_END_MATTER: Final = frozenset({"references", "bibliography", "literature", "literature cited", "acknowledgements"})
_SENTENCE_END: Final = re.compile(
    r"(?<=[.!?])(?<!\b[A-Z]\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bet al\.)(?<!\bFig\.)(?<!\bvs\.)(?<!\bcf\.)"
    r"[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9À-Þ])|(?<=[。！？])\s*"
)
_LONG_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_MIN_CHARS: Final = 40
_MAX_CHARS: Final = 400
_SENTENCES_READ: Final = 400


def make_default_summary(metadata: "Metadata", source: str = "") -> "DefaultSummary":
    """Return the default summary of the paper with this metadata; missing fields are empty."""
    text = extract_plain_text(source[: _find_text_end(metadata["outline"])]) if source else metadata["abstract"]
    return {
        "paper_id": metadata["paper_id"],
        "template": DEFAULT_TEMPLATE,
        "paper_title": metadata["title"],
        "paper_authors": metadata["authors"],
        "publication_date": _format_date(metadata["year"], metadata["month"]),
        "publication_venue": metadata["venue"],
        "abstract": metadata["abstract"],
        "keywords": metadata["keywords"],
        "outline": [heading["title"] for heading in metadata["outline"][:_HEADINGS_LISTED]],
        "key_sentences": select_key_sentences(text, _KEY_SENTENCES, title=metadata["title"]),
        "method": _METHOD,
    }


def is_default_summary(summary: Any) -> bool:
    """Return True for a summary that `make_default_summary` returned."""
    return isinstance(summary, dict) and cast("JsonObject", summary).get("method") == _METHOD


def split_sentences(text: str) -> list[str]:
    """Return the sentences of plain `text`."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]


def select_key_sentences(text: str, count: int, *, title: str = "") -> list[str]:
    """Return the `count` most informative sentences of `text`, in the order of the text.

    A sentence scores higher the more frequent its words are, the more words of `title` it has, and the earlier it is.
    """
    known = {_join_long_words(title)}
    candidates: list[str] = []
    for sentence in split_sentences(text)[:_SENTENCES_READ]:
        # The title and page headers repeat; they are not sentences of the text.
        if _MIN_CHARS <= len(sentence) <= _MAX_CHARS and (joined := _join_long_words(sentence)) not in known:
            known.add(joined)
            candidates.append(sentence)
    if len(candidates) <= count:
        return candidates
    word_sets = [_find_content_words(sentence) for sentence in candidates]
    frequency = Counter(chain.from_iterable(word_sets))
    frequency.update(dict.fromkeys(_find_content_words(title), 2))
    weight = frequency.__getitem__
    scores = [
        sum(map(weight, words)) / (len(words) + 5) * (1.0 + 0.5 / (1 + index)) for index, words in enumerate(word_sets)
    ]
    best = sorted(range(len(candidates)), key=scores.__getitem__, reverse=True)[:count]
    return [candidates[index] for index in sorted(best)]


def _find_text_end(outline: "list[OutlineHeading]") -> int:
    """Return the offset at which references and acknowledgements begin."""
    ends = (h["offset"] for h in outline if h["title"].lower().strip(" .:0123456789") in _END_MATTER)
    return min(_SOURCE_CHARS_READ, *ends, _SOURCE_CHARS_READ)


def _format_date(year: int | None, month: int | None) -> str:
    if year is None:
        return ""
    return f"{year}-{month:02}" if month else str(year)


def _join_long_words(text: str) -> str:
    return " ".join(_LONG_WORD.findall(text.lower()))


def _find_content_words(text: str) -> set[str]:
    """Return the words that can be informative. They are compared inside one text, so stems are not needed."""
    return set(_LONG_WORD.findall(text.lower())) - STOP_WORDS
