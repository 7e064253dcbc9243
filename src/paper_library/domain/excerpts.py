"""Cut out of a paper's text: a range of characters, a section, rows of tables, and the default summary."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from paper_library.domain.limits import HTML_CHARS
from paper_library.domain.markdown import extract_plain_text, find_headings, strip_heading_number, strip_inline_markup
from paper_library.errors import OutOfBounds
from uraniborg.kernel.language.words import STOP_WORDS, fold_text

if TYPE_CHECKING:
    from paper_library.domain.replies import DefaultSummary, Metadata, OutlineHeading
    from uraniborg.kernel.json_values import JsonObject


_HEADINGS_IN_HINT: Final = 20


class Excerpt(NamedTuple):
    """A range of characters of a text."""

    text: str
    next_offset: int | None
    """The offset of the rest of the text, or None at its end."""


def cut_excerpt(text: str, offset: int = 0, max_chars: int | None = None) -> Excerpt:
    """Return at most `max_chars` characters of `text` from `offset` on. Raise OutOfBounds."""
    if max_chars is not None and max_chars < 1:
        raise OutOfBounds("max_chars", "at least 1", hint="Leave max_chars out to get the whole text.")
    if not 0 <= offset <= len(text):
        raise OutOfBounds("offset", f"from 0 to {len(text)}", hint=f"The text has {len(text)} characters.")
    end = len(text) if max_chars is None else min(len(text), offset + max_chars)
    return Excerpt(text[offset:end], end if end < len(text) else None)


def cut_text_with_marker(text: str, offset: int = 0, max_chars: int | None = None) -> str:
    """Return the same excerpt, followed by a marker with the next offset if text is left. Raise OutOfBounds."""
    excerpt = cut_excerpt(text, offset, max_chars)
    if (end := excerpt.next_offset) is None:
        return excerpt.text
    marker = f"[truncated: {len(text) - end} of {len(text)} characters left; continue with offset={end}]"
    return f"{excerpt.text}\n\n{marker}"


def find_page_end(text: str, start: int) -> int:
    """Return where a page of the text that begins at `start` ends: after a paragraph if possible."""
    end = start + HTML_CHARS
    if end >= len(text):
        return len(text)
    blank = text.rfind("\n\n", start + HTML_CHARS // 2, end)
    return blank + 2 if blank > 0 else end


def list_page_starts(text: str) -> list[int]:
    """Return where the pages of the text begin."""
    starts = [0]
    while (end := find_page_end(text, starts[-1])) < len(text):
        starts.append(end)
    return starts


def extract_section(text: str, heading_name: str) -> str:
    """Return the section of `text` under the heading `heading_name`, with its subsections. Raise OutOfBounds."""
    start, end = find_section(text, heading_name)
    return text[start:end].rstrip()


def find_section(text: str, heading_name: str) -> tuple[int, int]:
    """Return where the section under the heading `heading_name` begins and ends, with its subsections.

    An equal heading, with or without its number, comes before a heading that contains `heading_name`. Raise OutOfBounds
    with the list of headings if no heading matches.
    """
    headings = find_headings(text)
    name = fold_text(" ".join(heading_name.split()))
    titles = [fold_text(heading.title) for heading in headings]
    unnumbered = [fold_text(strip_heading_number(heading.title)) for heading in headings]
    found = next((index for names in (titles, unnumbered) for index, title in enumerate(names) if title == name), None)
    if found is None and name:
        found = next((index for index, title in enumerate(titles) if name in title), None)
    if found is None:
        listed = ", ".join(heading.title for heading in headings[:_HEADINGS_IN_HINT])
        more = " and others" if len(headings) > _HEADINGS_IN_HINT else ""
        raise OutOfBounds("section", "a heading of the text", hint=f"The headings are: {listed or 'none'}{more}.")
    start = headings[found]
    later = (heading.offset for heading in headings[found + 1 :] if heading.level <= start.level)
    return start.offset, next(later, len(text))


_RULE: Final = re.compile(r"[ \t|:-]*-[ \t|:-]*")
_BAR: Final = re.compile(r"(?<!\\)\|")
_CAPTION: Final = re.compile(r"(?i)\W{0,4}tab(?:le|\.)\W")
_LABEL: Final = re.compile(r"(?i)table:\s+")
_MOST_CAPTION: Final = 500
_NEAR: Final = 3
"""The most lines between a table and its caption."""


@dataclass(frozen=True, slots=True)
class TextTableRow:
    """One row of a table, with the header, caption and section of the table."""

    section: str
    caption: str
    header: tuple[str, ...]
    cells: tuple[str, ...]
    offset: int
    """The offset of the row, in characters."""


def find_table_rows(markdown: str) -> Iterator[TextTableRow]:
    """Yield the rows of all markdown tables of a text, without headers and rules."""
    headings = find_headings(markdown)
    lines = markdown.splitlines(keepends=True)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    at = 0
    while at + 1 < len(lines):
        if not (_is_row(lines[at]) and _is_rule(lines[at + 1])):
            at += 1
            continue
        header, first = _split_cells(lines[at]), at + 2
        end = next((after for after in range(first, len(lines)) if not _is_row(lines[after])), len(lines))
        section = next((one.title for one in reversed(headings) if one.offset < offsets[at]), "")
        caption = _find_caption(lines, at, end)
        for number in range(first, end):
            yield TextTableRow(
                section, caption, header, _fit_to_width(_split_cells(lines[number]), len(header)), offsets[number]
            )
        at = end


def _is_row(line: str) -> bool:
    return bool(_BAR.search(line)) and not _is_rule(line)


def _is_rule(line: str) -> bool:
    return "|" in line and bool(_RULE.fullmatch(line.strip()))


def _split_cells(line: str) -> tuple[str, ...]:
    bare = line.strip().removeprefix("|")
    bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    return tuple(cell.strip().replace("\\|", "|") for cell in _BAR.split(bare))


def _fit_to_width(cells: tuple[str, ...], width: int) -> tuple[str, ...]:
    """Return the cells padded or cut to the width of the header, as markdown renderers do."""
    return (*cells[:width], *[""] * (width - len(cells)))


def _find_caption(lines: list[str], start: int, end: int) -> str:
    """Return the nearest line that starts with "Table", above the table or else below it."""
    near = [*lines[max(0, start - _NEAR) : start][::-1], *lines[end : end + _NEAR]]
    found = next((line for line in near if _CAPTION.match(line)), "")
    return _LABEL.sub("", " ".join(strip_inline_markup(found.strip()).split()))[:_MOST_CAPTION]


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
