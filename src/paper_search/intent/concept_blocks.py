"""Make concept blocks of a question: its terms with the other ways to write them, and people it names."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from paper_search.intent.concepts import MODIFIER, find_acronyms, find_concepts
from paper_search.intent.text_cleanup import replace_quoted_phrases
from paper_search.intent.topic_words import estimate_share, is_generic, is_weak, list_spellings
from paper_search.intent.vocabulary import Key, Vocabulary, contains_key, make_term_key
from paper_search.models import ConceptBlock, ParsedIntent
from paper_search.query.rendering import parse_phrase
from uraniborg.kernel.words import extract_terms, split_words

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
