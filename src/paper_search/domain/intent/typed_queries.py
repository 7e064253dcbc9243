"""Recognise queries that a person typed as a query, and let them run as written, beside others that follow changes.

A text is a query if it has the tag of a known field, an operator in capitals, or quotation marks without a sentence
around them, or if it is a row of groups in brackets. A question, a sentence or a headline in capitals stays plain
words, unless an operator joins brackets or quotation marks. Cuts keep the length of a text, and so the positions in it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from paper_search.domain.intent.concept_blocks import ASKED_FOR, estimate_block_share
from paper_search.domain.intent.concepts import is_function_word
from paper_search.domain.intent.preferences import read_preferences
from paper_search.domain.intent.reading import Reading, read_amount
from paper_search.domain.intent.text_cleanup import remove_courtesies, remove_openings_and_closings
from paper_search.domain.intent.vocabulary import Vocabulary
from paper_search.domain.query.ladder import join_wanted_terms, list_conditions
from paper_search.domain.query.query_texts import format_query, normalise_query, parse_phrase
from paper_search.domain.strategies.platform_translation import parse_any_query
from paper_search.domain.strategies.strategy_parser import is_strategy
from paper_search.domain.strategies.tokens import MAX_STRATEGY_CHARS
from paper_search.models import ConceptBlock, SearchQuery
from uraniborg.kernel.language.boolean_query import (
    OPERATORS,
    QUERY_SIGNS,
    AllOf,
    Node,
    blank_tags,
    find_field_tags,
    iterate_wanted_terms,
    join_all,
    join_any,
)
from uraniborg.kernel.language.phrase_files import BREAK, PhraseFile

MAX_QUERY_CHARS: Final = 2_000
"""The most characters of a question; a query with operators or field tags may have more."""
_SYNTAX: Final = PhraseFile("paper_search.domain.intent", "data/typed_queries.txt")
_PATTERNS: Final = _SYNTAX.patterns
_MASK: Final = "\ue000"  # stands for each character of a quoted phrase or a field tag, so that no rule reads inside it


@dataclass(slots=True)
class TypedQuery:
    """A typed query, and what plain words beside it ask for."""

    text: str
    """The query as typed, without the words that were read."""
    kept: str
    """The whole text, equally long, with spaces in place of the words that were read."""
    reading: Reading


def read_typed_query(text: str, today: date, vocabulary: Vocabulary | None = None) -> TypedQuery | None:
    """Return the query that a text is, or None for plain words. Never raises."""
    if len(text) > MAX_STRATEGY_CHARS:
        return None
    text = _PATTERNS["unsearchable"].sub(" ", text)
    kept = with_request = marked = text.translate(QUERY_SIGNS).replace(BREAK, " ")
    reading = Reading()
    if has_fields := is_strategy(text):  # only limits of years can stand behind it
        end = len(text) if "\n" in text.strip() else max(map(marked.rfind, '])"')) + 1
        kept = _tidy_cuts(_cut_years(_MASK * end + marked[end:], reading, today))
    elif len(text) <= MAX_QUERY_CHARS:
        masked = _PATTERNS["quoted"].sub(lambda quoted: _MASK * len(quoted[0]), marked)
        masked = blank_tags(masked, [tag for tag in find_field_tags(marked) if tag.makes_a_query], _MASK)
        kept = _cut_tail(marked, _cut_years(masked, reading, today), reading, vocabulary or Vocabulary({}), today)
        with_request = _tidy_cuts(kept)
        kept = _cut_requests(with_request, reading)
    if not has_fields and not _is_query(marked, kept, with_request):
        return None
    pieces = [text[part.start() : part.end()].strip() for part in re.finditer(r"[^\n]+", kept)]
    joined = re.sub(r"(?<=\()\n|\n(?=\))", "", "\n".join(filter(None, pieces))).replace("\n", " ")
    return TypedQuery(joined if BREAK in kept else text.strip(), _blank_cuts(text, kept), reading)


def _blank_cuts(text: str, kept: str) -> str:
    """Return the text, equally long, with spaces in place of the breaks."""
    return "".join(" " if cut == BREAK else own for own, cut in zip(text, kept, strict=True))


def _cut_years(masked: str, reading: Reading, today: date) -> str:
    """Return the text with breaks in place of the words that limit the years."""
    reading.rest = text = _PATTERNS["negated_limit"].sub("not", masked)
    reading.read_years(today)
    *pieces, last = reading.rest.split(BREAK)
    kept = ""
    for piece in pieces:
        start = text.index(piece, len(kept))
        kept += BREAK * (start - len(kept)) + masked[start : start + len(piece)]
    return kept + BREAK * (len(text) - len(kept) - len(last)) + masked[len(text) - len(last) :]


def _cut_tail(marked: str, kept: str, reading: Reading, vocabulary: Vocabulary, today: date) -> str:
    """Return the text without a preference or a number of papers in plain words at its end."""
    tail = _PATTERNS["tail"].search(kept.rstrip())
    if tail is None or _PATTERNS["operator"].search(tail["words"]):
        return kept
    start = tail.start("words")
    words = Reading(" ".join(_blank_cuts(marked, kept)[start:].replace('"', " ").split()))
    read_amount(read_preferences(words, vocabulary, today))
    if not (words.limits or words.preferences) or remove_courtesies(words.rest).strip(" \n,;."):
        return kept
    reading.limits |= words.limits
    reading.preferences = words.preferences
    reading.notes += words.notes
    return kept[:start] + BREAK * (len(kept) - start)


def _tidy_cuts(kept: str) -> str:
    """Return the text with breaks also for the signs that joined a cut to the query."""
    for pattern in _SYNTAX.compile_each("joining") if BREAK in kept else ():
        kept = pattern.sub(lambda found: BREAK * len(found[0]), kept)
    return kept


def _cut_requests(kept: str, reading: Reading) -> str:
    """Return the text without a request before the query ("find") or after it ("please")."""
    bare = remove_openings_and_closings(kept).strip()
    start = kept.rfind(bare)
    if not bare or start < 0:
        return kept
    opening = "" if _PATTERNS["operator_first"].match(bare) else _PATTERNS["determiners"].sub("", kept[:start])
    closing = "" if _PATTERNS["operator_last"].search(bare) else kept[start + len(bare) :]
    opening, closing = (words if _PATTERNS["request"].match(words) else "" for words in (opening, closing))
    for words in filter(None, (opening, closing)):
        request = " ".join(words.split()).strip(" ,;:.")
        reading.notes.append(f"“{request}” was read as a request.")
        if "max_results" not in reading.limits:
            reading.rest = request
            read_amount(reading)
    return BREAK * len(opening) + kept[len(opening) : len(kept) - len(closing)] + BREAK * len(closing)


def _is_query(marked: str, kept: str, with_request: str) -> bool:
    """Return True if the text without the limits, requests and preferences beside it is a query."""
    visible = _blank_cuts(marked, kept)
    tags = find_field_tags(visible)
    if any(tag.makes_a_query for tag in tags) or _PATTERNS["groups"].fullmatch(kept):
        return True
    if _PATTERNS["operator"].search(kept):
        is_plain = not _PATTERNS["joined"].search(kept) and (
            _PATTERNS["sentence"].search(kept) or _is_headline(visible)
        )
        return not is_plain and not _PATTERNS["question"].match(kept)
    if not _PATTERNS["quoted"].search(visible) and not _PATTERNS["open_quote"].search(visible):
        return False
    # Plain words have limits and hints, too: top 20 papers, author:Doe.
    words = _PATTERNS["word"].findall(with_request)
    is_plain = any(is_function_word(word) or _PATTERNS["foreign"].fullmatch(word) for word in words)
    return not (is_plain or any(tag.is_dropped for tag in tags) or read_amount(Reading(with_request)).limits)


def _is_headline(visible: str) -> bool:
    """Return True for a text all in capitals, in which capitals do not tell an operator from a word."""
    words = [word for word in re.findall(r"[^\W\d_]+", visible) if word not in OPERATORS]
    is_spelled = any(word in _SYNTAX.read_words("headline") or len(word) > 5 for word in words)
    return is_spelled and visible.upper() == visible and visible.lower() != visible


_WRITTEN: Final = "written in a query"  # the reason of blocks that are conditions of a query


def build_search_query(node: Node, excluded: Sequence[Node] = ()) -> SearchQuery:
    """Return the query for a tree with further exclusions, its terms as keywords."""
    keywords = [found.text for found in iterate_wanted_terms(node)]
    text = format_query(join_all([node], excluded) or node)
    return SearchQuery(keywords=list(dict.fromkeys(keywords)), boolean_query=normalise_query(text))


def split_exclusions(node: Node) -> tuple[Node, tuple[Node, ...]]:
    """Return the tree without its outermost NOT, and the excluded nodes."""
    if isinstance(node, AllOf) and node.excluded:
        return join_all(node.parts) or node, node.excluded
    return node, ()


def list_typed_queries(typed: str) -> list[SearchQuery]:
    """Return the query that a question is; [] if it asks for nothing."""
    tree = parse_any_query(typed)
    keywords = list(dict.fromkeys(term.text for term in iterate_wanted_terms(tree))) if tree else []
    return [SearchQuery(keywords=keywords, boolean_query=typed)] if tree else []


def read_written_blocks(texts: Iterable[str]) -> list[ConceptBlock]:
    """Return the conditions of the queries as blocks."""
    blocks: dict[str, ConceptBlock] = {}
    for alternatives in (found for tree in map(parse_any_query, texts) if tree for found in list_conditions(tree)):
        name, *others = dict.fromkeys(map(join_wanted_terms, alternatives))
        share = estimate_block_share([name, *others])
        blocks.setdefault(name, ConceptBlock(name=name, variants=[name, *others], share=share, reason=_WRITTEN))
    return list(blocks.values())


def compose_written_queries(
    written: Sequence[SearchQuery], blocks: Sequence[ConceptBlock], excluded: Sequence[Node]
) -> list[SearchQuery]:
    """Return the queries as written with the exclusions, as their blocks are now, and joined with the other blocks.

    If the blocks ask for more than the queries, these are not returned as they were written.
    """
    trees = [tree for query in written if (tree := parse_any_query(query.boolean_query))]
    kept = [build_search_query(tree, excluded) for tree in trees] if excluded else list(written)
    own = [block for block in blocks if block.reason == _WRITTEN]
    changed = trees
    if own != read_written_blocks(query.boolean_query for query in written):
        changed = [node for tree in trees if (node := _apply_blocks(tree, own))]
        kept = [] if all(block.active for block in own) else kept
    new = [node for node in changed if node not in trees]
    taught = [block for block in blocks if block.learned and block.reason != ASKED_FOR]
    wanted = [block for block in blocks if block not in taught and block not in own]
    for added in (wanted, taught):
        names = join_any(parse_phrase(block.name) for block in added)
        new += [node for node in [join_all([join_any(changed), names])] if names and node]
    return [*kept, *(build_search_query(node, excluded) for node in new)]


def _apply_blocks(tree: Node, blocks: Sequence[ConceptBlock]) -> Node | None:
    """Return the query with only the conditions of active blocks and the alternatives that are variants."""
    texts = {text for block in blocks if block.active for text in block.variants}
    conditions = ([one for one in found if join_wanted_terms(one) in texts] for found in list_conditions(tree))
    return join_all(map(join_any, conditions), split_exclusions(tree)[1])
