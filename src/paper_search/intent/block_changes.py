"""Changes of the blocks between two plans: what feedback refuses or adds, and what papers teach."""

from collections.abc import Iterable, Sequence
from typing import Final

from paper_search.intent.concept_blocks import make_block
from paper_search.intent.vocabulary import Key, Vocabulary, make_term_key, to_singular
from paper_search.models import ConceptBlock, TermSuggestion
from paper_search.query.rendering import parse_phrase
from uraniborg.kernel.boolean_query import Node

ASKED_FOR: Final = "asked for in the feedback"
"""The reason of blocks that feedback added."""
_UNKNOWN_SHARE: Final = 0.01


def resolve_contradictions(
    blocks: Sequence[ConceptBlock], unwanted: Iterable[str], wanted: Iterable[str]
) -> tuple[list[ConceptBlock], list[Node], list[str]]:
    """Return the blocks without refused terms, the nodes to exclude, and a note on each term that is both.

    A refused block or variant leaves the plan before its term is excluded; the last block of a plan stays.
    """
    also_wanted = {make_term_key(text) for text in wanted}
    refused = {key: text for text in unwanted if (key := make_term_key(text)) and key not in also_wanted}
    kept = [_drop_refused_variants(block, refused) for block in blocks if make_term_key(block.name) not in refused]
    kept = kept or list(blocks)
    asked = [make_term_key(text) for block in kept if block.active for text in block.variants] + list(also_wanted)
    excluded: list[Node] = []
    notes: list[str] = []
    for key, text in refused.items():
        if any(contains_key(other, key) for other in asked):
            notes.append(f"“{text}” is part of the search terms and cannot be excluded.")
        else:
            excluded += [node for spelling in list_numbers(text) if (node := parse_phrase(spelling))]
    return kept, excluded, notes


def add_blocks(blocks: Sequence[ConceptBlock], added: Iterable[ConceptBlock]) -> list[ConceptBlock]:
    """Return the blocks with those added that none of them contains yet."""
    found = list(blocks)
    known = {make_term_key(text) for block in blocks for text in (block.name, *block.variants)}
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


def replace_learned_blocks(
    blocks: Sequence[ConceptBlock], taught: Sequence[TermSuggestion], vocabulary: Vocabulary
) -> list[ConceptBlock]:
    """Return the blocks with those that the papers teach now in place of those taught before.

    Without terms taught now the earlier ones stay, and so do blocks that a person switched off.
    """
    if not taught:
        return list(blocks)
    stable = [block for block in blocks if not block.learned or block.reason == ASKED_FOR or not block.active]
    learned = [make_block(entry.term, vocabulary, reason=entry.reason, learned=True) for entry in taught]
    return add_blocks(stable, learned)


def drop_least_specific(blocks: Sequence[ConceptBlock]) -> list[ConceptBlock]:
    """Return the blocks with the least specific active one of the question switched off, if another is left."""
    asked = [block for block in blocks if block.active and not block.learned]
    if len(asked) < 2:
        return list(blocks)
    broadest = max(asked, key=lambda block: _UNKNOWN_SHARE if block.share is None else block.share)
    return [block.model_copy(update={"active": False}) if block is broadest else block for block in blocks]


def describe_block_changes(before: Sequence[ConceptBlock], after: Sequence[ConceptBlock]) -> list[str]:
    """Return a sentence for each block that was added, removed or switched off."""
    old = {block.name: block for block in before}
    new = {block.name: block for block in after}
    notes = [f"Added: “{name}” ({block.reason})." for name, block in new.items() if name not in old]
    notes += [
        f"Added: “{text}” to “{name}”."
        for name, block in new.items()
        for text in (block.variants if name in old else ())
        if text not in old[name].variants
    ]
    notes += [f"Removed: “{name}”." for name, block in old.items() if name not in new and block.active]
    notes += [
        f"Loosened: “{name}” is no longer required."
        for name, block in new.items()
        if name in old and old[name].active and not block.active
    ]
    return notes


def _drop_refused_variants(block: ConceptBlock, refused: Iterable[Key]) -> ConceptBlock:
    keys = list(refused)
    variants = [
        text
        for text in block.variants
        if text == block.name or not any(contains_key(make_term_key(text), key) for key in keys)
    ]
    return block if variants == block.variants else block.model_copy(update={"variants": variants})


def list_numbers(text: str) -> list[str]:
    """Return a term and, for a plain plural, its singular: not every source matches both."""
    *before, last = text.split(" ")
    return list(dict.fromkeys([text, " ".join([*before, to_singular(last)])]))


def contains_key(whole: Key, part: Key) -> bool:
    """Return True if the words of a term stand together in another one."""
    return bool(part) and any(whole[start : start + len(part)] == part for start in range(len(whole)))
