"""Make concept blocks of a question, and compare the blocks of two plans: what feedback refuses or adds."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from paper_search.domain.intent.concepts import MODIFIER, find_acronyms, find_concepts
from paper_search.domain.intent.text_cleanup import replace_quoted_phrases
from paper_search.domain.intent.vocabulary import (
    Key,
    Vocabulary,
    contains_key,
    estimate_share,
    is_generic,
    is_weak,
    list_spellings,
    make_term_key,
)
from paper_search.domain.query.query_texts import parse_phrase
from paper_search.models import ConceptBlock, ParsedIntent, TermSuggestion
from uraniborg.kernel.language.boolean_query import Node
from uraniborg.kernel.language.words import extract_terms, split_words

MAX_BLOCKS, MAX_VARIANTS = 8, 12
_AUTHOR_SHARE, _VENUE_SHARE = 0.001, 0.05
_LEAST_SHARE: Final = 0.0001  # counts say no more about rarer terms, and JSON writes smaller numbers with an exponent


def build_blocks(intent: ParsedIntent, vocabulary: Vocabulary) -> list[ConceptBlock]:
    """Return the blocks of a question in its order; authors and venues that it names come last."""
    topic, _ = replace_quoted_phrases(intent.topic)
    acronyms = find_acronyms(topic)
    blocks: dict[Key, ConceptBlock] = {}
    for term, listed in (find_concepts(topic, vocabulary) or dict.fromkeys(intent.concepts, ())).items():
        if parse_phrase(term):
            others = [acronyms[term]] if term in acronyms else []
            block = make_block(term, vocabulary, others, alternatives=listed, reason="from the question")
            blocks.setdefault(make_term_key(term), block)
    for key, block in blocks.items():  # a term in two blocks would make their combination ask for that term alone
        kept = [text for text in block.variants if (other := make_term_key(text)) == key or other not in blocks]
        blocks[key] = block.model_copy(update={"variants": kept})
    quoted = {make_term_key(phrase): phrase for phrase in intent.phrases if parse_phrase(phrase)}
    exact = [
        _make_exact_block([phrase], estimate_share(phrase), "quoted in the question") for phrase in quoted.values()
    ]
    asked = [block for key, block in blocks.items() if not any(contains_key(whole, key) for whole in quoted)]
    known = [*quoted, *blocks]
    authors, venues = (
        [name for name in names if not any(contains_key(key, make_term_key(name)) for key in known)]
        for names in (map(extract_family_name, intent.authors), intent.venues)
    )
    people = [make_author_block(authors)] if authors else []
    places = [_make_exact_block(venues, _VENUE_SHARE, "named as a journal or conference")] if venues else []
    return [*exact, *asked[: max(1, MAX_BLOCKS - len(exact))], *people, *places]


def make_block(
    text: str,
    vocabulary: Vocabulary,
    others: Iterable[str] = (),
    *,
    alternatives: Sequence[str] = (),
    reason: str,
    learned: bool = False,
) -> ConceptBlock:
    """Return the block of a term with its spellings, synonyms and the other names given.

    `alternatives` are terms beside it in a list, such as "infliximab or etanercept": a paper needs one of them.
    """
    own = [text, *alternatives]
    names = [*own, *others]
    for term in own:
        for spelling in [term] if learned else list_spellings(term):
            names += vocabulary.find_synonyms(spelling)
        if (modifier := MODIFIER.fullmatch(term.split()[0])) and is_generic(term.split()[-1]):
            names += [modifier[1]] * (not (is_generic(modifier[1]) or is_weak(modifier[1])))
    spelled = [*own, *others, *(one for name in own for one in list_spellings(name)), *names]
    distinct: dict[str, str] = {}
    for one in spelled:
        if parse_phrase(one):
            distinct.setdefault(one.casefold(), one)
    name = " or ".join(own)
    words = [word for word in split_words(name) if extract_terms(word)]
    parts = [word for word in words if not is_generic(word)] or [name]
    return ConceptBlock(
        name=name,
        variants=list(distinct.values())[:MAX_VARIANTS],
        learned=learned,
        share=estimate_block_share(names),
        word_shares={part: _round_share(estimate_share(part)) for part in parts} if len(words) > 1 else {},
        reason=reason,
    )


def make_author_block(family_names: Sequence[str]) -> ConceptBlock:
    """Return the block of papers by any of the authors."""
    return _make_exact_block(family_names, _AUTHOR_SHARE, "named as an author")


def extract_family_name(author: str) -> str:
    """Return the family name: sources write given names in many ways."""
    names = [word for word in author.partition(",")[0].split() if not re.fullmatch(r"(?:\w\.-?)+", word)]
    return names[-1] if names else author


def estimate_block_share(terms: Iterable[str]) -> float:
    """Return the estimated share of all papers that contain any of the terms."""
    return _round_share(sum({tuple(extract_terms(term)): estimate_share(term) for term in terms}.values()))


def _make_exact_block(texts: Sequence[str], share: float, reason: str) -> ConceptBlock:
    variants = list(dict.fromkeys(texts))
    return ConceptBlock(name=texts[0], variants=variants, exact=True, share=_round_share(share), reason=reason)


def _round_share(share: float) -> float:
    return round(min(1.0, max(_LEAST_SHARE, share)), 6)


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


def add_missing_blocks(blocks: Sequence[ConceptBlock], added: Iterable[ConceptBlock]) -> list[ConceptBlock]:
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
            changed = add_missing_blocks(changed, [make_block(entry.term, vocabulary, reason=ASKED_FOR, learned=True)])
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
    return add_missing_blocks(kept, [*added, *learned])


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
