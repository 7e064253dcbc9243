"""The words of concept blocks as they are searched, and those of a question without the concepts that left a plan."""

from collections.abc import Iterable, Sequence

from paper_search.models import ConceptBlock
from paper_search.text import extract_terms, split_words


def list_block_words(block: ConceptBlock) -> list[str]:
    """Return the words of a block's name, or of its first variant if the name is no longer a variant."""
    return list_words(get_searched_name(block))


def list_single_words(block: ConceptBlock) -> list[str]:
    """Return the words of a block that may stand for it alone, the ones with a known share if there are any."""
    wanted = _collect_stems([get_searched_name(block)])
    return [word for word in block.word_shares if _collect_stems([word]) <= wanted] or list_block_words(block)


def get_searched_name(block: ConceptBlock) -> str:
    """Return what is left of the name of a block ("a or b" names several variants), or else its first variant."""
    searched = {tuple(extract_terms(variant)) for variant in block.variants}
    if tuple(extract_terms(block.name)) in searched:
        return block.name
    parts = [part for part in block.name.split(" or ") if tuple(extract_terms(part)) in searched]
    return " or ".join(parts) or next(iter(block.variants), block.name)


def list_words(text: str) -> list[str]:
    """Return the words of a text that say anything. Chinese and Japanese text has no spaces and stays whole."""
    words = split_words(text) if text.isascii() else text.casefold().split()
    return [word for word in words if extract_terms(word)]


def drop_unused_words(question: str, before: Sequence[ConceptBlock], now: Sequence[ConceptBlock]) -> str:
    """Return the words of a question without those of the blocks `before` that no active block of `now` has."""
    used = _collect_stems(text for block in now if block.active for text in (*block.variants, get_searched_name(block)))
    unused = _collect_stems(text for block in before for text in (block.name, *block.variants)) - used
    return " ".join(word for word in question.split() if not _is_any_of(word, unused))


def _is_any_of(word: str, stems: set[str]) -> bool:
    own = _collect_stems([word])
    return bool(own) and own <= stems


def _collect_stems(texts: Iterable[str]) -> set[str]:
    return {stem for text in texts for stem in extract_terms(text)}
