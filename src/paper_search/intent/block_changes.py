"""Compare the blocks of two plans: what feedback refuses or adds, and what papers teach."""

from collections.abc import Iterable, Sequence
from typing import Final

from paper_search.intent.concept_blocks import make_block
from paper_search.intent.topic_words import list_spellings
from paper_search.intent.vocabulary import Key, Vocabulary, contains_key, make_term_key
from paper_search.models import ConceptBlock, TermSuggestion
from paper_search.query.rendering import parse_phrase
from uraniborg.kernel.boolean_query import Node

ASKED_FOR: Final = "asked for in the feedback"
"""The reason of blocks that feedback added."""
_UNKNOWN_SHARE: Final = 0.01


def list_keys(blocks: Iterable[ConceptBlock]) -> set[Key]:
    return {make_term_key(text) for block in blocks for text in (block.name, *block.variants)}


def drop_refused_terms(blocks: Sequence[ConceptBlock], refused: Iterable[str]) -> list[ConceptBlock]:
    """Return the blocks without refused ones and refused variants; the last block of a plan stays."""
    keys = set(map(make_term_key, refused))
    kept: list[ConceptBlock] = []
    for block in blocks:
        others = {text: make_term_key(text) for text in block.variants if text != block.name}
        dropped = [text for text, key in others.items() if any(contains_key(key, other) for other in keys)]
        if make_term_key(block.name) not in keys:
            variants = [text for text in block.variants if text not in dropped]
            kept.append(block.model_copy(update={"variants": variants}))
    return kept or list(blocks)


def exclude_terms(refused: Iterable[str], asked: Iterable[str]) -> tuple[list[Node], list[str]]:
    """Return the nodes that exclude the refused terms, and a note on each that is a part of what is asked for."""
    wanted = set(map(make_term_key, asked))
    excluded: list[Node] = []
    notes: list[str] = []
    for key, text in {make_term_key(text): text for text in refused}.items():
        if any(contains_key(other, key) for other in wanted):
            notes.append(f"“{text}” is part of the search terms and cannot be excluded.")
        else:
            excluded += [node for spelling in list_spellings(text) if (node := parse_phrase(spelling))]
    return excluded, notes


def add_blocks(blocks: Sequence[ConceptBlock], added: Iterable[ConceptBlock]) -> list[ConceptBlock]:
    """Return the blocks with those added that none of them contains yet."""
    found = list(blocks)
    known = list_keys(blocks)
    for block in added:
        if (key := make_term_key(block.name)) not in known and parse_phrase(block.name):
            found.append(block)
            known.add(key)
    return found


def accept_suggestions(
    blocks: Sequence[ConceptBlock], suggestions: Iterable[TermSuggestion], vocabulary: Vocabulary
) -> list[ConceptBlock]:
    """Return the blocks with the suggestions, each a variant of its block or a block of its own."""
    changed = list(blocks)
    for entry in suggestions:
        place = next((index for index, block in enumerate(changed) if block.name == entry.block), None)
        if place is None:
            changed = add_blocks(changed, [make_block(entry.term, vocabulary, reason=ASKED_FOR, learned=True)])
        else:
            variants = list(dict.fromkeys([*changed[place].variants, entry.term]))
            changed[place] = changed[place].model_copy(update={"variants": variants})
    return changed


def replace_taught_blocks(
    blocks: Iterable[ConceptBlock],
    added: Iterable[ConceptBlock],
    taught: Sequence[TermSuggestion],
    vocabulary: Vocabulary,
) -> list[ConceptBlock]:
    """Return the blocks with those added, and those that papers teach now in place of those taught before.

    Without terms taught now the earlier ones stay, and so do blocks that a person switched off.
    """
    kept = [one for one in blocks if not (taught and one.learned and one.active and one.reason != ASKED_FOR)]
    learned = (make_block(entry.term, vocabulary, reason=entry.reason, learned=True) for entry in taught)
    return add_blocks(kept, [*added, *learned])


def drop_least_specific(blocks: Sequence[ConceptBlock]) -> list[ConceptBlock]:
    """Return the blocks with the last of the least specific ones of the question switched off, if another is left."""
    asked = [block for block in blocks if block.active and not block.learned]
    if len(asked) < 2:
        return list(blocks)
    broadest = max(reversed(asked), key=lambda block: _UNKNOWN_SHARE if block.share is None else block.share)
    return [block.model_copy(update={"active": False}) if block is broadest else block for block in blocks]


def require_more(blocks: Sequence[ConceptBlock]) -> list[ConceptBlock]:
    """Return the blocks all switched on; if all are, only their names are variants."""
    switched_on = [block.model_copy(update={"active": True}) for block in blocks]
    if switched_on != blocks:
        return switched_on
    return [block.model_copy(update={"variants": [block.name]}) for block in blocks]


def describe_block_changes(before: Sequence[ConceptBlock], after: Sequence[ConceptBlock]) -> list[str]:
    """Return a sentence for each block or variant that was added or removed, and each block that was switched off."""
    old = {block.name: block for block in before}
    new = {block.name: block for block in after}
    notes: list[str] = []
    for name, block in new.items():
        if (earlier := old.get(name)) is None:
            notes.append(f"Added: “{name}” ({block.reason}).")
            continue
        notes += [f"Added: “{text}” to “{name}”." for text in block.variants if text not in earlier.variants]
        notes += [f"Removed: “{text}” from “{name}”." for text in earlier.variants if text not in block.variants]
        if earlier.active and not block.active:
            notes.append(f"Loosened: “{name}” is no longer required.")
        if block.active and not earlier.active:
            notes.append(f"Tightened: “{name}” is required.")
    return notes + [f"Removed: “{name}”." for name, block in old.items() if name not in new and block.active]
