"""Choose the words with which concept blocks are searched, also after concepts have left a plan."""

from collections.abc import Sequence
from functools import lru_cache

from paper_search.models import ConceptBlock
from uraniborg.kernel.words import extract_terms, split_words


@lru_cache(maxsize=4096)
def get_stems(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text that say anything: equal for its plural and its other spellings."""
    return tuple(extract_terms(text))


def list_words(text: str) -> list[str]:
    """Return the words of a text that say anything. Chinese and Japanese text has no spaces and stays whole."""
    words = split_words(text) if text.isascii() else text.casefold().split()
    return [word for word in words if get_stems(word)]


def list_block_words(block: ConceptBlock) -> list[str]:
    """Return the words of a block's name, or of its first variant if the name is no longer a variant."""
    return list_words(_get_searched_name(block))


def list_single_words(block: ConceptBlock) -> list[str]:
    """Return the words of a block that may stand for it alone, the ones with a known share if there are any."""
    wanted = set(get_stems(_get_searched_name(block)))
    return [word for word in block.word_shares if wanted.issuperset(get_stems(word))] or list_block_words(block)


def drop_unused_words(question: str, before: Sequence[ConceptBlock], now: Sequence[ConceptBlock]) -> str:
    """Return the words of a question without those of the blocks `before` that no active block of `now` has."""
    used = {text for block in now if block.active for text in (*block.variants, _get_searched_name(block))}
    known = {text for block in before for text in (block.name, *block.variants)}
    unused = {stem for text in known for stem in get_stems(text)} - {stem for text in used for stem in get_stems(text)}
    return " ".join(word for word in question.split() if not get_stems(word) or set(get_stems(word)) - unused)


def _get_searched_name(block: ConceptBlock) -> str:
    """Return what is left of the name of a block ("a or b" names several variants), or else its first variant."""
    searched = set(map(get_stems, block.variants))
    names = [block.name] if get_stems(block.name) in searched else block.name.split(" or ")
    return " or ".join(name for name in names if get_stems(name) in searched) or next(iter(block.variants), block.name)
